"""Tables of two attributes with many classes: one cell for each record, or a refusal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import InternalError, SettingError
from hedgerow.methods.diffmulti.settings import DiffMultiSettings
from hedgerow.methods.weave.axes import cell_axes
from hedgerow.methods.weave.codes import CodeCounts
from hedgerow.methods.weave.pairs import MOST_CELLS, PairCounts, PairLayout
from hedgerow.methods.weave.refinement import refined_axis
from hedgerow.methods.weave.weave import (
    MOST_OF_ONE,
    Weave,
    code_levels,
    most_cells,
    require_cells,
)
from hedgerow.model.engine import Batch
from hedgerow.taxonomy.domain import code_dtype
from support.tables import grid, schema_of, values

SIZES = (3, 32, 2, 32)
CLASSES = [1, 2, 1023, 1024, 1025, 1500, 32767, 32768, 65535]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("n_classes", CLASSES)
def test_one_record_is_in_one_cell_of_the_table_of_every_pair(n_classes, compiled):
    """16-bit numbers of cells counted a record twice in one table, not at all in the next."""
    sizes = SIZES if n_classes < 2000 else SIZES[:2]
    layout = PairLayout(sizes=sizes, n_classes=n_classes)
    kernel = PairCounts(
        layout=layout, places=tuple(np.arange(size, dtype=np.int16) for size in sizes)
    )
    record = [size - 1 for size in sizes]
    batch = Batch(
        codes=tuple(np.array([code], dtype=np.uint8) for code in record),
        classes=np.array([n_classes - 1], dtype=code_dtype(n_classes)),
        n_records=1,
        compiled=compiled,
    )
    for (a, b), table in layout.split(kernel.count(batch)).items():
        assert np.argwhere(table).tolist() == [[record[a], record[b], n_classes - 1]]
        assert table.sum() == 1


def test_cells_without_a_number_are_never_laid_out():
    assert PairLayout(sizes=(2, MOST_CELLS // 65_535), n_classes=65_535).key_type == np.int32
    with pytest.raises(InternalError):
        PairLayout(sizes=(2, MOST_CELLS // 65_535 + 1), n_classes=65_535)


CLUSTERING = DiffMultiSettings.model_validate({"epsilon": 1, "for": "clustering"})


@pytest.mark.parametrize("method", [Weave(), CLUSTERING.build(has_class=True)])
def test_a_plan_with_more_cells_than_numbers_is_refused_by_name(method):
    Weave().validate(schema_of(values(181), values(181), grid(2), classes=65_535), Fraction(1))
    with pytest.raises(SettingError, match="'a0' and 'a1'") as refused:
        method.validate(schema_of(values(182), values(181), grid(2), classes=65_535), Fraction(1))
    assert f"{MOST_CELLS:,} cells" in str(refused.value)
    assert refused.value.do is not None


def test_an_attribute_with_more_cells_than_numbers_is_refused():
    schema = schema_of(grid(100_000))
    require_cells(schema, [MOST_OF_ONE])
    with pytest.raises(SettingError, match=f"more than {MOST_OF_ONE:,} cells"):
        require_cells(schema, [MOST_OF_ONE + 1])


@pytest.mark.parametrize("domain", [grid(20), grid(40), grid(2000), grid(70_000), values(3000)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_attribute_gains_more_cells_than_are_accounted_for(domain, seed):
    """The worst case for the sizes: as many frequent codes as there can be, and heavy cells."""
    schema = schema_of(domain)
    axes = cell_axes(schema)
    levels = code_levels(schema, axes)[0]
    (most,) = most_cells(schema, axes)
    if levels is None:
        assert most == axes[0].n_cells
        return
    rng = np.random.default_rng(seed)
    counts = np.zeros(domain.size)
    counts[rng.choice(domain.size, min(31 if axes[0].ordered else 99, domain.size // 3))] = 1000
    counts += rng.random(domain.size) * 0.005 * counts.sum() / domain.size
    found = CodeCounts(
        edges=np.arange(domain.size + 1), counts=counts, variances=np.ones(len(counts)), scale=1.0
    )
    axis = refined_axis(domain, axes[0], found, counts, scale=0.001)
    assert axes[0].n_cells < axis.n_cells <= most
    assert set(axes[0].edges.tolist()) <= set(axis.edges.tolist())
