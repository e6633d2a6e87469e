"""Whoever cuts a grid evenly cuts it at the same codes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.evaluation.marginals import bin_edges
from hedgerow.methods.hedge.marginals import _bins
from hedgerow.methods.weave.axes import cell_axis
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import NumericDomain
from hedgerow.taxonomy.even_steps import EVEN_STEPS, even_borders
from hedgerow.trees.axes import Axis, split_positions
from hedgerow.trees.coarsening import ladder

SIZES = st.integers(1, 400) | st.integers(1, 2_000_000)


def grid_of(size: int) -> NumericDomain:
    return NumericDomain.even(low=0, high=size - 1, step=1)


@given(size=SIZES, steps=st.integers(1, 2000))
def test_a_border_is_the_whole_part_of_its_share_of_the_range(size, steps):
    borders = even_borders(size, steps)
    assert borders.tolist() == [int(Fraction(size * i, steps)) for i in range(steps + 1)]


@given(sizes=st.lists(SIZES, min_size=1, max_size=9), steps=st.integers(1, 64))
def test_many_ranges_are_cut_as_each_of_them_is(sizes, steps):
    together = even_borders(np.array(sizes), steps)
    assert [row.tolist() for row in together] == [even_borders(n, steps).tolist() for n in sizes]


@given(size=SIZES)
@example(size=74)  # UCI Adult's ages, on which the two rules of old lay one code apart
@example(size=99)
def test_the_bins_of_evaluations_are_borders_of_every_method(size):
    domain = grid_of(size)
    bins = set(bin_edges(Attribute(name="a", domain=domain)).tolist())
    inner = bins - {0, size}
    whole = np.zeros(1, dtype=np.int32), np.full(1, size, dtype=np.int32)
    assert inner <= set(split_positions(*whole, even=EVEN_STEPS).values.tolist())
    assert inner <= set(_bins(Axis.of(domain)).values.tolist())
    assert bins <= set(cell_axis(domain).edges.tolist())
    assert bins <= set(ladder(domain, most=64)[0].edges.tolist())


@given(size=SIZES)
def test_a_bin_has_as_many_codes_as_any_other_but_for_one(size):
    widths = np.diff(bin_edges(Attribute(name="a", domain=grid_of(size))))
    assert len(widths) == min(size, EVEN_STEPS)
    assert widths.min() >= 1
    assert widths.max() - widths.min() <= 1
