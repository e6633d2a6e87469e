"""Comparison of several releases or plans: figures in one table, its page and its files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.comparison.contenders import (
    Contender,
    booked_releases,
    public_plans,
    simulated_plans,
)
from hedgerow.comparison.figures import LEARNERS, Figures, PairedTables, figures_of, paired_tables
from hedgerow.errors import RefusedError, ReleaseError, SettingError
from hedgerow.evaluation.evaluation import FOR_OWNER, check_folder, written_for_owner
from hedgerow.progress import Progress, no_progress
from hedgerow.release.generalise import OptionalPlan
from hedgerow.report.headlines import per_cent

JSON_FILE, PAGE_FILE, PAIRS_FILE = "comparison.json", "comparison.html", "pairs.json"
COLUMNS = (
    *("", "ε", "rows", "1-way error", "worst column", "2-way error", "2-way, public bins"),
    *("count error", "tree", "boosting", "risk"),
)
SIMULATED = "simulated"
NOT_SECRET = {
    SIMULATED: "Measured on a table simulated from the plans' public domains; no record was read.",
    "public": "Measured on a file that was declared public.",
}
"""Statements about comparisons that read no confidential record."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Comparison of several releases: errors, accuracy of classifiers, risk and cost.

    Returned by `compare`.

    Parameters
    ----------
    rows : tuple of Figures
        The figures of each release.
    on : str
        The kind of records that releases are compared with: confidential, simulated or public.
    n_records : int
        Number of these records.
    pairs : PairedTables, optional
        2-way marginals of the records and of each release.

    Notes
    -----
    Privacy: none on confidential records. The figures are then for the data owner only.

    Examples
    --------
    >>> Comparison(rows=(), on="public", n_records=1000)
    Comparison(0 releases, public records)

    """

    rows: tuple[Figures, ...]
    on: str
    n_records: int
    pairs: PairedTables | None = None

    def __repr__(self) -> str:
        return f"Comparison({len(self.rows)} releases, {self.on} records)"

    @property
    def audience(self) -> str:
        """The statement about who may see the comparison, and why."""
        return NOT_SECRET.get(self.on, FOR_OWNER)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        return {
            "format-version": 1,
            "for": self.audience,
            "on": self.on,
            "records": self.n_records,
            "releases": [row.as_dict() for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the content of `comparison.json`."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table as texts; the columns are ``COLUMNS``."""
        return [_cells(row) for row in self.rows]

    def html(self) -> str:
        """Return the content of `comparison.html`: one table and one picture."""
        from hedgerow.report.comparison import render_comparison

        first = self.rows[0]
        ends = {"floor": first.floor, **{f"raw, {k}": v for k, v in first.ceiling.items()}}
        return render_comparison(
            audience=self.audience,
            is_secret=self.on not in NOT_SECRET,
            columns=COLUMNS,
            cells=self.cells(),
            ends={name: per_cent(value) for name, value in ends.items() if value is not None},
            answering_zero=per_cent(first.answering_zero),
            names=[_name(row) for row in self.rows],
            errors={
                "2-way error": [row.two_way_neutral for row in self.rows],
                "count error": [row.count_error for row in self.rows],
                "tree, wrong": [_wrong(row, "tree") for row in self.rows],
                "boosting, wrong": [_wrong(row, "boosting") for row in self.rows],
            },
        )

    def write(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write the page and the figures, readable only by their owner; return both files."""
        target = Path(folder)
        page, figures = self.html(), self.to_json()
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            (target / PAIRS_FILE).unlink(missing_ok=True)  # left by an earlier comparison
            if self.pairs is not None:
                written_for_owner(target / PAIRS_FILE, self.pairs.to_json(self.audience))
            return (
                written_for_owner(target / PAGE_FILE, page),
                written_for_owner(target / JSON_FILE, figures),
            )
        except OSError as error:
            raise ReleaseError(
                f"The comparison cannot be written: {(error.strerror or str(error)).lower()}.",
                where=str(target),
                do="Give a writable folder with enough free space.",
            ) from error


def check_comparison_folder(
    folder: str | os.PathLike[str], contenders: Sequence[Any], *, force: bool
) -> Path:
    """Return the folder of a comparison, or refuse it; called before the work begins."""
    target = Path(folder)
    for each in contenders:
        check_folder(target, apart_from=each, force=True)
    if not force and any((target / name).exists() for name in (JSON_FILE, PAGE_FILE)):
        raise ReleaseError(
            "The folder already holds a comparison.",
            where=str(target),
            do="Give another folder, or --force to replace it.",
        )
    return target


def _name(row: Figures) -> str:
    return f"{row.name} ({row.method})"


def _wrong(row: Figures, learner: str) -> float | None:
    return 1 - row.learnt[learner] if learner in row.learnt else None


def _cells(row: Figures) -> tuple[str, ...]:
    learnt = [per_cent(row.learnt.get(name)) for name in LEARNERS]
    return (
        _name(row),
        row.epsilon or "none",
        f"{row.rows:,}",
        per_cent(row.one_way_neutral),
        f"{row.worst_column}: {per_cent(row.worst_error)}",
        per_cent(row.two_way_neutral),
        per_cent(row.two_way),
        per_cent(row.count_error),
        *learnt,
        "bounded by ε" if row.epsilon is not None else per_cent(row.risk),
    )


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
