"""The tests that `pass_tests` draws: what noise is added to, and what whole paths and trees cost.

Only the noise is scripted, so that chosen tests pass; counts, bias, clip and descent are those of
`PathTests` itself. With the biased counts of a data set and of its neighbour the chance of every
answer is known, and so is the log-ratio of any set of answers.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.privacy import path_tests as module
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.mechanisms import Spending, pass_tests, path_tests
from hedgerow.privacy.path_tests import PathTests, TestRule, rule_for
from hedgerow.privacy.source import SeededSource

DEEPEST = 40
FAR = 10**9
"""Scripted noise that decides a test whatever its count."""

SLACK = 1 + 1e-9
SHARES = [Fraction(1, 100), Fraction(1, 10), Fraction(1)]


class Script:
    """Noise that makes chosen tests pass; notes what it is added to, level by level."""

    def __init__(self, monkeypatch):
        self.wanted = None
        self.biased = []
        original = PathTests.biased

        def noted(tests, counts, *, tested):
            self.biased.append(original(tests, counts, tested=tested))
            return self.biased[-1]

        monkeypatch.setattr(PathTests, "biased", noted)
        monkeypatch.setattr(module, "discrete_laplace", self.noise)

    def noise(self, n, *, epsilon, source):
        assert len(self.wanted) == n
        return np.where(self.wanted, FAR, -FAR)

    def levels(self, tests, levels, answers):
        """Put a level after the other through `pass_tests`; return the biased counts of each."""
        self.biased = []
        for counts, wanted in zip(levels, answers, strict=True):
            tested = np.ones(counts.shape, dtype=np.bool_)
            self.wanted = wanted.ravel()
            assert (pass_tests(counts, tested=tested, tests=tests) == wanted).all()
        return self.biased


@pytest.fixture
def script(monkeypatch):
    return Script(monkeypatch)


def begun(share, *, fan_out, n_roots, threshold):
    spending = Spending(epsilon=share, on="tests", ledger=PathLedger(share), source=SeededSource(1))
    return path_tests(fan_out=fan_out, threshold=threshold, n_roots=n_roots, spending=spending)


def log_chances(biased, rate):
    """The logarithms of the chances to pass and to fail, of biased counts."""
    a, b = math.exp(-float(rate)), np.asarray(biased, dtype=np.float64)
    tail = -np.abs(b) * float(rate) - math.log1p(a)  # of a^|b| / (1 + a)
    low = np.where(b <= 0, tail - float(rate), tail)  # to pass below 0, to fail above
    high = np.log1p(-np.exp(low))
    return np.where(b <= 0, low, high), np.where(b <= 0, high, low)


def test_noise_is_added_to_the_count_less_the_descent_of_its_depth_and_the_threshold():
    rule = TestRule(rate=Fraction(1, 10), gamma=20, delta=50)
    tests = PathTests(rule, threshold=7, n_roots=2, source=SeededSource(1))
    every = np.ones((2, 2), dtype=np.bool_)
    counts = np.array([[1000, 57], [58, 3]])
    assert tests.biased(counts, tested=every).tolist() == [943, 0, 1, -20]
    tests.follow(counts, np.array([[True, False], [True, False]]))
    counts = np.array([[900, 100], [58, 0]])
    assert tests.biased(counts, tested=every).tolist() == [793, -7, -20, -20]
    tests.follow(counts, np.array([[True, True], [False, False]]))
    some = np.array([[True, False], [True, True]])
    assert tests.biased(np.array([[880, 20], [60, 40]]), tested=some).tolist() == [723, -20, -20]


@pytest.mark.parametrize("share", SHARES)
def test_a_long_path_of_equal_counts_costs_no_more_than_its_share(share, script):
    """All counts at once, a root for each: the worst path there is, 40 tests that all pass."""
    delta = rule_for(share, fan_out=18).delta
    threshold = 120
    counts = np.arange(1, threshold + (DEEPEST + 2) * delta, max(1, delta // 40))

    def biased(moved):
        tests = begun(share, fan_out=18, n_roots=len(counts), threshold=threshold)
        level = (counts + moved)[:, None]
        passed = np.ones(level.shape, dtype=np.bool_)
        return tests.rule, script.levels(tests, [level] * DEEPEST, [passed] * DEEPEST)

    (rule, here), (_, there) = biased(0), biased(-1)
    gained = np.zeros(len(counts))
    worst = 0.0
    for one, other in zip(here, there, strict=True):
        pass_one, fail_one = log_chances(one, rule.rate)
        pass_other, fail_other = log_chances(other, rule.rate)
        ended = gained + fail_one - fail_other
        gained += pass_one - pass_other
        worst = max(worst, float(np.abs(ended).max()), float(np.abs(gained).max()))
    assert worst <= float(share) * SLACK
    assert worst > 0.75 * float(share)  # the bound is nearly reached


def prefix_levels(words, depth):
    """The number of words below every prefix, (parents, children) by level; all are expanded."""
    levels = []
    for length in range(1, depth + 1):
        prefixes = list(itertools.product((0, 1), repeat=length))
        found = [sum(n for word, n in words.items() if word[:length] == each) for each in prefixes]
        levels.append(np.array(found, dtype=np.int64).reshape(-1, 2))
    return levels


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(2)])
def test_no_answers_to_whole_small_trees_exceed_the_share(share, script):
    """Every set of expanded prefixes, on random trees of words with and without one word."""
    rng, depth, threshold = np.random.default_rng(3), 3, 3
    delta = rule_for(share, fan_out=2).delta
    every = list(itertools.product((0, 1), repeat=depth))
    answers = _answers(depth)
    assert len(answers) == 676
    worst = 0.0
    for border in range(depth + 1):  # the depth whose test the word's own count decides
        own, other = (every[at] for at in rng.choice(len(every), 2, replace=False))
        count = threshold + border * delta
        words = dict.fromkeys(every, 0) | {own: count, other: int(rng.integers(delta))}
        before, after = (prefix_levels(words | {own: words[own] + n}, depth) for n in (0, 1))
        for wanted in answers:
            found = []
            for each in (before, after):
                tests = begun(share, fan_out=2, n_roots=1, threshold=threshold)
                found.append(script.levels(tests, _expanded(each, wanted), wanted))
            worst = max(worst, abs(_log_ratio(*found, wanted, tests.rule.rate)))
    assert worst <= float(share) * SLACK
    assert worst > 0.5 * float(share)


def _answers(depth):
    """Every outcome of all tests: for each expanded node, which of its two children pass."""
    found = [([], 1)]
    for _ in range(depth):
        found = [
            ([*before, np.array(each, dtype=np.bool_).reshape(-1, 2)], sum(each))
            for before, n_parents in found
            for each in itertools.product((False, True), repeat=2 * n_parents)
        ]
    return [answers for answers, _ in found]


def _expanded(levels, answers):
    """The counts of the children of what passed, level by level."""
    nodes, found = np.array([0]), []
    for level, wanted in zip(levels, answers, strict=True):
        found.append(level[nodes])
        nodes = (2 * nodes[:, None] + np.arange(2))[wanted]
    return found


def _log_ratio(here, there, answers, rate):
    total = 0.0
    for one, other, wanted in zip(here, there, answers, strict=True):
        passed, failed = (
            a - b for a, b in zip(log_chances(one, rate), log_chances(other, rate), strict=True)
        )
        total += float(np.where(wanted.ravel(), passed, failed).sum())
    return total
