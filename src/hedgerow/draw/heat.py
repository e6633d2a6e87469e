"""Tables of two columns as heat maps: the original's beside each release's, and the difference.

Confidential where the comparison is: for pages that say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.pictures import shortened
from hedgerow.errors import InputError

CELL = 30
MOST_LETTERS = 26
"""Letters that fit below a drawing."""

LONGEST_NAME = 12
_DENSE = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Where colours change: shares in multiples of an even spread."""

_APART = (0.05, 0.25, 1.0)
"""Where colours of differences change, in the same measure."""


@dataclass(frozen=True, kw_only=True)
class HeatCell:
    """One cell: where it is drawn, its colour and its words."""

    x: int
    y: int
    colour: str
    text: str


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """One table of two columns, drawn."""

    title: str
    error: float | None
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, kw_only=True)
class CellName:
    """The name of a row or a column beside a drawing: where its middle is, in percent."""

    percent: float
    text: str


@dataclass(frozen=True, kw_only=True)
class HeatMaps:
    """The original and each release with its difference; names of the cells are beside them."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    maps: tuple[HeatMap, ...]

    @property
    def slanted(self) -> bool:
        """Whether names across are too long to stand beside each other."""
        return sum(len(name) + 2 for name in self.columns) > MOST_LETTERS

    @property
    def row_names(self) -> tuple[CellName, ...]:
        """The names of the rows, as many as there is room for."""
        return _names(self.rows, most=14)

    @property
    def column_names(self) -> tuple[CellName, ...]:
        """The names of the columns, as many as there is room for."""
        return _names(self.columns, most=12)

    @property
    def width(self) -> int:
        """The width of a drawing."""
        return CELL * len(self.columns)

    @property
    def height(self) -> int:
        """The height of a drawing."""
        return CELL * len(self.rows)


def heat_maps(
    told: Mapping[str, Any], pair: tuple[int, int], *, original: str, differs: str
) -> HeatMaps:
    """Return the maps of two columns; ``original`` and ``differs`` name them."""
    first, second = min(pair), max(pair)
    columns = told["columns"]
    found = next((each for each in told["pairs"] if each["columns"] == [first, second]), None)
    if found is None:
        raise InputError("these columns are not compared", where="columns", do="Choose two others.")
    rows, across = columns[first]["cells"], columns[second]["cells"]
    true = np.array(found["records"], dtype=np.float64)
    maps = [_map(original, true, rows, across)]
    for name, release in found["releases"].items():
        shares = np.array(release["shares"], dtype=np.float64)
        maps.append(_map(name, shares, rows, across, error=release["error"]))
        maps.append(_difference(differs.format(name=name), shares - true, rows, across))
    return HeatMaps(
        down=columns[first]["name"],
        across=columns[second]["name"],
        rows=tuple(rows),
        columns=tuple(across),
        maps=tuple(maps),
    )


def _map(
    title: str,
    shares: NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    error: float | None = None,
) -> HeatMap:
    levels = np.where(shares > 0, 1 + np.searchsorted(_DENSE, shares * shares.size), 0)
    colours = [[f"h{level}" for level in row] for row in levels.tolist()]
    return HeatMap(title=title, error=error, cells=_cells(shares, colours, rows, columns))


def _difference(
    title: str, apart: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str]
) -> HeatMap:
    size = np.abs(apart) * apart.size
    levels = 1 + np.searchsorted(_APART, size)
    signs = np.where(apart > 0, "more", "less")
    colours = [
        [
            "same" if far < 0.01 else f"{sign}{level}"
            for sign, level, far in zip(s_row, l_row, f_row, strict=True)
        ]
        for s_row, l_row, f_row in zip(signs, levels.tolist(), size.tolist(), strict=True)
    ]
    return HeatMap(title=title, error=None, cells=_cells(apart, colours, rows, columns))


def _cells(
    values: NDArray[np.float64],
    colours: list[list[str]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> tuple[HeatCell, ...]:
    return tuple(
        HeatCell(
            x=CELL * across,
            y=CELL * down,
            colour=colours[down][across],
            text=f"{rows[down]}, {columns[across]}: {100 * values[down, across]:.2f} %",
        )
        for down in range(values.shape[0])
        for across in range(values.shape[1])
    )


def _names(labels: Sequence[str], *, most: int) -> tuple[CellName, ...]:
    every = -(-len(labels) // most)
    return tuple(
        CellName(
            percent=round(100 * (at + 0.5) / len(labels), 2),
            text=shortened(label, LONGEST_NAME),
        )
        for at, label in enumerate(labels)
        if at % every == 0
    )
