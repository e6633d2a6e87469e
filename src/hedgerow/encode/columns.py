"""Encoding of one column: Arrow arrays of values to arrays of codes.

Text is encoded once per distinct value: each value of a batch's dictionary becomes a code, and the
records follow by table look-up. Numbers are encoded by their public grid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from hedgerow.model.arrays import Codes, Flags
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain, code_dtype
from hedgerow.taxonomy.grid import Column

# Dictionaries above this size are parsed by Arrow; below it Python is as fast.
_MANY_WORDS = 2048
_IN_NUMBERS = b"0123456789+-.eE"
_WHOLE = re.compile(r"([+-]?\d+)\.0*", re.ASCII)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Encoded:
    """Codes, and flags of missing values and of values that are not allowed.

    Flags are ``None`` if there are no such values. The code of a flagged value is undefined.
    """

    codes: Codes
    missing: Flags | None = None
    unlisted: Flags | None = None

    def settled(self, missing_code: int | None) -> Encoded:
        """Return the same with missing values as a code of their own, if they have one."""
        if self.missing is None or missing_code is None:
            return self
        codes = self.codes.copy()
        codes[self.missing] = missing_code
        return Encoded(codes=codes, unlisted=self.unlisted)

    def take(self, places: NDArray[np.integer[Any]]) -> Encoded:
        """Return the entries at ``places``."""
        return Encoded(
            codes=self.codes.take(places),
            missing=None if self.missing is None else self.missing.take(places),
            unlisted=None if self.unlisted is None else self.unlisted.take(places),
        )


ColumnEncoder: TypeAlias = Callable[[pa.Array], Encoded]


def column_encoder(
    attribute: Attribute, *, missing_values: frozenset[str], missing_code: int | None
) -> ColumnEncoder:
    """Return the function from arrays of this attribute's values to codes.

    Missing values become ``missing_code``; without one they are flagged.
    """
    markers = missing_values | attribute.missing_values | {""}
    if isinstance(attribute.domain, CategoricalDomain):
        labels = _Labels(attribute.domain, markers, attribute.letters)
        return _TextEncoder(labels, missing_code)
    is_lenient = attribute.unreadable == "missing"
    return _NumberEncoder(attribute.domain, markers, missing_code, is_lenient=is_lenient)


class _TextEncoder:
    """Encoder of a text column, by its dictionary."""

    def __init__(self, encode_words: ColumnEncoder, missing_code: int | None) -> None:
        self.encode_words = encode_words
        self.missing_code = missing_code
        self.words: pa.Array | None = None
        self.table: Encoded | None = None

    def __call__(self, column: pa.Array) -> Encoded:
        encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
        places, nulls = as_numpy(encoded.indices)
        if nulls is not None:
            places = np.where(nulls, len(encoded.dictionary), places)
        return self._table(encoded.dictionary, with_null=nulls is not None).take(places)

    def _table(self, dictionary: pa.Array, *, with_null: bool) -> Encoded:
        """Return the codes of the dictionary, and that of null; batches often share one."""
        words = dictionary
        if with_null:
            words = pa.concat_arrays([dictionary, pa.nulls(1, dictionary.type)])
        if self.table is None or not words.equals(self.words):
            self.words = words
            self.table = self.encode_words(words).settled(self.missing_code)
        return self.table


@dataclass(frozen=True, eq=False, repr=False)
class _Labels:
    """Codes of distinct texts as leaves of a taxonomy."""

    domain: CategoricalDomain
    markers: frozenset[str]
    letters: int | None = None

    def __call__(self, words: pa.Array) -> Encoded:
        found = np.array([self._code(word) for word in words.to_pylist()], dtype=np.int64)
        return Encoded(
            codes=np.maximum(found, 0).astype(code_dtype(self.domain.size)),
            missing=_if_any(found == _MISSING),
            unlisted=_if_any(found == _UNLISTED),
        )

    def _code(self, word: str | None) -> int:
        text = "" if word is None else word.strip()
        for spelling in spellings(text):
            if spelling in self.markers:
                return _MISSING
            code = self.domain.code_of(spelling[: self.letters].strip())
            if code is not None:
                return code
        other = self.domain.other_code
        return _UNLISTED if other is None else other


def spellings(text: str) -> tuple[str, ...]:
    """Return the label spellings for which a text may stand: as it is, or as a whole number.

    >>> spellings("17.0"), spellings("red")
    (('17.0', '17'), ('red',))
    """
    return (text, _WHOLE.sub(r"\1", text)) if _WHOLE.fullmatch(text) else (text,)


_MISSING, _UNLISTED = -1, -2


def _if_any(flags: Flags) -> Flags | None:
    return flags if flags.any() else None


class _NumberEncoder:
    """Encoder of a column of numbers, stored as numbers or as text."""

    def __init__(
        self,
        domain: NumericDomain,
        markers: frozenset[str],
        missing_code: int | None,
        *,
        is_lenient: bool,
    ) -> None:
        self.domain = domain
        self.is_lenient = is_lenient
        self.markers = markers
        self.missing_code = missing_code
        numbers = {number_in(marker) for marker in markers} - {None}
        self.marked = np.array([x for x in numbers if not math.isnan(x or 0.0)], np.float64)
        self.of_text = _TextEncoder(self._of_words, missing_code)

    def __call__(self, column: pa.Array) -> Encoded:
        kind = column.type
        if types.is_dictionary(kind) and not is_text(kind.value_type):
            column = column.dictionary_decode()
            kind = column.type
        if types.is_dictionary(kind) or is_text(kind):
            return self.of_text(column)
        if types.is_decimal(kind):
            column = column.cast(pa.float64(), safe=False)
        elif not (types.is_integer(kind) or types.is_floating(kind)):
            return self._of_others(column)
        return self._of_numbers(column).settled(self.missing_code)

    def _of_numbers(self, column: pa.Array) -> Encoded:
        values, nulls = as_numpy(column)
        return self._of_values(values if nulls is None else np.where(nulls, 0, values), nulls)

    def _of_values(self, values: Column, nulls: Flags | None = None) -> Encoded:
        missing = [] if nulls is None else [nulls]
        if len(self.marked):
            missing.append(np.isin(values, self.marked))
        if values.dtype.kind == "f":
            missing.append(np.isnan(values))
        absent = np.logical_or.reduce(missing) if missing else None
        return Encoded(
            codes=self.domain.encode(values), missing=None if absent is None else _if_any(absent)
        )

    def _of_words(self, words: pa.Array) -> Encoded:
        """Encode distinct texts; one that is neither a number nor a marker is not allowed."""
        numbers = many_numbers(words)
        if numbers is not None:
            return self._of_numbers(numbers)
        texts = [(word or "").strip() for word in words.to_pylist()]
        parsed = [math.nan if text in self.markers else number_in(text) for text in texts]
        if self.is_lenient:
            parsed = [math.nan if number is None else number for number in parsed]
        unlisted = np.array([number is None for number in parsed], dtype=np.bool_)
        values = np.array([number or 0.0 for number in parsed], dtype=np.float64)
        encoded = self._of_values(values)
        return Encoded(codes=encoded.codes, missing=encoded.missing, unlisted=_if_any(unlisted))

    def _of_others(self, column: pa.Array) -> Encoded:
        """Encode a type that cannot be a number (dates, booleans): only nulls are allowed."""
        missing = np.ones(len(column), np.bool_) if self.is_lenient else _nulls(column)
        codes = np.zeros(len(column), dtype=code_dtype(self.domain.size))
        encoded = Encoded(codes=codes, missing=_if_any(missing), unlisted=_if_any(~missing))
        return encoded.settled(self.missing_code)


def as_numpy(column: pa.Array) -> tuple[NDArray[Any], Flags | None]:
    """Return the numbers of a column, undefined for nulls, and which are null.

    ``Array.to_numpy`` would do, but it imports pandas if that is installed.
    """
    if not column.null_count:
        return np.from_dlpack(column), None
    held = [None, column.buffers()[1]]
    bare = pa.Array.from_buffers(column.type, len(column), held, offset=column.offset)
    return np.from_dlpack(bare), _nulls(column)


def _nulls(column: pa.Array) -> Flags:
    if not column.null_count:
        return np.zeros(len(column), dtype=np.bool_)
    validity = column.buffers()[0]
    if validity is None:  # the null type
        return np.ones(len(column), dtype=np.bool_)
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")
    invalid: Flags = bits[column.offset : column.offset + len(column)] == 0
    return invalid


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of this type are text."""
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def numbers_in(column: pa.Array) -> NDArray[np.float64]:
    """Return a column's numbers, stored as numbers or as text; NaN where there is none."""
    kind = column.type
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if is_text(kind):
        parsed = [number_in(text or "") for text in column.to_pylist()]
        return np.array([math.nan if each is None else each for each in parsed], dtype=np.float64)
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return np.full(len(column), np.nan)
    values, nulls = as_numpy(column.cast(pa.float64(), safe=False))
    return np.asarray(values if nulls is None else np.where(nulls, np.nan, values))


def many_numbers(words: pa.Array) -> pa.Array | None:
    """Return many texts as the numbers that :func:`number_in` reads, by Arrow.

    ``None`` if they are few, or if a text might be read differently: Arrow takes ``nan(1)`` for a
    number and Python does not. The reading of a text must not depend on the other texts, so Arrow
    gets only digits, signs, points and exponents, on which the two agree.
    """
    if len(words) <= _MANY_WORDS:
        return None
    if not types.is_string(words.type):
        words = words.cast(pa.string())
    _, offsets, letters = words.buffers()
    if letters is None:
        return None
    ends = np.frombuffer(offsets, dtype=np.int32)[words.offset : words.offset + len(words) + 1]
    if bytes(letters[int(ends[0]) : int(ends[-1])]).translate(None, _IN_NUMBERS):
        return None
    try:
        return words.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def number_in(text: str) -> float | None:
    """Return the number in a text, or ``None``: digits of ASCII, no separators.

    >>> number_in(" 17.50 "), number_in("1e3"), number_in("1_000"), number_in("seven")
    (17.5, 1000.0, None, None)
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None
