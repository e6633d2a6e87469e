"""Forecast of the cost and the accuracy of a plan, before any record is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Literal

from hedgerow.errors import SettingError
from hedgerow.model.card import card
from hedgerow.model.method import Outline, Step, Useful
from hedgerow.model.people import Counted
from hedgerow.model.precision import deviation, within
from hedgerow.pipeline.predict import RUNS_OF_CUTS, Prediction, Trials, at_worst, predicted
from hedgerow.pipeline.prepare import Prepared
from hedgerow.plan.settings import Publishes
from hedgerow.privacy.budget import epsilon_text

Feasibility = Literal[
    "feasible", "coarse", "mostly noise", "depends on the number of records", "depends on the data"
]

COARSE_FROM = 1.0
NOISE_FROM = 5.0
"""Noise of all groups together over the records: from here on a release is mostly noise."""

DELTA = 0.05
COVERED = (1, 10, 100)
"""The chance of a larger error, and the itemsets that a query covers, for usefulness."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Forecast of a release from its plan, without the data.

    Returned by `check`.

    Parameters
    ----------
    epsilon : fractions.Fraction
        Privacy budget of the release.
    outline : Outline
        Steps of the method with their shares of the budget.
    records : int or None
        Number of records, if it is known.
    bytes_per_record : int
        Memory of one encoded record.
    publishes : {"table", "baskets", "sequences"}, default="table"
        Kind of the release.
    usefulness : tuple of (int, float)
        Number of itemsets that a counting query covers, and an upper bound on its error for
        any data.
    prediction : Prediction, optional
        Result of runs on simulated tables, if the number of records is known and the method
        can be simulated.
    upto : Forecast, optional
        Forecast for the larger number, if ``records`` is a range.
    counted : {"records", "people"}, default="records"
        The unit that counts are of.

    Notes
    -----
    Privacy: no record is read.

    ``noise_ratio`` is the noise of all groups (their number times the standard deviation of one
    count) divided by the number of records. Below 1 most groups are distinguishable from noise;
    above 5 hardly any is, and `publish` refuses.

    Examples
    --------
    >>> import hedgerow
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "publish": {"method": "hedge", "epsilon": 1}}
    >>> found = hedgerow.check(plan, records=20_000)
    >>> found.verdict, found.noise_ratio < 1
    ('feasible', True)

    """

    epsilon: Fraction
    outline: Outline
    records: int | None
    bytes_per_record: int
    publishes: Publishes = "table"
    usefulness: tuple[tuple[int, float], ...] = ()
    prediction: Prediction | None = None
    upto: Forecast | None = None
    counted: Counted = "records"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [
            ("epsilon", epsilon_text(self.epsilon)),
            ("verdict", self.verdict),
            ("noise of a count, 95 of 100", f"± {self.error_95:,}"),
            ("groups", f"about {self.outline.n_groups:,}" if self.publishes == "table" else None),
            (self.counted, None if self.records is None else f"{self.records:,}"),
            ("advice", self.advice),
        ]
        return card("Check of a plan", facts)

    @property
    def counts_all(self) -> bool:
        """True if every cell is counted, without a search for frequent ones first."""
        return self.publishes == "table" or self.outline.counts == self.epsilon

    @property
    def share(self) -> Fraction:
        """The epsilon that a count is drawn with."""
        share = None if self.prediction is None else self.prediction.share
        return share or self.outline.counts

    @property
    def n_groups(self) -> int:
        """Approximate number of rows of the release."""
        return self.outline.n_groups if self.prediction is None else self.prediction.rows

    @property
    def n_counted(self) -> int:
        """Number of groups that get noise, including those with the noisy count 0."""
        counted = None if self.prediction is None else self.prediction.counted
        return self.outline.n_groups if counted is None else counted

    @property
    def error_95(self) -> int:
        """The noise of a count is within this in 95 of 100 cases."""
        return within(self.share)

    @property
    def records_needed(self) -> int:
        """Number of records needed for a feasible release with this number of groups."""
        return ceil(self.n_counted * deviation(self.share) / COARSE_FROM)

    @property
    def noise_ratio(self) -> float | None:
        """Noise over records, where the number of records is known."""
        return None if self.records is None else self.records_needed / max(self.records, 1)

    @property
    def epsilon_needed(self) -> Fraction | None:
        """The epsilon at which the release would be feasible, rounded up."""
        ratio = self.noise_ratio
        if ratio is None or ratio <= COARSE_FROM:
            return None
        return Fraction(ceil(float(self.epsilon) * ratio * 20), 20)

    @property
    def verdict(self) -> Feasibility:
        """Verdict on the release: feasible, coarse, mostly noise, or depends on the data."""
        if not self.counts_all:
            return "depends on the data"
        ratio = self.noise_ratio
        if ratio is None:
            return "depends on the number of records"
        if ratio <= COARSE_FROM:
            return "feasible"
        return "coarse" if ratio <= NOISE_FROM else "mostly noise"

    @property
    def memory_bytes(self) -> int:
        """A rough peak: the encoded table, scratch for keys, and the groups."""
        per_group = 64
        return (self.records or 0) * (self.bytes_per_record + 8) + self.n_groups * per_group

    @property
    def advice(self) -> str:
        """The verdict in words, with what would do."""
        if not self.counts_all:
            one = "a prefix" if self.publishes == "sequences" else "a basket"
            return (
                f"How much comes through depends on the data: {one} needs well over"
                f" {self.error_95:,} {self.counted} to show by itself."
            )
        needed = f"{self.records_needed:,} {self.counted}"
        if self.records is None:
            return (
                f"Feasible from about {needed} on. Say how many there are, if that is"
                " public: 'records:' in the plan, or --records."
            )
        if self.verdict == "feasible":
            return "Feasible: most groups stand out from their noise."
        would_do = f"epsilon {epsilon_text(self.epsilon_needed or self.epsilon)}, or {needed},"
        if self.verdict == "coarse":
            return f"Coarse: only large groups will stand out; {would_do} would do better."
        less = "fewer groups" if self.publishes == "table" else "a smaller universe"
        return f"Mostly noise: {would_do} would do, or {less}."

    def as_dict(self) -> dict[str, object]:
        """Return the forecast for JSON, budgets as exact text."""
        return {
            "epsilon": str(self.epsilon),
            "steps": _facts_of(self.outline.steps),
            "instead": None
            if self.outline.instead is None
            else {
                "when": self.outline.instead.when,
                "steps": _facts_of(self.outline.instead.steps),
            },
            "count-share": str(self.share),
            "count-error-95": self.error_95,
            "groups": self.n_groups if self.counts_all else None,
            "prediction": None if self.prediction is None else self.prediction.as_dict(),
            "bytes-per-record": self.bytes_per_record,
            "memory-bytes": self.memory_bytes,
            "records": self.records,
            "records-needed": self.records_needed if self.counts_all else None,
            "epsilon-needed": str(self.epsilon_needed)
            if self.counts_all and self.epsilon_needed is not None
            else None,
            "noise-ratio": None if self.noise_ratio is None else round(self.noise_ratio, 3),
            "verdict": self.verdict,
            "upto": None if self.upto is None else self.upto.as_dict(),
            "notes": list(self.outline.notes),
            "usefulness": [
                {"itemsets": n, "delta": DELTA, "error": round(error, 1)}
                for n, error in self.usefulness
            ],
        }


def _facts_of(steps: tuple[Step, ...]) -> list[dict[str, object]]:
    return [{"on": step.on, "share": str(step.share), "times": step.times} for step in steps]


RecordsGiven = int | tuple[int, int]
"""About how many records there are, or the fewest and the most."""


def forecast(
    ready: Prepared,
    *,
    records: RecordsGiven | None = None,
    most_runs: int = RUNS_OF_CUTS,
    trials: Trials | None = None,
) -> Forecast:
    """Return what can be said of a prepared plan; no record is read.

    ``records`` is about how many there are, if that is public knowledge, in place of the
    plan's own. A forecast for a range is that for the fewer, and has the other beside it.
    The method is tried at most ``most_runs`` times, by ``trials`` of the same plan and records
    where there are any.
    """
    if not ready.private:
        raise SettingError(
            f"{ready.settings.method} is not differentially private: it has no budget to forecast.",
            where="publish.method",
            do="Set a differentially private method.",
        )
    fewest, most = ends(ready.plan.records if records is None else records)
    upto = None if most == fewest else _forecast(ready, most, most_runs)
    return _forecast(ready, fewest, most_runs, upto=upto, trials=trials)


def surely_no_noise(ready: Prepared, records: int, *, trials: Trials | None = None) -> bool:
    """Return whether the forecast cannot become "mostly noise", before all of its runs are done.

    The largest possible number of groups, or half of the runs, decides.
    """
    first = _forecast_of(ready, records, None)
    if first.outline.counts_marginals:
        # Rows are synthetic, so only the outline has the number of counted groups.
        return first.verdict != "mostly noise"
    most = first.outline.most_groups
    if most is not None:
        larger = replace(first, outline=replace(first.outline, n_groups=most))
        if larger.verdict in ("feasible", "coarse"):
            return True
    worst = at_worst(trials or trials_of(ready, records))
    return worst is not None and _forecast_of(ready, records, worst).verdict != "mostly noise"


def trials_of(ready: Prepared, records: int) -> Trials:
    """Return the trials of a plan, of which none has been made."""
    return Trials(ready, max(records, 1))


def ends(records: RecordsGiven | None) -> tuple[int | None, int | None]:
    """Return the fewest and the most records of a number or a range, checked."""
    fewest, most = records if isinstance(records, tuple) else (records, records)
    if fewest is not None and most is not None and not 0 <= fewest <= most:
        raise SettingError.out_of_range(
            "records", f"{fewest}-{most}", "a whole number, or a range such as 10000-50000"
        )
    return fewest, most


def _forecast(
    ready: Prepared,
    records: int | None,
    most_runs: int,
    *,
    upto: Forecast | None = None,
    trials: Trials | None = None,
) -> Forecast:
    prediction = None
    if records is not None:
        prediction = predicted(trials or trials_of(ready, records), most_runs=most_runs)
    return _forecast_of(ready, records, prediction, upto=upto)


def _forecast_of(
    ready: Prepared,
    records: int | None,
    prediction: Prediction | None,
    *,
    upto: Forecast | None = None,
) -> Forecast:
    return Forecast(
        epsilon=ready.epsilon,
        outline=ready.outline(None if records is None else max(records, 1)),
        records=records,
        counted="people" if ready.people is not None and ready.people.counts_people else "records",
        bytes_per_record=ready.kind.bytes_per_record,
        publishes=ready.settings.publishes,
        usefulness=_usefulness(ready),
        prediction=prediction,
        upto=upto,
    )


def _usefulness(ready: Prepared) -> tuple[tuple[int, float], ...]:
    """Return the bounds of [DiffPart, Thm 4.2], for queries that cover that many itemsets."""
    if not isinstance(ready.method, Useful):
        return ()
    taxonomy, epsilon = ready.taxonomy, ready.forecast_rate
    bounds = (
        (n, ready.method.usefulness(taxonomy, epsilon, n_itemsets=n, delta=DELTA)) for n in COVERED
    )
    return tuple((n, bound) for n, bound in bounds if bound is not None)
