"""Set-valued data with one or more columns that identify the person of each record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from hedgerow.errors import DataError
from hedgerow.model.people import PeopleRule
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.universe import ItemsPlace
from hedgerow.read.columnar import ArrowSource, ParquetSource
from hedgerow.read.frames import FrameSource
from hedgerow.read.items import words_of_lists
from hedgerow.read.marks import MarkedSource
from hedgerow.read.open import open_table
from hedgerow.read.source import ReadProgress, Source, places_of
from hedgerow.read.text import as_text
from hedgerow.read.words import WordBatch


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnedBatch:
    """Some rows: the person of each, its record's name in a long table, and its items.

    ``single`` means that a row has at most one item instead of a list of them.
    """

    persons: tuple[pa.Array, ...]
    records: pa.Array | None
    words: WordBatch
    single: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnedItems:
    """Rows of a table with their persons: lists of items, or one item to a row."""

    source: Source
    rule: PeopleRule
    place: ItemsPlace

    @property
    def name(self) -> str:
        """Name of the table in messages."""
        return self.source.name

    def batches(self, *, progress: ReadProgress | None = None) -> Iterator[OwnedBatch]:
        """Stream the rows in order."""
        source, columns = self.source, owned_columns(self.rule, self.place)
        text = columns
        if self.place.record is None and (self.rule.join is None or _may_hold_lists(source)):
            text, source = columns[:-1], _unmarked(source)
        for batch in source.batches(columns, text=text, progress=progress):
            yield owned_batch(batch, self.rule, self.place, name=self.name)


def _unmarked(source: Source) -> Source:
    """Return a table as it is stored, because items are not numbers with marks."""
    return source.source if isinstance(source, MarkedSource) else source


def _may_hold_lists(source: Source) -> bool:
    return isinstance(_unmarked(source), ParquetSource | ArrowSource | FrameSource)


def owned_columns(rule: PeopleRule, place: ItemsPlace) -> list[str]:
    """Return the columns to read: persons, the record's name, its order (if any), items."""
    names = (*rule.columns, place.record, place.order, place.column)
    return [name for name in names if name is not None]


def open_owned_items(
    data: str | Path | Any,
    place: ItemsPlace,
    rule: PeopleRule,
    *,
    query: str | None = None,
    base: Path = Path(),
    reading: Reading = PLAIN,
) -> OwnedItems:
    """Return set-valued data with its persons, opened far enough to check its columns.

    ``data`` is anything that :func:`hedgerow.read.open.open_table` accepts.
    """
    if place.column is None:
        raise DataError(
            "The lines of a file do not identify their person.",
            where="items.column",
            do="Name the column of items; for a long table, name 'record' as well.",
        )
    source = open_table(data, query=query, base=base, reading=reading)
    places_of(owned_columns(rule, place), source)
    return OwnedItems(source=source, rule=rule, place=place)


def owned_batch(
    batch: pa.RecordBatch, rule: PeopleRule, place: ItemsPlace, *, name: str
) -> OwnedBatch:
    """Return the rows of a batch that has the columns of `owned_columns`.

    A row's items are a function of that row. If a person's items are joined, a row may have a
    list or a single item.
    """
    n_persons = len(rule.columns)
    column = batch.column(batch.num_columns - 1)
    where = f"{name}, column {place.column!r}"
    single = place.record is not None or (rule.join is not None and not _holds_lists(column))
    words = _single_words(column, where) if single else words_of_lists(column, where=where)
    if place.order is not None:
        order = as_text(batch.column(n_persons + 1), where=f"{name}, column {place.order!r}")
        words = replace(words, order=order)
    return OwnedBatch(
        persons=tuple(batch.columns[:n_persons]),
        records=None
        if place.record is None
        else as_text(batch.column(n_persons), where=f"{name}, column {place.record!r}"),
        words=words,
        single=single,
    )


def _holds_lists(column: pa.Array) -> bool:
    kind = column.type
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_fixed_size_list(kind)
        or types.is_null(kind)
    )


def _single_words(column: pa.Array, where: str) -> WordBatch:
    words = as_text(column, where=where)
    if not types.is_dictionary(words.type):
        words = words.dictionary_encode()
    return WordBatch(words=words, lengths=np.ones(len(words), dtype=np.int64))
