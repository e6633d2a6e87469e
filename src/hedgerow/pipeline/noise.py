"""Releases that would be mostly noise are refused before anything is read or spent.

The rule is public: the noise of all groups together (how many are counted, times the standard
deviation of the noise on one) is more than five times the plan's own ``records``. `check` and
`publish` go by the same forecast; the data decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hedgerow.errors import HedgerowError, MostlyNoiseError
from hedgerow.pipeline.forecast import Forecast, forecast, surely_no_noise, trials_of
from hedgerow.pipeline.kinds.table import TableKind
from hedgerow.pipeline.prepare import Prepared, prepare
from hedgerow.privacy.budget import MAX_EPSILON, epsilon_text

UNJUDGED = (
    "The plan does not say about how many records there are ('records:'), so nothing was judged:"
    " the release may be mostly noise."
)


def refuse_noise(ready: Prepared) -> None:
    """Refuse a plan whose release would be mostly noise, by its own ``records``.

    Without that line nothing is judged. Methods without a guarantee add no noise.

    Privacy: a function of the plan alone.
    """
    if ready.plan.records is None or not ready.private:
        return
    trials = trials_of(ready, ready.plan.records)
    if surely_no_noise(ready, ready.plan.records, trials=trials):
        return
    expected = forecast(ready, trials=trials)
    if expected.verdict != "mostly noise":
        return
    raise MostlyNoiseError(
        f"By {ready.settings.method} at epsilon {ready.epsilon}, {expected.n_counted:,} groups"
        f" of about {ready.plan.records:,} records would be mostly noise. Nothing was read or"
        " spent.",
        where="publish",
        do=f"Use one of these: {'; or '.join(remedies(ready, expected))}. To publish it anyway:"
        " --even-if-noise.",
    )


def remedies(ready: Prepared, expected: Forecast) -> Iterator[str]:
    """Yield what would make the release worth making, each in a few words."""
    smaller = _smaller_h(ready)
    if smaller is not None:
        yield f"h: {smaller}"
    default = ready.kind.default_method
    other = isinstance(ready.kind, TableKind) and ready.settings.method != default
    if other and _does(ready, default):
        yield f"method: {default}"
    needed = expected.epsilon_needed
    if needed is not None and needed <= MAX_EPSILON:
        yield f"epsilon {epsilon_text(needed)}"
    yield ready.kind.less_noise


def _smaller_h(ready: Prepared) -> int | None:
    """Return half of h, or half of that and so on, where that is no longer mostly noise."""
    h = getattr(ready.settings, "h", None)
    while isinstance(h, int) and h > 1:
        h //= 2
        expected = _other(ready, h=h)
        if expected is not None and expected.verdict != "mostly noise":
            return h
    return None


def _does(ready: Prepared, method: str) -> bool:
    expected = _other(ready, method=method)
    return expected is not None and expected.verdict != "mostly noise"


def _other(ready: Prepared, **settings: Any) -> Forecast | None:
    """Return the forecast with other settings, or nothing where they do not fit the plan."""
    plan = ready.plan
    if "method" in settings:
        plan = plan.model_copy(update={"publish": None})
        settings["epsilon"] = ready.epsilon
    try:
        return forecast(prepare(plan, **settings), most_runs=1)
    except HedgerowError:
        return None
