"""The lines of the comparison of raw and private clusters run on a small table."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.private_clusters import LINES, match_points_of, raw_labelled
from support.tables import grid, schema_of, table_of, values


@pytest.mark.parametrize("line", LINES)
def test_every_line_runs_and_tells_clusters_apart_better_than_chance(line):
    rng = np.random.default_rng(2)
    left = [(int(rng.integers(0, 20)), 0, 0) for _ in range(400)]
    right = [(int(rng.integers(80, 100)), 3, 1) for _ in range(400)]
    schema = schema_of(grid(101), values(4), values(2), classes=None)
    plain = table_of(schema, left + right)
    labelled = raw_labelled(plain, 2)
    assert np.bincount(labelled.classes).tolist() == [400, 400]
    assert match_points_of(line, 6, plain, labelled, runs=1)[0] > 60
