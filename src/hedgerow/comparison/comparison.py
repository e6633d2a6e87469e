"""A comparison: its table, its page, and where it may be written."""

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
NOT_SECRET = {
    "made-up": "On a table made from the plans' public domains: no record was read.",
    "public": "On a file that was declared public.",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Several releases side by side; ``on`` says which records they are compared with.

    ``pairs`` are tables of every two columns, where they were asked for. On
    confidential records every figure is for the data owner alone.
    """

    rows: tuple[Figures, ...]
    on: str
    n_records: int
    pairs: PairedTables | None = None

    def __repr__(self) -> str:
        return f"Comparison({len(self.rows)} releases, {self.on} records)"

    @property
    def told(self) -> str:
        """Who may see it, and why."""
        return NOT_SECRET.get(self.on, FOR_OWNER)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison for JSON."""
        return {
            "format-version": 1,
            "for": self.told,
            "on": self.on,
            "records": self.n_records,
            "releases": [row.as_dict() for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the text of `comparison.json`."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table, as people read them; columns are ``COLUMNS``."""
        return [_cells(row) for row in self.rows]

    def html(self) -> str:
        """Return the text of `comparison.html`: one table and one picture."""
        from hedgerow.report.comparison import render_comparison

        first = self.rows[0]
        ends = {"floor": first.floor, **{f"raw, {k}": v for k, v in first.ceiling.items()}}
        return render_comparison(
            told=self.told,
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
        """Write the page and the figures, readable by their owner alone; return both files."""
        target = Path(folder)
        page, figures = self.html(), self.to_json()
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            (target / PAIRS_FILE).unlink(missing_ok=True)  # of an earlier comparison
            if self.pairs is not None:
                written_for_owner(target / PAIRS_FILE, self.pairs.to_json(self.told))
            return (
                written_for_owner(target / PAGE_FILE, page),
                written_for_owner(target / JSON_FILE, figures),
            )
        except OSError as error:
            raise ReleaseError(
                f"the comparison cannot be written: {(error.strerror or str(error)).lower()}",
                where=str(target),
                do="Give a folder with room that you may write to.",
            ) from error


def check_comparison_folder(
    folder: str | os.PathLike[str], contenders: Sequence[Any], *, force: bool
) -> Path:
    """Return where a comparison may be written, or refuse; call it before the work."""
    target = Path(folder)
    for each in contenders:
        check_folder(target, apart_from=each, force=True)
    if not force and any((target / name).exists() for name in (JSON_FILE, PAGE_FILE)):
        raise ReleaseError(
            "the folder holds a comparison already",
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
