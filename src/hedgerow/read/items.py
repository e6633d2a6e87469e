"""Set-valued data in any storage: basket files, columns of lists, long tables.

Records come as batches of words: the items of all records, one after the other as
dictionary-encoded text, with the number of each record's items. A long table, in which the rows
of a record need not be adjacent, comes as rows of record and item instead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.universe import ItemsPlace
from hedgerow.read.open import check_text_file, open_table
from hedgerow.read.source import ReadProgress, Source, places_of
from hedgerow.read.text import as_text
from hedgerow.read.words import BasketFile, WordBatch


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ListColumn:
    """A column of lists, one list per record; null is an empty record."""

    source: Source
    column: str

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return self.source.name

    def batches(self, *, progress: ReadProgress | None = None) -> Iterator[WordBatch]:
        """Stream the records in order."""
        where = f"{self.name}, column {self.column!r}"
        for batch in self.source.batches([self.column], progress=progress):
            yield words_of_lists(batch.column(0), where=where)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LongTable:
    """One row per record and item, in any order; ``order`` is the item's position in its record."""

    source: Source
    record: str
    column: str
    order: str | None = None

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return self.source.name

    def rows(
        self, *, progress: ReadProgress | None = None
    ) -> Iterator[tuple[pa.DictionaryArray, pa.DictionaryArray, pa.Array | None]]:
        """Stream the records' names, the items and their positions, row by row."""
        columns = [self.record, self.column, *([] if self.order is None else [self.order])]
        for batch in self.source.batches(columns, text=columns, progress=progress):
            order = None if self.order is None else batch.column(2)
            yield _encoded(batch.column(0)), _encoded(batch.column(1)), order


ItemSource = BasketFile | ListColumn | LongTable


def open_items(
    data: str | Path | Any,
    place: ItemsPlace,
    *,
    query: str | None = None,
    base: Path = Path(),
    reading: Reading = PLAIN,
) -> ItemSource:
    """Return set-valued data, opened far enough to check its columns.

    ``data`` is anything that :func:`hedgerow.read.open.open_table` accepts, or a basket file,
    plain or gzipped: one record per line.
    """
    if place.column is None:
        if query is not None:
            data = None  # the lines of no file
        return _open_basket_file(data, place, base=base, reading=reading)
    source = open_table(data, query=query, base=base, reading=reading)
    if place.record is None:
        places_of([place.column], source)
        return ListColumn(source=source, column=place.column)
    named = [name for name in (place.record, place.column, place.order) if name is not None]
    places_of(named, source)
    return LongTable(source=source, record=place.record, column=place.column, order=place.order)


def _open_basket_file(data: Any, place: ItemsPlace, *, base: Path, reading: Reading) -> BasketFile:
    if not isinstance(data, str | os.PathLike):
        raise DataError(
            "The plan does not name the column of the items.",
            where="items.column",
            do="Name the column of lists; for a long table, name 'record' as well.",
        )
    path = base / data
    check_text_file(path, do="Name the column of items in the plan: items.column.")
    return BasketFile(path=path, separators=place.separators, reading=reading)


def words_of_lists(column: pa.Array, *, where: str) -> WordBatch:
    """Return the records of a column of lists; null is an empty record."""
    lists = _as_lists(column, where=where)
    words = as_text(lists.flatten(), where=where)
    return WordBatch(words=_encoded(words), lengths=_lengths(lists))


def words_in_order(column: pa.Array) -> WordBatch:
    """Return the records of a column of lists of items with their positions, as gathered rows."""
    pairs = column.flatten()
    words = _encoded(pairs.field("item"))
    return WordBatch(words=words, lengths=_lengths(column), order=pairs.field("place"))


def _as_lists(column: pa.Array, *, where: str) -> pa.ListArray:
    kind = column.type
    if types.is_null(kind):
        return pa.nulls(len(column), pa.list_(pa.string()))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return column
    raise DataError(
        "The column does not hold lists.",
        where=where,
        do="Store each record's items as a list, or name the records' column: items.record.",
    )


def _lengths(lists: pa.ListArray) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    return np.from_dlpack(lengths).astype(np.int64)


def _encoded(words: pa.Array) -> pa.DictionaryArray:
    return words if types.is_dictionary(words.type) else words.dictionary_encode()
