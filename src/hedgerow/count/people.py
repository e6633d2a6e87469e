"""Records held by person until the bound on each person's records is known.

`records-per-person: auto` is chosen by a mechanism, which runs only after it was booked: until
then an engine holds all records of everybody, and afterwards those that count.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.table import CompiledPaths, MemoryEngine
from hedgerow.count.weighted import WeightedEngine
from hedgerow.encode.batch import table_of_columns
from hedgerow.encode.people import Gathered
from hedgerow.model.arrays import Codes
from hedgerow.model.engine import Engine
from hedgerow.model.people import PeopleRule
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import code_dtype


class PeopleEngine(Protocol):
    """Whatever holds the records of people before they are bounded."""

    @property
    def name(self) -> str:
        """What the certificate calls the engine."""
        ...

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        ...

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        ...

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine of the same kind, by the same code path, over made-up records."""
        ...

    def close(self) -> None:
        """Let go of the records."""
        ...


class PeopleInMemory:
    """The records of everybody, in memory (confidential)."""

    name = "memory"

    def __init__(self, schema: Schema, gathered: Gathered, rule: PeopleRule) -> None:
        self.schema = schema
        self._gathered = gathered
        self._rule = rule
        self._bounded: dict[PeopleRule, Engine] = {}

    def __repr__(self) -> str:
        return "PeopleInMemory()"

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        return clipped_sizes(self._gathered, most)

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        if rule not in self._bounded:
            parts = self._gathered.kept(rule) or [(1, no_records(self.schema))]
            # Loops that pay for all records together are taken for each weight's.
            n_records = sum(len(columns[0]) for _, columns in parts)
            paths = CompiledPaths.of(n_records, len(self.schema.attributes))
            engines: list[tuple[int, Engine]] = [
                (weight, MemoryEngine(table=table_of_columns(self.schema, columns), paths=paths))
                for weight, columns in parts
            ]
            self._bounded[rule] = in_one_engine(engines, rule)
        return self._bounded[rule]

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine that counts a made-up table by the same loops as this one's."""
        return self.bounded(self._rule).rehearsing(table)

    def close(self) -> None:
        """Nothing to do: the records go with the engine."""


def in_one_engine(parts: list[tuple[int, Engine]], rule: PeopleRule) -> Engine:
    """Return one engine for all weights: the only one itself where nothing is weighed."""
    if rule.unit == 1:
        return parts[0][1]
    return WeightedEngine(parts=parts, unit=rule.unit)


def clipped_sizes(gathered: Gathered, most: int) -> NDArray[np.int64]:
    """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
    return np.bincount(np.minimum(gathered.sizes(), most), minlength=most + 1)


def no_records(schema: Schema) -> tuple[Codes, ...]:
    """Return the columns of a table without records."""
    return tuple(
        np.zeros(0, dtype=code_dtype(attribute.domain.size)) for attribute in schema.used()
    )
