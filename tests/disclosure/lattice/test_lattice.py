"""Chains and lattices of generalisations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.lattice import Chains, Lattice, chains_of, hierarchy_of, total
from hedgerow.errors import SettingError
from hedgerow.taxonomy.domain import NumericDomain
from hedgerow.taxonomy.tree import Taxonomy
from support.tables import categorical, domains, schema_of

lattices = st.lists(st.integers(0, 3), min_size=0, max_size=4).map(
    lambda heights: Lattice(heights=tuple(heights))
)


@given(domain=domains)
def test_a_chain_is_the_way_from_a_leaf_to_the_root(domain):
    chains = Chains.of(domain)
    tree = chains.taxonomy
    for code in range(domain.size):
        way = tree.path(int(tree.leaf_nodes[code]))[::-1]
        height = int(chains.heights[code])
        assert chains.nodes[code, : height + 1].tolist() == way.tolist()
        assert (chains.nodes[code, height:] == 0).all()


@given(domain=domains)
def test_the_lowest_covering_level_is_that_of_the_least_common_ancestor(domain):
    chains = Chains.of(domain)
    tree = chains.taxonomy
    for code in range(domain.size):
        levels = chains.levels_from(code)
        for other in range(domain.size):
            covering = [
                level
                for level in range(int(chains.heights[code]) + 1)
                if tree.first[chains.nodes[code, level]]
                <= other
                < tree.stop[chains.nodes[code, level]]
            ]
            assert levels[other] == covering[0]


def test_codes_below_a_node_with_one_child_are_covered_by_the_lower_of_the_two():
    tree = Taxonomy.from_nested("any", {"only": {"group": ["x", "y"]}})
    chains = Chains.of(categorical(tree))
    assert chains.heights.tolist() == [3, 3]
    assert chains.levels_from(0).tolist() == [0, 1]


def test_a_numeric_grid_is_grouped_four_by_four():
    chains = Chains.of(NumericDomain.even(low=0, high=19, step=1))
    levels = chains.levels_from(0)
    assert levels.tolist() == [0] + [1] * 3 + [2] * 12 + [3] * 4
    assert chains.heights[19] == 2  # 16..19 is a group of its own, directly under the root


@pytest.mark.parametrize(
    "domain",
    [
        NumericDomain.even(low=0, high=9, step=1, missing=True),
        NumericDomain.from_edges([0, 1, 5, 10, 20, 50, 99], missing=True),
    ],
)
def test_missing_numbers_stand_alone_under_the_root(domain):
    tree = hierarchy_of(domain)
    assert tree.n_leaves == domain.size
    assert tree.leaf_labels[0] == "missing"
    assert tree.leaf_labels[1:] == tuple(domain.label(c, c + 1) for c in range(1, domain.size))
    chains = Chains.of(domain)
    assert chains.heights[0] == 1
    assert (chains.levels_from(0)[1:] == 1).all()
    known = Chains.of(NumericDomain(grid=domain.grid))
    assert (chains.levels_from(1)[1:] == known.levels_from(0)).all()


def test_the_fan_out_of_numeric_grids_can_be_chosen():
    schema = schema_of(NumericDomain.even(low=0, high=7, step=1), classes=None)
    (binary,) = chains_of(schema, numeric_fan_out=2)
    (flat,) = chains_of(schema, numeric_fan_out=8)
    assert (binary.tallest, flat.tallest) == (3, 1)


@given(lattice=lattices)
def test_ranks_number_all_nodes_in_order(lattice):
    nodes = lattice.every_node()
    assert len(nodes) == lattice.n_nodes
    assert (lattice.rank(nodes) == np.arange(lattice.n_nodes)).all()
    assert sorted(map(tuple, nodes.tolist())) == list(map(tuple, nodes.tolist()))
    assert tuple(nodes[0]) == lattice.bottom
    assert tuple(nodes[-1]) == lattice.top


@given(lattice=lattices)
def test_neighbours_are_one_stride_away_where_the_chain_goes_on(lattice):
    for rank, node in enumerate(lattice.every_node().tolist()):
        up = [int(lattice.rank(n)) for n in lattice.above(tuple(node))]
        down = [int(lattice.rank(n)) for n in lattice.below(tuple(node))]
        steps = list(zip(node, lattice.heights, lattice.strides.tolist(), strict=True))
        assert [rank + stride for level, height, stride in steps if level < height] == up
        assert [rank - stride for level, _, stride in steps if level > 0] == down


@given(lattice=lattices, data=st.data())
def test_totals_add_the_same_floats_as_one_sum(lattice, data):
    number = st.floats(0, 1e6, allow_nan=False)
    parts = [
        np.array(data.draw(st.lists(number, min_size=h + 1, max_size=h + 1)))
        for h in lattice.heights
    ]
    sums = lattice.totals(parts).reshape(-1)
    singly = [total(parts, node) for node in lattice.every_node().tolist()]
    assert sums.tolist() == singly


@settings(max_examples=20)
@given(height=st.integers(1, 9))
def test_lattices_too_large_to_rank_still_have_neighbours(height):
    lattice = Lattice(heights=(height,) * 70)
    assert lattice.n_nodes == (height + 1) ** 70
    assert len(list(lattice.above(lattice.bottom))) == 70
    with pytest.raises(SettingError, match="too many nodes"):
        lattice.rank(lattice.bottom)
