"""Lines of cells, shared by ARX CSV and child-parent pairs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.text import at
from hedgerow.taxonomy.labels import displayed, fault_of

DELIMITERS = (";", ",", "\t")


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one line, without surrounding blanks."""

    line: int
    cells: tuple[str, ...]


def split_rows(text: str, name: str, *, fits: Sequence[Callable[[list[Row]], bool]]) -> list[Row]:
    """Return the rows of a text, split at the delimiter under which they fit.

    The tests of ``fits`` are tried in order, each on every delimiter; labels may contain the other
    delimiters. A split that gives the same text when joined again comes first: quotes distinguish
    it from all others. If nothing fits, the delimiter that splits most lines is taken, so that the
    reader can name the line at fault.
    """
    cuts: list[list[Row]] = []
    broken: list[TaxonomyError] = []
    for delimiter in DELIMITERS:
        try:
            rows = _cut(text, delimiter, name)
        except TaxonomyError as error:
            broken.append(error)
            continue
        if join_rows((row.cells for row in rows), delimiter=delimiter) == text:
            cuts.insert(0, rows)
        else:
            cuts.append(rows)
    if not cuts:
        raise broken[0]
    for fit in fits:
        for rows in cuts:
            if rows and fit(rows):
                return rows
    best = max(cuts, key=_n_divided)
    if not best:
        raise TaxonomyError(
            "The file holds no labels.", where=name, do="Give one line per value: value;group;*"
        )
    return best


def _cut(text: str, delimiter: str, name: str) -> list[Row]:
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True
    )
    rows: list[Row] = []
    try:
        for cells in lines:
            stripped = tuple(cell.strip() for cell in cells)
            if stripped and stripped != ("",):
                rows.append(Row(lines.line_num, stripped))
    except csv.Error as error:
        raise TaxonomyError(
            f"The line cannot be split into cells ({error}).",
            where=at(name, lines.line_num),
            line=lines.line_num,
            do='Close every quote; write a quote inside a quoted cell twice: "".',
        ) from error
    return rows


def _n_divided(rows: Iterable[Row]) -> int:
    return sum(len(row.cells) > 1 for row in rows)


def join_rows(rows: Iterable[Iterable[str]], *, delimiter: str) -> str:
    """Return rows as text that only ``delimiter`` splits: cells with another one are quoted."""
    return "".join(delimiter.join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(cell: str) -> str:
    if any(character in cell for character in (*DELIMITERS, '"')):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def check_cells(row: Row, name: str) -> None:
    """Refuse a row with an empty or unusable cell."""
    for number, cell in enumerate(row.cells, start=1):
        fault = fault_of(cell)
        if fault is None:
            continue
        what = (
            f"Cell {number} is empty."
            if not cell
            else (f"Cell {number}, {displayed(cell)}, {fault}.")
        )
        raise TaxonomyError(
            what,
            where=at(name, row.line),
            line=row.line,
            value=cell,
            do=(
                "Write the label that belongs there, or remove the cell; do not end lines with a"
                " delimiter."
            ),
        )
