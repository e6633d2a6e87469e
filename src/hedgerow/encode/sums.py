"""Digests by which the ledger recognises a table: per column a sum of keyed hashes of labels.

A sum does not depend on the order of records, and sums of parts add up, so every engine computes
the same one. Labels are hashed in a form that does not depend on the plan and survives a conversion
between formats: a number by its first eleven binary digits in any storage type, any other text
without surrounding blanks, and a missing value not at all.

Privacy: a sum is confidential, and so is the key. The ledger finishes it with a second HMAC
before it keeps it; nothing of it is published.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from hedgerow.encode.columns import as_numpy, is_text, many_numbers, number_in

MODULUS = 2**256

ITEMS, LENGTHS = "items of baskets", "lengths of baskets"

_NOTHING = frozenset({"", "?", "-", ".", "na", "n/a", "#n/a", "nan", "null", "none", "<na>"})
"""Texts of one format for which another has no value at all, in lower case."""

_ROUNDED_BITS = 12
_MOST_HELD = 1 << 17
"""Largest number of distinct texts of a column that are counted before they are hashed."""


def column_of(attribute: str) -> str:
    """Return the name under which the column of an attribute is summed."""
    return f"column {attribute}"


class ColumnSums:
    """Sums of keyed hashes modulo 2**256, by column (confidential).

    Labels are counted first and hashed once, when ``totals`` is read.
    """

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._words: dict[str, Counter[str]] = {}
        self._numbers: dict[str, _Codes] = {}
        self._summed: dict[str, int] = {}

    def __repr__(self) -> str:
        return "ColumnSums()"

    @property
    def totals(self) -> dict[str, int]:
        """Sum of every column that was added."""
        for column, words in self._words.items():
            self._hash(column, words.items())
            if column in self._numbers:
                self._hash(column, self._numbers[column].items())
        self._words, self._numbers = {}, {}
        return dict(self._summed)

    def add_column(self, column: str, values: pa.Array) -> None:
        """Add the values of some records."""
        self._words.setdefault(column, Counter())
        if is_text(values.type):
            values = values.dictionary_encode()
        kind = values.type
        if types.is_dictionary(kind) and is_text(kind.value_type):
            self._add_words(column, values.dictionary, _counts(values))
            return
        if types.is_dictionary(kind):
            values = values.dictionary_decode()
        if types.is_decimal(values.type):
            values = values.cast(pa.float64(), safe=False)
        if types.is_integer(values.type) or types.is_floating(values.type):
            numbers, nulls = as_numpy(values)
            self._add_numbers(column, numbers if nulls is None else numbers[~nulls])
        # The encoder refuses values that are neither text nor number.

    def add_counts(self, column: str, numbers: NDArray[np.int64]) -> None:
        """Add whole numbers, such as the lengths of baskets."""
        self._words.setdefault(column, Counter())
        self._add_numbers(column, numbers)

    def merge(self, totals: Mapping[str, int]) -> None:
        """Add the sums of other records under the same key."""
        for column, total in totals.items():
            self._summed[column] = (self._summed.get(column, 0) + total) % MODULUS

    def _add_words(self, column: str, words: pa.Array, counts: NDArray[np.int64]) -> None:
        numbers = many_numbers(words)
        if numbers is not None:
            values, nulls = as_numpy(numbers)
            weights = counts if nulls is None else np.where(nulls, 0, counts)
            self._add_numbers(column, values, weights)
            return
        held = self._words[column]
        for word, n in zip(words.to_pylist(), counts.tolist(), strict=True):
            if n and word is not None:
                held[word] += n
        if len(held) > _MOST_HELD:
            self._words[column] = Counter()
            self._hash(column, held.items())

    def _add_numbers(
        self, column: str, values: NDArray[Any], weights: NDArray[np.int64] | None = None
    ) -> None:
        if values.dtype.kind == "f" and (nans := np.isnan(values)).any():
            weights = None if weights is None else weights[~nans]
            values = values[~nans]
        if len(values):
            self._numbers.setdefault(column, _Codes()).add(number_codes(values), weights)

    def _hash(self, column: str, labels: Iterable[tuple[str | int, int]]) -> None:
        """Add the HMAC of each label, under the key of its column, times its count."""
        mac = _mac(hmac.digest(self.key, column.encode(), "sha256"))
        total = self._summed.get(column, 0)
        for label, n in labels:
            canonical = label_of(label)
            if canonical is not None:
                total += int.from_bytes(mac(canonical), "big") * n
        self._summed[column] = total % MODULUS


class _Codes:
    """Number of occurrences of each code of a number."""

    def __init__(self) -> None:
        self.low = 0
        self.counts = np.zeros(0, dtype=np.int64)

    def add(self, codes: NDArray[np.uint32], weights: NDArray[np.int64] | None) -> None:
        """Add codes with their weights."""
        low, high = int(codes.min()), int(codes.max()) + 1
        self._reach(low, high)
        if weights is None:
            counts = np.bincount(codes - low)
            self.counts[low - self.low : high - self.low] += counts
        else:
            np.add.at(self.counts, codes - self.low, weights)

    def _reach(self, low: int, high: int) -> None:
        if not len(self.counts):
            self.low, self.counts = low, np.zeros(high - low, dtype=np.int64)
        before, after = max(self.low - low, 0), max(high - self.low - len(self.counts), 0)
        if before or after:
            self.counts = np.pad(self.counts, (before, after))
            self.low -= before

    def items(self) -> Iterator[tuple[int, int]]:
        """Return the codes that occur, and their counts."""
        found = np.flatnonzero(self.counts)
        return zip((found + self.low).tolist(), self.counts[found].tolist(), strict=True)


def _mac(key: bytes) -> Callable[[bytes], bytes]:
    """Return HMAC-SHA-256 under a key of at most 64 bytes, its two pads hashed once [RFC 2104].

    >>> _mac(b"key")(b"label") == hmac.digest(b"key", b"label", "sha256")
    True
    """
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))

    def mac(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return mac


def number_codes(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Return numbers to eleven binary digits: 20 bits of sign, exponent and fraction.

    Values are converted to 32-bit floats, so that a column stored as such agrees.

    >>> number_codes(np.array([17, 17.0, 0.1])).tolist() == [
    ...     *number_codes(np.array([17, 17])).tolist(),
    ...     *number_codes(np.array([0.1], dtype=np.float32)).tolist(),
    ... ]
    True
    """
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    single += np.float32(0)  # -0.0 is 0.0
    bits = single.view(np.uint32)
    bits += np.uint32(1 << (_ROUNDED_BITS - 1))  # cannot overflow: there is no NaN
    bits >>= np.uint32(_ROUNDED_BITS)
    return bits


def label_of(label: str | int) -> bytes | None:
    """Return the canonical form of a text or of a number's code; ``None`` for a missing value.

    >>> label_of(" 17.0 ") == label_of("17") != label_of("17 years"), label_of("?")
    (True, None)
    """
    if isinstance(label, int):
        return b"number " + label.to_bytes(4, "big")
    text = label.strip()
    if text.casefold() in _NOTHING:
        return None
    number = number_in(text)
    if number is None:
        return b"text " + unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")
    if math.isnan(number):
        return None
    return label_of(int(number_codes(np.array([number]))[0]))


def _counts(values: pa.DictionaryArray) -> NDArray[np.int64]:
    """Return the number of occurrences of each word of a dictionary."""
    places, nulls = as_numpy(values.indices)
    kept = places if nulls is None else places[~nulls]
    return np.bincount(kept, minlength=len(values.dictionary))
