"""Records of a draw exchanged for others of the pool, so that pairs come nearer to it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from hedgerow.count.compiled.exchange import exchange_records
from hedgerow.methods.weave import exchange
from hedgerow.methods.weave.exchange import exchanged
from hedgerow.methods.weave.pool import Pool


def some_pool(n_records, *, seed=1):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 5, n_records)
    columns = [first, (first + rng.integers(0, 3, n_records)) % 6, rng.integers(0, 4, n_records)]
    weights = rng.random(n_records)
    weights[rng.random(n_records) < 0.2] = 0.0
    return Pool(
        columns=[column.astype(np.int32) for column in columns],
        bounds=np.array([0, n_records // 3, n_records]),
        weights=weights,
        component=[0, 0, 0],
    )


def away(pool, taken):
    columns = [*pool.columns, pool.classes]
    found = 0.0
    for a, b in combinations(range(len(columns)), 2):
        wanted, there = np.zeros((6, 6)), np.zeros((6, 6))
        np.add.at(wanted, (columns[a], columns[b]), pool.weights / pool.weights.sum())
        np.add.at(there, (columns[a][taken], columns[b][taken]), 1 / len(taken))
        found += np.abs(wanted - there).sum()
    return found


def test_exchanges_bring_all_pairs_nearer_to_the_pool(monkeypatch):
    monkeypatch.setattr(exchange, "COMPILED_FROM", 100)
    pool = some_pool(4000)
    rng = np.random.default_rng(2)
    taken = rng.choice(4000, 500, p=pool.weights / pool.weights.sum())
    better = exchanged(pool, taken, np.random.default_rng(3))
    assert len(better) == 500
    assert away(pool, better) < 0.4 * away(pool, taken)
    assert (pool.weights[better] > 0).all()  # what cannot occur is not drawn
    assert np.array_equal(better, exchanged(pool, taken, np.random.default_rng(3)))


@pytest.mark.parametrize(
    ("name", "value"), [("COMPILED_FROM", 10**6), ("MOST_STEPS", 1000), ("MOST_CELLS", 10)]
)
def test_nothing_is_exchanged_where_public_numbers_say_so(monkeypatch, name, value):
    monkeypatch.setattr(exchange, "COMPILED_FROM", 100)
    monkeypatch.setattr(exchange, name, value)
    pool, taken = some_pool(4000), np.arange(500)
    assert exchanged(pool, taken, np.random.default_rng(3)) is taken


def test_each_exchange_is_that_of_brute_force():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 3, (40, 3)).astype(np.int16)
    taken, others = rng.integers(0, 40, 12), rng.integers(0, 40, 60)
    sizes, starts = np.array([3, 3, 3]), np.array([0, 9, 18, 27])
    wanted, weights = rng.integers(0, 40, 27), rng.integers(1, 9, 27)

    def counts(records):
        cells = [rows[records, a] * 3 + rows[records, b] for a, b in combinations(range(3), 2)]
        return 8 * np.concatenate([np.bincount(each, minlength=9) for each in cells])

    expected = taken.copy()
    for step, other in enumerate(others):
        tried = expected.copy()
        tried[step % 12] = other
        now, then = (weights @ (counts(each) - wanted) ** 2 for each in (expected, tried))
        if then < now:
            expected = tried
    gone = counts(taken) - wanted
    assert not np.array_equal(expected, taken)
    exchange_records(rows, taken, others, sizes, starts, gone, weights, 8)
    assert np.array_equal(taken, expected)
    assert np.array_equal(gone, counts(taken) - wanted)
