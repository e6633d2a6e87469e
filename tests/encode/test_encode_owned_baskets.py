"""Each person keeps some baskets, or all joined to one, by a rule that looks at them alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.owned_baskets import OwnedBasketsInMemory
from hedgerow.count.spark.owned_baskets import BoundBaskets, EncodeOwned, GatherOwned
from hedgerow.count.spark.people import Sizes
from hedgerow.count.stream import buckets
from hedgerow.count.stream.owned_baskets import OwnedBasketsOnDisk
from hedgerow.count.stream.scratch import Scratch
from hedgerow.encode import owned_baskets as module
from hedgerow.encode.owned_baskets import OwnedBasketEncoder, OwnedBaskets, owned_batches
from hedgerow.encode.sums import LENGTHS, ColumnSums
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.universe import Universe
from hedgerow.plan.load import plan_of
from hedgerow.read.owned_items import open_owned_items, owned_columns

N_ITEMS = 5
WORD = 2**64 - 1
ONE_KEY = SampleKey(words=(5, 7))
KEYS = st.builds(SampleKey, words=st.tuples(*[st.integers(0, WORD)] * 2))
PEOPLE = "pqrst"
ROWS = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.sampled_from("abcd"), st.integers(0, N_ITEMS)),
    max_size=40,
)
"""Rows of a long table: a person, a record (its names are shared by people) and an item, one of
which is outside the universe."""

LISTS = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.lists(st.integers(0, N_ITEMS), max_size=4)),
    max_size=25,
)
RULES = st.one_of(
    st.builds(PeopleRule, columns=st.just(("who",)), most=st.integers(1, 4)),
    st.just(PeopleRule(columns=("who",), most=1, join="union")),
)
Kept = Counter[tuple[int, ...]]


def universe(**place: Any) -> Universe:
    items = {"universe": [0, N_ITEMS - 1], "column": "item", **place}
    return universe_of(plan_of({"items": items}))


LONG, LISTED = universe(record="visit"), universe()


def long_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    who, visit, item = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "who": pa.array(who, pa.string()),
            "visit": pa.array(visit, pa.string()),
            "item": pa.array([str(each) for each in item], pa.string()),
        }
    )


def list_table(rows: list[tuple[Any, ...]]) -> pa.Table:
    who, item = zip(*rows, strict=True) if rows else ((), ())
    return pa.table(
        {"who": pa.array(who, pa.string()), "item": pa.array(item, pa.list_(pa.int64()))}
    )


def as_counter(lengths: Any, items: Any) -> Kept:
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tolist()
    return Counter(tuple(items[a:b].tolist()) for a, b in pairwise(ends))


def in_memory(table: pa.Table, items: Universe, keyed: KeyedRule) -> Kept:
    source = open_owned_items(table, items.place, keyed.rule)
    encode = OwnedBasketEncoder(items, keyed, name="t")
    owned = encode.gathered(list(owned_batches(source, encode)))
    engine = OwnedBasketsInMemory(items.taxonomy, owned, keyed.rule).bounded(keyed.rule)
    return as_counter(engine.baskets.lengths, engine.baskets.items)


def on_disk(table: pa.Table, items: Universe, keyed: KeyedRule) -> Kept:
    scratch = Scratch(None)
    try:
        held = OwnedBasketsOnDisk.read(
            open_owned_items(table, items.place, keyed.rule),
            items,
            keyed,
            scratch=scratch,
            memory=1 << 28,
            report=lambda step, share: None,
        )
        total: Kept = Counter()
        for piece in held.bounded(keyed.rule).pieces():
            total += as_counter(piece.baskets.lengths, piece.baskets.items)
        return total
    finally:
        scratch.close()


def by_tasks(table: pa.Table, items: Universe, keyed: KeyedRule) -> Kept:
    """What Spark does, without a cluster: tasks of a few rows, a shuffle, a task for two people."""
    table = table.select(owned_columns(keyed.rule, items.place))
    sent: dict[int, list[pa.RecordBatch]] = defaultdict(list)
    for batch in table.to_batches(max_chunksize=3):
        for rows in EncodeOwned(items, keyed, None, None)(iter([batch])):
            for place, bucket in enumerate(rows.column(0).to_pylist()):
                sent[bucket % 2].append(rows.slice(place, 1))
    total: Kept = Counter()
    for batches in sent.values():
        for kept in BoundBaskets(items, keyed, keyed.rule)(iter(batches)):
            total.update(tuple(each) for each in kept.column(0).to_pylist())
    return total


ENGINES = [in_memory, on_disk, by_tasks]


# The rule again, a basket at a time, in plain whole numbers.


def mix(total: int, word: int) -> int:
    mixed = ((total ^ word) + 0x9E3779B97F4A7C15) & WORD
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
    return mixed ^ (mixed >> 31)


def person_hash(name: str, key: SampleKey) -> int:
    letters = name.encode()
    total = mix(key.words[1], len(letters))
    for at in range(0, len(letters), 8):
        total = mix(total, int.from_bytes(letters[at : at + 8], "little"))
    return mix(key.words[0], total)


def slowly(baskets: dict[str, list[tuple[int, ...]]], keyed: KeyedRule) -> Kept:
    kept: Kept = Counter()
    for name, own in baskets.items():
        full = [basket for basket in own if basket]
        if keyed.rule.join == "union":
            union = tuple(sorted({code for basket in full for code in basket}))
            kept.update([union] if union else [])
            continue
        who = person_hash(name, keyed.key)
        ranked = []
        for basket, n in Counter(full).items():
            codes = sum(mix(mix(who, at), code) for at, code in enumerate(basket)) & WORD
            first = mix(who, codes)
            ranked += [(mix(first, copy) if copy else first, basket) for copy in range(n)]
        kept.update(basket for _, basket in sorted(ranked)[: keyed.rule.most])
    return kept


def baskets_of_rows(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[int, ...]]]:
    sets: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for who, visit, item in rows:
        if item < N_ITEMS:
            sets[who][visit].add(item)
    return {who: [tuple(sorted(each)) for each in own.values()] for who, own in sets.items()}


def baskets_of_lists(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[int, ...]]]:
    found: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for who, items in rows:
        found[who].append(tuple(sorted({item for item in items if item < N_ITEMS})))
    return found


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20)
@given(rows=ROWS, rule=RULES, key=KEYS)
def test_a_long_table_keeps_what_a_loop_over_people_keeps(engine, rows, rule, key):
    keyed = KeyedRule(rule=rule, key=key)
    assert engine(long_table(rows), LONG, keyed) == slowly(baskets_of_rows(rows), keyed)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20)
@given(rows=LISTS, rule=RULES, key=KEYS)
def test_lists_keep_what_a_loop_over_people_keeps(engine, rows, rule, key):
    keyed = KeyedRule(rule=rule, key=key)
    assert engine(list_table(rows), LISTED, keyed) == slowly(baskets_of_lists(rows), keyed)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20)
@given(rows=ROWS, rule=RULES, key=KEYS, gone=st.sampled_from(PEOPLE), draw=st.randoms())
def test_a_person_changes_nothing_but_their_own_baskets(engine, rows, rule, key, gone, draw):
    """Neighbouring data: all rows of one person are there, or none of them; in any order."""
    keyed = KeyedRule(rule=rule, key=key)
    others = [row for row in rows if row[0] != gone]
    own = [row for row in rows if row[0] == gone]
    shuffled = draw.sample(rows, len(rows))
    with_person = engine(long_table(shuffled), LONG, keyed)
    without = engine(long_table(others), LONG, keyed)
    of_person = engine(long_table(own), LONG, keyed)
    assert with_person == without + of_person
    assert of_person.total() <= rule.cost


@pytest.mark.parametrize("engine", ENGINES)
def test_a_union_needs_no_record(engine):
    rows = [("p", "a", 1), ("q", "a", 2), ("p", "b", 3), ("p", "b", 1), ("q", "c", N_ITEMS)]
    keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=1, join="union"), key=ONE_KEY)
    assert engine(long_table(rows), LISTED, keyed) == Counter([(1, 3), (2,)])
    assert engine(long_table(rows), LONG, keyed) == Counter([(1, 3), (2,)])


@pytest.mark.parametrize("engine", ENGINES)
def test_no_person_is_joined_to_another_by_their_hash(engine, monkeypatch):
    monkeypatch.setattr(
        module, "hashed_persons", lambda persons, key: np.zeros(len(persons[0]), dtype=np.uint64)
    )
    rows = [(who, str(visit), visit) for who in "pqr" for visit in range(4)]
    keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=2), key=ONE_KEY)
    assert engine(long_table(rows), LONG, keyed).total() == 6
    joined = KeyedRule(rule=PeopleRule(columns=("who",), most=1, join="union"), key=ONE_KEY)
    assert engine(long_table(rows), LONG, joined) == Counter({(0, 1, 2, 3): 3})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("nobody", [None, "", " ", "?"])
def test_a_row_of_nobody_is_refused(engine, nobody):
    rows = [("p", "a", 1), (nobody, "a", 2)]
    for join, items in ((None, LONG), ("union", LONG), ("union", LISTED)):
        keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=1, join=join), key=ONE_KEY)
        with pytest.raises(DataError, match=r"[Rr]ecord 2|A record") as caught:
            engine(long_table(rows), items, keyed)
        assert "does not name its person" in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_without_a_record_or_item_is_left_out(engine):
    rows = [("p", None, 1), ("p", " ", 1), ("p", "a ", 1), ("p", " a", 2), ("q", "b", 9)]
    keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=9), key=ONE_KEY)
    assert engine(long_table(rows), LONG, keyed) == Counter([(1, 2)])


def test_single_items_are_no_lists_unless_they_are_joined():
    keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=2), key=ONE_KEY)
    with pytest.raises(DataError, match="does not hold lists"):
        in_memory(long_table([("p", "a", 1)]), LISTED, keyed)


def test_every_basket_of_a_person_may_be_the_one_that_is_kept():
    rows = [("p", str(visit), visit) for visit in range(4)]
    rule = PeopleRule(columns=("who",), most=1)
    seen: Kept = Counter()
    for word in range(64):
        keyed = KeyedRule(rule=rule, key=SampleKey(words=(word, 3)))
        seen += in_memory(long_table(rows), LONG, keyed)
    assert set(seen) == {(0,), (1,), (2,), (3,)}


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=8))
def test_the_order_of_a_baskets_codes_tells_it_from_others(lists):
    """Ordered lists are sampled as they are: only equal ones share a priority."""
    n = len(lists)
    owned = OwnedBaskets(
        persons=np.zeros(n, dtype=np.int64),
        hashes=np.full(n, 11, dtype=np.uint64),
        lengths=np.array([len(each) for each in lists], dtype=np.int64),
        items=np.array([code for each in lists for code in each], dtype=np.uint16),
    )
    priorities = owned._priorities(np.arange(n)).tolist()
    assert len(set(priorities)) == len({tuple(each) for each in lists})
    kept = owned.kept(PeopleRule(columns=("who",), most=3))
    assert not as_counter(*kept) - Counter(map(tuple, lists))
    assert len(kept[0]) == min(n, 3)


@settings(max_examples=20)
@given(rows=ROWS, most=st.integers(1, 4), union=st.booleans())
def test_sizes_and_what_a_table_is_recognised_by_are_the_same_on_every_engine(rows, most, union):
    rule = PeopleRule(columns=("who",), most=1, join="union" if union else None)
    keyed = KeyedRule(rule=rule, key=ONE_KEY)
    table = long_table(rows)
    source = open_owned_items(table, LONG.place, rule)
    sums = [ColumnSums(b"k" * 32), ColumnSums(b"k" * 32)]
    encode = OwnedBasketEncoder(LONG, keyed, name="t", sums=sums[0])
    owned = encode.gathered(list(owned_batches(source, encode)), sums[0])
    memory = OwnedBasketsInMemory(LONG.taxonomy, owned, rule)
    with closing(Scratch(None)) as scratch:
        disk = OwnedBasketsOnDisk.read(
            source,
            LONG,
            keyed,
            scratch=scratch,
            memory=1 << 28,
            report=lambda step, share: None,
            sums=sums[1],
        )
        assert memory.sizes(most)[1:].tolist() == disk.sizes(most)[1:].tolist()
    assert sums[0].totals == sums[1].totals
    own = baskets_of_rows(rows).values()
    expected = Counter(min(len([b for b in each if b]), most) for each in own)
    if not union:
        assert memory.sizes(most)[1:].tolist() == [expected[n] for n in range(1, most + 1)]
    assert LENGTHS in sums[0].totals or not rows
    encoded = [
        each
        for batch in table.to_batches(max_chunksize=5)
        for each in EncodeOwned(LONG, keyed, None, None)(iter([batch]))
    ]
    found = next(iter(Sizes(GatherOwned(LONG, keyed), most)(iter(encoded))))
    counted = dict(zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True))
    assert [counted.get(n, 0) for n in range(1, most + 1)] == memory.sizes(most)[1:].tolist()


def test_buckets_are_written_in_many_small_parts(monkeypatch):
    monkeypatch.setattr(buckets, "LEAST_HELD", 1)
    rng = np.random.default_rng(2)
    drawn = rng.integers(0, 5, (300, 3)).tolist()
    rows = [(f"p{who}", f"v{visit}", item) for who, visit, item in drawn]
    frames = long_table(rows).to_batches(max_chunksize=7)
    keyed = KeyedRule(rule=PeopleRule(columns=("who",), most=2), key=ONE_KEY)
    with closing(Scratch(None)) as scratch:
        held = OwnedBasketsOnDisk.read(
            open_owned_items(pa.Table.from_batches(frames), LONG.place, keyed.rule),
            LONG,
            keyed,
            scratch=scratch,
            memory=0,
            report=lambda step, share: None,
        )
        total: Kept = Counter()
        for piece in held.bounded(keyed.rule).pieces():
            total += as_counter(piece.baskets.lengths, piece.baskets.items)
    assert total == slowly(baskets_of_rows(rows), keyed)
