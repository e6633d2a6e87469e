"""Each person keeps at most so many records, by a rule that looks at that person alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.kernels import GroupCounts
from hedgerow.count.spark.people import Bound, EncodePeople
from hedgerow.count.spark.workers import unpacked
from hedgerow.count.stream.people import PeopleOnDisk
from hedgerow.count.stream.scratch import Scratch
from hedgerow.encode import people
from hedgerow.encode.batch import BatchEncoder
from hedgerow.encode.people import Gathered, PeopleEncoder
from hedgerow.encode.schema import schema_of
from hedgerow.errors import DataError
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import code_dtype

SCHEMA = schema_of(
    plan_of({"attributes": {"a": {"numeric": [0, 9]}, "b": {"values": ["x", "y"], "other": "z"}}})
)
KEYS = st.builds(SampleKey, words=st.tuples(*[st.integers(0, 2**64 - 1)] * 2))
RECORDS = st.lists(
    st.tuples(st.sampled_from("pqrstu"), st.integers(0, 3), st.sampled_from("xy")), max_size=40
)
RULES = st.builds(
    PeopleRule,
    columns=st.just(("who",)),
    most=st.integers(1, 10),
    counted=st.sampled_from(["records", "people"]),
)
ONE_KEY = SampleKey(words=(5, 7))
SIZES = tuple(each.domain.size for each in SCHEMA.used())
EVERY_RECORD = GroupCounts(
    places=tuple(np.arange(n, dtype=np.int32) for n in SIZES), n_ranges=SIZES, n_classes=1
)


def gathered(
    records: list[tuple[Any, ...]], rule: PeopleRule, key: SampleKey = ONE_KEY
) -> Gathered:
    encode = PeopleEncoder(BatchEncoder(SCHEMA, name="t"), KeyedRule(rule=rule, key=key))
    columns = list(zip(*records, strict=True)) or [()] * (2 + len(rule.columns))
    *who, a, b = columns
    types = [pa.int64(), pa.string(), *[pa.string()] * len(who)]
    arrays = [pa.array(each, kind) for each, kind in zip([a, b, *who], types, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["a", "b", *rule.columns])
    return Gathered.of([encode(batch, n_before=0)], encode)


Kept = Counter[tuple[int, ...]]


def weighed(parts: Iterable[tuple[int, Sequence[Any]]]) -> Kept:
    """Records as often as their weight says."""
    found: Kept = Counter()
    for weight, columns in parts:
        for record in zip(*(each.tolist() for each in columns), strict=True):
            found[record] += weight
    return found


def kept(records, rule, key=ONE_KEY) -> Kept:
    """The records that count, in memory."""
    return weighed(gathered(records, rule, key).kept(rule))


def on_disk(records, rule, key) -> Kept:
    """What streaming keeps, from buckets on scratch."""
    scratch = Scratch()
    try:
        held = PeopleOnDisk.read(
            open_table(table_of(records)),
            SCHEMA,
            KeyedRule(rule=rule, key=key),
            scratch=scratch,
            memory=1 << 28,
            report=lambda step, share: None,
        )
        found = held.bounded(rule).tally(EVERY_RECORD)
        records = zip(*np.unravel_index(found.keys, EVERY_RECORD.n_ranges), strict=True)
        return Counter(
            {
                tuple(map(int, record)): n
                for record, n in zip(records, found.counts.tolist(), strict=True)
            }
        )
    finally:
        scratch.close()


def by_tasks(records, rule, key) -> Kept:
    """What Spark does, without a cluster: tasks of a few rows, a shuffle, two tasks of people."""
    keyed = KeyedRule(rule=rule, key=key)
    sent: dict[int, list[pa.RecordBatch]] = defaultdict(list)
    for batch in table_of(records).to_batches(max_chunksize=3):
        for rows in EncodePeople(SCHEMA, keyed, None, None)(iter([batch])):
            for place, bucket in enumerate(rows.column(0).to_pylist()):
                sent[bucket % 2].append(rows.slice(place, 1))
    total: Kept = Counter()
    for batches in sent.values():
        for packed in Bound(SCHEMA, keyed, rule)(iter(batches)):
            dtypes = [np.dtype(code_dtype(each.domain.size)) for each in SCHEMA.used()]
            total += weighed(unpacked(packed, dtypes))
    return total


def table_of(records) -> pa.Table:
    who, a, b = list(zip(*records, strict=True)) or [(), (), ()]
    return pa.table(
        {
            "a": pa.array(a, pa.int64()),
            "b": pa.array(b, pa.string()),
            "who": pa.array(who, pa.string()),
        }
    )


ENGINES = [kept, on_disk, by_tasks]


@given(RECORDS, RULES, KEYS, st.randoms(use_true_random=False))
def test_what_a_person_keeps_does_not_depend_on_the_order_of_rows(records, rule, key, draw):
    shuffled = list(records)
    draw.shuffle(shuffled)
    assert kept(records, rule, key) == kept(shuffled, rule, key)


@pytest.mark.parametrize("engine", [on_disk, by_tasks])
@settings(max_examples=20)
@given(RECORDS, RULES, KEYS, st.randoms(use_true_random=False))
def test_every_engine_keeps_the_same_records(engine, records, rule, key, draw):
    shuffled = list(records)
    draw.shuffle(shuffled)
    assert engine(shuffled, rule, key) == kept(records, rule, key)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20)
@given(RECORDS, RULES, KEYS, st.sampled_from("pqrstu"))
def test_a_person_changes_nothing_but_their_own_records(engine, records, rule, key, gone):
    """Neighbouring tables: all records of one person are there, or none of them."""
    others = [record for record in records if record[0] != gone]
    own = [record for record in records if record[0] == gone]
    with_person, without = engine(records, rule, key), engine(others, rule, key)
    assert with_person == without + engine(own, rule, key)
    moved = with_person.copy()
    moved.subtract(without)
    assert all(n >= 0 for n in moved.values())
    assert moved.total() <= rule.cost
    if own:
        n_kept = min(len(own), rule.most)
        each = 1 if rule.counted == "records" else rule.unit // n_kept
        assert moved.total() == n_kept * each
        assert not moved - Counter({k: n * each for k, n in _codes(own).items()})


def _codes(records) -> Counter[tuple[int, ...]]:
    rule = PeopleRule(columns=("who",), most=1000)
    return kept(records, rule)


def test_no_person_is_joined_to_another_by_their_hash(monkeypatch):
    monkeypatch.setattr(
        people, "hashed_persons", lambda persons, key: np.zeros(len(persons[0]), dtype=np.uint64)
    )
    records = [(who, n, "x") for who in "pqr" for n in range(4)]
    rule = PeopleRule(columns=("who",), most=2)
    assert kept(records, rule).total() == 6
    assert sorted(gathered(records, rule).sizes().tolist()) == [4, 4, 4]


def test_several_columns_name_a_person_together():
    rule = PeopleRule(columns=("clinic", "patient"), most=1)
    records = [("n", "1", 0, "x"), ("s", "1", 1, "x"), ("n", "1", 2, "x"), ("n1", "", 3, "x")]
    with pytest.raises(DataError, match="Record 4 does not name its person"):
        kept(records, rule)
    assert kept(records[:3], rule).total() == 2
    other = [("ab", "c", 0, "x"), ("a", "bc", 0, "x")]
    assert kept(other, rule).total() == 2


@pytest.mark.parametrize("nobody", [None, "", " ", "?"])
def test_a_record_of_nobody_is_refused(nobody):
    rule = PeopleRule(columns=("who",), most=1)
    plan = plan_of({"attributes": {"a": {"numeric": [0, 9]}}})
    encode = PeopleEncoder(
        BatchEncoder(schema_of(plan), name="t"), KeyedRule(rule=rule, key=ONE_KEY)
    )
    batch = pa.RecordBatch.from_arrays(
        [pa.array([1, 2]), pa.array(["p", nobody], pa.string())], names=["a", "who"]
    )
    with pytest.raises(DataError, match="Record 12 does not name its person"):
        encode(batch, n_before=10)


def test_records_outside_of_a_cover_may_be_of_nobody():
    plan = plan_of(
        {
            "attributes": {"a": {"numeric": [0, 9]}, "part": {"values": ["x", "y"]}},
            "covers": {"column": "part", "values": ["x"]},
        }
    )
    rule = PeopleRule(columns=("who",), most=1)
    keyed = KeyedRule(rule=rule, key=ONE_KEY)
    encode = PeopleEncoder(BatchEncoder(schema_of(plan), name="t"), keyed)

    def of(*rows: tuple[int | None, str, str | None]) -> pa.RecordBatch:
        types = (pa.int64(), pa.string(), pa.string())
        arrays = [pa.array(*each) for each in zip(zip(*rows, strict=True), types, strict=True)]
        return encode(pa.RecordBatch.from_arrays(arrays, names=["a", "part", "who"]), n_before=0)

    inside = [(1, "x", "p"), (2, "x", "q")]
    outside = [(3, "y", None), (4, "y", " "), (5, "y", "z" * 2000), (6, "", None)]
    assert of(outside[0], inside[0], *outside[1:], inside[1]) == of(*inside)
    with pytest.raises(DataError, match="Record 3 does not name"):
        of(inside[0], outside[0], (7, "x", None))
    with pytest.raises(DataError, match="Record 2 does not name"):
        of(inside[0], (None, "x", None))  # it counts for nothing, but belongs to the part
    with pytest.raises(DataError, match="more than"):
        of((1, "x", "z" * 2000))


@settings(max_examples=12)
@given(st.integers(2, 6), st.integers(1, 3))
def test_every_record_of_a_person_may_be_the_one_that_is_kept(n, most):
    """The sample is drawn by the key: over keys, each of a person's records has its turn."""
    records = [("p", place, "x") for place in range(min(n, 4))]
    rule = PeopleRule(columns=("who",), most=most)
    seen: Counter[tuple[int, ...]] = Counter()
    for word in range(64):
        seen += kept(records, rule, SampleKey(words=(word, 3)))
    assert len(seen) == len(records)


