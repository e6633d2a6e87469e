"""The records of people larger than memory: gathered by the hash of their person on disk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.people import clipped_sizes, in_one_engine, no_records
from hedgerow.count.stream.buckets import Buckets
from hedgerow.count.stream.scratch import Scratch, Slot
from hedgerow.count.stream.table import Pace, Report, StreamEngine, rows_per_piece
from hedgerow.encode.batch import BatchEncoder
from hedgerow.encode.people import Gathered, PeopleEncoder, people_batches
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import Engine
from hedgerow.model.people import KeyedRule, PeopleRule
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.source import Source


class PeopleOnDisk:
    """The records of all people, in buckets on disk (confidential)."""

    name = "stream"

    def __init__(
        self, schema: Schema, scratch: Scratch, encode: PeopleEncoder, *, memory: int
    ) -> None:
        self.schema = schema
        self._encode = encode
        self._scratch = scratch
        self._buckets = Buckets(scratch, memory=memory)
        self._rule = encode.keyed.rule
        self._memory = memory

    def __repr__(self) -> str:
        return "PeopleOnDisk()"

    @classmethod
    def read(
        cls,
        source: Source,
        schema: Schema,
        keyed: KeyedRule,
        *,
        scratch: Scratch,
        memory: int,
        report: Report,
        sums: ColumnSums | None = None,
    ) -> PeopleOnDisk:
        """Return an engine over ``source``, read once and stored by person in ``scratch``."""
        encode = PeopleEncoder(BatchEncoder(schema, name=source.name, sums=sums), keyed)
        held = cls(schema, scratch, encode, memory=memory)
        pace = Pace(report)
        held._buckets.fill(people_batches(source, encode, progress=pace.share, on_read=pace.read))
        return held

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        return clipped_sizes(self._gathered(), most)

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        shelf = self._scratch.shelf()
        pieces = _Pieces(rows_per_piece(self.schema, self._memory) // 2)
        slots: dict[int, list[Slot]] = {}
        for gathered in self._gathered():
            for weight, columns in gathered.kept(rule):
                for piece in pieces.add(weight, columns):
                    slots.setdefault(weight, []).append(shelf.put(piece))
        for weight, piece in pieces.rest():
            slots.setdefault(weight, []).append(shelf.put(piece))
        if not slots:
            slots[1] = [shelf.put(no_records(self.schema))]
        parts: list[tuple[int, Engine]] = [
            (weight, StreamEngine(self.schema, self._scratch, shelf, found))
            for weight, found in sorted(slots.items())
        ]
        self._buckets.close()
        return in_one_engine(parts, rule)

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine over a simulated table on the same disk, by the same loops."""
        columns = table.codes if table.classes is None else (*table.codes, table.classes)
        shelf = self._scratch.shelf()
        weights = np.unique(self._rule.weights()[1:]).tolist()
        parts: list[tuple[int, Engine]] = []
        for weight in weights:
            slots = [shelf.put(tuple(column[:0] for column in columns))]
            parts.append((weight, StreamEngine(self.schema, self._scratch, shelf, slots)))
        return in_one_engine(parts, self._rule).rehearsing(table)

    def close(self) -> None:
        """Remove the records from the disk."""
        self._scratch.close()

    def _gathered(self) -> Iterator[Gathered]:
        for batches in self._buckets:
            yield Gathered.of(batches, self._encode)


class _Pieces:
    """Codes by weight, joined until a piece is full."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._held: dict[int, list[tuple[Codes, ...]]] = {}

    def add(self, weight: int, columns: tuple[Codes, ...]) -> Iterator[tuple[Codes, ...]]:
        """Yield a piece if it is full now."""
        held = self._held.setdefault(weight, [])
        held.append(tuple(np.array(each) for each in columns))  # a view would keep its whole bucket
        if sum(len(each[0]) for each in held) * len(self._held) >= self._rows:
            yield _concatenated(self._held.pop(weight))

    def rest(self) -> Iterator[tuple[int, tuple[Codes, ...]]]:
        """Yield the remaining codes with their weights."""
        for weight, held in self._held.items():
            yield weight, _concatenated(held)


def _concatenated(held: list[tuple[Codes, ...]]) -> tuple[Codes, ...]:
    return tuple(np.concatenate(each) for each in zip(*held, strict=True))
