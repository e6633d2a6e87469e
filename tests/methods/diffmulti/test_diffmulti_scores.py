from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.diffmulti.scores import (
    DISCERNIBILITY,
    INFOGAIN,
    MAX,
    NCP,
    NCP_GAIN,
    UNITS,
    multi_score,
)
from hedgerow.methods.diffmulti.splits import node_borders, offers_of, positions_for
from hedgerow.privacy.choice import choice_probabilities, rate_for
from hedgerow.trees.axes import axes_of
from hedgerow.trees.box_scores import Children
from hedgerow.trees.scores import information_gain
from hedgerow.trees.topdown import Boxes, Level
from support.tables import encoded_tables, grid, schema_of, table_of, values

ALL = [DISCERNIBILITY, NCP, NCP_GAIN, MAX, INFOGAIN]
NAMES = ["discernibility", "ncp", "ncp gain", "max", "infogain"]


def root_scores(table, score):
    """The scores of all splits that the whole domain offers, in a public order."""
    axes = axes_of(table.schema)
    boxes = Boxes.whole(axes)
    level = Level(depth=0, boxes=boxes, axes=axes, placed=MemoryEngine(table=table).place())
    every = np.ones(1, dtype=np.bool_)
    borders = {
        a: positions_for(boxes, a, axis, every, most=1024)
        if axis.numeric
        else node_borders(boxes, a, axis, every)
        for a, axis in enumerate(axes)
    }
    return np.concatenate([each.scores for each in offers_of(level, borders, score).values()])


@st.composite
def neighbours(draw):
    """A table, and the same with one more record."""
    table = draw(encoded_tables())
    rows = np.stack([*table.codes, table.classes], axis=1).astype(int)
    rows = np.repeat(rows, draw(st.integers(1, 40)), axis=0).tolist()
    record = [draw(st.integers(0, a.domain.size - 1)) for a in table.schema.used()]
    return table_of(table.schema, rows), table_of(table.schema, [*rows, record])


@pytest.mark.parametrize("score", ALL, ids=NAMES)
@given(pair=neighbours())
def test_one_record_moves_scores_within_a_range_of_the_span(score, pair):
    amounts = root_scores(pair[1], score) - root_scores(pair[0], score)
    assume(len(amounts))
    if score is INFOGAIN:  # charged twice its sensitivity: any range of two signs
        assert np.abs(amounts).max() * 2 <= score.span
    else:
        assert int(amounts.max()) - int(amounts.min()) <= score.span
    assert score.span <= score.printed


@pytest.mark.parametrize("score", [NCP, NCP_GAIN, MAX], ids=["ncp", "ncp gain", "max"])
@given(pair=neighbours())
def test_monotone_scores_move_one_way(score, pair):
    amounts = root_scores(pair[1], score) - root_scores(pair[0], score)
    falling = score is NCP
    assert ((amounts <= 0) if falling else (amounts >= 0)).all()


LARGE = [0, 1, 3_000_000, 1 << 31, 3_037_000_499, 3_037_000_500, (1 << 32) - 1, 1 << 32, 1 << 36]
SIZES = st.one_of(st.integers(0, 1 << 36), st.sampled_from(LARGE))


@given(sizes=st.lists(SIZES, min_size=2, max_size=12), data=st.data())
@example(sizes=[3_037_000_499, 0], data=None)  # the last square that fits 64 bits
def test_discernibility_of_large_boxes_moves_by_half_a_unit_range_at_most(sizes, data):
    joined = 0 if data is None else data.draw(st.integers(0, len(sizes) - 1))
    scores = []
    for extra in (0, 1):
        counts = np.array(sizes)
        counts[joined] += extra
        scores.append(int(score_of(DISCERNIBILITY, counts[:, None])))
        squares, total = sum(n * n for n in counts.tolist()), sum(counts.tolist())
        assert scores[-1] == -(squares * UNITS // (2 * total + 1))
    assert abs(scores[1] - scores[0]) <= UNITS // 2


def score_of(score, counts, widths=None, domain=100):
    n = len(counts)
    children = Children(
        counts=np.asarray(counts, dtype=np.int64),
        widths=np.ones(n, dtype=np.int64) if widths is None else np.array(widths),
        starts=np.array([0, n]),
        domain=domain,
    )
    return score.of(children, np.ones(1))[0]


@settings(max_examples=60)
@given(pair=neighbours(), score=st.sampled_from(ALL), rule=st.sampled_from([0, 1]))
def test_exact_choice_probabilities_differ_by_no_more_than_the_share(pair, score, rule):
    share = Fraction(1, 2)
    before, after = (root_scores(table, score) for table in pair)
    assume(1 < len(before) < 40)
    name = ("exponential", "permute-and-flip")[rule]
    rate = rate_for(share, sensitivity=score.span, monotone=True)
    p, q = (choice_probabilities(each, rate=rate, rule=name) for each in (before, after))
    seen = (p > 1e-9) & (q > 1e-9)  # below, the quadrature's own error shows
    assert np.abs(np.log(p[seen] / q[seen])).max(initial=0) <= float(share) + 1e-6


def test_discernibility_is_the_sum_of_squares_over_twice_the_size_and_one():
    score = score_of(DISCERNIBILITY, [[3, 1], [0, 6]])  # 16 + 36 over 21
    assert score == -(52 * UNITS // 21)
    assert score_of(DISCERNIBILITY, [[0], [0]]) == 0


def test_certainty_penalty_is_that_of_equations_5_and_6():
    # A leaf costs nothing; a range of 50 of 100 costs one half.
    assert score_of(NCP, [[4], [6]], widths=[1, 50]) == -3 * UNITS
    assert score_of(NCP, [[4], [6]], widths=[25, 50]) == -4 * UNITS


def test_the_gain_is_what_a_split_takes_off_the_penalty():
    # From 75 of 100 to 25 of 100 for four records, to 50 of 100 for six.
    assert score_of(NCP_GAIN, [[4], [6]], widths=[25, 50]) == (4 * 2 + 6 * 1) * UNITS // 4
    assert score_of(NCP_GAIN, [[0], [0]], widths=[25, 50]) == 0


def test_max_adds_the_largest_class_of_each_child():
    assert score_of(MAX, [[3, 1], [0, 4]]) == 7


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=2, max_size=5))
def test_information_gain_is_that_of_diffgen(counts):
    ours = score_of(INFOGAIN, counts)
    assert abs(int(ours) - int(information_gain(np.array([counts]))[0])) <= 1


def test_a_score_is_found_by_name():
    assert multi_score("ncp", faithful=True) is NCP
    assert multi_score("ncp", faithful=False) is NCP_GAIN
    assert multi_score("max", faithful=True) is MAX


def test_wide_ranges_offer_evenly_spaced_positions_only():
    table = table_of(schema_of(grid(5000), values(3)), [])
    axis = axes_of(table.schema)[0]
    boxes = Boxes.whole(axes_of(table.schema))
    every = np.ones(1, dtype=np.bool_)
    positions = positions_for(boxes, 0, axis, every, most=100)
    assert 99 <= len(positions.values) < 150
    assert (np.diff(positions.values) > 0).all()
    assert {50, 100, 2500, 4950, 1, 2, 4999} <= set(positions.values.tolist())
    assert len(positions_for(boxes, 0, axis, every, most=5000).values) == 4999
    assert len(positions_for(boxes, 0, axis, ~every, most=100).values) == 0
