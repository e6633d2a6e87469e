"""Rows of people on disk: what is in memory follows from the limit, not from the rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.count.stream import buckets
from hedgerow.count.stream.buckets import Buckets, bytes_at_a_time
from hedgerow.count.stream.scratch import Scratch
from hedgerow.count.stream.table import BASE_BYTES

ROWS = 6000
N_BATCHES = 30


@pytest.fixture
def scratch(tmp_path):
    held = Scratch(tmp_path)
    yield held
    held.close()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let a few thousand rows be too many."""
    monkeypatch.setattr(buckets, "LEAST_HELD", 1 << 10)


def batches(persons: np.ndarray, hashes: np.ndarray) -> list[pa.RecordBatch]:
    columns = {"person 0": persons.astype(str), "hash": hashes, "codes 0": np.arange(len(persons))}
    table = pa.table(columns)
    return table.to_batches(max_chunksize=len(persons) // N_BATCHES)


def people(*, crowded: bool = False, n: int = 500, seed: int = 1) -> list[pa.RecordBatch]:
    """Rows of some people; crowded, the first two parts of everybody's hash are the same."""
    rng = np.random.default_rng(seed)
    persons, own = rng.integers(0, n, ROWS), rng.integers(0, 2**48, n, dtype=np.uint64)
    return batches(persons, (own << np.uint64(16) if crowded else own)[persons])


def filled(scratch: Scratch, given: list[pa.RecordBatch], n_bytes: int) -> Buckets:
    made = Buckets(scratch, memory=BASE_BYTES + 12 * n_bytes)
    made.fill(given)
    return made


def n_rows(read: list[pa.RecordBatch]) -> int:
    return sum(each.num_rows for each in read)


def test_a_twelfth_of_what_is_left_is_held_within_bounds(monkeypatch):
    monkeypatch.undo()
    left = 1536 << 20
    assert bytes_at_a_time(BASE_BYTES + left) == left // 12
    assert bytes_at_a_time(600 << 20) == buckets.LEAST_HELD
    assert bytes_at_a_time(1 << 40) == buckets.MOST_HELD


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("n_bytes", [20_000, 500_000])
def test_no_more_than_the_limit_says_is_held_or_read(n_bytes, crowded, scratch, monkeypatch):
    shelved = []
    shelve = Buckets._shelve

    def watched(self, held):
        shelved.append(sum(each.nbytes for each in held))
        shelve(self, held)

    monkeypatch.setattr(Buckets, "_shelve", watched)
    given = people(crowded=crowded)
    read = list(filled(scratch, given, n_bytes))
    assert max(shelved) < n_bytes + max(each.nbytes for each in given)
    # A person has some 300 bytes of rows here, so that every bucket can be made small enough.
    assert all(sum(each.nbytes for each in bucket) <= n_bytes for bucket in read)
    codes = [code for bucket in read for each in bucket for code in each["codes 0"].to_pylist()]
    assert sorted(codes) == list(range(ROWS))
    persons = [{who for each in bucket for who in each["person 0"].to_pylist()} for bucket in read]
    assert sum(map(len, persons)) == len(set.union(*persons))  # all of a person are in one


def test_a_bucket_is_divided_only_where_it_is_larger_than_the_limit(scratch):
    less, more = (
        len(list(filled(scratch, people(crowded=True), each))) for each in (20_000, 500_000)
    )
    assert more == 1
    assert less > 100


def test_a_person_is_never_divided(scratch):
    persons = np.zeros(ROWS, dtype=np.int64)
    given = batches(persons, np.full(ROWS, 2**63 + 5, dtype=np.uint64))
    (alone,) = filled(scratch, given, 20_000)
    assert n_rows(alone) == ROWS
