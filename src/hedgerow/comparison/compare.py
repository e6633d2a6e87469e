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
from hedgerow.release.generalise import PlanGiven


def compare(
    contenders: Sequence[Any],
    *,
    data: Any = None,
    simulate: bool = False,
    public: Any = None,
    test: Any = None,
    records: int | None = None,
    plan: PlanGiven = None,
    ledger: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    pairs: bool = False,
    force: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Comparison:
    """Return the utility and the cost of several releases, side by side.

    With ``data``, the confidential table, ``contenders`` are releases or their folders, each booked
    on the ``ledger`` (default: that of the plan, or the default ledger). Plans are compared only if
    no confidential record is read: with ``simulate``, on a table simulated from their domains with
    about ``records`` records, or on a ``public`` file. ``plan`` sets how the data are read and
    names the ledger. ``out`` is a folder for the page and the figures; ``pairs`` adds the 2-way
    marginals of all pairs of columns, of the records and of each release.

    Privacy: none with ``data``: figures are computed from the confidential records without noise
    and are for the data owner only. Plans are refused there, because keeping the best of several
    runs is a choice based on the data.
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
    plan: PlanGiven,
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
