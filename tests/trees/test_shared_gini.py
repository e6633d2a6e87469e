"""Gini counts by compiled loops are those that NumPy gives, to the last unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.trees.box_scores import FEW_CLASSES, GINI
from hedgerow.trees.shared_choice import (
    RangeCounts,
    _sum_of_children,
    _sums_of_borders,
    compiled_gini,
)


@st.composite
def range_counts(draw, numeric):
    n_classes = draw(st.integers(1, FEW_CLASSES - 1))
    n_bins, n_boxes = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    most = draw(st.sampled_from([1, 3, 1000, 3 * 10**8]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = rng.integers(0, most + 1, size=(n_classes, before + n_boxes * n_bins + after))
    counts[:, rng.random(counts.shape[1]) < 0.4] = 0
    return RangeCounts(
        counts=counts,
        begin=before,
        end=before + n_boxes * n_bins,
        edges=np.arange(n_bins + 1),
        domain=10,
        numeric=numeric,
    )


@given(table=range_counts(numeric=True))
def test_sums_of_borders_are_the_same(table):
    assert compiled_gini(table).tolist() == _sums_of_borders(table, GINI).tolist()


@given(table=range_counts(numeric=False))
def test_sums_of_children_are_the_same(table):
    assert compiled_gini(table).tolist() == _sum_of_children(table, GINI).tolist()


@pytest.mark.parametrize("numeric", [True, False])
def test_one_record_more_is_seen(numeric):
    counts = np.array([[3, 0, 5, 1], [0, 2, 2, 2]])
    tables = [
        RangeCounts(counts=each, begin=0, end=4, edges=np.arange(3), domain=2, numeric=numeric)
        for each in (counts, counts + np.eye(2, 4, dtype=np.int64))
    ]
    assert compiled_gini(tables[0]).tolist() != compiled_gini(tables[1]).tolist()
