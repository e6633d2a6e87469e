"""Distances, singling out, linking and inference against loops over targets and rows."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.risks.attacks.differencing import joined_rows, joined_sets
from hedgerow.risks.attacks.rows import ReleasedRows, rows_of_records
from hedgerow.risks.attacks.set_traces import set_traces, sets_singled_out
from hedgerow.risks.attacks.sets import basket_game, sequence_game, with_steps
from hedgerow.risks.attacks.singling import column_subsets, singled_out
from hedgerow.risks.attacks.table_traces import TableAims, table_traces
from support.tables import grid, schema_of, values

SIZES = (6, 4, 3)
SCHEMA = schema_of(grid(6), values(4), values(3), classes=None)


@st.composite
def released(draw, *, points: bool = False) -> ReleasedRows:
    n = draw(st.integers(1, 8))
    first = np.array(
        [[draw(st.integers(0, size - 1)) for size in SIZES] for _ in range(n)], dtype=np.int32
    )
    stop = first + 1
    if not points:
        stop = np.array(
            [
                [draw(st.integers(at + 1, s)) for at, s in zip(row, SIZES, strict=True)]
                for row in first
            ],
            dtype=np.int32,
        )
    counts = np.array([draw(st.integers(1, 3)) for _ in range(n)], dtype=np.float64)
    return ReleasedRows(
        names=("a0", "a1", "a2"),
        sizes=np.array(SIZES),
        steps=np.array([1 / 5, 0, 0], dtype=np.float32),
        first=first,
        stop=stop,
        counts=counts,
    )


targets = st.lists(
    st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=10
).map(lambda rows: np.array(rows, dtype=np.int32))


def naive_distance(rows: ReleasedRows, row: int, record: np.ndarray) -> float:
    total = 0.0
    for column, value in enumerate(record.tolist()):
        first, stop = int(rows.first[row, column]), int(rows.stop[row, column])
        gap = max(first - value, value - stop + 1, 0)
        total += gap / 5 if column == 0 else float(gap > 0)
    return total


@settings(max_examples=40)
@given(rows=released(), codes=targets)
def test_distances_are_sums_of_gaps(rows, codes):
    found = rows.distances(codes, range(3))
    for at, row in product(range(len(codes)), range(len(rows))):
        assert found[at, row] == pytest.approx(naive_distance(rows, row, codes[at]), abs=1e-5)


def naively_singled_out(rows: ReleasedRows, codes: np.ndarray) -> set[int]:
    hit = set()
    least = max(1.0, rows.counts.min())
    for columns in column_subsets(3, seed=0):
        for row in range(len(rows)):
            same = [
                other
                for other in range(len(rows))
                if all(
                    rows.first[other, c] == rows.first[row, c]
                    and rows.stop[other, c] == rows.stop[row, c]
                    for c in columns
                )
            ]
            held = [
                at
                for at, record in enumerate(codes)
                if all(rows.first[row, c] <= record[c] < rows.stop[row, c] for c in columns)
            ]
            if rows.counts[same].sum() <= least and len(held) == 1:
                hit.add(held[0])
    return hit


@settings(max_examples=60)
@given(rows=st.one_of(released(), released(points=True)), codes=targets)
def test_singled_out_is_who_alone_has_the_values_of_a_rare_row(rows, codes):
    found = singled_out(rows, codes, seed=0)
    assert set(np.flatnonzero(found).tolist()) == naively_singled_out(rows, codes)


def test_a_wide_table_has_a_bounded_number_of_column_sets_with_all_columns_among_them():
    subsets = column_subsets(30, seed=1)
    assert len(subsets) == len(set(subsets)) == 40
    assert tuple(range(30)) in subsets
    assert subsets == column_subsets(30, seed=1)


def traces_of(rows, codes, **aims):
    reference = rows_of_records(codes[:0], SCHEMA.attributes, weight=1.0)
    given = {"halves": ([0], [1, 2]), "seed": 1, **aims}
    return table_traces(rows, codes, reference, TableAims(**given))


@settings(max_examples=40)
@given(rows=released(points=True), codes=targets)
def test_a_record_is_linked_only_if_one_row_is_nearest_in_both_halves(rows, codes):
    found = traces_of(rows, codes)
    for at, linked in enumerate(found.linked):
        one, two = (rows.distances(codes[at : at + 1], half)[0] for half in ([0], [1, 2]))
        both = np.flatnonzero((one <= one.min() + 1e-5) & (two <= two.min() + 1e-5))
        assert not linked or len(both)


def test_unlike_records_that_are_released_as_they_are_are_all_linked():
    codes = np.array([[0, 0, 0], [2, 1, 1], [5, 3, 2]], dtype=np.int32)
    rows = rows_of_records(codes, SCHEMA.attributes, weight=1.0)
    assert traces_of(rows, codes).linked.all()


@settings(max_examples=40)
@given(rows=released(points=True), codes=targets)
def test_a_category_is_inferred_by_the_vote_of_the_nearest_rows(rows, codes):
    found = traces_of(rows, codes, sensitive=(1,)).inferred["a1"]
    for at, record in enumerate(codes):
        away = rows.distances(record[None], [0, 2])[0]
        near = away <= away.min() + 1e-5
        votes = np.bincount(rows.first[near, 1], weights=rows.counts[near], minlength=4)
        winners = np.flatnonzero(votes == votes.max())
        if len(winners) == 1:
            assert found[at] == (winners[0] == record[1])
        else:
            assert not found[at] or record[1] in winners


def test_numbers_are_inferred_within_a_twentieth_of_their_domain():
    codes = np.array([[0, 0, 0], [5, 1, 1]], dtype=np.int32)
    rows = rows_of_records(codes, SCHEMA.attributes, weight=2.0)
    found = traces_of(rows, np.array([[0, 0, 0], [4, 1, 1]], dtype=np.int32), sensitive=(0,))
    assert found.inferred["a0"].tolist() == [True, False]


def test_a_release_without_rows_hits_nobody():
    codes = np.array([[0, 0, 0]], dtype=np.int32)
    empty = rows_of_records(codes[:0], SCHEMA.attributes, weight=1.0)
    found = traces_of(empty, codes, sensitive=(0, 1))
    assert not found.linked.any()
    assert not singled_out(empty, codes, seed=0).any()


def sets_of(lists, n_items=6) -> WeightedSets:
    return WeightedSets(
        n_items=n_items,
        offsets=np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64),
        items=np.array([item for each in lists for item in each], dtype=np.int64),
        weights=np.ones(len(lists), dtype=np.int64),
    )


baskets = st.lists(st.sets(st.integers(0, 5), min_size=1).map(sorted), min_size=2, max_size=8)


@settings(max_examples=40)
@given(released=baskets, asked=baskets)
def test_baskets_are_as_near_as_the_items_they_share(released, asked):
    nobody = sets_of([])
    game = basket_game(sets_of(released), sets_of(asked), nobody, scale=1.0, seed=2)
    found = set_traces(game).scores["distance"]
    for at, one in enumerate(asked):
        alike = [len(set(one) & set(other)) / len(set(one) | set(other)) for other in released]
        assert found[at] == pytest.approx(max(alike), abs=1e-6)
    alone = sets_singled_out(game)
    for at in np.flatnonzero(alone):
        subsets = [set(asked[at]) & set(other) for other in released]
        assert any(sum(held <= set(each) for each in asked) == 1 for held in subsets if held), (
            "who is singled out alone holds some released items"
        )


@given(lists=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=5))
def test_steps_of_a_sequence_are_its_items_and_what_follows_what(lists):
    found = with_steps(sets_of(lists, 4))
    for at, items in enumerate(lists):
        steps = {4 + 4 * a + b for a, b in pairwise(items)}
        held = found.items[found.offsets[at] : found.offsets[at + 1]]
        assert set(held.tolist()) == set(items) | steps


def test_the_last_item_of_a_released_sequence_is_inferred():
    lists = [[0, 1, 2], [1, 3, 0], [2, 0, 3]]
    game = sequence_game(sets_of(lists, 4), sets_of(lists, 4), sets_of([], 4), scale=1.0, seed=0)
    assert set_traces(game).inferred["an item"].all()


def test_the_hidden_item_of_a_sequence_is_not_known():
    lists = [[0, 1, 2], [3], [2, 2]]
    game = sequence_game(sets_of(lists, 4), sets_of(lists, 4), sets_of([], 4), scale=1.0, seed=0)
    known = with_steps(sets_of([[0, 1], [3], [2]], 4))
    assert np.diff(game.known.offsets).tolist() == np.diff(known.offsets).tolist()
    assert game.hidden[1] == -1
    for at in (0, 2):
        held = game.known.items[game.known.offsets[at] : game.known.offsets[at + 1]]
        assert game.hidden[at] not in held


def test_an_item_that_is_known_is_not_guessed():
    released = sets_of([[0, 1]] * 5 + [[0, 2]])
    game = basket_game(released, sets_of([[0, 1], [0, 2]]), sets_of([]), scale=1.0, seed=0)
    hidden, known = game.hidden.tolist(), game.known.items.tolist()
    found = set_traces(game).inferred["an item"].tolist()
    # Whoever is known to hold 0 is guessed to hold 1, and whoever holds 1 or 2 to hold 0.
    guesses = [1 if item == 0 else 0 for item in known]
    assert found == [guess == item for guess, item in zip(guesses, hidden, strict=True)]
    assert any(found)


rows_lists = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=12)


@given(one=rows_lists, two=rows_lists)
def test_joined_records_are_the_difference_of_multisets(one, two):
    codes, others = (np.array(each, dtype=np.int32).reshape(-1, 2) for each in (one, two))
    if not len(codes) + len(others):
        return
    found = [one[at] for at in joined_rows(codes, others)]
    for row in set(one) | set(two):
        assert found.count(row) == max(one.count(row) - two.count(row), 0)


@given(
    one=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=8),
    two=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=8),
)
def test_joined_sequences_are_the_difference_of_multisets(one, two):
    found = [one[at] for at in joined_sets(sets_of(one, 4), sets_of(two, 4), ordered=True)]
    for each in {tuple(each) for each in one + two}:
        expected = max(one.count(list(each)) - two.count(list(each)), 0)
        assert found.count(list(each)) == expected
