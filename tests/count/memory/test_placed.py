from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory import placed as memory_placed
from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.model.placed import Borders, LevelBins, Routing, SharedBorders
from support.naive_trees import border_lists, compare_with_a_naive_tree
from support.tables import encoded_tables


@pytest.mark.parametrize("compiled", [False, True])
@given(table=encoded_tables(), data=st.data())
def test_counting_and_routing_equal_a_naive_tree(compiled, table, data):
    compare_with_a_naive_tree(PlacedInMemory(table, compiled=compiled), table, data)


@given(table=encoded_tables(), data=st.data())
@settings(max_examples=40)
def test_several_cores_give_the_same(table, data):
    with (
        patch.object(memory_placed, "PARALLEL_FROM", 0),
        patch.object(memory_placed, "COUNTS_AT_ONCE", data.draw(st.sampled_from([0, 10, 1000]))),
        patch.object(memory_placed.os, "cpu_count", lambda: 3),
    ):
        compare_with_a_naive_tree(PlacedInMemory(table, compiled=True), table, data)


@pytest.mark.parametrize("compiled", [False, True])
@given(table=encoded_tables(), data=st.data())
@settings(max_examples=40)
def test_shared_borders_of_some_boxes_equal_borders_of_their_own(compiled, table, data):
    placed = PlacedInMemory(table, compiled=compiled)
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    tree = routings(placed, table, data, sizes)
    n_boxes = tree[-1].n_children
    asked = np.array(sorted(data.draw(st.sets(st.integers(0, n_boxes - 1), min_size=1))))
    lists = {a: data.draw(border_lists(2, size)) for a, size in enumerate(sizes)}
    which = np.array([data.draw(st.integers(0, 1)) for _ in asked])
    shared = {a: SharedBorders(lists=Borders.of(x), which=which) for a, x in lists.items()}
    own = {a: Borders.of([x[which[b]] for b in range(len(asked))]) for a, x in lists.items()}
    found = dict(placed.each(LevelBins(borders=shared, boxes=dict.fromkeys(shared, asked))))
    expected = placed.sum(LevelBins(borders=own, boxes=dict.fromkeys(own, asked)))
    whole = placed.classes()
    for a in own:
        for at, box in enumerate(asked.tolist()):
            mine = expected[a][own[a].bin_starts[at] : own[a].bin_starts[at + 1]]
            first = shared[a].first_bins[at]
            assert found[a][first : first + len(mine)].tolist() == mine.tolist()
            assert mine.sum(axis=0).tolist() == whole[box].tolist()
    fresh = PlacedInMemory(table, compiled=compiled)
    fresh.descend(tree)
    assert fresh.classes().tolist() == whole.tolist()
    again = fresh.sum(LevelBins(borders=own, boxes=dict.fromkeys(own, asked)))
    assert all(again[a].tolist() == expected[a].tolist() for a in own)


def routings(placed, table, data, sizes):
    """Route all records down three levels by splits of all boxes, and return these."""
    tree, n_boxes = [], 1
    for _ in range(3):
        a = data.draw(st.integers(0, len(sizes) - 1))
        lists = data.draw(border_lists(n_boxes, sizes[a]))
        n_children = [len(each) + 1 for each in lists]
        routing = Routing(
            attribute=np.full(n_boxes, a, dtype=np.int32),
            borders=Borders.of(lists),
            first_child=np.cumsum([0, *n_children[:-1]]),
            n_children=sum(n_children),
        )
        placed.route(routing)
        tree.append(routing)
        n_boxes = routing.n_children
    return tree


def test_borders_number_the_bins_of_all_boxes():
    borders = Borders.of([[3, 5], [], [2]])
    assert (borders.n_boxes, borders.n_bins) == (3, 6)
    assert borders.bin_starts.tolist() == [0, 3, 4, 6]
