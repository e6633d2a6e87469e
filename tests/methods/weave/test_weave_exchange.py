"""Records of a draw exchanged for others of the pool, so that pairs come nearer to it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

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


def test_exchanges_bring_all_pairs_nearer_to_the_pool():
    pool = some_pool(4000)
    rng = np.random.default_rng(2)
    taken = rng.choice(4000, 500, p=pool.weights / pool.weights.sum())
    better = exchanged(pool, taken, np.random.default_rng(3))
    assert len(better) == 500
    assert away(pool, better) < 0.4 * away(pool, taken)
    assert (pool.weights[better] > 0).all()  # what cannot occur is not drawn
    assert np.array_equal(better, exchanged(pool, taken, np.random.default_rng(3)))


@pytest.mark.parametrize(
    ("name", "value"), [("TRIED", 0), ("MOST_STEPS", 1000), ("MOST_CELLS", 10)]
)
def test_nothing_is_exchanged_where_public_numbers_say_so(monkeypatch, name, value):
    monkeypatch.setattr(exchange, name, value)
    pool, taken = some_pool(4000), np.arange(500)
    assert exchanged(pool, taken, np.random.default_rng(3)) is taken


@pytest.mark.parametrize("batch", [1, 3])
def test_each_exchange_is_that_of_brute_force(batch):
    """Records of a batch are compared with the tables as they were before it."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 3, (3, 40)).astype(np.int32)
    taken, others = rng.integers(0, 40, 12), rng.integers(0, 40, (5, 12))
    wanted, weights = rng.integers(0, 40, 27), rng.integers(1, 9, 27)
    tables = exchange._Tables.of(list(rows), [3, 3, 3])

    def counts(records):
        cells = [rows[a, records] * 3 + rows[b, records] for a, b in combinations(range(3), 2)]
        return exchange.PARTS * np.concatenate([np.bincount(each, minlength=9) for each in cells])

    expected, found = taken.copy(), taken.copy()
    gone = counts(taken) - wanted
    for offered in others:
        for start in range(0, 12, batch):
            before = expected.copy()
            for at in range(start, start + batch):
                tried = before.copy()
                tried[at] = offered[at]
                now, then = (weights @ (counts(each) - wanted) ** 2 for each in (before, tried))
                if then < now:
                    expected[at] = offered[at]
            part = slice(start, start + batch)
            better = tables.better(found[part], offered[part], gone, weights)
            found[part] = np.where(better, offered[part], found[part])
    assert not np.array_equal(expected, taken)
    assert np.array_equal(found, expected)
    assert np.array_equal(gone, counts(found) - wanted)
