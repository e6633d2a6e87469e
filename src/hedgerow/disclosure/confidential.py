"""Confidential inputs of a disclosure: records, the attacker's dictionary and personal weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Levels
from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.solvers.records import distinct_problems
from hedgerow.errors import DataError, PlanError
from hedgerow.model.arrays import Floats
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Progress
from hedgerow.release.domains import describe


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Confidential:
    """The records to disclose and the attacker's knowledge.

    ``rows`` are the row numbers of the records in the original table; ``personal`` has one weight
    per record and attribute if weights are personal; ``keys`` identify records if the plan names
    a key column; ``n_read`` is the number of rows of the table.
    """

    table: EncodedTable
    rows: NDArray[np.int64]
    against: EncodedTable
    personal: Floats | None
    keys: tuple[str, ...] | None = None
    n_read: int = 0

    @cached_property
    def dictionary(self) -> Dictionary:
        """The attacker's dictionary, grouped."""
        return Dictionary.of(self.against)

    def digest(self) -> str:
        """Return the SHA-256 of all codes and weights and of the meaning of the codes."""
        sha = hashlib.sha256()
        for attribute in self.table.schema.used():
            sha.update(f"{attribute.name}\0{describe(attribute.domain).digest()}\n".encode())
        for table in (self.table, self.against):
            sha.update(len(table).to_bytes(8, "little"))
            for column in table.codes:
                sha.update(np.ascontiguousarray(column).data)
        if self.table.classes is not None:
            sha.update(np.ascontiguousarray(self.table.classes).data)
        sha.update(np.ascontiguousarray(self.rows).data)
        if self.personal is not None:
            sha.update(np.ascontiguousarray(self.personal).data)
        return sha.hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Problems:
    """The distinct combinations of record and weights in a table; ``kind`` maps records to them.

    Combinations with equal values are adjacent. ``known``, if any, are the levels that the
    recipient already has of each record.
    """

    records: EncodedTable
    kind: NDArray[np.int64]
    many: NDArray[np.int64]
    severities: Severities
    known: Levels | None = None

    def __len__(self) -> int:
        return len(self.many)

    @classmethod
    def of(
        cls, ready: PreparedDisclosure, confidential: Confidential, known: Levels | None = None
    ) -> Problems:
        """Group the records of a table by values, weights and the recipient's knowledge."""
        personal = confidential.personal if ready.model.personal else None
        distinct = distinct_problems(confidential.table, personal, known)
        severities = Severities.of(
            ready.chains,
            attributes=ready.attribute_weights,
            values=ready.value_weights,
            personal=None if personal is None else personal[distinct.first],
            inner=ready.disclose.risk.inner,
        )
        return cls(
            records=without_class(confidential.table, distinct.first),
            kind=distinct.kind,
            many=distinct.many,
            severities=severities,
            known=None if known is None else known[distinct.first],
        )

    def known_of(self, job: int) -> Levels | None:
        """Return the levels that the recipient has of one distinct record, or ``None``."""
        return None if self.known is None else self.known[job]

    def part(self, start: int, stop: int) -> EncodedTable:
        """Return a range of the distinct records."""
        return without_class(self.records, slice(start, stop))


def without_class(table: EncodedTable, which: slice | NDArray[np.int64]) -> EncodedTable:
    """Return some records of a table, without their class."""
    return EncodedTable(
        schema=replace(table.schema, class_attribute=None),
        codes=tuple(column[which] for column in table.codes),
        classes=None,
    )


def read_confidential(
    ready: PreparedDisclosure, data: Any, against: Any, *, progress: Progress
) -> Confidential:
    """Return the table, the dictionary and the weights that the plan names.

    ``data`` and ``against`` replace those of the plan if they are not ``None``.
    """
    from hedgerow.encode.table import encode_accompanied
    from hedgerow.read.open import open_table

    plan, weights = ready.plan, ready.disclose.risk.weights
    if data is None and plan.data is None:
        raise PlanError(
            "The plan names no data.", where="data", do="Name a file there, or use --data FILE."
        )
    own = data is None
    source = open_table(
        plan.data if own else data,
        query=plan.table_query if own else None,
        base=plan.base if own else Path(),
        reading=plan.how_to_read(),
    )
    columns = list(dict.fromkeys(weights.values())) if isinstance(weights, dict) else []
    read = encode_accompanied(
        source,
        ready.schema,
        numbers=columns,
        key=ready.disclose.key,
        progress=lambda fraction: progress("reading", fraction),
    )
    return Confidential(
        table=read.table,
        rows=read.rows,
        against=_dictionary(ready, read.table, against, progress),
        personal=_personal(ready, read.numbers, columns, read.n_read, read.rows),
        keys=read.keys,
        n_read=read.n_read,
    )


def _dictionary(
    ready: PreparedDisclosure, table: EncodedTable, against: Any, progress: Progress
) -> EncodedTable:
    from hedgerow.encode.table import encode_table
    from hedgerow.read.open import open_table

    place = against if against is not None else ready.disclose.against
    if place is None:
        return without_class(table, slice(None))
    base = ready.plan.base if against is None else Path()
    schema: Schema = replace(ready.schema, class_attribute=None)
    return encode_table(
        open_table(place, base=base, reading=ready.plan.how_to_read().of_another_file()),
        schema,
        progress=lambda fraction: progress("reading the dictionary", fraction),
    )


def _personal(
    ready: PreparedDisclosure,
    numbers: Floats,
    columns: Sequence[str],
    n_read: int,
    rows: NDArray[np.int64],
) -> Floats | None:
    weights = ready.disclose.risk.weights
    if weights is None:
        return None
    names = [attribute.name for attribute in ready.schema.attributes]
    personal = np.ones((len(rows), len(names)))
    if isinstance(weights, dict):
        for name, column in weights.items():
            personal[:, names.index(name)] = numbers[:, columns.index(column)]
    else:
        _read_weights(ready, weights, n_read, rows, personal)
    negative = np.flatnonzero((personal < 0).any(axis=1))
    if len(negative):
        raise DataError(
            f"The weight of record {int(rows[negative[0]]) + 1} is negative.",
            where="disclose.risk.weights",
            do="Give weights of 0 or more.",
        )
    return personal


def _read_weights(
    ready: PreparedDisclosure, place: str, n_read: int, rows: NDArray[np.int64], personal: Floats
) -> None:
    from hedgerow.encode.columns import numbers_in
    from hedgerow.read.open import open_table

    reading = ready.plan.how_to_read().of_another_file()
    source = open_table(place, base=ready.plan.base, reading=reading)
    names = [attribute.name for attribute in ready.schema.attributes]
    known = [name for name in names if name in source.columns]
    if not known:
        raise DataError(
            "No column has the name of an attribute.",
            where=source.name,
            do=f"Name columns after the attributes they weigh: {', '.join(names)[:300]}.",
        )
    parts = [
        np.stack([numbers_in(column) for column in batch.columns], axis=1)
        for batch in source.batches(known)
    ]
    weights = np.vstack([np.zeros((0, len(known))), *parts])
    if len(weights) != n_read:
        raise DataError(
            "The table of weights and the data have different numbers of rows.",
            where=source.name,
            do="Give one row of weights for each record, in the same order.",
        )
    kept = weights[rows]
    wrong = np.flatnonzero(~np.isfinite(kept).all(axis=1))
    if len(wrong):
        raise DataError(
            f"Row {int(rows[wrong[0]]) + 1} lacks a number.",
            where=source.name,
            do="Give every record a weight of 0 or more for each attribute.",
        )
    personal[:, [names.index(name) for name in known]] = kept
