"""Recursive private medians: the score, the coins and the boxes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.rps.rps import RecursiveMedians, random_attributes
from hedgerow.model.placed import Borders
from hedgerow.privacy.choice import choice_probabilities, rate_for
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.binary_splits import borders_of_some, smaller_sides
from hedgerow.trees.topdown import STOP, Boxes
from support.method_battery import run
from support.tables import grid, schema_of, table_of, values

SIZE = 7
EVERYWHERE = Borders.of([list(range(1, SIZE))])
codes = st.lists(st.integers(0, SIZE - 1), max_size=12)


def scores(some):
    return smaller_sides(np.bincount(np.array(some, dtype=np.int64), minlength=SIZE), EVERYWHERE)


@given(some=codes)
def test_the_score_of_a_border_is_how_many_records_are_on_its_smaller_side(some):
    told = [min(sum(c < at for c in some), sum(c >= at for c in some)) for at in range(1, SIZE)]
    assert scores(some).tolist() == told


@given(some=codes, added=st.integers(0, SIZE - 1))
@settings(max_examples=100)
def test_a_record_more_adds_one_or_nothing_to_every_score(some, added):
    assert set((scores([*some, added]) - scores(some)).tolist()) <= {0, 1}


@given(some=codes, added=st.integers(0, SIZE - 1))
@settings(max_examples=50)
def test_no_median_is_likelier_by_more_than_its_share_with_a_record_more(some, added):
    share = Fraction(3, 4)
    rate = rate_for(share, sensitivity=Fraction(1), monotone=True)
    laws = [
        np.log(choice_probabilities(scores(each), rate=rate, rule="exponential"))
        for each in (some, [*some, added])
    ]
    assert np.abs(laws[0] - laws[1]).max() <= float(share) + 1e-9


def test_borders_of_several_boxes_are_scored_apart():
    borders = borders_of_some(Borders.of([[2], [1, 3]]), np.array([0, 2]), 3)
    counts = np.array([5, 1, 9, 4, 4, 4])  # two bins, one bin of a box without borders, three
    assert smaller_sides(counts, borders).tolist() == [1, 4, 4]


def boxes_of(spans):
    first = np.array([[low for low, _ in box] for box in spans], dtype=np.int32)
    stop = np.array([[high for _, high in box] for box in spans], dtype=np.int32)
    names = np.arange(len(spans))
    return Boxes(first=first, stop=stop, ledger=names, tree=names)


def test_attributes_are_drawn_evenly_among_those_that_can_be_halved():
    box = [(0, 5), (3, 4), (2, 4), (0, 9)]
    drawn = random_attributes(boxes_of([box] * 6000), source=SeededSource(5))
    times = np.bincount(drawn, minlength=4)
    assert times[1] == 0
    # 2,000 each, with a standard deviation of 37
    assert (np.abs(times[[0, 2, 3]] - 2000) < 200).all()


def test_a_box_that_is_a_point_stops():
    drawn = random_attributes(
        boxes_of([[(1, 2), (0, 1)], [(1, 2), (0, 2)]]), source=SeededSource(1)
    )
    assert drawn.tolist() == [STOP, 1]


def test_with_much_budget_boxes_are_halved_at_the_median():
    table = table_of(schema_of(grid(1000)), [(i * i // 1000, i % 2) for i in range(1000)])
    groups, _ = run(RecursiveMedians(height=2), table, epsilon=Fraction(50))
    borders = groups.ranges[0].stop[:-1].tolist()
    assert np.allclose(borders, [62, 250, 562], atol=8)
    assert len(groups.boxes[0]) == 4


@pytest.mark.parametrize("height", [1, 3, 6])
def test_the_height_is_how_often_a_box_is_halved(height):
    table = table_of(schema_of(grid(500), grid(500)), [(i, 499 - i, 0) for i in range(500)])
    groups, ledger = run(RecursiveMedians(height=height), table)
    assert len(groups.boxes[0]) == 2**height
    medians = [line for line in ledger.bookings if line.on.startswith("medians")]
    assert [line.times for line in medians] == [2**level for level in range(height)]
    assert {line.share for line in medians} == {Fraction(1, 2 * height)}


def test_boxes_that_cannot_be_halved_pass_their_budget_to_their_counts():
    table = table_of(schema_of(values(2)), [(0, 0), (1, 1)])
    groups, ledger = run(RecursiveMedians(height=4), table)
    assert len(groups.boxes[0]) == 2
    counts = [line.share for line in ledger.bookings if line.on == "counts"]
    assert counts == [Fraction(7, 8)]


def test_a_very_long_grid_offers_few_enough_positions():
    table = table_of(schema_of(grid(1_000_000)), [(i * 1000, 0) for i in range(1000)])
    groups, _ = run(RecursiveMedians(height=3), table, epsilon=Fraction(20))
    assert abs(int(groups.tree.stop[1]) - 500_000) < 40_000
