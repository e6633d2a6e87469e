"""Keys: texts of a column that identify records of one table in another.

Keys are confidential. They are compared as texts without surrounding blanks; a number that is
stored as one is compared in its text form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.errors import DataError


def keys_in(
    column: pa.Array, places: NDArray[np.int64], *, name: str, where: str, start: int
) -> list[str]:
    """Return the keys of the records at ``places`` of a batch that begins at row ``start``."""
    import pyarrow.compute as pc  # slow to load, and few plans have keys

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = pc.utf8_trim_whitespace(column.cast(pa.string())).take(pa.array(places))
    empty = pc.fill_null(pc.equal(texts, ""), True)
    wrong = np.flatnonzero(np.asarray(empty))
    if len(wrong):
        raise DataError(
            f"Record {start + int(places[wrong[0]]) + 1}, column {name!r}: the key is missing.",
            where=where,
            do="Give every record a key of its own there, or leave out 'disclose: {key: ...}'.",
        )
    found: list[str] = texts.to_pylist()
    return found


def check_distinct(keys: Sequence[str], rows: NDArray[np.int64], *, name: str, where: str) -> None:
    """Refuse a table in which two records have the same key."""
    if len(set(keys)) == len(keys):
        return
    seen: set[str] = set()
    for row, key in zip(rows.tolist(), keys, strict=True):
        if key in seen:
            raise DataError(
                f"Record {row + 1}, column {name!r}: an earlier record has the same key.",
                where=where,
                do=(
                    "Name a column that identifies every record, or leave out 'disclose:"
                    " {key: ...}'."
                ),
            )
        seen.add(key)
