"""The race behind a private choice: lazily exact keys, ties, batches."""

from __future__ import annotations

import decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from hedgerow.errors import InternalError
from hedgerow.privacy import choice
from hedgerow.privacy.choice import choose
from hedgerow.privacy.exact import LazyExponential, decimal_context, exponential_bounds
from hedgerow.privacy.source import SeededSource

FALSE_ALARM = 1e-6  # chance that a correct sampler would fail under a fresh seed
RULES = ["exponential", "permute-and-flip"]


def random_segments(seed, *, n=200):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, size=n)
    scores = rng.integers(0, 6, size=sizes.sum())
    return scores, np.cumsum(sizes) - sizes, rng.integers(1, 30, size=scores.size)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bits", [2, 6])
def test_the_slow_path_decides_as_the_fast_one(rule, weighted, bits, monkeypatch):
    scores, starts, weights = random_segments(bits)
    settled = []
    settle = choice._Race._settle
    monkeypatch.setattr(choice._Race, "_settle", lambda *given: settled.append(1) or settle(*given))

    def picks(**looked_at):
        return choose(
            scores,
            rate=Fraction(2, 3),
            rule=rule,
            weights=weights if weighted else None,
            starts=starts,
            source=SeededSource(bits),
            **looked_at,
        )

    fast = picks()
    assert not settled
    assert np.array_equal(picks(bits=bits), fast)
    assert len(settled) > 10


class Replay:
    """Hands out given words, in order."""

    reproducible = True

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        taken, self.left = self.left[:n], self.left[n:]
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize("weights", [None, np.array([2, 2, 2])])
def test_candidates_tied_in_their_first_words_are_decided_by_further_bits(weights):
    word = 2**64 - 2**40
    # Gumbel noise -ln(-ln U) and flip noise -ln(1 - U) both grow with U.
    for extra, winner in (((5, 9), 2), ((9, 5), 0)):
        for rule in RULES:
            source = Replay(word, 1, word, *extra)
            picks = choose(
                np.zeros(3, dtype=np.int64),
                rate=Fraction(1),
                rule=rule,
                weights=weights,
                source=source,
            )
            assert picks.tolist() == [winner]
            assert not source.left


def test_bits_beyond_the_first_word_are_fair():
    class Tied(SeededSource):
        """Gives the same word to all candidates at first."""

        def words(self, n):
            return np.full(n, 2**63, dtype=np.uint64) if n > 1 else super().words(n)

    picks = choose(
        np.zeros(3 * 200, dtype=np.int64),
        rate=Fraction(1),
        rule="permute-and-flip",
        starts=3 * np.arange(200),
        source=Tied(1),
    )
    assert chisquare(np.bincount(picks % 3, minlength=3)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("rule", RULES)
def test_a_source_that_repeats_itself_is_reported_instead_of_running_on(rule):
    class Stuck:
        reproducible = True

        def words(self, n):
            return np.full(n, 12345, dtype=np.uint64)

    with pytest.raises(InternalError, match="source"):
        choose(np.array([1, 1]), rate=Fraction(1), rule=rule, source=Stuck())


EDGE_WORDS = [0, 1, 2, 2**11, 2**32, 2**53 + 1, 2**63, 2**64 - 2**12, 2**64 - 2, 2**64 - 1]


def bits_of_words(n, seed):
    rng = np.random.default_rng(seed)
    spread = rng.integers(0, 2**64, size=n, dtype=np.uint64) >> rng.integers(0, 64, size=n).astype(
        np.uint64
    )
    return np.concatenate([np.array(EDGE_WORDS, dtype=np.uint64), spread, ~spread])


def test_float_bounds_of_an_exponential_hold_its_exact_value():
    words = bits_of_words(150, 1)
    low, high = exponential_bounds(words)
    with decimal.localcontext(decimal_context(64)):
        for word, least, most in zip(words.tolist(), low.tolist(), high.tolist(), strict=True):
            exact_low, exact_high = LazyExponential(word).bounds()
            assert least <= exact_low <= exact_high <= most
    narrow = (words > 2**40) & (words < 2**63)
    assert np.all(high[narrow] - low[narrow] < 1e-6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_float_bounds_of_a_key_hold_its_exact_value(rule, weighted):
    words = bits_of_words(100, 2)
    rng = np.random.default_rng(3)
    scores = -rng.integers(0, 2 ** rng.integers(1, 62, size=words.size))
    scores[0] = 0
    weights = 2.0 ** rng.uniform(0 if rule == "permute-and-flip" else -61, 61, size=words.size)
    race = choice._Race(
        scores, np.zeros(1, np.int64), weights if weighted else None, rate=Fraction(3, 7), rule=rule
    )
    low, high = race._key_bounds(words, 64)
    with decimal.localcontext(decimal_context(64)):
        for i, word in enumerate(words.tolist()):
            exact_low, exact_high = race._exact_key_bounds(i, LazyExponential(word))
            assert low[i] <= exact_low <= exact_high <= high[i]


@pytest.mark.parametrize("rule", RULES)
def test_batches_do_not_change_what_is_chosen(rule, monkeypatch):
    scores, starts, weights = random_segments(9)

    def picks():
        return choose(
            scores,
            rate=Fraction(1),
            rule=rule,
            weights=weights,
            starts=starts,
            source=SeededSource(1),
        )

    whole = picks()
    for size in (1, 7, 100, scores.size - 1):
        monkeypatch.setattr(choice, "_BATCH", size)
        assert np.array_equal(picks(), whole)
