from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.privacy.source import SeededSource
from hedgerow.trees.projection import on_simplex, simplex_shift

SOURCE = SeededSource(1)
noisy_counts = st.lists(st.integers(-50, 500), min_size=1, max_size=40).map(np.array)


@given(noisy=noisy_counts, total=st.integers(1, 5000))
def test_the_shift_gives_the_total(noisy, total):
    shift = simplex_shift(noisy, total)
    assert np.maximum(noisy - shift, 0).sum() == pytest.approx(total)


@given(noisy=noisy_counts, total=st.integers(-5, 5000))
def test_projected_counts_are_whole_and_add_up(noisy, total):
    counts, shift = on_simplex(noisy, total, only_down=False, source=SeededSource(1))
    assert counts.dtype == np.int64
    assert (counts >= 0).all()
    assert counts.sum() == max(total, 0)
    # Nothing moves by more than the common shift and the rounding.
    if total > 0:
        assert (np.abs(counts - np.maximum(noisy - shift, 0)) < 1 + 1e-9).all()


@given(noisy=noisy_counts.map(lambda noisy: np.maximum(noisy, 1)), total=st.integers(1, 50_000))
def test_only_down_never_adds(noisy, total):
    counts, shift = on_simplex(noisy, total, only_down=True, source=SeededSource(1))
    assert shift >= 0
    assert (counts <= noisy).all()


def test_no_projection_is_nearer():
    """Brute force over all whole counts with the total, on a small case."""
    noisy = np.array([4, 1, -2])
    counts, _ = on_simplex(noisy, 4, only_down=False, source=SeededSource(3))
    best = min(
        ((np.array([a, b, 4 - a - b]) - noisy) ** 2).sum() for a in range(5) for b in range(5 - a)
    )
    assert ((counts - noisy) ** 2).sum() == best


def test_an_empty_list_stays_empty():
    counts, shift = on_simplex(
        np.zeros(0, dtype=np.int64), 10, only_down=False, source=SeededSource(1)
    )
    assert (len(counts), shift) == (0, 0.0)


def test_which_counts_are_rounded_up_is_random():
    """Of 1,000 halves 500 go up, about 250 of them in either half, within six deviations of 8."""
    counts, _ = on_simplex(np.ones(1000, dtype=np.int64), 1500, only_down=False, source=SOURCE)
    assert sorted(set(counts.tolist())) == [1, 2]
    assert abs(int((counts[:500] == 2).sum()) - 250) < 48
