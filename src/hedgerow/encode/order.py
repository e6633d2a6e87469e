"""The order of the rows of a long table: numbers as numbers, everything else as text.

A public rule of the values alone: if two items of a record have the same position, the item's code
decides, so that the order of rows in the data does not matter.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"

NO_PLACE = -1
"""Rank of a row without a position."""


def place_ranks(values: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the rank of each row by its text: numbers first, by value, then texts.

    Equal texts have one rank. Null and blank have none, -1. Dates and times must be in a format
    whose sorted order is theirs, as in 2024-05-31 or 2024-05-31 08:15:00.

    >>> place_ranks(pa.array(["10", "9", None, "b", "9"])).tolist()
    [1, 0, -1, 2, 0]
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # more than one chunk can hold
        values = pa.concat_arrays(values.chunks)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    encoded = pc.utf8_trim_whitespace(values.cast(pa.large_string())).dictionary_encode()
    ranks = np.append(_ranks(encoded.dictionary), NO_PLACE)
    places = pc.fill_null(encoded.indices, len(encoded.dictionary))
    return ranks[np.asarray(places, dtype=np.int64)]


def _ranks(texts: pa.Array) -> NDArray[np.int64]:
    """Return the rank of each of some different texts."""
    is_number = pc.match_substring_regex(texts, _NUMBER)
    digits = pc.if_else(is_number, texts, pa.scalar(None, texts.type))
    table = pa.table(
        {"text": pc.invert(is_number), "number": pc.cast(digits, pa.float64()), "spelling": texts}
    )
    keys = [("text", "ascending"), ("number", "ascending"), ("spelling", "ascending")]
    order = np.asarray(pc.sort_indices(table, sort_keys=keys), dtype=np.int64)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    blank = np.asarray(pc.equal(texts, ""), dtype=np.bool_)
    ranks[blank] = NO_PLACE
    return ranks
