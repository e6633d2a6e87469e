"""Values as text, spelt alike whatever they are stored as.

A taxonomy lists labels, so the number 17 must meet the label ``17`` whether the table
keeps it as text, as an integer or, because a value is missing elsewhere, as 17.0.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from hedgerow.errors import DataError

# Up to here every whole double is the only one that rounds to its decimal digits.
_EXACT = 2.0**53


def text_columns(
    batch: pa.RecordBatch, columns: Sequence[str], text: Collection[str], *, name: str
) -> pa.RecordBatch:
    """Return the batch under the asked names, with the ``text`` columns as text."""
    arrays = [
        as_text(array, where=f"{name}, column {column!r}") if column in text else plain(array)
        for column, array in zip(columns, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def plain(column: pa.Array) -> pa.Array:
    """Return an extension array (say, a database's own numbers) as what it is stored as."""
    return column.storage if isinstance(column.type, pa.BaseExtensionType) else column


def as_text(column: pa.Array, *, where: str) -> pa.Array:
    """Return the column as text, dictionary-encoded unless it was plain text before."""
    column = plain(column)
    kind = column.type
    try:
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
    except (pa.ArrowException, UnicodeDecodeError, OverflowError):
        # The cause would quote values, so it is not chained.
        raise DataError(
            "the column holds values that have no text form",
            where=where,
            do="Store it as text, numbers, dates or booleans, or drop it in the plan.",
        ) from None


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
        encoded = column.cast(pa.timestamp("us"), safe=False).dictionary_encode()
        values = [_moment(value, suffix) for value in encoded.dictionary.to_pylist()]
    elif types.is_floating(column.type):
        encoded = column.dictionary_encode()
        values = [_number(value) for value in encoded.dictionary.to_numpy()]
    else:
        encoded = column.dictionary_encode()
        values = [spell(value) for value in encoded.dictionary.to_pylist()]
    return _dictionary(encoded.indices, pa.array(values, pa.string()))


def _dictionary(indices: pa.Array, words: pa.Array) -> pa.DictionaryArray:
    # A cast loads Arrow's compute functions, which takes longer than most tables.
    if indices.type != pa.int32():
        indices = indices.cast(pa.int32())
    return pa.DictionaryArray.from_arrays(indices, words)


def spell(value: Any) -> str | None:
    """Return one value as text; ``None`` where it is missing.

    >>> spell(17.0), spell(True), spell(0.25), spell(dt.date(2011, 8, 21)), spell(math.nan)
    ('17', 'true', '0.25', '2011-08-21', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(value)
    if isinstance(value, float | np.floating):
        return _number(value)
    if isinstance(value, Decimal):
        return format(value.to_integral_value() if value == value // 1 else value, "f")
    if isinstance(value, dt.datetime):
        return _moment(value, "")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    raise pa.ArrowInvalid("a value has no text form")


def _number(value: Any) -> str | None:
    if math.isnan(value):
        return None
    exact = float(value)
    if abs(exact) <= _EXACT and exact == int(exact):  # also -0.0
        return str(int(exact))
    # The shortest text of the value's own width: 0.1, also when stored in 32 bits.
    return str(value) if isinstance(value, np.floating) else repr(value)


def _moment(value: dt.datetime | None, suffix: str) -> str | None:
    if value is None:
        return None
    if not suffix and value.time() == dt.time() and value.tzinfo is None:
        return value.date().isoformat()
    return value.isoformat() + suffix
