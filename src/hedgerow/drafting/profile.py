"""Contents of the columns of a table, in bounded memory. Confidential, all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from hedgerow.drafting.distinct import DistinctSample
from hedgerow.drafting.moments import DateForms
from hedgerow.drafting.quantity import PLAIN_MARKS, NumberForms, NumbersSeen
from hedgerow.errors import DataError
from hedgerow.model.reading import MISSING_MARKERS, NumberMarks
from hedgerow.read.marks import number_pattern, plain_number_text
from hedgerow.read.text import as_text, plain

if TYPE_CHECKING:
    from hedgerow.read.source import Source

RARE = 20
"""Least number of records of a value that a draft writes; rarer values could identify a person."""

_MOST_DISTINCT = 20_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Distinct:
    """Distinct values, or a sample of them, each with its records in the whole table."""

    words: list[str]
    counts: NDArray[np.int64]
    n_values: int


class Profile:
    """One column: the numbers of its values, and their reading as numbers.

    Counting every value stops once there are too many; ``complete`` is whether it reached the end.
    From there on a sample of the values is counted. ``marks`` are those of its numbers, set once
    the whole file was read.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.labels: tuple[str, ...] = ()
        self.n_records = 0
        self.n_missing = 0
        self.counts: Counter[str] = Counter()
        self.complete = True
        self.sample: DistinctSample | None = None
        self.is_readable = True
        self.stored: pa.DataType | None = None
        self.numbers = NumberForms()
        self.dates = DateForms()
        self.marks: NumberMarks = PLAIN_MARKS

    def __repr__(self) -> str:
        return f"Profile({self.name!r})"

    @property
    def n_known(self) -> int:
        """Number of records with a value."""
        return self.n_records - self.n_missing

    @property
    def is_empty(self) -> bool:
        """Return whether every value is missing."""
        return not self.n_known

    @property
    def missing_texts(self) -> set[str]:
        """The texts in the column that usually mean a missing value."""
        return {text for text in MISSING_MARKERS if self.counts[text] > 0}

    @property
    def missing_share(self) -> float:
        """Share of records that lack this value."""
        return self.n_missing / max(self.n_records, 1)

    @cached_property
    def known(self) -> dict[str, int]:
        """Values that are not missing, with their counts."""
        return {word: n for word, n in self.counts.items() if word not in MISSING_MARKERS}

    @property
    def distinct(self) -> Distinct:
        """All values that are not missing or, of many, a sample of them, with their records."""
        if self.sample is None:
            counts = np.fromiter(self.known.values(), dtype=np.int64, count=len(self.known))
            return Distinct(words=list(self.known), counts=counts, n_values=len(self.known))
        return Distinct(
            words=self.sample.words.to_pylist(),
            counts=self.sample.counts,
            n_values=self.sample.n_distinct,
        )

    @cached_property
    def n_counted(self) -> int:
        """Number of records whose values were counted."""
        return sum(self.known.values())

    @property
    def is_unique(self) -> bool:
        """Return whether no value occurs twice, as far as values were counted."""
        known = self.known
        return len(known) >= RARE and max(known.values()) == 1

    @property
    def quantity(self) -> NumbersSeen:
        """Records with a number in the column's marks."""
        return self.numbers.seen[self.marks]

    @property
    def is_number(self) -> bool:
        """Return whether every value is a number, and none a code with leading zeros."""
        return not self.is_padded and 0 < self.n_known == self.quantity.n_records

    @property
    def is_mostly_number(self) -> bool:
        """Return whether most values are numbers, and none a code with leading zeros."""
        return not self.is_padded and 2 * self.quantity.n_records > self.n_known

    @property
    def is_padded(self) -> bool:
        """Return whether many values are digits with leading zeros, as in codes."""
        return self.numbers.n_padded >= min(RARE, max(1, self.n_known // 100))

    @cached_property
    def values(self) -> dict[float, int]:
        """The counted numbers, increasing, each with its records."""
        found: Counter[float] = Counter()
        for word, n in self.known.items():
            if number_pattern(self.marks).fullmatch(word):
                found[float(plain_number_text(word, self.marks))] += n
        return dict(sorted(found.items()))

    @cached_property
    def texts(self) -> dict[str, int]:
        """The counted values that are not numbers."""
        pattern = number_pattern(self.marks)
        return {word: n for word, n in self.known.items() if not pattern.fullmatch(word)}

    def relabel(self, labels: Mapping[str, str]) -> None:
        """Replace values by their labels in the file, which are not numbers."""
        counts: Counter[str] = Counter()
        for word, n in self.counts.items():
            counts[labels.get(word, word)] += n
        self.counts = counts
        self.labels = tuple(labels.values())
        self.numbers, self.dates = NumberForms(), DateForms()
        for name in ("known", "n_counted", "values", "texts"):
            self.__dict__.pop(name, None)

    def update(self, column: pa.Array, *, where: str) -> None:
        """Add the values of one more batch."""
        self.n_records += len(column)
        if not self.is_readable:
            return
        try:
            column = plain(column)
            self.stored = self.stored or column.type
            is_encoded = types.is_dictionary(column.type)
            encoded = column if is_encoded else column.dictionary_encode()
            self._count(encoded, where)
        except (pa.ArrowException, DataError):  # lists, structures: a plan cannot name them
            self.is_readable = False

    def _count(self, encoded: pa.DictionaryArray, where: str) -> None:
        indices = encoded.indices.drop_null().to_numpy(zero_copy_only=False)
        counts = np.bincount(indices, minlength=len(encoded.dictionary))
        words = _texts(as_text(encoded.dictionary, where=where))
        missing = _is_missing(words)
        self.n_missing += encoded.null_count + int(counts[missing].sum())
        self._add_numbers(encoded.dictionary, words, np.where(missing, 0, counts))
        if self.complete:
            for word, n in zip(words.to_pylist(), counts.tolist(), strict=True):
                if n:
                    self.counts[word or ""] += n
            if encoded.null_count:
                self.counts[""] += encoded.null_count
            self.complete = len(self.counts) <= _MOST_DISTINCT
            if not self.complete:
                self.sample = _sample_of(self.counts)
        elif self.sample is not None:
            kept = pa.array(~missing & (counts > 0))
            self.sample.add(words.filter(kept), counts[np.asarray(kept)])

    def _add_numbers(self, values: pa.Array, words: pa.Array, counts: NDArray[np.int64]) -> None:
        kind = values.type
        kept = pa.array(counts > 0)
        if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
            floats = values.filter(kept).cast(pa.float64(), safe=False)
            numbers = np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
            finite = np.isfinite(numbers)
            self.numbers.add_numbers(numbers[finite], counts[counts > 0][finite])
        elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            self.numbers.add_words(words.filter(kept), counts[counts > 0])
            self.dates.add_words(words.filter(kept), counts[counts > 0])
        elif types.is_temporal(kind) and not types.is_time(kind):
            self.dates.add_words(words.filter(kept), counts[counts > 0])


def profiles_of(
    source: Source,
    columns: Sequence[str],
    *,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Profile]:
    """Read the table once and return the profile of each of ``columns``.

    Privacy: confidential. Nothing of it may be published; see the rules of the draft.
    """
    profiles = {name: Profile(name) for name in columns}
    for batch in source.batches(columns, progress=progress):
        for profile, column in zip(profiles.values(), batch.columns, strict=True):
            profile.update(column, where=f"{source.name}, column {profile.name!r}")
    return profiles


def _sample_of(counts: Counter[str]) -> DistinctSample:
    sample = DistinctSample()
    known = {word: n for word, n in counts.items() if word not in MISSING_MARKERS}
    numbers = np.fromiter(known.values(), dtype=np.int64, count=len(known))
    sample.add(pa.array(list(known), pa.string()), numbers)
    return sample


def _texts(words: pa.Array) -> pa.Array:
    if types.is_dictionary(words.type):
        words = words.dictionary_decode()
    return pc.utf8_trim_whitespace(words)


def _is_missing(words: pa.Array) -> NDArray[np.bool_]:
    found = pc.is_in(pc.fill_null(words, ""), value_set=pa.array(MISSING_MARKERS, words.type))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)
