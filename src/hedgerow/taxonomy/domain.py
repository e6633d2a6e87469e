"""The finite public domain of an attribute, as codes ``0..size-1`` with labels."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError, TaxonomyError
from hedgerow.taxonomy.calendar import CalendarGrid, DateStep, Days, date_text, day_number
from hedgerow.taxonomy.grid import Column, EdgeGrid, EvenGrid, Grid
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.numbers import NumberLike, exact, written
from hedgerow.taxonomy.ready.catalogue import ready_taxonomy
from hedgerow.taxonomy.tree import Taxonomy

MISSING = "missing"
"""Label of a missing value in labels of numeric ranges."""

DomainCodes: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
CodeType: TypeAlias = np.dtype[np.uint8] | np.dtype[np.uint16] | np.dtype[np.uint32]

_MOST_JOINED = 4  # values that a label lists individually
_BLOCK = 1 << 16  # values encoded at a time, so that the work stays in the cache


def code_dtype(size: int) -> CodeType:
    """Return the smallest unsigned type that holds the codes ``0..size-1``.

    >>> code_dtype(256), code_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    if size <= 1 << 8:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16) if size <= 1 << 16 else np.dtype(np.uint32)


@dataclass(frozen=True, kw_only=True)
class CategoricalDomain:
    """The leaves of a taxonomy as codes.

    ``other`` names the leaf of values that the taxonomy does not list, ``missing`` the leaf of
    missing values; :meth:`over` adds them if the taxonomy lacks them. ``reads`` is the ready
    taxonomy whose spellings of values are accepted.
    """

    kind: ClassVar[Literal["categorical"]] = "categorical"
    taxonomy: Taxonomy
    other: str | None = None
    missing: str | None = None
    reads: str | None = None

    def __post_init__(self) -> None:
        for setting, label in (("other", self.other), ("missing", self.missing)):
            if label is not None and label not in self.taxonomy.leaf_code:
                raise TaxonomyError(
                    f"{displayed(label)} is not a value of the taxonomy.",
                    where=setting,
                    value=label,
                    do="Add it as a leaf, or use CategoricalDomain.over.",
                )

    @classmethod
    def over(
        cls,
        taxonomy: Taxonomy,
        *,
        other: str | None = None,
        missing: str | None = None,
        reads: str | None = None,
    ) -> CategoricalDomain:
        """Return the domain of a taxonomy, with last codes for ``other`` and ``missing``."""
        for label in (other, missing):
            if label is not None and label not in taxonomy.leaf_code:
                taxonomy = taxonomy.with_leaf(label)
        return cls(taxonomy=taxonomy, other=other, missing=missing, reads=reads)

    @property
    def size(self) -> int:
        """Number of codes."""
        return self.taxonomy.n_leaves

    def code_of(self, text: str) -> int | None:
        """Return the code of the leaf that a text spells, or ``None``.

        >>> domain = CategoricalDomain(taxonomy=Taxonomy.flat(["a", "b"]))
        >>> domain.code_of("b"), domain.code_of("B")
        (1, None)
        """
        code = self.taxonomy.leaf_code.get(text)
        if code is None and self.reads is not None:
            leaf = ready_taxonomy(self.reads).leaf_of(text)
            return None if leaf is None else self.taxonomy.leaf_code.get(leaf)
        return code

    @property
    def other_code(self) -> int | None:
        """Code of values that the taxonomy does not list."""
        return None if self.other is None else self.taxonomy.leaf_code[self.other]

    @property
    def missing_code(self) -> int | None:
        """Code of missing values."""
        return None if self.missing is None else self.taxonomy.leaf_code[self.missing]

    def label(self, first: int, stop: int) -> str:
        """Return the label of the codes ``[first, stop)``, of a node if one has this range.

        >>> jobs = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm"]})
        >>> domain = CategoricalDomain(taxonomy=jobs)
        >>> domain.label(0, 2), domain.label(1, 3)
        ('Indoor', 'shop|farm')
        """
        _check_range(first, stop, self.size)
        node = self.taxonomy.node_at(first, stop)
        if node is not None:
            return self.taxonomy.labels[node]
        labels = self.taxonomy.leaf_labels[first:stop]
        if len(labels) <= _MOST_JOINED:
            return "|".join(labels)
        return f"{labels[0]}|{labels[1]}|...|{labels[-1]} ({len(labels)} values)"


