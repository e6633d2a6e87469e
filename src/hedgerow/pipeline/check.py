"""check(plan): what a plan will cost and keep, for those who have not prepared it themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.pipeline.forecast import Forecast, RecordsGiven, forecast
from hedgerow.pipeline.prepare import PlanLike, prepare
from hedgerow.pipeline.wanted import with_error

if TYPE_CHECKING:
    from hedgerow.methods.diffmulti.own_utility import OwnUtility


def check(
    plan: PlanLike,
    *,
    records: RecordsGiven | None = None,
    within: int | None = None,
    utility: OwnUtility | None = None,
    **settings: object,
) -> Forecast:
    """Return what a plan will cost and keep; no record is read.

    ``records`` is about how many there are, if that is public knowledge, in place of the
    plan's own line, or a range of it; further ``settings`` replace those of the plan's
    ``publish`` section. With ``within`` the epsilon is not the plan's but the least at which
    a published count is that near to the truth in 95 of 100 cases. ``utility`` is a function of
    your own, as for `publish`.

    >>> found = check({"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...                "publish": {"method": "hedge", "epsilon": 1}}, records=20_000)
    >>> found.verdict
    'feasible'
    """
    ready = prepare(plan, utility=utility, **settings)
    if within is not None:
        ready = with_error(ready, within=within, records=records)
    return forecast(ready, records=records)
