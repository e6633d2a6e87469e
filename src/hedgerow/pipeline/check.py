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
    """Forecast the cost and the error of a release, without reading the data.

    Parameters
    ----------
    plan : Plan, mapping or path
        The plan, a mapping with the keys of a plan file, or the file.
    records : int or tuple of (int, int), optional
        Number of records, or a range, in place of the plan's. It must be public knowledge.
    within : int, optional
        Compute the smallest epsilon for which a published count has this error, in 95 % of
        releases, in place of the plan's epsilon.
    utility : OwnUtility, optional
        Function by which `diffmulti` compares specialisations.
    **settings
        Settings of the method in place of the plan's, such as ``method`` or ``epsilon``.

    Returns
    -------
    Forecast
        Budget of each step, error of counts, memory and a verdict.

    Raises
    ------
    PlanError, SettingError
        If the plan or a setting has a mistake.

    Notes
    -----
    Privacy: no record is read.

    Examples
    --------
    >>> found = check({"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...                "publish": {"method": "hedge", "epsilon": 1}}, records=20_000)
    >>> found.verdict
    'feasible'

    """
    ready = prepare(plan, utility=utility, **settings)
    if within is not None:
        ready = with_error(ready, within=within, records=records)
    return forecast(ready, records=records)