@dataclass(frozen=True, kw_only=True)
class NumericDomain:
    """The cells of a public grid as codes; with ``missing``, code 0 is for missing values.

    >>> age = NumericDomain.even(low=17, high=90, step=1)
    >>> age.size, age.label(0, 23), age.label(0, 1), age.label(0, 74)
    (74, '[17, 40)', '17', '[17, 90]')
    >>> age.encode(np.array([17.0, 17.9, 200.0]))
    array([ 0,  0, 73], dtype=uint8)
    """

    kind: ClassVar[Literal["numeric"]] = "numeric"
    grid: Grid | CalendarGrid
    missing: bool = False

    @classmethod
    def even(
        cls, *, low: NumberLike, high: NumberLike, step: NumberLike, missing: bool = False
    ) -> NumericDomain:
        """Return the grid of cells ``[low + i * step, low + (i + 1) * step)`` up to ``high``."""
        grid = EvenGrid(
            low=exact(low, setting="low"),
            high=exact(high, setting="high"),
            step=exact(step, setting="step"),
        )
        return cls(grid=grid, missing=missing)

    @classmethod
    def from_edges(cls, edges: Sequence[NumberLike], *, missing: bool = False) -> NumericDomain:
        """Return the grid of cells between strictly increasing edges, the last one closed."""
        exactly = tuple(exact(edge, setting="edges") for edge in edges)
        return cls(grid=EdgeGrid(edges=exactly), missing=missing)

    @property
    def low(self) -> Fraction:
        """Lowest value; lower ones are clamped to it."""
        return self.grid.low

    @property
    def high(self) -> Fraction:
        """Highest value; higher ones are clamped to it."""
        return self.grid.high

    @property
    def size(self) -> int:
        """Number of codes: one per cell, and one for missing values if there is one."""
        return self.grid.n_cells + self.missing

    @property
    def missing_code(self) -> int | None:
        """Code of missing values."""
        return 0 if self.missing else None

    def encode(self, values: Column) -> DomainCodes:
        """Return the code of each value, clamped to the grid.

        A float stands for the number that was written: with steps of 0.1, the float 0.3 is in
        ``[0.3, 0.4)``. The code of NaN is undefined; mask it.
        """
        codes = np.empty(len(values), dtype=code_dtype(self.size))
        for start in range(0, len(values), _BLOCK):
            block = slice(start, start + _BLOCK)
            codes[block] = self.grid.cells(values[block]) + self.missing
        return codes

    def bounds(self, first: int, stop: int) -> tuple[Fraction, Fraction]:
        """Return the start and end of the cells of ``[first, stop)``, without missing values."""
        _check_range(first, stop, self.size)
        shift = int(self.missing)
        return self.grid.border(max(first - shift, 0)), self.grid.border(max(stop - shift, 0))

    def label(self, first: int, stop: int) -> str:
        """Return a readable label of the codes ``[first, stop)``.

        >>> paid = NumericDomain.from_edges([0, 10, 100], missing=True)
        >>> paid.label(0, 1), paid.label(0, 2), paid.label(2, 3)
        ('missing', 'missing or [0, 10)', '[10, 100]')
        """
        _check_range(first, stop, self.size)
        if self.missing and first == 0:
            known = "" if stop == 1 else f" or {self.label(1, stop)}"
            return MISSING + known
        low, high = self.bounds(first, stop)
        if low == high or (self.grid.counts_integers and stop - first == 1):
            return self.written(low)
        return f"[{self.written(low)}, {self.written(high)}{']' if stop == self.size else ')'}"

    def written(self, value: Fraction) -> str:
        """Return a readable text of a value of the domain."""
        return written(value)

    @property
    def levels(self) -> tuple[Days, ...]:
        """Borders of codes at which ranges are split first, coarsest first, if any."""
        return ()


@dataclass(frozen=True, kw_only=True)
class DateDomain(NumericDomain):
    """The cells of a calendar as codes: a grid of days since 1970-01-01, shown as dates.

    >>> admitted = DateDomain.between(
    ...     datetime.date(2020, 1, 1), datetime.date(2020, 12, 31), step="month", missing=True
    ... )
    >>> admitted.size, admitted.label(1, 4), admitted.label(12, 13), admitted.label(0, 1)
    (13, '[2020-01-01, 2020-04-01)', '[2020-12-01, 2020-12-31]', 'missing')
    >>> [level.tolist() for level in admitted.levels][0]
    [0, 1, 4, 7, 10, 13]
    """

    grid: CalendarGrid

    @classmethod
    def between(
        cls,
        first: datetime.date,
        last: datetime.date,
        *,
        step: DateStep,
        missing: bool = False,
    ) -> DateDomain:
        """Return the calendar from one day to another, both included."""
        grid = CalendarGrid(first=day_number(first), last=day_number(last), step=step)
        return cls(grid=grid, missing=missing)

    def written(self, value: Fraction) -> str:
        """Return a day in ISO format."""
        return date_text(value)

    @property
    def levels(self) -> tuple[Days, ...]:
        """Starts of years, quarters, months and cells, as codes; missing values are separate."""
        if not self.missing:
            return self.grid.levels
        levels = self.grid.levels or (np.array([0, self.grid.n_cells], dtype=np.int64),)
        return tuple(np.concatenate([[0], level + 1]) for level in levels)


Domain: TypeAlias = CategoricalDomain | NumericDomain


def _check_range(first: int, stop: int, size: int) -> None:
    if not 0 <= first < stop <= size:
        raise SettingError.out_of_range(
            "codes", f"[{first}, {stop})", f"a range of codes within [0, {size})"
        )
