"""Values as text, in the same form whatever their stored type.

A taxonomy lists labels, so the number 17 must match the label ``17`` whether the table
stores it as text, as an integer or, because a value is missing elsewhere, as 17.0.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from hedgerow.errors import DataError

# Every integer below this has its own double; from here on, neighbours share one.
_EXACT = 2.0**53
_MOST_DIGITS = 1000
_NARROW = {2: 2.0**11, 4: 2.0**24}  # the same for narrower floats, by their size in bytes
_MANY = 1000  # number of distinct numbers from which loading Arrow's own formatting pays
_MICROSECONDS = 24 * 60 * 60 * 1_000_000
_FIRST_MOMENT = int(np.datetime64("0001-01-01", "us").astype(np.int64))
_LAST_MOMENT = int(np.datetime64("9999-12-31T23:59:59.999999", "us").astype(np.int64))


class InexactError(ValueError):
    """A value may differ from the stored one, because the stored type is not exact enough."""


def text_columns(
    batch: pa.RecordBatch, columns: Sequence[str], text: Collection[str], *, name: str
) -> pa.RecordBatch:
    """Return the batch under the requested names, with the ``text`` columns as text."""
    arrays = []
    for column, array in zip(columns, batch.columns, strict=True):
        where = f"{name}, column {column!r}"
        try:
            arrays.append(as_text(array, where=where) if column in text else plain(array))
        except pa.ArrowException:
            raise _no_text(where) from None
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def plain(column: pa.Array) -> pa.Array:
    """Return an extension array (for example, a database's numbers) as its stored text.

    The stored form of other types, such as the months since 1970 of a pandas Period, is not their
    meaning, and is not read.
    """
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    if not _is_text(column.type.storage_type):
        raise pa.ArrowInvalid("an extension type is not stored as text")
    return column.storage


def as_text(column: pa.Array, *, where: str) -> pa.Array:
    """Return the column as text, dictionary-encoded unless it was plain text before."""
    try:
        column = plain(column)
        kind = column.type
        if types.is_dictionary(kind):
            words = as_text(column.dictionary, where=where)
            if types.is_dictionary(words.type):
                words = words.dictionary_decode()
            return _dictionary(column.indices, words)
        if types.is_string(kind):
            return column
        if _is_wide_text(kind):
            return column.cast(pa.string())
        if types.is_null(kind):
            return pa.nulls(len(column), pa.string())
        return _spelt(column)
    except InexactError:
        raise DataError(
            "The column stores integers as doubles, which are not exact for large numbers.",
            where=where,
            do="Store it as text or as integers; in pandas, as Int64 if some are missing.",
        ) from None
    except (pa.ArrowException, UnicodeDecodeError, OverflowError):
        # The cause would quote values, so it is not chained.
        raise _no_text(where) from None


def _no_text(where: str) -> DataError:
    return DataError(
        "The column holds values that have no text form.",
        where=where,
        do="Store it as text, numbers, dates or booleans, or drop it in the plan.",
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_wide_text(kind: pa.DataType) -> bool:
    return bool(
        types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _spelt(column: pa.Array) -> pa.DictionaryArray:
    if types.is_timestamp(column.type) or types.is_date64(column.type):
        # Python has no nanoseconds, and no time zones without a database of them.
        suffix = "" if types.is_date64(column.type) or column.type.tz is None else "Z"
        # Nanoseconds are truncated; what is out of range for microseconds is refused, not wrapped.
        is_finer = types.is_timestamp(column.type) and column.type.unit == "ns"
        encoded = column.cast(pa.timestamp("us"), safe=not is_finer).dictionary_encode()
        return _dictionary(encoded.indices, _moments(encoded.dictionary, suffix))
    encoded = column.dictionary_encode()
    if types.is_integer(column.type) and len(encoded.dictionary) > _MANY:
        return _dictionary(encoded.indices, encoded.dictionary.cast(pa.string()))
    if types.is_floating(column.type):
        if len(encoded.dictionary) > _MANY:
            return _dictionary(encoded.indices, _numbers(encoded.dictionary.to_numpy()))
        values = [_number(value) for value in encoded.dictionary.to_numpy()]
    else:
        values = [spell(value) for value in encoded.dictionary.to_pylist()]
    return _dictionary(encoded.indices, pa.array(values, pa.string()))


def _moments(moments: pa.Array, suffix: str) -> pa.Array:
    """Return microseconds since 1970 in the format of ``isoformat``, all at once."""
    since = moments.cast(pa.int64()).to_numpy()
    if ((since < _FIRST_MOMENT) | (since > _LAST_MOMENT)).any():
        raise pa.ArrowInvalid("a moment outside of the years 1 to 9999")
    points = since.astype("datetime64[us]")
    texts = np.datetime_as_string(points, unit="s").astype("U27")
    finer = np.flatnonzero(since % 1_000_000)
    texts[finer] = np.datetime_as_string(points[finer], unit="us")
    if suffix:
        return pa.array(np.char.add(texts, suffix), pa.string())
    days = np.flatnonzero(since % _MICROSECONDS == 0)
    texts[days] = np.datetime_as_string(points[days], unit="D")
    return pa.array(texts, pa.string())


def _dictionary(indices: pa.Array, words: pa.Array) -> pa.DictionaryArray:
    # A cast loads Arrow's compute functions, which takes longer than most tables.
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    return pa.DictionaryArray.from_arrays(indices, words)


def spell(value: Any) -> str | None:
    """Return one value as text; ``None`` if it is missing.

    >>> spell(17.0), spell(True), spell(0.25), spell(dt.date(2011, 8, 21)), spell(math.nan)
    ('17', 'true', '0.25', '2011-08-21', None)
    """
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ == "NAType":  # of pandas, which is not loaded for this
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return _number(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, dt.datetime):
        return _of_moment(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    raise pa.ArrowInvalid("a value has no text form")


def _number(value: Any) -> str | None:
    if math.isnan(value):
        return None
    exact = float(value)
    if math.isfinite(exact) and exact == int(exact):  # also -0.0
        if abs(exact) >= _EXACT or _is_rounded(value):
            raise InexactError
        return str(int(exact))
    # The shortest text that identifies the value in its own width: 0.1, also in 32 bits.
    return str(value) if isinstance(value, np.floating) else repr(value)


def _is_rounded(value: Any) -> bool:
    """Return whether an integer of a narrower type of float may represent its neighbours, too."""
    if not isinstance(value, np.floating):
        return False
    return bool(abs(value) >= _NARROW.get(value.itemsize, _EXACT))


def _numbers(values: NDArray[np.floating[Any]]) -> pa.Array:
    """Return many floats in the format of :func:`_number`, integers all at once."""
    missing = np.isnan(values)
    whole = np.isfinite(values) & (values == np.trunc(values))
    if (np.abs(values[whole]) >= _NARROW.get(values.itemsize, _EXACT)).any():
        raise InexactError
    numbers = np.where(whole, values, 0).astype(np.int64)
    texts = pa.array(numbers, mask=~whole).cast(pa.string())
    broken = np.flatnonzero(~whole & ~missing)
    if not len(broken):
        return texts
    words = texts.to_numpy(zero_copy_only=False)
    words[broken] = [_number(value) for value in values[broken]]
    return pa.array(words, pa.string())


def _decimal(value: Decimal) -> str | None:
    """Return all digits of a decimal number, without trailing zeros of the fraction."""
    if value.is_nan():
        return None
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        raise pa.ArrowInvalid("a value has no text form")
    whole, _, fraction = format(value, "f").partition(".")
    if fraction.strip("0"):
        return f"{whole}.{fraction}"
    return "0" if whole == "-0" else whole


def _of_moment(value: dt.datetime) -> str | None:
    """Return a single timestamp as in a column of them: in UTC, to the microsecond."""
    if value != value:  # noqa: PLR0124 - a missing one of pandas
        return None
    fields = (value.year, value.month, value.day, value.hour, value.minute, value.second)
    bare = dt.datetime(*fields, value.microsecond, tzinfo=value.tzinfo)
    if bare.utcoffset() is None:
        return _moment(bare.replace(tzinfo=None), "")
    return _moment(bare.astimezone(dt.UTC).replace(tzinfo=None), "Z")


def _moment(value: dt.datetime | None, suffix: str) -> str | None:
    if value is None:
        return None
    if not suffix and value.time() == dt.time() and value.tzinfo is None:
        return value.date().isoformat()
    return value.isoformat() + suffix
