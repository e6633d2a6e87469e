"""What the columns of a table hold, in bounded memory. Confidential, all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.errors import DataError
from hedgerow.read.text import as_text, plain

if TYPE_CHECKING:
    from hedgerow.read.source import Source

RARE = 20
"""Values that fewer records have could point at a person: a draft does not write them."""

MISSING_TEXTS = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null")
"""Texts that usually mean a missing value."""

_MOST_DISTINCT = 20_000
_LEADING_ZERO = r"^[+-]?0[0-9]"


class Profile:
    """One column: how often its values occur, and its range if all of them are numbers.

    Counting stops once there are too many distinct values; ``complete`` says that it went
    on to the end.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_records = 0
        self.counts: Counter[str] = Counter()
        self.labels: tuple[str, ...] = ()
        self.complete = True
        self.is_readable = True
        self.is_number = True
        self.is_whole = True
        self.low = float("inf")
        self.high = float("-inf")

    def __repr__(self) -> str:
        return f"Profile({self.name!r})"

    @property
    def is_empty(self) -> bool:
        """Whether every value is missing."""
        return not any(word not in MISSING_TEXTS for word in self.counts)

    @property
    def missing_texts(self) -> set[str]:
        """The texts in the column that usually mean a missing value."""
        return {text for text in MISSING_TEXTS if self.counts[text] > 0}

    @property
    def missing_share(self) -> float:
        """The share of records that lack this value."""
        missing = sum(self.counts[text] for text in self.missing_texts)
        return missing / max(self.n_records, 1)

    @property
    def known(self) -> dict[str, int]:
        """The values that are not missing, with their counts."""
        return {word: n for word, n in self.counts.items() if word not in MISSING_TEXTS}

    @property
    def is_unique(self) -> bool:
        """Whether no value occurs twice, as far as values were counted."""
        known = self.known
        return len(known) >= RARE and max(known.values()) == 1

    def update(self, column: pa.Array, *, where: str) -> None:
        """Take the values of one more batch into account."""
        self.n_records += len(column)
        if not self.is_readable or not (self.complete or self.is_number):
            return
        column = plain(column)
        try:
            is_encoded = pa.types.is_dictionary(column.type)
            encoded = column if is_encoded else column.dictionary_encode()
            if self.is_number:
                self._update_range(encoded.dictionary)
            if self.complete:
                self._count(encoded, where)
        except (pa.ArrowException, DataError):  # lists, structures: nothing a plan could name
            self.is_readable = False

    def _count(self, encoded: pa.DictionaryArray, where: str) -> None:
        indices = encoded.indices.drop_null().to_numpy(zero_copy_only=False)
        counts = np.bincount(indices, minlength=len(encoded.dictionary))
        words = _texts(as_text(encoded.dictionary, where=where))
        for word, n in zip(words.to_pylist(), counts.tolist(), strict=True):
            if n:
                self.counts[word or ""] += n
        if encoded.null_count:
            self.counts[""] += encoded.null_count
        self.complete = len(self.counts) <= _MOST_DISTINCT

    def _update_range(self, values: pa.Array) -> None:
        numbers = _numbers(values)
        if numbers is None:
            self.is_number = False
            return
        if numbers.size:
            self.low = min(self.low, float(numbers.min()))
            self.high = max(self.high, float(numbers.max()))
            self.is_whole = self.is_whole and bool((numbers == np.floor(numbers)).all())


def profiles_of(
    source: Source, columns: Sequence[str], *, progress: Callable[[float], None] | None = None
) -> dict[str, Profile]:
    """Read the table once and return the profile of each of ``columns``.

    Privacy: confidential. Nothing of it may be published; see the rules of the draft.
    """
    profiles = {name: Profile(name) for name in columns}
    for batch in source.batches(columns, progress=progress):
        for profile, column in zip(profiles.values(), batch.columns, strict=True):
            profile.update(column, where=f"{source.name}, column {profile.name!r}")
    return profiles


def _texts(words: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(words.type):
        words = words.dictionary_decode()
    return pc.utf8_trim_whitespace(words)


def _numbers(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Return the values that are not missing as floats, or ``None`` if some are no numbers."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        floats = values.cast(pa.float64(), safe=False)
        numbers = floats.drop_null().to_numpy(zero_copy_only=False)
        numbers = numbers[~np.isnan(numbers)]
        return numbers if np.isfinite(numbers).all() else None
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    words = pc.utf8_trim_whitespace(values.drop_null())
    words = words.filter(pc.invert(pc.is_in(words, value_set=pa.array(MISSING_TEXTS, kind))))
    if pc.any(pc.match_substring_regex(words, _LEADING_ZERO)).as_py():
        return None  # a code such as 01234, not a quantity
    try:
        numbers = words.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return numbers if np.isfinite(numbers).all() else None
