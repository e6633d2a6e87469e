"""Data sets of real shapes with and without one record or one person, made from seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from hedgerow.auditing.neighbours import groups, line, schema_over, values
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.count.memory.table import CompiledPaths, MemoryEngine
from hedgerow.count.owned_baskets import OwnedBasketsInMemory
from hedgerow.count.people import PeopleInMemory
from hedgerow.encode.batch import BatchEncoder
from hedgerow.encode.owned_baskets import OwnedBasketEncoder
from hedgerow.encode.people import Gathered, PeopleEncoder, hashed_persons
from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy

N = 30_000
PEOPLE = 8_000

_DOMAINS = (values(16, 4), line(60), values(9), groups(6, 3), line(24), values(5), line(10))
MIXED = schema_over(*_DOMAINS, classes=3)
CLASSLESS = schema_over(*_DOMAINS, classes=0)
WIDE = schema_over(*(values(2 + a % 3) for a in range(22)))
SCHEMAS = {"mixed": MIXED, "classless": CLASSLESS, "wide": WIDE}

COMPILED = CompiledPaths(kernels=True, boxes=True)


def rows_of(schema: Schema, n: int = N, seed: int = 1) -> np.ndarray:
    """Return correlated records, (records, attributes and class)."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n)
    columns = []
    for attribute in schema.used():
        size = attribute.domain.size
        place = 0.6 * hidden + 0.4 * rng.beta(1, 3, n)
        columns.append(np.minimum((place * size).astype(np.int64), size - 1))
    return np.stack(columns, axis=1)


def extreme(schema: Schema) -> np.ndarray:
    """Return a record that is alone in nearly all of its cells: every code is the last."""
    return np.array([attribute.domain.size - 1 for attribute in schema.used()])


def table_engine(schema: Schema, rows: np.ndarray) -> MemoryEngine:
    n = len(schema.attributes)
    columns = list(rows.T)
    classes = columns[n] if schema.class_attribute is not None else None
    return MemoryEngine(table=EncodedTable.from_codes(schema, columns[:n], classes), paths=COMPILED)


