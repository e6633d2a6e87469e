"""Forecasts of the other methods for the same plan and epsilon; no record is read."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.errors import HedgerowError
from hedgerow.pipeline.forecast import Forecast, RecordsGiven, forecast
from hedgerow.pipeline.prepare import Prepared, prepare
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """A method and its forecast, or why the plan does not suit it."""

    method: str
    expected: Forecast | None
    why_not: str | None = None

    def cells(self) -> tuple[str, ...]:
        """Return a row of a table: groups, error of a count, of counts of some size, verdict."""
        expected = self.expected
        if expected is None:
            return self.method, "", "", "", self.why_not or ""
        counts = None if expected.prediction is None else expected.prediction.error
        return (
            self.method,
            f"{expected.n_groups:,}",
            "true counts" if expected.outline.true_counts else f"±{expected.error_95:,}",
            "" if counts is None else f"{counts.typical:,.0f} (95 %: {counts.within_95:,.0f})",
            expected.verdict,
        )

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        expected = None if self.expected is None else self.expected.as_dict()
        return {"method": self.method, "forecast": expected, "why-not": self.why_not}


def alternatives(ready: Prepared, *, records: RecordsGiven | None = None) -> list[Alternative]:
    """Return the forecast of every private method for the plan's kind of data, its own included.

    Other methods than the plan's own have their default settings. Each is tried once.
    """
    kind = ready.settings.publishes
    return [
        _alternative(ready, name, records)
        for name, settings in METHODS.items()
        if issubclass(settings, PrivateSettings) and settings.publishes == kind
    ]


def _alternative(ready: Prepared, method: str, records: RecordsGiven | None) -> Alternative:
    try:
        other = ready
        if method != ready.settings.method:
            plan = ready.plan.model_copy(update={"publish": None})
            other = prepare(plan, method=method, epsilon=ready.epsilon)
        return Alternative(method=method, expected=forecast(other, records=records, most_runs=1))
    except HedgerowError as error:
        where = "" if error.where is None else f"{error.where}: "
        return Alternative(method=method, expected=None, why_not=where + error.what)
