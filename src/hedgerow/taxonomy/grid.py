"""Public grids of numeric attributes: exact borders, and the cells of whole columns.

A cell is ``[border, next border)`` and the last one is closed; values outside the grid are clamped.
Borders are exact, values are floats, and a float stands for the number that was written: a value
equals a border if it is the float nearest to that border. So with steps of 0.1 the float 0.3, which
is a little below three tenths, opens the cell ``[0.3, 0.4)``. A test compares this with exact
fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.taxonomy.numbers import common_denominator, written

MOST_CELLS = 2**31 - 2
# Borders are kept as whole numbers over one denominator. Below this bound the float division of the
# two is the float nearest to the border, and borders stay distinct.
_LARGEST = 2**52

Column: TypeAlias = NDArray[np.floating[Any]] | NDArray[np.integer[Any]]


@dataclass(frozen=True, kw_only=True)
class EvenGrid:
    """Cells of one width: cell ``i`` begins at ``low + i * step``; ``high`` is included.

    >>> EvenGrid(low=Fraction(17), high=Fraction(90), step=Fraction(1)).n_cells
    74
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise SettingError.out_of_range(
                "high", written(self.high), f"a number from {written(self.low)} up"
            )
        if self.step <= 0:
            raise SettingError.out_of_range("step", written(self.step), "a number above 0")
        if self.n_cells > MOST_CELLS:
            raise SettingError.out_of_range(
                "step", written(self.step), f"a larger step: at most {MOST_CELLS:,} cells"
            )
        unit = Fraction(self._unit)
        if max(unit, abs(self.low) * unit, (abs(self.high) + self.step) * unit) > _LARGEST:
            raise SettingError.out_of_range(
                "step",
                written(self.step),
                "a step and bounds with fewer digits: they are finer than floating-point numbers",
            )

    @cached_property
    def n_cells(self) -> int:
        """Number of cells."""
        return math.floor((self.high - self.low) / self.step) + 1

    @property
    def counts_integers(self) -> bool:
        """Return whether every cell is one integer."""
        return self.step == self.low.denominator == self.high.denominator == 1

    def border(self, cell: int) -> Fraction:
        """Return the start of a cell; for the number of cells, the end of the last one."""
        if cell == self.n_cells:
            return self.high
        low, step = self._in_units
        return Fraction(low + cell * step, self._unit)

    def cells(self, values: Column) -> NDArray[np.int64]:
        """Return the cell of each value, clamped to the grid; the caller masks NaN."""
        if np.issubdtype(values.dtype, np.integer):
            low, high = math.floor(self.low), math.ceil(self.high)
            whole = _clamped_integers(values, low, high)
            return np.clip(self._cells_of_integers(whole), 0, self.n_cells - 1)
        ends = self._threshold(np.array([0, self.n_cells - 1])).astype(values.dtype)
        inside = np.fmin(np.fmax(values, ends[0]), ends[1])
        if self._unit == 1:  # all borders are integers
            return self._cells_of_integers(np.floor(inside).astype(np.int64))
        return self._cells_of_floats(inside)

    @cached_property
    def _unit(self) -> int:
        return common_denominator(self.low, self.step)

    @cached_property
    def _in_units(self) -> tuple[int, int]:
        """Return the low end and the step, in units in which both are whole numbers."""
        return int(self.low * self._unit), int(self.step * self._unit)

    def _cells_of_integers(self, whole: NDArray[np.int64]) -> NDArray[np.int64]:
        unit, (low, step) = self._unit, self._in_units
        units = whole if unit == 1 else whole * unit
        return units - low if step == 1 else (units - low) // step

    def _cells_of_floats(self, inside: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        unit, low, step = self._unit, float(self.low * self._unit), float(self.step * self._unit)
        guess = np.floor((inside.astype(np.float64) * unit - low) / step)
        cell = np.clip(guess, 0, self.n_cells - 1).astype(np.int64)
        while True:  # the guess is off by rounding only: one or two rounds
            begins, ends = self._threshold(cell), self._threshold(cell + 1)
            down = inside < begins.astype(inside.dtype)
            up = (inside >= ends.astype(inside.dtype)) & (cell < self.n_cells - 1)
            if not (down.any() or up.any()):
                return cell
            cell += up
            cell -= down

    def _threshold(self, cell: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the float nearest to the start of each cell."""
        unit, (low, step) = self._unit, self._in_units
        nearest: NDArray[np.float64] = (low + cell * step) / unit
        return nearest


@dataclass(frozen=True, kw_only=True)
class EdgeGrid:
    """Cells between given edges.

    >>> grid = EdgeGrid(edges=(Fraction(0), Fraction(18), Fraction(65), Fraction(120)))
    >>> grid.cells(np.array([-3, 17, 18, 120]))
    array([0, 0, 1, 2])
    """

    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        shown = ", ".join(written(edge) for edge in self.edges[:8])
        wrong = "at least two numbers, each above the one before it"
        if len(self.edges) < 2 or any(np.diff(np.array(self.edges, dtype=object)) <= 0):
            raise SettingError.out_of_range("edges", f"[{shown}]", wrong)
        if max(abs(self.edges[0]), abs(self.edges[-1])) > _LARGEST:
            raise SettingError.out_of_range("edges", f"[{shown}]", "numbers below 2^52")
        if (np.diff(np.array(self.edges, dtype=np.float64)) <= 0).any():
            raise SettingError.out_of_range("edges", f"[{shown}]", "edges with larger distances")

    counts_integers = False

    @property
    def low(self) -> Fraction:
        """Lowest value."""
        return self.edges[0]

    @property
    def high(self) -> Fraction:
        """Highest value."""
        return self.edges[-1]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1

    def border(self, cell: int) -> Fraction:
        """Return the start of a cell; for the number of cells, the end of the last one."""
        return self.edges[cell]

    def cells(self, values: Column) -> NDArray[np.int64]:
        """Return the cell of each value, clamped to the grid; the caller masks NaN."""
        if np.issubdtype(values.dtype, np.integer):
            whole = _clamped_integers(values, math.floor(self.low), math.ceil(self.high))
            reached = np.array([math.ceil(edge) for edge in self.edges[1:-1]], dtype=np.int64)
            return np.searchsorted(reached, whole, side="right").astype(np.int64)
        nearest = np.array(self.edges[1:-1], dtype=np.float64).astype(values.dtype)
        return np.searchsorted(nearest, values, side="right").astype(np.int64)


Grid: TypeAlias = EvenGrid | EdgeGrid


def _clamped_integers(values: Column, low: int, high: int) -> NDArray[np.int64]:
    if np.issubdtype(values.dtype, np.unsignedinteger):
        values = np.minimum(values.astype(np.uint64), np.uint64(2 * _LARGEST))
    return np.clip(values.astype(np.int64), low, high)
