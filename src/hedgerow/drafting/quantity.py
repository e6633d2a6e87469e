"""Columns of numbers, and the form of these: their marks, and the texts among them.

A file is usually written by one program, so its columns are judged together: if one number settles
the meaning of a comma, ``6.893`` in another column is no longer ambiguous.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.model.reading import Decimal, NumberMarks, Thousands
from hedgerow.read.marks import THOUSANDS, number_pattern

PLAIN_MARKS = NumberMarks()
_MARKS: tuple[tuple[Decimal, Thousands], ...] = (
    ("point", "none"),
    ("comma", "none"),
    ("point", "comma"),
    ("comma", "point"),
    ("point", "blank"),
    ("comma", "blank"),
    ("point", "apostrophe"),
    ("comma", "apostrophe"),
)
FORMS = tuple(NumberMarks(decimal=d, thousands=t) for d, t in _MARKS)
"""Forms of numbers that a draft recognises, the plainest first."""

_BARE = r"^[+-]?[0-9]+$"
_PADDED = r"^0[0-9]+$"
_SELDOM = ("blank", "apostrophe")
ENOUGH = 20
THOUSAND = 1000
_ONE_IN = 200
LEAST_SHARE = 0.2


class NumbersSeen:
    """Records of a column with a number in one form (confidential).

    The lowest and the highest numbers are kept as far as they are needed for bounds that a few
    records cannot move.
    """

    def __init__(self) -> None:
        self.n_records = 0
        self.n_marked = 0
        self.is_whole = True
        self._lowest = _Ends()
        self._highest = _Ends()

    @property
    def low(self) -> float:
        """Least number."""
        return self._lowest.outermost()

    @property
    def high(self) -> float:
        """Largest number."""
        return -self._highest.outermost()

    def add(self, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Add numbers, each with its records."""
        if numbers.size:
            self.n_records += int(counts.sum())
            self.is_whole = self.is_whole and bool((numbers == np.floor(numbers)).all())
            self._lowest.add(numbers, counts)
            self._highest.add(-numbers, counts)

    def bounds(self) -> tuple[float, float]:
        """Return bounds outside of which are fewer than twenty records and at most one in 200."""
        beyond = min(ENOUGH - 1, self.n_records // _ONE_IN)
        return self._lowest.after(beyond), -self._highest.after(beyond)

    def reads_like(self, other: NumbersSeen) -> bool:
        """Return whether another form finds as many numbers, and between the same bounds."""
        return (self.n_records, self.low, self.high) == (other.n_records, other.low, other.high)


class _Ends:
    """The least numbers of all, with as many records as are needed."""

    def __init__(self) -> None:
        self.numbers = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)

    def add(self, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        numbers, counts = np.append(self.numbers, numbers), np.append(self.counts, counts)
        order = np.argsort(numbers, kind="stable")
        needed = int(np.searchsorted(np.cumsum(counts[order]), ENOUGH)) + 1
        self.numbers, self.counts = numbers[order][:needed], counts[order][:needed]

    def outermost(self) -> float:
        return float(self.numbers[0]) if self.numbers.size else float("inf")

    def after(self, n_records: int) -> float:
        """Return the least number with more than ``n`` records up to it."""
        return float(self.numbers[np.searchsorted(np.cumsum(self.counts), n_records + 1)])


@dataclass(kw_only=True, eq=False, repr=False)
class NumberForms:
    """Readings of the texts of a column as numbers, form by form (confidential).

    ``n_padded`` records have leading zeros; ``high_bare`` is the largest number without marks.
    """

    seen: dict[NumberMarks, NumbersSeen] = field(
        default_factory=lambda: {form: NumbersSeen() for form in FORMS}
    )
    n_padded: int = 0
    high_bare: float = float("-inf")

    def add_words(self, words: pa.Array, counts: NDArray[np.int64]) -> None:
        """Add distinct texts without blanks around them, each with its records."""
        padded = _mask(words, _PADDED)
        self.n_padded += int(counts[padded].sum())
        bare = _floats(words.filter(pa.array(_mask(words, _BARE))))
        if bare.size:
            self.high_bare = max(self.high_bare, float(bare.max()))
        for form in FORMS:
            # If no text has such a mark, both forms read alike.
            is_bare = form.thousands in _SELDOM and not _mask(words, _between(form)).any()
            read_as = replace(form, thousands="none") if is_bare else form
            numbers, n_records, n_marked = _read(read_as, words, counts)
            self.seen[form].add(numbers, n_records)
            self.seen[form].n_marked += n_marked

    def add_numbers(self, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Add values that are stored as numbers."""
        self.seen[FORMS[0]].add(numbers, counts)


def _read(
    form: NumberMarks, words: pa.Array, counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return the numbers among texts, their records, and the number of these with a mark."""
    mask = _mask(words, f"^(?:{number_pattern(form).pattern})$")
    found, n_records, n_marked = words.filter(pa.array(mask)), counts[mask], 0
    if form.thousands != "none":
        n_marked = int(n_records[_mask(found, _between(form))].sum())
        found = pc.replace_substring_regex(found, _between(form), "")
    return _floats(pc.replace_substring(found, ",", ".")), n_records, n_marked


def _between(form: NumberMarks) -> str:
    """Return the pattern of the thousands separator."""
    return f"[{re.escape(THOUSANDS[form.thousands])}]"


def _mask(words: pa.Array, pattern: str) -> NDArray[np.bool_]:
    matched = pc.match_substring_regex(words, pattern)
    return np.asarray(matched.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _floats(words: pa.Array) -> NDArray[np.float64]:
    numbers = words.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, dtype=np.float64)
