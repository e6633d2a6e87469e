"""Records that go down a whole tree at once come where they come level by level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.spark import walked as spark_walked
from hedgerow.count.spark.walked import walked
from hedgerow.model.placed import Borders, LevelBins, Routing
from hedgerow.model.table import EncodedTable
from support.naive_trees import compare_with_a_naive_tree
from support.tables import encoded_tables, grid, schema_of


class WalkedAnew:
    """Placed records that walk down the tree again for every question."""

    def __init__(self, table, compiled):
        self.table = table
        self.compiled = compiled
        self.tree = ()

    def placed(self, asked):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spark_walked, "boxes_compiled", lambda n: self.compiled)
            return walked(self.table, self.tree, asked)

    def sum(self, level):
        return self.placed(level.borders).sum(level)

    def classes(self):
        return self.placed(()).classes()

    def route(self, routing):
        self.tree = (*self.tree, routing)


@pytest.mark.parametrize("compiled", [False, True])
@given(table=encoded_tables(), data=st.data())
def test_walking_down_anew_equals_a_naive_tree(compiled, table, data):
    if compiled:
        pytest.importorskip("numba", reason="the extra fast is not installed")
    compare_with_a_naive_tree(WalkedAnew(table, compiled), table, data)


def test_wide_codes_many_borders_and_no_class_walk_alike():
    pytest.importorskip("numba", reason="the extra fast is not installed")
    rng = np.random.default_rng(5)
    sizes = (300, 70_000, 20)
    schema = schema_of(*(grid(size) for size in sizes), classes=None)
    codes = [rng.integers(0, size, 9000) for size in sizes]
    table = EncodedTable.from_codes(schema, codes)
    splits = [(1, list(range(100, 70_000, 2000))), (0, [7, 150]), (2, [3]), (1, [40_000])]
    tree, n_boxes = [], 1
    for attribute, borders in splits:
        chosen = np.where(rng.random(n_boxes) < 0.2, -1, attribute) if n_boxes > 1 else [attribute]
        lists = [borders if split >= 0 else [] for split in chosen]
        n_children = [len(borders) + 1 if split >= 0 else 0 for split in chosen]
        routing = Routing(
            attribute=np.array(chosen, dtype=np.int32),
            borders=Borders.of(lists),
            first_child=np.cumsum([0, *n_children[:-1]]),
            n_children=sum(n_children),
        )
        tree, n_boxes = [*tree, routing], routing.n_children
    by_level = PlacedInMemory(table, compiled=False)
    for routing in tree:
        by_level.route(routing)
    anew = WalkedAnew(table, True)
    anew.tree = tuple(tree)
    level = LevelBins(borders={2: Borders.of([[5]] * n_boxes)})
    np.testing.assert_array_equal(anew.sum(level)[2], by_level.sum(level)[2])
    np.testing.assert_array_equal(anew.classes(), by_level.classes())
