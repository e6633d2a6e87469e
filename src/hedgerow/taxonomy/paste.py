"""Cells from a spreadsheet: one value per row, with its groups beside it."""

from __future__ import annotations

import csv
import io
from itertools import groupby
from typing import Literal, TypeAlias, get_args

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import fault_of

Order: TypeAlias = Literal["value-first", "group-first"]
ORDERS: tuple[Order, ...] = get_args(Order)
_CUTS = ("\t", ";", ",")


def pasted_ways(text: str, *, order: Order = "value-first") -> list[list[str]]:
    r"""Return the path from the widest group down to the value of every pasted row.

    Spreadsheets put tabs between cells; without tabs, rows are split at ``;`` or at ``,``. An empty
    cell below a group that spans several rows repeats the one above it.

    >>> pasted_ways("office\tIndoor\nshop\tIndoor\n")
    [['Indoor', 'office'], ['Indoor', 'shop']]
    >>> pasted_ways("Indoor\toffice\n\tshop\n", order="group-first")
    [['Indoor', 'office'], ['Indoor', 'shop']]
    """
    rows = _rows(text)
    ways: list[list[str]] = []
    before: list[str] = []
    for number, cells in rows:
        filled = _filled(cells, before)
        before = filled
        way = [label for label, _ in groupby(cell for cell in filled if cell)]
        for label in way:
            if fault_of(label) is not None or way.count(label) > 1:
                raise TaxonomyError(
                    "A cell cannot be a label, or occurs twice in the row.",
                    where=f"pasted row {number}",
                    value=label,
                    do="Give plain cells: the value and its groups, each once.",
                )
        ways.append(way if order == "group-first" else way[::-1])
    if not ways:
        raise TaxonomyError("There are no cells.", where="pasted text", do="Copy at least one row.")
    return ways


def _rows(text: str) -> list[tuple[int, list[str]]]:
    delimiter = next((cut for cut in _CUTS if cut in text), "\t")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [[cell.strip() for cell in cells] for cells in reader]
    except csv.Error as error:
        raise TaxonomyError(
            f"A row cannot be split into cells ({error}).",
            where="pasted text",
            do="Copy the cells again, without line breaks in them.",
        ) from error
    return [(number, cells) for number, cells in enumerate(rows, start=1) if any(cells)]


def _filled(cells: list[str], before: list[str]) -> list[str]:
    """Repeat cells from the row above for the blanks of merged cells, up to the last cell."""
    last = max(at for at, cell in enumerate(cells) if cell)
    return [
        cell or (before[at] if at < min(last, len(before)) else "") for at, cell in enumerate(cells)
    ]
