"""The doors themselves: they book, then draw, for every cell by itself, what they were asked.

Exact audits put oracles in place of these functions, so that nothing there looks at the real
ones. Here their bookings are compared with what was asked, what they hand on is caught on its
way, and the joint law of cells is compared with the law that the oracles reckon with: noise
that two cells share is right cell by cell and protects no difference between them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from hedgerow.errors import OverdraftError
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import Booking, PathLedger
from hedgerow.privacy.choice import choice_probabilities
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.mechanisms import CellBlock, Spending
from hedgerow.privacy.source import SeededSource

FALSE_ALARM = 1e-6  # chance that a correct mechanism would fail under a fresh seed
THIRD = Fraction(1, 3)


class Noticing:
    """A seeded source that notes what had been booked when its first word was drawn."""

    reproducible = True

    def __init__(self, ledger, seed=1):
        self.ledger, self.seeded = ledger, SeededSource(seed)
        self.booked, self.drawn = None, 0

    def words(self, n):
        if self.booked is None:
            self.booked = self.ledger.bookings
        self.drawn += n
        return self.seeded.words(n)


def whole(*values):
    return np.array(values, dtype=np.int64)


def block(keys, counts, *, n_groups=4, threshold=1):
    return CellBlock(keys=keys, counts=counts, n_groups=n_groups, threshold=threshold)


def by_score(spending, scores=(3, 0, 2, 1), starts=(0, 2), **changed):
    asked = {"sensitivity": Fraction(1), "monotone": True, "rule": "exponential", "weights": None}
    asked |= changed
    return mechanisms.choose_by_score(
        whole(*scores), starts=whole(*starts), spending=spending, **asked
    )


CALLS = {
    "noisy_counts": lambda spending: mechanisms.noisy_counts(whole(3, 4), spending=spending),
    "noisy_counts of items": lambda spending: mechanisms.noisy_counts(
        whole(3, 4), spending=spending, per_record=2
    ),
    "noisy_sparse_counts": lambda spending: mechanisms.noisy_sparse_counts(
        whole(0, 2), whole(5, 6), n_groups=4, threshold=2, spending=spending
    ),
    "noisy_sparse_blocks": lambda spending: mechanisms.noisy_sparse_blocks(
        [block(whole(0), whole(5)), block(whole(1), whole(5))], spending=spending
    ),
    "choose_by_score": by_score,
    "choose_by_score, permute-and-flip": lambda spending: by_score(
        spending, rule="permute-and-flip"
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_mechanism_books_its_share_on_its_nodes_before_it_draws(call):
    ledger = PathLedger(Fraction(1))
    boxes = ledger.branch(0, 3)
    source = Noticing(ledger)
    call(Spending(epsilon=THIRD, on="it", ledger=ledger, source=source, nodes=boxes[1:]))
    once = (Booking(on="it", share=THIRD, level=1, times=2),)
    assert source.booked == once
    assert ledger.bookings == once
    assert list(ledger.left(boxes)) == [1, 1 - THIRD, 1 - THIRD]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_without_nodes_a_mechanism_books_on_the_whole_table(call):
    ledger = PathLedger(Fraction(1))
    call(Spending(epsilon=THIRD, on="it", ledger=ledger, source=SeededSource(1)))
    assert ledger.left() == 1 - THIRD


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_mechanism_that_would_overdraw_draws_nothing(call):
    ledger = PathLedger(Fraction(1, 4))
    source = Noticing(ledger)
    with pytest.raises(OverdraftError):
        call(Spending(epsilon=THIRD, on="it", ledger=ledger, source=source))
    assert source.drawn == 0
    assert ledger.bookings == ()


def test_the_rest_is_booked_on_each_path_before_it_is_drawn():
    ledger = PathLedger(Fraction(1))
    boxes = ledger.branch(0, 3)
    ledger.spend(THIRD, on="before", nodes=boxes[:1])
    source = Noticing(ledger)
    _, shares = mechanisms.noisy_rest(
        np.zeros((2, 2), dtype=np.int64), nodes=boxes[:2], on="it", ledger=ledger, source=source
    )
    assert list(shares) == [1 - THIRD, 1]
    assert source.booked == ledger.bookings
    assert ledger.bookings[1:] == (
        Booking(on="it", share=Fraction(1), level=1, times=1),
        Booking(on="it", share=1 - THIRD, level=1, times=1),
    )
    assert list(ledger.left(boxes)) == [0, 0, 1]


def test_a_path_with_nothing_left_draws_no_rest():
    ledger = PathLedger(Fraction(1))
    ledger.spend_rest(on="before")
    source = Noticing(ledger)
    with pytest.raises(OverdraftError):
        mechanisms.noisy_rest(
            np.zeros((1, 2), dtype=np.int64), nodes=whole(0), on="it", ledger=ledger, source=source
        )
    assert source.drawn == 0


# What is handed on.


def spending_of(epsilon, *, source=None, nodes=0, ledger=None):
    return Spending(
        epsilon=epsilon,
        on="it",
        ledger=ledger or PathLedger(epsilon),
        source=source or SeededSource(1),
        nodes=nodes,
    )


@pytest.fixture
def told_noise(monkeypatch):
    """Noise that tells its epsilon: the n-th number drawn is 1000 / epsilon + n."""
    drawn = []

    def telling(n, *, epsilon, source):
        noise = 1000 * epsilon.denominator // epsilon.numerator + len(drawn) + np.arange(n)
        drawn.extend([(epsilon, source)] * n)
        return noise

    monkeypatch.setattr(mechanisms, "discrete_laplace", telling)
    return drawn


@pytest.mark.parametrize("per_record", [1, 3])
def test_counts_get_noise_for_their_part_of_the_share(told_noise, per_record):
    spending = spending_of(THIRD)
    counts = whole(5, 0, 7)
    noisy = mechanisms.noisy_counts(counts, spending=spending, per_record=per_record)
    assert told_noise == [(THIRD / per_record, spending.source)] * 3
    assert (noisy - counts).tolist() == [3000 * per_record + at for at in range(3)]
    assert counts.tolist() == [5, 0, 7]


def test_every_box_gets_noise_of_its_own_for_what_its_own_path_has_left(told_noise):
    ledger = PathLedger(Fraction(1))
    boxes = ledger.branch(0, 3)
    ledger.spend(Fraction(1, 2), on="before", nodes=boxes[1:2])
    counts = np.arange(6, dtype=np.int64).reshape(3, 2)
    noisy, shares = mechanisms.noisy_rest(
        counts, nodes=boxes, on="it", ledger=ledger, source=SeededSource(1)
    )
    noise = noisy - counts
    assert list(shares) == [1, Fraction(1, 2), 1]
    assert (noise // 1000).tolist() == [[1, 1], [2, 2], [1, 1]]
    assert sorted((noise % 1000).ravel().tolist()) == list(range(6))
    assert counts.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_every_block_gets_its_own_noise_and_threshold_at_the_whole_share(told_noise, monkeypatch):
    asked = []

    def empties(n_groups, *, epsilon, threshold, source):
        asked.append((n_groups, epsilon, threshold, source))
        return whole(0, 1, 3), threshold + whole(0, 10, 20)

    monkeypatch.setattr(mechanisms, "passing_empties", empties)
    spending = spending_of(Fraction(1))
    first, second = mechanisms.noisy_sparse_blocks(
        [
            block(whole(1, 2), whole(50, -1000), n_groups=4, threshold=7),
            block(whole(3), whole(-998), n_groups=5, threshold=4),
        ],
        spending=spending,
    )
    assert asked == [(4, 1, 7, spending.source), (5, 1, 4, spending.source)]
    assert told_noise == [(Fraction(1), spending.source)] * 3
    # Noise is 1000, 1001 and 1002: group 2 stays below 7, group 3 reaches its 4 exactly.
    assert [each.tolist() for each in first] == [[0, 1, 3], [7, 1050, 27]]
    assert [each.tolist() for each in second] == [[0, 1, 3], [4, 14, 4]]


def test_an_occupied_group_below_the_threshold_is_not_listed_as_an_empty_one(monkeypatch):
    silent = lambda n, **_: np.zeros(n, dtype=np.int64)  # noqa: E731
    every = lambda n, *, threshold, **_: (np.arange(n), np.full(n, threshold))  # noqa: E731
    monkeypatch.setattr(mechanisms, "discrete_laplace", silent)
    monkeypatch.setattr(mechanisms, "passing_empties", every)
    keys, counts = mechanisms.noisy_sparse_counts(
        whole(0, 2, 4), whole(9, 1, 2), n_groups=6, threshold=2, spending=spending_of(THIRD)
    )
    assert keys.tolist() == [0, 1, 3, 4, 5]
    assert counts.tolist() == [9, 2, 2, 2, 2]


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("rule", ["exponential", "permute-and-flip"])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 4.0, 1.0])])
def test_a_choice_hands_on_what_it_was_asked(monkeypatch, monotone, rule, weights):
    asked = []

    def choose(scores, **told):
        asked.append((scores, told))
        return whole(1, 2)

    monkeypatch.setattr(mechanisms, "choose", choose)
    spending, scores, starts = spending_of(THIRD), whole(3, 0, 2, 1), whole(0, 2)
    chosen = mechanisms.choose_by_score(
        scores,
        starts=starts,
        sensitivity=Fraction(5),
        monotone=monotone,
        rule=rule,
        weights=weights,
        spending=spending,
    )
    assert chosen.tolist() == [1, 2]
    ((given, told),) = asked
    assert given is scores
    assert told["starts"] is starts
    assert told["weights"] is weights
    assert told["source"] is spending.source
    assert told["rule"] == rule
    assert told["rate"] == THIRD / 5 / (1 if monotone else 2)


# The joint law of cells.

PAIRS = 10_000
EDGE = 2


def law_of_noise(epsilon):
    """The law of discrete Laplace noise on -2 .. 2, what is beyond pooled with the ends."""
    a = math.exp(-float(epsilon))
    body = (1 - a) / (1 + a) * a ** np.abs(np.arange(1 - EDGE, EDGE))
    tail = a**EDGE / (1 + a)
    return np.array([tail, *body, tail])


def joint_p_value(one, other, law, other_law=None):
    """The chi-square p-value of pairs of categories under a product of laws."""
    other_law = law if other_law is None else other_law
    seen = np.bincount(one * len(other_law) + other, minlength=len(law) * len(other_law))
    expected = np.outer(law, other_law).ravel()
    return chisquare(seen, len(one) * expected / expected.sum()).pvalue


def pooled(noise):
    return np.clip(noise, -EDGE, EDGE) + EDGE


def test_counts_have_independent_noise():
    noise = mechanisms.noisy_counts(
        np.zeros(2 * PAIRS, dtype=np.int64), spending=spending_of(Fraction(1))
    )
    one, other, law = pooled(noise[::2]), pooled(noise[1::2]), law_of_noise(1)
    assert joint_p_value(one, other, law) > FALSE_ALARM
    assert joint_p_value(one[1:], other[:-1], law) > FALSE_ALARM
    assert joint_p_value(pooled(noise[:PAIRS]), pooled(noise[PAIRS:]), law) > FALSE_ALARM
    # Negative control: noise that two cells share.
    assert joint_p_value(one, one, law) < FALSE_ALARM


@pytest.mark.parametrize("lefts", [[1], [1, Fraction(1, 2)]], ids=["one share", "two shares"])
def test_sibling_leaves_and_their_classes_have_independent_noise(lefts):
    ledger = PathLedger(Fraction(1))
    parents = ledger.branch(0, PAIRS)
    leaves = ledger.branch(parents, 2)
    if len(lefts) == 2:  # every second leaf has half of the budget left
        ledger.spend(Fraction(1, 2), on="before", nodes=leaves[1::2])
    counts = np.arange(4 * PAIRS, dtype=np.int64).reshape(-1, 2) % 7
    noisy, _ = mechanisms.noisy_rest(
        counts, nodes=leaves, on="it", ledger=ledger, source=SeededSource(2)
    )
    noise = pooled((noisy - counts).reshape(PAIRS, 2, 2))
    law, other_law = law_of_noise(lefts[0]), law_of_noise(lefts[-1])
    for mine in (0, 1):
        for theirs in (0, 1):
            siblings = joint_p_value(noise[:, 0, mine], noise[:, 1, theirs], law, other_law)
            assert siblings > FALSE_ALARM
    assert joint_p_value(noise[:, 0, 0], noise[:, 0, 1], law) > FALSE_ALARM
    assert joint_p_value(noise[:, 1, 0], noise[:, 1, 1], other_law) > FALSE_ALARM
    assert joint_p_value(noise[1:, 0, 0], noise[:-1, 0, 0], law) > FALSE_ALARM


def test_groups_of_a_sparse_count_have_independent_noise_whether_occupied_or_not():
    keys = 2 * np.arange(PAIRS, dtype=np.int64)  # every other group is empty
    found, values = mechanisms.noisy_sparse_counts(
        keys,
        np.ones(PAIRS, dtype=np.int64),
        n_groups=2 * PAIRS,
        threshold=1,
        spending=spending_of(Fraction(1)),
    )
    noisy = np.zeros(2 * PAIRS, dtype=np.int64)
    noisy[found] = np.minimum(values, 3)
    a = math.exp(-1)
    reached = (1 - a) / (1 + a)
    occupied = np.array([a / (1 + a), reached, reached * a, a**2 / (1 + a)])
    empty = np.array([1 / (1 + a), reached * a, reached * a**2, a**3 / (1 + a)])
    one, other = noisy[::2], noisy[1::2]
    assert joint_p_value(one, other, occupied, empty) > FALSE_ALARM
    assert joint_p_value(other[:-1], one[1:], empty, occupied) > FALSE_ALARM
    assert joint_p_value(one[1:], one[:-1], occupied) > FALSE_ALARM
    assert joint_p_value(other[1:], other[:-1], empty) > FALSE_ALARM
    assert joint_p_value(one, one, occupied) < FALSE_ALARM


def test_blocks_of_a_sparse_count_have_independent_noise():
    keys = np.arange(PAIRS, dtype=np.int64)
    twice = [block(keys, np.full(PAIRS, 2), n_groups=PAIRS, threshold=1)] * 2
    one, other = mechanisms.noisy_sparse_blocks(twice, spending=spending_of(Fraction(1)))
    noisy = np.zeros((2, PAIRS), dtype=np.int64)
    for row, (found, values) in zip(noisy, (one, other), strict=True):
        row[found] = np.minimum(values, 4)
    a = math.exp(-1)
    body = (1 - a) / (1 + a) * a ** np.array([1, 0, 1])
    law = np.array([a**2 / (1 + a), *body, a**2 / (1 + a)])
    assert joint_p_value(noisy[0], noisy[1], law) > FALSE_ALARM


@pytest.mark.parametrize("rule", ["exponential", "permute-and-flip"])
def test_segments_choose_independently_of_each_other(rule):
    scores, weights = whole(2, 0, 1), np.array([1.0, 4.0, 2.0])
    starts = 3 * np.arange(2 * PAIRS)
    chosen = mechanisms.choose_by_score(
        np.tile(scores, 2 * PAIRS),
        starts=starts,
        sensitivity=Fraction(2),
        monotone=False,
        rule=rule,
        weights=np.tile(weights, 2 * PAIRS),
        spending=spending_of(Fraction(2)),
    )
    law = choice_probabilities(scores, rate=Fraction(1, 2), rule=rule, weights=weights)
    place = chosen - starts
    assert joint_p_value(place[::2], place[1::2], law) > FALSE_ALARM
    assert joint_p_value(place[1:-1:2], place[2::2], law) > FALSE_ALARM
    assert joint_p_value(place[:PAIRS], place[PAIRS:], law) > FALSE_ALARM


def test_two_calls_share_no_noise():
    source, cells = SeededSource(3), np.zeros(PAIRS, dtype=np.int64)
    law = law_of_noise(1)
    ledger = PathLedger(Fraction(3))
    one, other = (
        mechanisms.noisy_counts(
            cells, spending=spending_of(Fraction(1), source=source, ledger=ledger)
        )
        for _ in range(2)
    )
    assert joint_p_value(pooled(one), pooled(other), law) > FALSE_ALARM
    rest, _ = mechanisms.noisy_rest(
        cells[:, None], nodes=ledger.branch(0, PAIRS), on="it", ledger=ledger, source=source
    )
    assert joint_p_value(pooled(one), pooled(rest[:, 0]), law) > FALSE_ALARM


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 7)])
def test_the_noise_itself_is_independent_from_draw_to_draw(epsilon):
    noise = pooled(discrete_laplace(2 * PAIRS, epsilon=epsilon, source=SeededSource(4)))
    law = law_of_noise(epsilon)
    assert joint_p_value(noise[::2], noise[1::2], law) > FALSE_ALARM
    assert joint_p_value(noise[:PAIRS], noise[PAIRS:], law) > FALSE_ALARM
