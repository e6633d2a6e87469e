"""How weave carries what coarse tables say over to cells, and that loops agree on the counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.blending import Blend, by_groups, by_places
from hedgerow.methods.weave.fit import Fit, Joint
from hedgerow.methods.weave.one_way import OneWay
from hedgerow.methods.weave.pairs import PairCounts, PairLayout
from hedgerow.methods.weave.raking import Margin, rake
from support.method_battery import busy_table
from support.tables import table_of


def axis(n, *, ordered=True):
    return CellAxis(edges=np.arange(n + 1), ordered=ordered, depths=None)


@st.composite
def blends(draw):
    """Draw the blend of an attribute of up to 12 cells."""
    n = draw(st.integers(1, 12))
    ordered = draw(st.booleans())
    starts = [False, *draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))]
    groups = np.cumsum(starts)
    masses = np.array(draw(st.lists(st.floats(0, 1e9), min_size=n, max_size=n)))
    return Blend.of(axis(n, ordered=ordered), groups, masses), groups


@given(drawn=blends())
def test_places_are_made_of_their_own_group_and_its_neighbours(drawn):
    blend, groups = drawn
    assert np.array_equal(blend.groups[blend.place], groups)
    assert np.allclose(blend.parts.sum(axis=1), 1.0)
    assert (blend.parts >= 0).all()
    for place, group in enumerate(blend.groups.tolist()):
        assert np.abs(np.flatnonzero(blend.parts[place]) - group).max() <= 1


@given(first=blends(), second=blends(), seed=st.integers(0, 99), n_classes=st.integers(1, 3))
def test_tables_of_places_add_up_as_by_brute_force(first, second, seed, n_classes):
    both = first[0], second[0]
    shape = both[0].n_places, both[1].n_places
    table = np.random.default_rng(seed).random((*shape, n_classes))
    expected = np.zeros((both[0].parts.shape[1], both[1].parts.shape[1], n_classes))
    for i, j in np.ndindex(shape):
        expected[both[0].groups[i], both[1].groups[j]] += table[i, j]
    assert np.allclose(by_groups(table, both), expected)
    spread = by_places(expected, both)
    for i, j in np.ndindex(shape):
        weights = np.outer(both[0].parts[i], both[1].parts[j])
        assert np.allclose(spread[i, j], (weights[:, :, None] * expected).sum(axis=(0, 1)))


def test_groups_of_unordered_values_are_not_blended():
    blend = Blend.of(axis(5, ordered=False), np.array([0, 1, 0, 1, 2]), np.ones(5))
    assert np.array_equal(blend.parts, np.eye(3))
    assert blend.place.tolist() == [0, 1, 0, 1, 2]


def test_blended_raking_brings_groups_into_their_margins():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(3), 4)
    blend = Blend.of(axis(12), groups, np.ones(12))
    keys = rng.integers(0, 144, 40_000).astype(np.int32)
    counts = np.array([[7000.0, 4000, 3000], [4000, 5000, 4000], [2000, 4000, 7000]])[:, :, None]
    margin = Margin(keys=keys, counts=counts, margin=20.0, blends=(blend, blend))
    weights = rake(np.ones(len(keys)), [margin], sweeps=30)
    fine = np.bincount(keys, weights=weights, minlength=144).reshape(12, 12, 1)
    assert np.abs(by_groups(fine, (blend, blend)) - counts).max() <= 40.0
    # Between groups the table has no jump: neighbouring rows differ by less than their groups do.
    rows = fine[:, :4, 0].sum(axis=1)
    assert rows[3] > rows[4] * 1.02
    assert rows[3] / rows[4] < 1.35 < counts[0, 0, 0] / counts[1, 0, 0]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_join_follows_a_slope_only_where_cells_are_ordered(ordered):
    """Twelve ordered cells by four groups: blended, the join is nearer to the cells' own table."""
    cells = np.arange(12)
    true = 400.0 * np.exp(-((cells[:, None] - cells[None, :]) ** 2) / 18)
    axes = (axis(12, ordered=ordered),) * 2
    noisy = [np.rint(true.sum(axis=1)).astype(np.int64)[:, None]] * 2
    told = OneWay.of(axes, noisy, [Fraction(50)] * 2)
    groups = np.repeat(np.arange(4), 3)
    coarse = true.reshape(4, 3, 4, 3).sum(axis=(1, 3))[:, :, None]
    fit = Fit(one_way=told, axes=axes, rng=np.random.default_rng(6), share=50.0)
    fit.join([Joint(pair=(0, 1), groups=(groups, groups), counts=coarse)])
    seen = np.zeros((12, 12))
    np.add.at(seen, tuple(fit.pool.columns), fit.pool.weights)
    away = np.abs(seen / seen.sum() - true / true.sum()).sum() / 2
    assert away < 0.05 if ordered else away > 0.07


def test_the_compiled_loop_counts_as_the_plain_one():
    schema, rows = busy_table()
    table = table_of(schema, rows)
    sizes = tuple(each.domain.size for each in table.schema.attributes)
    layout = PairLayout(sizes=sizes, n_classes=table.schema.n_classes)
    places = tuple(np.arange(size, dtype=np.int16) for size in sizes)
    plain, compiled = (
        MemoryEngine(table=table).sum(PairCounts(layout=layout, places=places, compiled=compiled))
        for compiled in (False, True)
    )
    assert plain.sum() == len(table) * len(layout.pairs)
    assert np.array_equal(plain, compiled)
