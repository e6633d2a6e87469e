"""Tables of rows: counted by short numbers of cells as by long ones."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.evaluation.distinct import cell_weights
from hedgerow.evaluation.spread import Spread
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize(
    "shape", [(7,), (256, 256), (257, 256), (1, 65536), (3, 200, 300), (41, 41, 41)], ids=str
)
def test_cells_are_counted_as_by_numpy(shape, weighed):
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, size, 900) for size in shape]
    columns = [np.append(column, size - 1) for column, size in zip(columns, shape, strict=True)]
    weights = rng.random(901) if weighed else None
    borders = [np.arange(size + 1) for size in shape]
    plain, _ = np.histogramdd(np.stack(columns, axis=1), bins=borders, weights=weights)
    for kind in (np.uint8 if max(shape) <= 256 else np.uint16, np.int32, np.int64):
        short = [column.astype(kind) for column in columns]
        assert np.allclose(cell_weights(short, shape, weights), plain)


def test_columns_that_are_counted_stay_as_they_are():
    columns = [np.array([1, 0, 2], dtype=np.uint16), np.array([0, 1, 1], dtype=np.uint16)]
    cell_weights(columns, (3, 2))
    assert [column.tolist() for column in columns] == [[1, 0, 2], [0, 1, 1]]


def test_rows_lie_in_the_bin_of_their_code():
    schema = schema_of(grid(1000), values(5), classes=None)
    rng = np.random.default_rng(2)
    codes = [rng.integers(0, 1000, 50), rng.integers(0, 5, 50)]
    axes = Spread.of_table(EncodedTable.from_codes(schema, codes)).axes
    coarse, every = np.array([0, 10, 400, 1000]), np.arange(1001)
    assert axes[0].bins(coarse).tolist() == np.digitize(codes[0], [10, 400]).tolist()
    assert axes[0].bins(every).tolist() == codes[0].tolist()
    assert axes[1].bins(np.array([0, 2, 5])).tolist() == (codes[1] >= 2).astype(int).tolist()
