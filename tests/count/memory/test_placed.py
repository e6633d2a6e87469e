from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.model.placed import Borders
from support.naive_trees import compare_with_a_naive_tree
from support.tables import encoded_tables


@pytest.mark.parametrize("compiled", [False, True])
@given(table=encoded_tables(), data=st.data())
def test_counting_and_routing_equal_a_naive_tree(compiled, table, data):
    compare_with_a_naive_tree(PlacedInMemory(table, compiled=compiled), table, data)


def test_borders_number_the_bins_of_all_boxes():
    borders = Borders.of([[3, 5], [], [2]])
    assert (borders.n_boxes, borders.n_bins) == (3, 6)
    assert borders.bin_starts.tolist() == [0, 3, 4, 6]
