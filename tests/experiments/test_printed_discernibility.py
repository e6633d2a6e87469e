"""Eq. (3) of DiffMulti over 2|D| + 1: what it computes, and whom its divisor reads."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.printed_discernibility import penalties, printed_score, variants
from hedgerow.methods.diffmulti.scores import DISCERNIBILITY
from hedgerow.privacy.choice import choice_probabilities, rate_for
from hedgerow.trees.box_scores import Children
from support.tables import grid, schema_of, table_of

SHARE = Fraction(1)


def splits(score, candidates):
    """The scores of a box's candidates, each a list of child sizes."""
    starts = np.cumsum([0, *(len(sizes) for sizes in candidates)])
    counts = np.array([n for sizes in candidates for n in sizes], dtype=np.int64)[:, None]
    children = Children(
        counts=counts, widths=np.ones(len(counts), dtype=np.int64), starts=starts, domain=9
    )
    return score.of(children, np.ones(len(candidates)))


def odds(score, candidates):
    """The law of the exponential mechanism among a box's candidates, as printed."""
    rate = rate_for(SHARE, sensitivity=score.printed, monotone=True)
    return choice_probabilities(splits(score, candidates), rate=rate, rule="exponential")


def test_the_printed_score_is_the_sum_of_squares_at_half_the_rate_over_2d_plus_1():
    score = printed_score(100)
    assert splits(score, [[8, 2], [5, 5]]).tolist() == [-68, -50]
    assert score.printed == 2 * (2 * 100 + 1)
    first, second = odds(score, [[8, 2], [5, 5]])
    assert second / first == pytest.approx(np.exp((68 - 50) / (2 * 201)))


def test_a_record_of_another_box_moves_the_printed_odds_and_not_ours():
    """A box of 40 records chooses; the record that is added lies in another box."""
    candidates = [[40, 0], [20, 20]]
    before, after = (odds(printed_score(n), candidates) for n in (60, 61))
    assert abs(np.log(before[0] / after[0])) > 0.01
    ours = [odds(DISCERNIBILITY, candidates) for _ in (60, 61)]
    assert ours[0].tolist() == ours[1].tolist()


@settings(max_examples=60)
@given(
    boxes=st.lists(st.lists(st.integers(0, 30), min_size=2, max_size=4), min_size=1, max_size=5),
    data=st.data(),
)
def test_no_level_loses_more_than_three_quarters_of_its_share_as_printed(boxes, data):
    """Two candidates a box: its children as drawn, or all of its records in one child."""
    n = sum(map(sum, boxes))
    joined = data.draw(st.integers(0, len(boxes) - 1))
    child = data.draw(st.integers(0, len(boxes[joined]) - 1))
    more = [list(sizes) for sizes in boxes]
    more[joined][child] += 1
    loss = 0.0
    for old, new in zip(boxes, more, strict=True):
        before = odds(printed_score(n), [old, [sum(old), 0]])
        after = odds(printed_score(n + 1), [new, [sum(new), 0]])
        loss += np.abs(np.log(before / after)).max()
    assert loss <= 0.75 * float(SHARE) + 1e-9


def test_both_divisors_run_to_the_end_on_a_small_table():
    table = table_of(
        schema_of(grid(16), grid(8), classes=None), [[i % 16, i % 8] for i in range(64)]
    )
    for method in variants(8, table).values():
        (discernibility,), (ncp,) = penalties(method, table, seeds=[1])
        assert 0 < discernibility <= 64**2 / 1e6
        assert 0 <= ncp <= 1
