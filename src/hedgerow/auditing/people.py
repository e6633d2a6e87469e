"""Neighbours that differ in all records of one person, on which flaws are most visible.

A pair is the records of some people with and without one person. In P0 all of a person's records
are in a single group; in P1 they are in different groups; in P2 the person has more records than
any bound allows; in P3 and P4 everybody has more records than count, so that a rule which depends
on more than one person would change what others keep. All pairs are synthetic; no confidential
record is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa

from hedgerow.auditing.neighbours import (
    BasketPair,
    RecordRow,
    TablePair,
    schema_over,
    values,
)
from hedgerow.count.owned_baskets import OwnedBasketsInMemory
from hedgerow.count.people import PeopleInMemory
from hedgerow.encode.batch import BatchEncoder
from hedgerow.encode.owned_baskets import OwnedBasketEncoder
from hedgerow.encode.people import Gathered, PeopleEncoder, hashed_persons
from hedgerow.model.people import CANDIDATES, KeyedRule
from hedgerow.model.schema import Schema
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy

Basket = frozenset[int]

_Record = TypeVar("_Record", RecordRow, Basket)

BOUND = 3
"""Number of records of a person that count in audits, if the bound is not chosen."""

MANY = CANDIDATES[-1] + 6
"""Number of records of a person with more than any bound that may be chosen."""

CROWD = 60
"""Number of people in the pairs in which everybody has more records than count."""


@dataclass(frozen=True, kw_only=True)
class PersonPair:
    """The records of people, as rows of codes with the class last, with and without one person.

    ``others`` has a tuple of records for each other person, ``own`` are those of the one.
    """

    name: str
    about: str
    schema: Schema
    others: tuple[tuple[RecordRow, ...], ...]
    own: tuple[RecordRow, ...]

    def engine(self, keyed: KeyedRule, *, has_person: bool) -> PeopleInMemory:
        """Return an engine over all records, gathered as from a file."""
        rows, who = _by_person(self.others, self.own if has_person else ())
        encode = PeopleEncoder(BatchEncoder(self.schema, name=self.name), keyed)
        width = len(list(self.schema.used()))
        columns = np.array(rows, dtype=np.int64).reshape(-1, width).T
        names = pa.array(who, pa.string())
        hashes = pa.array(hashed_persons([names], keyed.key))
        form = encode.form
        codes = [pa.array(each, kind) for each, kind in zip(columns, form.types[2:], strict=True)]
        batch = pa.RecordBatch.from_arrays([names, hashes, *codes], schema=form)
        return PeopleInMemory(self.schema, Gathered.of([batch], encode), keyed.rule)

    def shown(self) -> TablePair:
        """Return the records that an attacker looks at: the person's first record, and others'."""
        rest = tuple(row for rows in self.others for row in rows)
        return TablePair(
            name=self.name, about=self.about, schema=self.schema, rest=rest, record=self.own[0]
        )


@dataclass(frozen=True, kw_only=True)
class PersonBasketPair:
    """The baskets of people, as sets of item codes, with and without one person."""

    name: str
    about: str
    taxonomy: Taxonomy
    others: tuple[tuple[Basket, ...], ...]
    own: tuple[Basket, ...]

    def engine(self, keyed: KeyedRule, *, has_person: bool) -> OwnedBasketsInMemory:
        """Return an engine over all baskets, gathered as from a long table."""
        baskets, who = _by_person(self.others, self.own if has_person else ())
        place = ItemsPlace(column="item", record="basket")
        encode = OwnedBasketEncoder(
            Universe(taxonomy=self.taxonomy, place=place), keyed, name=self.name
        )
        rows = [(name, str(n), item) for n, name in enumerate(who) for item in sorted(baskets[n])]
        persons, records, items = zip(*rows, strict=True) if rows else ((), (), ())
        names = pa.array(persons, pa.string())
        columns = [
            names,
            pa.array(hashed_persons([names], keyed.key)),
            pa.array(records, pa.string()),
            pa.array(items, pa.int32()),
            pa.array([True] * len(rows), pa.bool_()),
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=encode.form)
        return OwnedBasketsInMemory(self.taxonomy, encode.gathered([batch]), keyed.rule)

    def shown(self) -> BasketPair:
        """Return the baskets that an attacker looks at: the person's first one, or all joined."""
        rest = tuple(basket for baskets in self.others for basket in baskets)
        return BasketPair(
            name=self.name, about=self.about, taxonomy=self.taxonomy, rest=rest, record=self.own[0]
        )


PeoplePair = PersonPair | PersonBasketPair


