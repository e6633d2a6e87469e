import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from hedgerow.errors import SettingError
from hedgerow.privacy import sparse
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource, SystemSource
from hedgerow.privacy.sparse import passing_empties

FALSE_ALARM = 1e-6  # chance that a correct sampler would fail under a fresh seed


def enumerated(n_groups, *, epsilon, threshold, source):
    """Give noise to every group and keep those that reach the threshold."""
    noise = discrete_laplace(n_groups, epsilon=epsilon, source=source)
    ranks = np.flatnonzero(noise >= threshold)
    return ranks, noise[ranks]


def pooled(values, edge):
    return np.bincount(np.minimum(values, edge), minlength=edge + 1)


def agreement(drawn, reference, *, threshold, n_groups):
    """Smallest p-value that gaps, values or number of groups come from one law."""
    gaps = [np.diff(ranks, prepend=-1) - 1 for ranks, _ in (drawn, reference)]
    tails = [values - threshold for _, values in (drawn, reference)]
    edge = int(np.quantile(gaps[1], 0.99))
    sizes = [ranks.size for ranks, _ in (drawn, reference)]
    return min(
        chi2_contingency([pooled(gap, edge) for gap in gaps]).pvalue,
        chi2_contingency([pooled(tail, int(np.quantile(tails[1], 0.99))) for tail in tails]).pvalue,
        chi2_contingency([[size, n_groups - size] for size in sizes]).pvalue,
    )


@pytest.mark.parametrize(("epsilon", "threshold"), [("1/2", 1), ("1/2", 4), ("1", 2), ("1/10", 20)])
def test_passing_groups_have_the_law_of_enumeration(epsilon, threshold):
    n, eps = 300_000, Fraction(epsilon)
    drawn = passing_empties(n, epsilon=eps, threshold=threshold, source=SeededSource(1))
    reference = enumerated(n, epsilon=eps, threshold=threshold, source=SeededSource(2))
    assert agreement(drawn, reference, threshold=threshold, n_groups=n) > FALSE_ALARM
    # Negative controls: 10 % too little or too much noise.
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        other = passing_empties(
            n, epsilon=eps * factor, threshold=threshold, source=SeededSource(1)
        )
        assert agreement(other, reference, threshold=threshold, n_groups=n) < FALSE_ALARM


def test_every_set_of_groups_passes_with_its_exact_probability():
    runs = 2500
    source = SeededSource(11)
    seen = np.zeros(8)
    for _ in range(runs):
        ranks, _ = passing_empties(3, epsilon=Fraction(1, 2), threshold=1, source=source)
        seen[sum(1 << rank for rank in ranks.tolist())] += 1
    a = math.exp(-0.5)
    p = a / (1 + a)
    law = np.array([p ** s.bit_count() * (1 - p) ** (3 - s.bit_count()) for s in range(8)])
    assert chisquare(seen, runs * law).pvalue > FALSE_ALARM
    wrong = np.array([0.3 ** s.bit_count() * 0.7 ** (3 - s.bit_count()) for s in range(8)])
    assert chisquare(seen, runs * wrong).pvalue < FALSE_ALARM


@pytest.mark.parametrize("bits", [1, 5, 9])
def test_the_slow_path_draws_the_same_gaps_as_the_fast_one(bits):
    fast, slow = (
        passing_empties(
            4000, epsilon=Fraction(1, 3), threshold=2, source=SeededSource(bits), bits=looked_at
        )
        for looked_at in (64, bits)
    )
    assert fast[0].size > 500
    assert np.array_equal(fast[0], slow[0])
    assert np.array_equal(fast[1], slow[1])


def test_ranks_among_very_many_groups_are_sorted_and_as_many_as_expected():
    n, threshold = 2**62, 36
    ranks, values = passing_empties(
        n, epsilon=Fraction(1), threshold=threshold, source=SeededSource(4)
    )
    a = math.exp(-1)
    expected = n * a**threshold / (1 + a)
    assert abs(ranks.size - expected) < 6 * math.sqrt(expected)
    assert np.all(np.diff(ranks) > 0)
    assert 0 <= ranks[0] < ranks[-1] < n
    assert int(values.min()) >= threshold
    # Uniform over the whole range: low digits, which rounding would spoil, as well.
    assert chisquare(np.bincount(ranks // (n // 8), minlength=8)).pvalue > FALSE_ALARM
    assert chisquare(np.bincount(ranks % 8, minlength=8)).pvalue > FALSE_ALARM


def test_batches_join_without_a_seam(monkeypatch):
    monkeypatch.setattr(sparse, "_BATCH", 100)
    n = 100_000
    drawn = passing_empties(n, epsilon=Fraction(1), threshold=2, source=SeededSource(6))
    reference = enumerated(n, epsilon=Fraction(1), threshold=2, source=SeededSource(7))
    assert agreement(drawn, reference, threshold=2, n_groups=n) > FALSE_ALARM


@pytest.mark.parametrize(
    ("n_groups", "epsilon", "threshold"),
    [(0, Fraction(1), 1), (2**62, Fraction(1), 10**6), (2**62, Fraction(2**20), 2**40)],
)
def test_where_nothing_can_pass_nothing_does(n_groups, epsilon, threshold):
    ranks, values = passing_empties(
        n_groups, epsilon=epsilon, threshold=threshold, source=SystemSource()
    )
    assert ranks.size == values.size == 0
    assert ranks.dtype == values.dtype == np.int64


@pytest.mark.parametrize(
    ("epsilon", "threshold"),
    [("1", 1), ("1/1000000000", 1), ("1", 100), ("1/7", 1500), ("1", 600), ("3", 10**6)],
)
@pytest.mark.parametrize("bits", [64, 128])
def test_the_hazard_is_bounded_closely(epsilon, threshold, bits):
    low, high = sparse._hazard(Fraction(epsilon), threshold, bits)
    with localcontext(prec=1500) as context:
        context.Emin = -(10**9)
        rate = Decimal(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
        p = (-rate * threshold).exp() / (1 + (-rate).exp())
        exact = -(1 - p).ln() if p > Decimal("1e-700") else p
        assert low < exact < high
        assert (high - low) / exact < Decimal(10) ** -(bits + 30)


@pytest.mark.parametrize("n_groups", [-1, 2**62 + 1])
def test_a_number_of_groups_out_of_range_is_refused(n_groups):
    with pytest.raises(SettingError, match="groups"):
        passing_empties(n_groups, epsilon=Fraction(1), threshold=1, source=SeededSource(1))


@pytest.mark.parametrize("threshold", [0, -3, 2**40 + 1])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(SettingError, match="threshold"):
        passing_empties(10, epsilon=Fraction(1), threshold=threshold, source=SeededSource(1))
