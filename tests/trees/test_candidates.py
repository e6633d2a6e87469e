"""Parts of a cut are scored from sums over ranges of codes."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.trees.candidates import _running_sums
from hedgerow.trees.scores import max_class


def test_running_sums_run_over_codes_and_keep_classes_apart():
    histogram = np.array([[1, 2], [3, 4], [5, 0]])
    assert _running_sums(histogram).tolist() == [[0, 0], [1, 2], [4, 6], [9, 6]]


@pytest.mark.parametrize(
    ("children", "best"), [([[3, 1], [4, 0]], 7), ([[3, 1], [0, 4]], 7), ([[2, 2], [2, 2]], 4)]
)
def test_a_majority_vote_is_taken_in_each_child(children, best):
    assert max_class(np.array([children])).tolist() == [best]