def test_persons_are_the_same_however_they_are_stored():
    rule = PeopleRule(columns=("who",), most=1)
    encode = PeopleEncoder(BatchEncoder(SCHEMA, name="t"), KeyedRule(rule=rule, key=ONE_KEY))
    hashes = []
    for who in (
        pa.array(["17", "4"]),
        pa.array([17, 4]),
        pa.array([17.0, 4.0]),
        pa.array(["17", "4"]).dictionary_encode(),
    ):
        batch = pa.RecordBatch.from_arrays(
            [pa.array([1, 1]), pa.array(["x", "x"]), who], names=["a", "b", "who"]
        )
        hashes.append(encode(batch, n_before=0).column("hash").to_pylist())
    assert all(each == hashes[0] for each in hashes)
    assert hashes[0][0] != hashes[0][1]


def test_a_long_name_differs_in_every_letter():
    words = ["a" * 20, "a" * 19 + "b", "b" + "a" * 19, "a" * 21, "a" * 16, ""]
    hashes = people.hashed_persons([pa.array(words)], ONE_KEY)
    assert len(set(hashes.tolist())) == len(words)


def test_the_longest_value_that_may_name_a_person_is_encoded():
    rule = PeopleRule(columns=("who",), most=1)
    longest = "x" * people.LONGEST_PERSON
    assert gathered([(longest, 0, "x")], rule).sizes().tolist() == [1]
    with pytest.raises(DataError, match="bytes"):
        gathered([(longest + "x", 0, "x")], rule)
