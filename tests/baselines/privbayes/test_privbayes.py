"""PrivBayes: the score's sensitivity, the parents, the laws and the records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.privbayes import network as privbayes_network
from hedgerow.baselines.privbayes.network import (
    SENSITIVITY,
    UNIT,
    Encoding,
    NetworkGrowth,
    Pair,
    dependence_units,
    parent_sets,
)
from hedgerow.baselines.privbayes.privbayes import BayesianNetwork, useful_cells
from hedgerow.baselines.privbayes.records import Conditional
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model.points import groups_of_points
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from hedgerow.release.recoding import Recoding
from support.method_battery import run
from support.tables import grid, schema_of, table_of, values

tables_of_counts = st.integers(1, 4).flatmap(
    lambda rows: st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 30), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        )
    )
)


@given(rows=tables_of_counts, data=st.data())
@settings(max_examples=100)
def test_one_record_moves_the_score_by_no_more_than_its_sensitivity(rows, data):
    counts = np.array(rows, dtype=np.int64)
    more = counts.copy()
    cell = tuple(data.draw(st.integers(0, size - 1)) for size in counts.shape)
    more[cell] += 1
    assert abs(dependence_units(more) - dependence_units(counts)) <= SENSITIVITY


def test_the_sensitivity_is_not_larger_than_it_must_be():
    counts = np.array([[10_000, 0], [0, 0]])
    more = np.array([[10_000, 0], [0, 1]])
    moved = dependence_units(more) - dependence_units(counts)
    assert 1.99 * UNIT < moved <= SENSITIVITY


@given(rows=tables_of_counts)
def test_the_score_is_records_from_independence_rounded_down(rows):
    counts = np.array(rows, dtype=np.int64)
    n = counts.sum()
    if n == 0:
        assert dependence_units(counts) == 0
        return
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    assert dependence_units(counts) / UNIT == pytest.approx(
        np.abs(counts - expected).sum() / 2, abs=2 / UNIT
    )


def test_the_score_stays_exact_where_64_bits_would_not_do(monkeypatch):
    counts = np.array([[50, 3], [2, 7]], dtype=np.int64)
    small = dependence_units(counts)
    monkeypatch.setattr(privbayes_network, "EXACT_UP_TO", 0)
    assert dependence_units(counts) == small
    assert dependence_units(counts << 40) >> 40 == small


def encoding_of(*domains):
    return Encoding.of(schema_of(*domains, classes=2))


def all_sets(encoding, among, room, degree):
    for size in range(degree + 1):
        for some in combinations(among, size):
            levels = [range(len(encoding.ladders[a])) for a in some]
            for chosen in product(*levels):
                found = tuple(zip(some, chosen, strict=True))
                divides = all(encoding.n_cells((each,)) > 1 for each in found)
                if divides and encoding.n_cells(found) <= room:
                    yield found


def covers(larger, smaller):
    finest = dict(larger)
    return all(a in finest and finest[a] <= level for a, level in smaller)


@pytest.mark.parametrize("room", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_parent_sets_fit_and_cover_all_that_do(room, degree):
    encoding = encoding_of(grid(8), values(9, 3), values(4), values(1))
    among = (0, 1, 2, 3, 4)
    found = parent_sets(encoding, among, most_cells=room, degree=degree)
    fitting = list(all_sets(encoding, among, room, degree))
    assert len(set(found)) == len(found)
    assert set(found) <= set(fitting)
    assert all(any(covers(each, some) for each in found) for some in fitting)


def test_a_law_is_drawn_as_its_weights_say():
    noisy = np.array([[60, 0, 40], [-5, 200, -5]])
    law = Conditional.of(Pair(child=0, parents=()), noisy, 300)
    assert np.allclose(law.weights.sum(axis=1), 1)
    rows = np.repeat([0, 1], 20_000)
    drawn = law.draw(rows, source=SeededSource(9))
    times = np.bincount(rows * 3 + drawn, minlength=6)
    assert times[1] == times[3] == times[5] == 0
    # 12,000 and 8,000, with a standard deviation of 70
    assert np.abs(times[:3] / 20_000 - law.weights[0]).max() < 0.02
    assert times[4] == 20_000


def test_parents_of_whom_nothing_is_left_leave_the_child_to_its_own_marginal():
    law = Conditional.of(Pair(child=0, parents=()), np.array([[30, 10], [-4, -9]]), 40)
    assert law.weights.tolist() == [[0.75, 0.25], [0.75, 0.25]]
    nothing = Conditional.of(Pair(child=0, parents=()), np.array([[3, 1]]), 0)
    assert nothing.weights.tolist() == [[0.5, 0.5]]


def test_attributes_that_go_together_still_do_in_the_records():
    schema = schema_of(values(4), grid(9), values(4))
    rows = [(i % 4, i * 5 % 9, i % 4, int(i % 4 > 1)) for i in range(8000)]
    groups, _ = run(BayesianNetwork(degree=2), table_of(schema, rows), epsilon=Fraction(20))
    twins = groups.index[0] == groups.index[2]
    assert groups.counts[twins].sum() / groups.counts.sum() > 0.95
    right = groups.classes == (groups.index[0] > 1)
    assert groups.counts[right].sum() / groups.counts.sum() > 0.95


def test_without_room_for_parents_no_choice_is_paid_for():
    schema = schema_of(grid(6), values(5), values(3))
    _, ledger = run(BayesianNetwork(degree=3), table_of(schema, []), epsilon=Fraction(1, 10))
    assert not any(line.on.startswith("parents") for line in ledger.bookings)
    assert ledger.settled()


def test_of_very_many_pairs_coins_pick_some(monkeypatch):
    monkeypatch.setattr(privbayes_network, "MOST_CANDIDATES", 5)
    schema = schema_of(*[values(3)] * 5)
    rows = [(*(i * k % 3 for k in (1, 2, 4, 5, 7)), i % 2) for i in range(3000)]
    groups, ledger = run(BayesianNetwork(degree=3), table_of(schema, rows), epsilon=Fraction(2))
    assert ledger.settled()
    assert len(groups)


def growth_of(schema, *, seed, room):
    return NetworkGrowth(
        run=Run.start(
            MemoryEngine(table=table_of(schema, [])),
            epsilon=Fraction(1),
            source=SeededSource(seed),
        ),
        encoding=Encoding.of(schema),
        degree=1,
        most_cells=room,
        share=Fraction(1, 10),
    )


def test_without_parents_attributes_come_in_every_order():
    schema = schema_of(values(2), values(2))
    orders = {
        tuple(pair.child for pair in growth_of(schema, seed=seed, room=1).network())
        for seed in range(100)
    }
    assert len(orders) == 6  # of two attributes and the class


def test_every_pair_of_very_many_may_be_a_candidate(monkeypatch):
    schema = schema_of(values(2), values(2), values(2))
    every = growth_of(schema, seed=0, room=99)._candidates((0,))
    monkeypatch.setattr(privbayes_network, "MOST_CANDIDATES", 1)
    picked = {growth_of(schema, seed=seed, room=99)._candidates((0,))[0] for seed in range(200)}
    assert picked == set(every)


def test_points_are_merged_and_sorted():
    codes = [np.array([4, 0, 4, 4]), np.array([1, 1, 1, 0])]
    groups = groups_of_points(codes, [9, 3], np.array([1, 0, 1, 1]))
    assert groups.ranges[0].first.tolist() == [0, 4]
    assert groups.ranges[0].stop.tolist() == [1, 5]
    assert list(zip(*(each.tolist() for each in groups.index), strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert groups.counts.tolist() == [1, 1, 2]
    assert groups.classes.tolist() == [0, 1, 1]


@pytest.mark.parametrize("size", [2, 300, 2**21, 2**30])
def test_points_of_many_columns_are_merged_and_sorted_as_rows_are(size):
    rng = np.random.default_rng(size)
    rows = (rng.integers(0, 2, (200, 9)) * (size - 1)).tolist()
    codes = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    groups = groups_of_points(codes[:-1], [size] * 8, codes[-1] % 2)
    expected = Counter((*row[:-1], row[-1] % 2) for row in rows)
    found = [
        ranges.first[index].tolist()
        for ranges, index in zip(groups.ranges, groups.index, strict=True)
    ]
    assert list(zip(*found, groups.classes.tolist(), strict=True)) == sorted(expected)
    assert groups.counts.tolist() == [expected[row] for row in sorted(expected)]


def test_a_release_without_a_record_can_still_be_written_and_read():
    schema = schema_of(grid(9), values(3))
    none = np.zeros(0, dtype=np.int64)
    groups = groups_of_points([none, none], [9, 3], none)
    assert len(groups) == 0
    again = Recoding.from_json(Recoding.of(schema, groups).to_json())
    assert not again.is_cut
    assert again.tree is None


def test_marginals_are_as_large_as_their_noise_allows():
    assert useful_cells(30_000, Fraction(1, 20)) == 375
    assert useful_cells(-7, Fraction(1, 20)) == 1


def test_numbers_of_many_cells_are_drawn_at_their_finest():
    schema = schema_of(grid(1000))
    rows = [(i % 1000, i % 2) for i in range(20_000)]
    groups, _ = run(BayesianNetwork(degree=1), table_of(schema, rows), epsilon=Fraction(5))
    assert len(groups.ranges[0]) > 950
    assert (groups.ranges[0].stop - groups.ranges[0].first == 1).all()


def test_progress_is_a_share_of_the_network():
    schema = schema_of(values(3), grid(5), values(2), classes=2)
    rows = [(i % 3, i % 5, i % 2, i % 2) for i in range(60)]
    told = []
    BayesianNetwork(degree=None).publish(
        Run.start(
            MemoryEngine(table=table_of(schema, rows)),
            epsilon=Fraction(1),
            source=SeededSource(1),
            progress=lambda step, share: told.append(share),
        )
    )
    shares = [share for share in told if share is not None]
    assert shares
    assert all(0 <= share <= 1 for share in shares)
