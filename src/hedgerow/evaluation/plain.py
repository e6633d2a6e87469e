"""Plain tables of other tools, read as the groups of a release.

Columns are the plan's attributes; labels may be values, nodes of a taxonomy or intervals (see
`labels`). A column ``count`` has the number of records of a row; without it every row is one
record. Other columns are ignored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.encode.columns import as_numpy
from hedgerow.errors import DataError
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.labels import Span, span_of
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.labels import count_column
from hedgerow.model.schema import Attribute, Schema
from hedgerow.read.open import open_table
from hedgerow.read.source import ReadProgress, Source
from hedgerow.taxonomy.domain import CategoricalDomain

_LARGEST_COUNT = 2**53


def read_plain(
    data: Any, schema: Schema, *, progress: ReadProgress | None = None
) -> tuple[Schema, Groups]:
    """Return the groups of a plain table, and its schema, without the class if it lacks one.

    If the ranges of every attribute are disjoint the groups are a cut, so other rows can be
    generalised in the same way; otherwise they are loose.
    """
    source = open_table(data)
    target = schema.class_attribute
    if target is not None and target.name not in source.columns:
        schema = replace(schema, class_attribute=None)
    work = _Work(source, schema)
    for batch in source.batches(work.names, text=work.names, progress=progress):
        work.add(batch)
    return schema, work.groups()


class _Work:
    """Distinct labels of each column, and the rows as indices into them."""

    def __init__(self, source: Source, schema: Schema) -> None:
        self.source, self.schema = source, schema
        counts_in = count_column(schema)
        self.counted = counts_in in source.columns
        self.attributes = list(schema.used())
        self.names = [attribute.name for attribute in self.attributes]
        if self.counted:
            self.names.append(counts_in)
        self.seen: list[dict[str, int]] = [{} for _ in self.names]
        self.rows: list[list[NDArray[np.int64]]] = [[] for _ in self.names]

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        for seen, rows, column in zip(self.seen, self.rows, batch.columns, strict=True):
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            words = [word or "" for word in encoded.dictionary.to_pylist()]
            table = np.array([seen.setdefault(word, len(seen)) for word in [*words, ""]])
            places, nulls = as_numpy(encoded.indices)
            known = places if nulls is None else np.where(nulls, len(words), places)
            rows.append(table[known].astype(np.int64))

    def groups(self) -> Groups:
        """Return all rows as sorted groups, with equal ones added up."""
        columns = [
            np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64) for rows in self.rows
        ]
        weights = self._weights(columns)
        ranges, index = [], []
        kept = weights > 0
        for at, attribute in enumerate(self.attributes):
            table, place = self._ranges(attribute, at)
            ranges.append(table)
            index.append(place[columns[at]])
            kept &= index[-1] >= 0
        return _grouped(self.schema, ranges, [column[kept] for column in index], weights[kept])

    def _weights(self, columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        if not self.counted:
            return np.ones(len(columns[0]), dtype=np.int64)
        counts = []
        for text in self.seen[-1]:
            whole = text.strip().removesuffix(".0")
            fine = whole.isascii() and whole.isdigit() and int(whole) < _LARGEST_COUNT
            if not fine and text:
                raise self._unreadable(self.names[-1], "a count that is not an integer from 0 up")
            counts.append(int(whole) if fine else 0)
        weights: NDArray[np.int64] = np.array(counts, dtype=np.int64)[columns[-1]]
        return weights

    def _ranges(self, attribute: Attribute, at: int) -> tuple[Ranges, NDArray[np.int64]]:
        """Return the distinct ranges of one column, and the range of each label.

        A row without a value is marked -1 if the plan drops such records.
        """
        used = np.zeros(len(self.seen[at]), dtype=np.bool_)
        for rows in self.rows[at]:
            used[rows] = True
        spans: list[Span | None] = []
        for text, number in self.seen[at].items():
            span = self._span(text, attribute) if used[number] else None
            if span is None and used[number] and not self._is_missing(text, attribute):
                raise self._unreadable(attribute.name, "a label that its domain does not know")
            spans.append(span)
        distinct = sorted({span for span in spans if span}) or [(0, 1)]
        place = {span: number for number, span in enumerate(distinct)}
        found = [-1 if span is None else place[span] for span in spans]
        return Ranges.of(distinct), np.array(found, dtype=np.int64)

    def _span(self, text: str, attribute: Attribute) -> Span | None:
        domain = attribute.domain
        markers = self.schema.missing_values | attribute.missing_values
        span = span_of(text, domain, markers=markers)
        is_missing = self._is_missing(text, attribute)
        if span is None and isinstance(domain, CategoricalDomain) and not is_missing:
            other = domain.other_code
            return None if other is None else (other, other + 1)
        return span

    def _is_missing(self, text: str, attribute: Attribute) -> bool:
        markers = self.schema.missing_values | attribute.missing_values
        return not text.strip() or text.strip() in markers

    def _unreadable(self, column: str, what: str) -> DataError:
        return DataError(
            f"Column {column!r} holds {what}.",
            where=self.source.name,
            do="Labels may be values, nodes of the plan's taxonomy, or intervals such as"
            " [17, 30) or 17-29; counts are whole numbers.",
        )


def _grouped(
    schema: Schema,
    ranges: list[Ranges],
    index: list[NDArray[np.int64]],
    weights: NDArray[np.int64],
) -> Groups:
    number, first = row_numbers(index)
    counts = np.bincount(number, weights=weights, minlength=len(first)).astype(np.int64)
    columns = [column[first] for column in index]
    n = len(schema.attributes)
    classes = None
    if schema.class_attribute is not None:
        if (ranges[n].stop - ranges[n].first > 1).any():
            raise DataError(
                "The class is generalised.",
                where=schema.class_attribute.name,
                do="Remove the class from the plan; classification is then skipped.",
            )
        classes = ranges[n].first[columns[n]].astype(np.int32)
    is_cut = any((r.stop - r.first > 1).any() for r in ranges[:n]) and _are_apart(ranges[:n])
    tables, places = ranges[:n], [column.astype(np.int32) for column in columns[:n]]
    if is_cut:
        sizes = [attribute.domain.size for attribute in schema.attributes]
        tiled = [_tiled(table, size) for table, size in zip(tables, sizes, strict=True)]
        places = [where[at] for (_, where), at in zip(tiled, places, strict=True)]
        tables = [table for table, _ in tiled]
    return Groups(
        ranges=tuple(tables),
        index=tuple(places),
        classes=classes,
        counts=counts,
        is_cut=is_cut,
    )


def _are_apart(ranges: list[Ranges]) -> bool:
    return all(bool((table.first[1:] >= table.stop[:-1]).all()) for table in ranges)


def _tiled(ranges: Ranges, size: int) -> tuple[Ranges, NDArray[np.int32]]:
    """Return the ranges with the gaps between them filled, and the new index of each."""
    ends = np.concatenate([[0], ranges.stop]), np.concatenate([ranges.first, [size]])
    gaps = [(int(a), int(b)) for a, b in zip(*ends, strict=True) if a < b]
    own = list(zip(ranges.first.tolist(), ranges.stop.tolist(), strict=True))
    tiles = Ranges.of([*own, *gaps])
    return tiles, np.searchsorted(tiles.first, ranges.first).astype(np.int32)
