"""Heat maps of 2-way marginals: the original beside each release, and the difference.

Confidential if the comparison is; only for pages that say so.
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
"""Maximum number of letters below a heat map."""

LONGEST_NAME = 12
_DENSE = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Shares at which the colour changes, as multiples of an even spread."""

_DIFFERENCES = (0.05, 0.25, 1.0)
"""Differences at which the colour changes, in the same measure."""


@dataclass(frozen=True, kw_only=True)
class HeatCell:
    """Position, colour and text of one cell."""

    x: int
    y: int
    colour: str
    text: str


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Heat map of one 2-way marginal."""

    title: str
    error: float | None
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, kw_only=True)
class CellName:
    """Label of a row or a column, with its centre in per cent."""

    percent: float
    text: str


@dataclass(frozen=True, kw_only=True)
class HeatMaps:
    """Heat maps of the original and of each release with its difference, and the cell labels."""

    down: str
    across: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    maps: tuple[HeatMap, ...]

    @property
    def slanted(self) -> bool:
        """True if the column labels are too long to stand side by side."""
        return sum(len(name) + 2 for name in self.columns) > MOST_LETTERS

    @property
    def row_names(self) -> tuple[CellName, ...]:
        """The labels of the rows, as many as there is room for."""
        return _names(self.rows, most=14)

    @property
    def column_names(self) -> tuple[CellName, ...]:
        """The labels of the columns, as many as there is room for."""
        return _names(self.columns, most=12)

    @property
    def width(self) -> int:
        """The width of a heat map."""
        return CELL * len(self.columns)

    @property
    def height(self) -> int:
        """The height of a heat map."""
        return CELL * len(self.rows)


def heat_maps(
    facts: Mapping[str, Any], pair: tuple[int, int], *, original: str, differs: str
) -> HeatMaps:
    """Return the heat maps of two columns, with the titles ``original`` and ``differs``."""
    first, second = min(pair), max(pair)
    columns = facts["columns"]
    found = next((each for each in facts["pairs"] if each["columns"] == [first, second]), None)
    if found is None:
        raise InputError(
            "These columns are not compared.", where="columns", do="Choose two others."
        )
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
    title: str, differences: NDArray[np.float64], rows: Sequence[str], columns: Sequence[str]
) -> HeatMap:
    size = np.abs(differences) * differences.size
    levels = 1 + np.searchsorted(_DIFFERENCES, size)
    signs = np.where(differences > 0, "more", "less")
    colours = [
        [
            "same" if far < 0.01 else f"{sign}{level}"
            for sign, level, far in zip(s_row, l_row, f_row, strict=True)
        ]
        for s_row, l_row, f_row in zip(signs, levels.tolist(), size.tolist(), strict=True)
    ]
    return HeatMap(title=title, error=None, cells=_cells(differences, colours, rows, columns))


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
