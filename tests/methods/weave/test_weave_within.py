"""Where inside their cells drawn numbers lie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.within import CodeLaw

FALSE_ALARM = 1e-6  # chance that a correct sampler would fail under a fresh seed
DRAWS = 40_000


def ordered(*edges):
    return CellAxis(edges=np.array(edges), ordered=True, depths=None)


def law_of(masses, *edges, noise=1.0):
    return CodeLaw.of(ordered(*edges), np.array(masses, dtype=np.float64), noise)


def fit_p_value(law, cell, weights):
    cells = np.full(DRAWS, cell, dtype=np.int32)
    codes = law.drawn(cells, np.random.default_rng(5))
    seen = np.bincount(codes - law.edges[cell], minlength=len(weights))
    return chisquare(seen, DRAWS * np.array(weights) / np.sum(weights)).pvalue


def test_codes_between_many_and_few_records_follow_a_geometric_law():
    # Records per code: 800, 100, 12.5; the middles of the cells are 3 codes apart.
    law = law_of([2400, 300, 37.5], 0, 3, 6, 9)
    falling = [8 ** (-k / 3) for k in range(3)]
    assert fit_p_value(law, 1, falling) > FALSE_ALARM
    assert fit_p_value(law, 1, [1, 1, 1]) < FALSE_ALARM  # the test can tell


@pytest.mark.parametrize("masses", [[10, 900, 10], [900, 10, 900], [0.1, 0.2, 0.1]])
def test_codes_of_a_cell_that_stands_out_are_drawn_evenly(masses):
    law = law_of(masses, 0, 4, 8, 12)
    assert fit_p_value(law, 1, [1, 1, 1, 1]) > FALSE_ALARM


def test_the_gentler_slope_counts_and_noise_makes_none():
    gentle = law_of([3200, 400, 200], 0, 4, 8, 12).slopes[1]
    assert gentle == pytest.approx(np.log(0.5) / 4)
    drowned = law_of([3, 2, 1], 0, 4, 8, 12, noise=50.0).slopes
    assert np.abs(drowned * 4).max() < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_codes_lie_in_their_cells_however_steep(seed):
    rng = np.random.default_rng(seed)
    edges = np.concatenate([[0], np.cumsum(rng.integers(1, 10 ** rng.integers(1, 8), 9))])
    law = law_of(10.0 ** rng.integers(0, 12, 9), *edges)
    cells = rng.integers(0, 9, 3000).astype(np.int32)
    codes = law.drawn(cells, rng)
    assert (law.edges[cells] <= codes).all()
    assert (codes < law.edges[cells + 1]).all()


def test_values_without_an_order_are_drawn_evenly():
    axis = CellAxis(edges=np.array([0, 4, 8, 12]), ordered=False, depths=np.zeros((3, 3)))
    law = CodeLaw.of(axis, np.array([900.0, 90.0, 9.0]), 1.0)
    assert fit_p_value(law, 1, [1, 1, 1, 1]) > FALSE_ALARM
