"""Neighbouring tables and baskets on which flaws of methods are most visible.

A pair is one set of records with and without one of them. Those named T are the pairs of
docs/privacy.md, "What is wrong in the papers": on each some method is not private as printed. In
T0 there is a single group, which gets the whole budget of a method. R are small random pairs. All
of them are synthetic; no confidential record is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from hedgerow.auditing.sequences import SequencePair
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

RecordRow = tuple[int, ...]

CROWD = 1024
"""Number of records of the pair whose size is a power of 2, or one less [T14]."""

GROWN, ALIKE = 6000, 300
"""Size of the pair on which boxes of hedge split separately, and of its crowd like the record.

At epsilon 1 boxes do so from 4,526 records on.
"""

MANY_ITEMS = 20
"""Number of items at which DiffPart divides its universe: it counts up to 18 items at once."""

EQUAL, OTHERS = 40, 5000
"""Numbers of baskets of that pair like the record, and of another item.

Those like the record are enough to be listed: at epsilon 1 that takes 9. The others are so
many that the baskets which DiffPart samples for its noisy total are like them, and do not change
the listed count.
"""


@dataclass(frozen=True, kw_only=True)
class TablePair:
    """Rows of codes (the class last) with and without ``record``."""

    name: str
    about: str
    schema: Schema
    rest: tuple[RecordRow, ...]
    record: RecordRow

    def engine(self, *, has_record: bool) -> MemoryEngine:
        """Return an engine over the rows, with or without the record."""
        rows = (*self.rest, self.record) if has_record else self.rest
        width = len(list(self.schema.used()))
        columns = np.array(rows, dtype=np.int64).reshape(-1, width).T
        n = len(self.schema.attributes)
        classes = columns[n] if self.schema.class_attribute is not None else None
        return MemoryEngine(table=EncodedTable.from_codes(self.schema, list(columns[:n]), classes))


@dataclass(frozen=True, kw_only=True)
class BasketPair:
    """Sets of item codes with and without ``record``."""

    name: str
    about: str
    taxonomy: Taxonomy
    rest: tuple[frozenset[int], ...]
    record: frozenset[int]

    def engine(self, *, has_record: bool) -> BasketMemory:
        """Return an engine over the baskets, with or without the record."""
        sets = (*self.rest, self.record) if has_record else self.rest
        return BasketMemory(baskets=EncodedBaskets.from_sets(self.taxonomy, sets))


NeighbourPair = TablePair | BasketPair | SequencePair


def values(n: int, fan_out: int = 0) -> CategoricalDomain:
    """Return a domain of n values under one root, or grouped with a fan-out."""
    labels = [f"v{i}" for i in range(n)]
    tree = context_free(labels, fan_out=fan_out) if fan_out else Taxonomy.flat(labels)
    return CategoricalDomain(taxonomy=tree, other=None, missing=None)


def groups(n: int, size: int) -> CategoricalDomain:
    """Return a domain of ``n`` groups of ``size`` values each."""
    nested = {f"g{i}": [f"v{i}.{j}" for j in range(size)] for i in range(n)}
    tree = Taxonomy.from_nested("any", nested)
    return CategoricalDomain(taxonomy=tree, other=None, missing=None)


def line(n: int) -> NumericDomain:
    """Return the numbers 0 .. n - 1."""
    return NumericDomain.even(low=0, high=n - 1, step=1)


def schema_over(*domains: Domain, classes: int = 2) -> Schema:
    """Return a schema of attributes over the domains, and a class, unless it has 0 values."""
    return Schema(
        attributes=tuple(Attribute(name=f"a{i}", domain=each) for i, each in enumerate(domains)),
        class_attribute=Attribute(name="class", domain=values(classes)) if classes else None,
    )


def table_pairs(*, seed: int = 1) -> tuple[TablePair, ...]:
    """Return the pairs for methods that publish tables."""
    binary = schema_over(values(2), values(2))
    hundred = schema_over(line(101))
    lone = schema_over(values(1), classes=1)

    def pair(
        name: str, about: str, schema: Schema, rest: Sequence[RecordRow], record: RecordRow
    ) -> TablePair:
        return TablePair(name=name, about=about, schema=schema, rest=tuple(rest), record=record)

    rivals = [(0,)] * 49 + [(1,)] * 49
    crowd = [(i % 2, i // 2 % 2, i // 4 % 2) for i in range(CROWD - 1)]
    return (
        pair("T0", "one record or none, one group", lone, [], (0, 0)),
        pair("T1", "one record or none", binary, [], (1, 1, 1)),
        pair("T2", "one record or none, deep", schema_over(values(16, 4)), [], (15, 1)),
        pair(
            "T3", "two records or one, ten groups", schema_over(groups(10, 2)), [(19, 0)], (19, 0)
        ),
        pair("T4", "two numbers or one", hundred, [(20, 0)], (40, 0)),
        pair("T9", "two numbers far apart, or one", hundred, [(10, 0)], (90, 1)),
        pair("T13", "a group outgrows another", schema_over(values(2), classes=0), rivals, (0,)),
        pair("T14", "1024 records or 1023", binary, crowd, (1, 1, 1)),
        pair("M", "a majority tips", binary, [(0, 1, 0), (1, 1, 0), (1, 1, 1)], (1, 1, 1)),
        *random_pairs(seed=seed),
    )


def random_pairs(*, seed: int, n: int = 2) -> tuple[TablePair, ...]:
    """Return small random pairs: up to three attributes, up to six records."""
    pairs = []
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        domains: list[Domain] = [values(2), values(3), values(6, 2), line(5)]
        chosen = [domains[at] for at in rng.choice(4, size=int(rng.integers(1, 4)), replace=False)]
        schema = schema_over(*chosen, classes=int(rng.integers(2, 4)))
        sizes = [attribute.domain.size for attribute in schema.used()]
        rows = rng.integers(0, sizes, size=(int(rng.integers(1, 7)), len(sizes)))
        *rest, record = (tuple(row) for row in rows.tolist())
        about = f"{len(rest) + 1} random records, or one less"
        pairs.append(
            TablePair(name=f"R{i + 1}", about=about, schema=schema, rest=tuple(rest), record=record)
        )
    return tuple(pairs)


def basket_pairs(*, seed: int = 1) -> tuple[BasketPair, ...]:
    """Return the pairs for methods that publish baskets."""

    def pair(
        name: str, about: str, n_items: int, rest: Sequence[set[int]], record: set[int]
    ) -> BasketPair:
        taxonomy = context_free([f"i{code}" for code in range(n_items)], fan_out=2)
        return BasketPair(
            name=name,
            about=about,
            taxonomy=taxonomy,
            rest=tuple(frozenset(each) for each in rest),
            record=frozenset(record),
        )

    rng = np.random.default_rng([seed, 99])
    random = [set(np.flatnonzero(row).tolist()) or {0} for row in rng.random((4, 4)) < 0.5]
    return (
        pair("T5", "one record or none, one item", 1, [], {0}),
        pair("T6", "all baskets of two items, or the pair left out", 2, [{0}, {1}], {0, 1}),
        pair("T7", "two items or one", 2, [{0}], {1}),
        pair("T8", "an item of one record", 5, [{0}], {4}),
        pair("N", "nine equal baskets or eight", 3, [{1, 2}] * 8, {1, 2}),
        pair("R1", "four random baskets, or three", 4, random[:3], random[3]),
    )


def grown_pair() -> TablePair:
    """Return a pair with enough records and values for boxes to choose splits of their own.

    There are two kinds of records, so that the boxes around the record's own kind vary little
    between runs, and its noisy count is visible.
    """
    return TablePair(
        name="G",
        about=f"{GROWN} records or one less, boxes of their own",
        schema=schema_over(values(16, 2), line(16)),
        rest=((0, 0, 0),) * (GROWN - ALIKE) + ((15, 15, 1),) * (ALIKE - 1),
        record=(15, 15, 1),
    )


def many_items_pair() -> BasketPair:
    """Return a pair over more items than are counted at once, in one partition."""
    names = [f"i{code}" for code in range(MANY_ITEMS)]
    return BasketPair(
        name="W",
        about=f"{EQUAL} equal baskets or one less, {MANY_ITEMS} items",
        taxonomy=context_free(names, fan_out=MANY_ITEMS),
        rest=(frozenset({0}),) * (EQUAL - 1) + (frozenset({2}),) * OTHERS,
        record=frozenset({0}),
    )


def pairs_over(schema: Schema, *, seed: int = 1, least: int = 0) -> tuple[TablePair, ...]:
    """Return pairs over the public domains of a schema; no confidential record is read.

    Tables have at least ``least`` records, for methods whose claim is about such tables only.
    """
    sizes = np.array([attribute.domain.size for attribute in schema.used()])
    rng = np.random.default_rng([seed, 7])

    def rows(n: int) -> tuple[RecordRow, ...]:
        return tuple(tuple(row) for row in rng.integers(0, sizes, size=(n, len(sizes))).tolist())

    low, high = tuple([0] * len(sizes)), tuple((sizes - 1).tolist())
    rows_of_pairs: list[tuple[str, str, tuple[RecordRow, ...], RecordRow]] = [
        ("T1", "one record or none", (), high),
        ("T4", "two records far apart, or one", (low,), high),
        ("T3", "two equal records or one", (high,), high),
        ("T14", "1024 random records or 1023", rows(CROWD - 1), high),
        ("R1", "five random records or four", rows(4), rows(1)[0]),
    ]
    return tuple(
        TablePair(
            name=name,
            about=about,
            schema=schema,
            rest=rest + tuple(islice(cycle((low, high)), max(least - len(rest), 0))),
            record=record,
        )
        for name, about, rest, record in rows_of_pairs
    )


def baskets_over(taxonomy: Taxonomy, *, seed: int = 1) -> tuple[BasketPair, ...]:
    """Return pairs over a public universe of items; no confidential record is read."""
    n = taxonomy.n_leaves
    rng = np.random.default_rng([seed, 8])

    def sets(count: int) -> tuple[frozenset[int], ...]:
        sizes = rng.integers(1, min(n, 5) + 1, size=count).tolist()
        return tuple(frozenset(rng.choice(n, size=size, replace=False).tolist()) for size in sizes)

    first, last = frozenset({0}), frozenset({n - 1})
    rows_of_pairs: list[tuple[str, str, tuple[frozenset[int], ...], frozenset[int]]] = [
        ("T5", "one record or none", (), last),
        ("T6", "both items alone, and both or not", (first, last), first | last),
        ("T8", "an item of one record", (first,), last),
        ("N", "nine equal baskets or eight", (first | last,) * 8, first | last),
        ("R1", "forty random baskets, or one less", sets(39), sets(1)[0]),
    ]
    return tuple(
        BasketPair(name=name, about=about, taxonomy=taxonomy, rest=rest, record=record)
        for name, about, rest, record in rows_of_pairs
    )
