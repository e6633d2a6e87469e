"""The comparison of several releases or plans in one table of figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hedgerow.comparison.comparison import SIMULATED, Comparison, check_comparison_folder
from hedgerow.comparison.contenders import (
    Contender,
    booked_releases,
    public_plans,
    simulated_plans,
)
from hedgerow.comparison.figures import figures_of
from hedgerow.comparison.pairs import paired_tables
from hedgerow.errors import RefusedError, SettingError
from hedgerow.progress import Progress, no_progress
from hedgerow.release.generalise import OptionalPlan


def compare(
    contenders: Sequence[Any],
    *,
    data: Any = None,
    simulate: bool = False,
    public: Any = None,
    test: Any = None,
    records: int | None = None,
    plan: OptionalPlan = None,
    ledger: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    pairs: bool = False,
    force: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Compare several releases: errors, accuracy of classifiers, risk and cost.

    Parameters
    ----------
    contenders : sequence of Release, Plan or path
        Releases or their folders; with ``simulate`` or ``public``, plans.
    data : path or dataframe, optional
        The confidential table. Each release must then be on the ledger.
    simulate : bool, default=False
        Run plans on a table simulated from their public domains.
    public : path or dataframe, optional
        Run plans on this public table.
    test : path or dataframe, optional
        Records that are not in the releases, to test classifiers.
    records : int, optional
        Number of simulated records, in place of the plan's.
    plan : path, mapping or Plan, optional
        Sets the format of files and the ledger.
    ledger : path, optional
        The ledger of the releases. By default the plan's, or the user's.
    out : path, optional
        Folder for `comparison.html` and `comparison.json`.
    pairs : bool, default=False
        Also compute 2-way marginals of the records and of each release.
    force : bool, default=False
        Replace an existing comparison in ``out``.
    seed : int, default=0
        Random seed.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.

    Returns
    -------
    Comparison
        The figures of each release.

    Raises
    ------
    SettingError
        If the records to compare with are missing or ambiguous, or plans would be run on the
        confidential table.
    LedgerError
        If a release is not on the ledger.

    Notes
    -----
    Privacy: none with ``data``. The figures are computed from the confidential records without
    noise, and are for the data owner only. Plans are refused there: choosing the best of several
    would be a choice by the data.

    Examples
    --------
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True, "records": 1000,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> len(compare([plan, plan], simulate=True).rows)
    2

    """
    if not contenders:
        raise SettingError(
            "There is nothing to compare.", where="compare", do="Name at least one release or plan."
        )
    target = None if out is None else check_comparison_folder(out, contenders, force=force)
    found, on = _contenders(
        contenders,
        data=data,
        simulate=simulate,
        public=public,
        test=test,
        records=records,
        plan=plan,
        ledger=ledger,
        seed=seed,
        progress=progress,
    )
    rows = []
    for at, each in enumerate(found):
        progress(f"measuring {each.name}", at / len(found))
        rows.append(figures_of(each, seed=seed))
    if pairs:
        progress("2-way marginals", None)
    comparison = Comparison(
        rows=tuple(rows),
        on=on,
        n_records=len(found[0].subject.table),
        pairs=paired_tables(found, seed=seed) if pairs else None,
    )
    if target is not None:
        comparison.write(target)
    return comparison


def _contenders(
    contenders: Sequence[Any],
    *,
    data: Any,
    simulate: bool,
    public: Any,
    test: Any,
    records: int | None,
    plan: OptionalPlan,
    ledger: str | os.PathLike[str] | None,
    seed: int,
    progress: Progress,
) -> tuple[list[Contender], str]:
    if sum([data is not None, simulate, public is not None]) > 1:
        raise SettingError(
            "More than one kind of data is named.",
            where="compare",
            do="Give one of --data FILE, --simulate and --public FILE.",
        )
    if records is not None and not simulate:
        raise SettingError(
            "A number of records can be set only for a simulated table.",
            where="records",
            do="Give --simulate, or omit the number of records.",
        )
    if simulate:
        if test is not None:
            raise SettingError(
                "A simulated table has no test file.", where="test", do="Omit the test file."
            )
        found = simulated_plans(contenders, records=records, seed=seed, progress=progress)
        return found, SIMULATED
    if public is not None:
        found = public_plans(contenders, public, test=test, seed=seed, progress=progress)
        return found, "public"
    if data is None:
        raise RefusedError(
            "No data are named for the comparison, and the data of a plan may be confidential.",
            where="compare",
            do="Give --data FILE for releases, or --simulate or --public FILE for plans.",
        )
    found = booked_releases(
        contenders, data, test=test, plan=plan, ledger=ledger, progress=progress
    )
    return found, "confidential"
