"""Results of a comparison: table, page and files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.comparison.figures import LEARNERS, Figures
from hedgerow.comparison.pairs import PairedTables
from hedgerow.errors import ReleaseError
from hedgerow.evaluation.evaluation import FOR_OWNER, check_folder, written_for_owner
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
