"""Records kept by person until the bound on each person's records is known.

`records-per-person: auto` is chosen by a mechanism, which runs only after it was booked: until then
an engine holds all records of all people, and afterwards those that count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

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

_Records_contra = TypeVar("_Records_contra", contravariant=True)
_Bounded_co = TypeVar("_Bounded_co", covariant=True)


class HeldByPerson(Protocol[_Records_contra, _Bounded_co]):
    """Holds all records (or baskets) of every person until their number is bounded."""

    @property
    def name(self) -> str:
        """Name of the engine in the certificate."""
        ...

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` records or more (confidential)."""
        ...

    def bounded(self, rule: PeopleRule) -> _Bounded_co:
        """Return an engine over the records that count."""
        ...

    def rehearsing(self, table: _Records_contra, /) -> _Bounded_co:
        """Return an engine of the same kind, by the same code path, over synthetic records."""
        ...

    def close(self) -> None:
        """Release the records."""
        ...


PeopleEngine = HeldByPerson[EncodedTable, Engine]


class PersonSizes(Protocol):
    """Records of some persons, all of each."""

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each person (confidential)."""
        ...


def clipped_sizes(parts: Iterable[PersonSizes], most: int) -> NDArray[np.int64]:
    """Return how many persons have 0, 1, ... ``most`` records or more (confidential).

    All records of a person are in one of the ``parts``.
    """
    total = np.zeros(most + 1, dtype=np.int64)
    for part in parts:
        total += np.bincount(np.minimum(part.sizes(), most), minlength=most + 1)
    return total


class PeopleInMemory:
    """The records of all people, in memory (confidential)."""

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
        return clipped_sizes([self._gathered], most)

    def bounded(self, rule: PeopleRule) -> Engine:
        """Return an engine over the records that count."""
        if rule not in self._bounded:
            parts = self._gathered.kept(rule) or [(1, no_records(self.schema))]
            # Use compiled loops for each weight if they pay for all records.
            n_records = sum(len(columns[0]) for _, columns in parts)
            paths = CompiledPaths.of(n_records, len(self.schema.attributes))
            engines: list[tuple[int, Engine]] = [
                (weight, MemoryEngine(table=table_of_columns(self.schema, columns), paths=paths))
                for weight, columns in parts
            ]
            self._bounded[rule] = in_one_engine(engines, rule)
        return self._bounded[rule]

    def rehearsing(self, table: EncodedTable) -> Engine:
        """Return an engine that counts a simulated table by the same loops."""
        return self.bounded(self._rule).rehearsing(table)

    def close(self) -> None:
        """Do nothing: the records are freed with the engine."""


def in_one_engine(parts: list[tuple[int, Engine]], rule: PeopleRule) -> Engine:
    """Return one engine for all weights: the single engine itself if nothing is weighted."""
    if rule.unit == 1:
        return parts[0][1]
    return WeightedEngine(parts=parts, unit=rule.unit)


def no_records(schema: Schema) -> tuple[Codes, ...]:
    """Return the columns of a table without records."""
    return tuple(
        np.zeros(0, dtype=code_dtype(attribute.domain.size)) for attribute in schema.used()
    )