@cache
def table_pair(schema: Schema, record: tuple[int, ...]) -> tuple[MemoryEngine, MemoryEngine]:
    """Return engines without and with a record, which stands in the middle."""
    rows = rows_of(schema)
    longer = np.insert(rows, len(rows) // 2, record, axis=0)
    return table_engine(schema, rows), table_engine(schema, longer)


# People.


@dataclass(frozen=True)
class Owned:
    """Rows and who each belongs to."""

    rows: np.ndarray
    who: np.ndarray

    def with_person(self, rows: np.ndarray) -> Owned:
        """Return the same with the rows of one more person, spread among the others."""
        at = np.linspace(0, len(self.rows), len(rows)).astype(np.int64)
        return Owned(
            rows=np.insert(self.rows, at, rows, axis=0), who=np.insert(self.who, at, PEOPLE)
        )


def owners(n: int, seed: int = 4) -> np.ndarray:
    """Return whose each record is: most people have few records, some have very many."""
    rng = np.random.default_rng(seed)
    return (PEOPLE * rng.random(n) ** 2).astype(np.int64)


def names_of(who: np.ndarray) -> pa.Array:
    return pa.array(np.char.add("person ", who.astype("U8")))


def people_engine(schema: Schema, owned: Owned, rule: PeopleRule) -> PeopleInMemory:
    keyed = KeyedRule(rule=rule, key=SampleKey(words=(11, 7)))
    encode = PeopleEncoder(BatchEncoder(schema, name="people"), keyed)
    names = names_of(owned.who)
    hashes = pa.array(hashed_persons([names], keyed.key))
    form = encode.form
    codes = [pa.array(c, kind) for c, kind in zip(owned.rows.T, form.types[2:], strict=True)]
    batch = pa.RecordBatch.from_arrays([names, hashes, *codes], schema=form)
    return PeopleInMemory(schema, Gathered.of([batch], encode), rule)


def people_pair(
    schema: Schema, rule: PeopleRule, *, n_own: int
) -> tuple[PeopleInMemory, PeopleInMemory]:
    """Return engines without and with a person of that many records, half of them equal."""
    owned = Owned(rows=rows_of(schema), who=owners(N))
    own = np.concatenate([rows_of(schema, n_own - n_own // 2, seed=9), owned.rows[: n_own // 2]])
    own[: n_own // 2] = extreme(schema)
    return (
        people_engine(schema, owned, rule),
        people_engine(schema, owned.with_person(own), rule),
    )


# Baskets.


def held_items(n_items: int, n: int = N, seed: int = 2) -> np.ndarray:
    """Return which items every basket holds: a few frequent ones together, and a long tail."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, n_items)) < 0.5 / np.arange(1, n_items + 1) ** 0.9
    together = rng.random(n) < 0.3
    held[:, :6] |= together[:, None] & (rng.random((n, min(6, n_items))) < 0.8)
    held[np.arange(n), rng.integers(0, n_items, n)] = True
    return held


def universe_of(n_items: int) -> Taxonomy:
    return context_free([f"i{code}" for code in range(n_items)], fan_out=4)


def basket_engine(held: np.ndarray) -> BasketMemory:
    n_items = held.shape[1]
    _, items = np.nonzero(held)
    baskets = EncodedBaskets(
        taxonomy=universe_of(n_items),
        offsets=offsets_of(held.sum(axis=1)),
        items=items.astype(item_dtype(n_items)),
    )
    return BasketMemory(baskets=baskets, compiled=True)


@cache
def basket_pair(n_items: int, record: tuple[int, ...]) -> tuple[BasketMemory, BasketMemory]:
    held = held_items(n_items)
    row = np.zeros(n_items, dtype=np.bool_)
    row[list(record)] = True
    return basket_engine(held), basket_engine(np.insert(held, len(held) // 2, row, axis=0))


def owned_baskets_engine(owned: Owned, rule: PeopleRule) -> OwnedBasketsInMemory:
    keyed = KeyedRule(rule=rule, key=SampleKey(words=(11, 7)))
    taxonomy = universe_of(owned.rows.shape[1])
    place = ItemsPlace(column="item", record="basket")
    encode = OwnedBasketEncoder(Universe(taxonomy=taxonomy, place=place), keyed, name="owned")
    record, items = np.nonzero(owned.rows)
    names = names_of(owned.who[record])
    # A basket's number is its place among those of its person, so that it is the person's own.
    order = np.argsort(owned.who, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(owned.who))])[owned.who[order]]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order)) - first
    columns = [
        names,
        pa.array(hashed_persons([names], keyed.key)),
        pa.array(number[record].astype("U8")),
        pa.array(items, pa.int32()),
        pa.array(np.ones(len(items), dtype=np.bool_)),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=encode.form)
    return OwnedBasketsInMemory(taxonomy, encode.gathered([batch]), rule)


def owned_basket_pair(
    n_items: int, rule: PeopleRule, *, n_own: int
) -> tuple[OwnedBasketsInMemory, OwnedBasketsInMemory]:
    """Return engines without and with a person of that many baskets."""
    owned = Owned(rows=held_items(n_items), who=owners(N))
    own = held_items(n_items, n_own, seed=9)
    own[:, : min(5, n_items)] = True
    own[0] = True
    return owned_baskets_engine(owned, rule), owned_baskets_engine(owned.with_person(own), rule)


# Sequences.

N_PLACES = 18
LONG = 60
"""Items of the sequences that many have in common: longer than any path of a forest."""


def common_sequence() -> np.ndarray:
    return np.random.default_rng(5).integers(0, N_PLACES, LONG)


def sequence_engine(n_alike: int, further: list[np.ndarray]) -> BasketMemory:
    """Return an engine over random sequences, ``n_alike`` long equal ones, and further ones."""
    rng = np.random.default_rng(3)
    lengths = rng.geometric(0.09, N)
    items = np.minimum(rng.geometric(0.35, int(lengths.sum())) - 1, N_PLACES - 1)
    every = [np.tile(common_sequence(), n_alike), *further]
    sizes = [lengths, np.full(n_alike, LONG), [len(each) for each in further]]
    taxonomy = Taxonomy.flat([f"i{code}" for code in range(N_PLACES)])
    baskets = EncodedBaskets(
        taxonomy=taxonomy,
        offsets=offsets_of(np.concatenate(sizes).astype(np.int64)),
        items=np.concatenate([items, *every]).astype(item_dtype(N_PLACES)),
    )
    return BasketMemory(baskets=baskets, compiled=True)


def sequence_pair(n_alike: int, record: np.ndarray) -> tuple[BasketMemory, BasketMemory]:
    return sequence_engine(n_alike, []), sequence_engine(n_alike, [record])