def _by_person(
    others: Sequence[tuple[_Record, ...]], own: tuple[_Record, ...]
) -> tuple[list[_Record], list[str]]:
    """Return all records and the person of each, with the one person in the middle."""
    people = [(f"p{n}", each) for n, each in enumerate(others)]
    people.insert(len(people) // 2, ("the one", own))
    rows = [(row, name) for name, each in people for row in each]
    return [row for row, _ in rows], [name for _, name in rows]


def person_pairs(*, seed: int = 1) -> tuple[PersonPair, ...]:
    """Return the pairs for methods that publish tables."""
    binary = schema_over(values(2), values(2))
    lone = schema_over(values(1), classes=1)
    scattered = ((1, 1, 1), (0, 1, 0), (1, 0, 0))
    kinds = ((0, 0, 0), (1, 1, 1), (0, 1, 0), (1, 0, 1), (0, 0, 1))
    rng = np.random.default_rng([seed, 14])
    random = [tuple(map(tuple, rng.integers(0, 2, size=(int(n), 3)).tolist())) for n in (2, 5, 1)]

    def pair(
        name: str,
        about: str,
        others: Sequence[tuple[RecordRow, ...]],
        own: tuple[RecordRow, ...],
        schema: Schema = binary,
    ) -> PersonPair:
        return PersonPair(name=name, about=about, schema=schema, others=tuple(others), own=own)

    return (
        pair("P0", "five records of one person, or nobody", (), ((0, 0),) * 5, lone),
        pair("P1", "three records of one person, all apart, or nobody", (), scattered),
        pair(
            "P2",
            f"{MANY} records of one person among twenty people of one",
            [(row,) for row in kinds * 4],
            (scattered[0],) * MANY,
        ),
        pair(
            "P3",
            f"{CROWD + 1} people or one less, each with more records than count",
            [kinds] * CROWD,
            kinds,
        ),
        pair("R1", "three random people, or one less", random[:2], random[2]),
    )


def person_basket_pairs(*, seed: int = 1) -> tuple[PersonBasketPair, ...]:
    """Return the pairs for methods that publish baskets."""

    def pair(
        name: str,
        about: str,
        n_items: int,
        others: Sequence[Sequence[set[int]]],
        own: Sequence[set[int]],
    ) -> PersonBasketPair:
        return PersonBasketPair(
            name=name,
            about=about,
            taxonomy=context_free([f"i{code}" for code in range(n_items)], fan_out=2),
            others=tuple(tuple(frozenset(each) for each in baskets) for baskets in others),
            own=tuple(frozenset(each) for each in own),
        )

    rng = np.random.default_rng([seed, 15])
    random = [set(np.flatnonzero(row).tolist()) or {0} for row in rng.random((6, 4)) < 0.5]
    kinds = [{0}, {1}, {0, 1}, {2}, {0, 2}]
    return (
        pair("P0", "five baskets of one person, or nobody; one item", 1, [], [{0}] * 5),
        pair("P1", "three baskets of one person, or nobody", 2, [], [{1}, {0}, {0, 1}]),
        pair(
            "P2",
            f"{MANY} baskets of one person among twenty people of one",
            3,
            [[each] for each in kinds * 4],
            [{1, 2}] * MANY,
        ),
        pair(
            "P3",
            f"{CROWD + 1} people or one less, each with more baskets than count",
            3,
            [kinds] * CROWD,
            kinds,
        ),
        pair("R1", "three random people, or one less", 4, [random[:2], random[2:5]], random[5:]),
    )


def person_pairs_over(schema: Schema, *, seed: int = 1, most: int) -> tuple[PersonPair, ...]:
    """Return pairs over the public domains of a schema; ``most`` records of a person count."""
    sizes = np.array([attribute.domain.size for attribute in schema.used()])
    rng = np.random.default_rng([seed, 16])

    def rows(n: int) -> tuple[RecordRow, ...]:
        return tuple(tuple(row) for row in rng.integers(0, sizes, size=(n, len(sizes))).tolist())

    high = tuple((sizes - 1).tolist())
    cases: list[tuple[str, str, tuple[tuple[RecordRow, ...], ...], tuple[RecordRow, ...]]] = [
        ("P0", "equal records of one person, or nobody", (), (high,) * (most + 1)),
        ("P1", "records of one person, or nobody", (), rows(most)),
        ("P2", "a person of many records among twenty of one", (rows(1),) * 20, (high,) * MANY),
        ("P3", "twenty people of more records than count", (rows(most + 1),) * 20, rows(most + 1)),
    ]
    return tuple(
        PersonPair(name=name, about=about, schema=schema, others=others, own=own)
        for name, about, others, own in cases
    )


def person_baskets_over(
    taxonomy: Taxonomy, *, seed: int = 1, most: int
) -> tuple[PersonBasketPair, ...]:
    """Return pairs over a public universe of items; ``most`` baskets of a person count."""
    n = taxonomy.n_leaves
    rng = np.random.default_rng([seed, 17])

    def sets(count: int) -> tuple[Basket, ...]:
        lengths = rng.integers(1, min(n, 5) + 1, size=count).tolist()
        return tuple(frozenset(rng.choice(n, size=k, replace=False).tolist()) for k in lengths)

    last = frozenset({n - 1})
    cases: list[tuple[str, str, tuple[tuple[Basket, ...], ...], tuple[Basket, ...]]] = [
        ("P0", "equal baskets of one person, or nobody", (), (last,) * (most + 1)),
        ("P1", "baskets of one person, or nobody", (), sets(most)),
        ("P2", "a person of many baskets among twenty of one", (sets(1),) * 20, (last,) * MANY),
        ("P3", "twenty people of more baskets than count", (sets(most + 1),) * 20, sets(most + 1)),
    ]
    return tuple(
        PersonBasketPair(name=name, about=about, taxonomy=taxonomy, others=others, own=own)
        for name, about, others, own in cases
    )
