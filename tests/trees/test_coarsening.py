"""Public coarsenings: nested cells, no more of them than asked for."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.trees.coarsening import fitted, ladder
from support.tables import domains, grid, schema_of, values


@given(domain=domains, most=st.one_of(st.none(), st.integers(2, 20)))
@settings(max_examples=100)
def test_every_step_is_made_of_cells_of_the_one_before_and_the_last_is_one_cell(domain, most):
    steps = ladder(domain, most=most)
    assert steps[-1].n_cells == 1
    for step in steps:
        assert step.edges[0] == 0
        assert step.edges[-1] == domain.size
        assert (np.diff(step.edges) > 0).all()
        assert most is None or step.n_cells <= most
        assert np.array_equal(step.ranges.partition_of(domain.size), step.places)
    for fine, coarse in pairwise(steps):
        assert set(coarse.edges.tolist()) < set(fine.edges.tolist())


def test_without_a_bound_the_finest_cells_are_the_single_values():
    for domain in (grid(37), values(12, 3)):
        assert ladder(domain)[0].n_cells == domain.size


def test_a_taxonomy_is_coarsened_level_by_level():
    domain = values(9, 3)
    assert [step.n_cells for step in ladder(domain)] == [9, 3, 1]
    assert [step.n_cells for step in ladder(domain, most=4)] == [3, 1]
    for step in ladder(domain):
        for first, stop in zip(step.edges[:-1].tolist(), step.edges[1:].tolist(), strict=True):
            assert domain.taxonomy.node_at(first, stop) is not None


def test_values_without_groups_are_cut_in_runs_where_there_are_too_many():
    assert [step.n_cells for step in ladder(values(100), most=8)] == [8, 4, 2, 1]


def test_a_long_grid_is_fine_near_both_ends():
    widths = np.diff(ladder(grid(1000), most=40)[0].edges)
    assert widths[0] == widths[-1] == 1
    assert 20 < len(widths) <= 40
    assert widths.max() <= 1000 // 16 + 1


@given(some=st.lists(domains, min_size=1, max_size=4), most=st.integers(1, 200))
@settings(max_examples=50)
def test_attributes_are_coarsened_until_their_boxes_fit(some, most):
    schema = schema_of(*some)
    found = fitted(schema, most_boxes=most)
    n_boxes = prod(each.n_cells for each in found)
    assert n_boxes <= most
    if n_boxes < prod(domain.size for domain in some):
        assert any(each.n_cells < domain.size for each, domain in zip(found, some, strict=True))


@pytest.mark.parametrize("size", [1, 2, 3, 100_000])
def test_a_table_that_fits_is_not_coarsened(size):
    (only,) = fitted(schema_of(grid(size)), most_boxes=100_000)
    assert only.n_cells == grid(size).size
