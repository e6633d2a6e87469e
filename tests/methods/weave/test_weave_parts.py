"""The parts of weave by themselves: cells, weights, merges, cuts, shapes and class trees."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.neighbours import line, schema_over, values
from hedgerow.methods.weave import weighing
from hedgerow.methods.weave.axes import CellAxis, cell_axis
from hedgerow.methods.weave.class_tree import _best_split, grown_tree
from hedgerow.methods.weave.coarsening import Merging
from hedgerow.methods.weave.one_way import OneWay, one_way_weights
from hedgerow.methods.weave.orders import halves, quartered, with_deviation
from hedgerow.methods.weave.pairs import PairLayout
from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.shape import WeaveShape
from hedgerow.methods.weave.weighing import weighed_pairs
from hedgerow.plan.registry import METHODS


def in_line(n):
    return CellAxis(edges=np.arange(n + 1), ordered=True, depths=None)


def unordered(depths):
    return CellAxis(
        edges=np.arange(len(depths) + 1), ordered=False, depths=np.array(depths, dtype=float)
    )


@pytest.mark.parametrize("size", [2, 23, 24, 25, 63, 64, 199, 200, 201, 1000, 40_000])
def test_the_cells_of_a_number_cover_its_codes_once_and_are_finer_near_the_ends(size):
    edges = cell_axis(line(size)).edges
    assert (edges[0], edges[-1]) == (0, size)
    assert (np.diff(edges) > 0).all()
    inner = set(edges.tolist())
    if size <= 24:
        assert len(edges) == size + 1
    elif size < 64:
        assert {1, 2} <= inner
        assert len(edges) - 1 < size
    elif size <= 200:
        assert 1 in inner
        assert 2 not in inner
    else:
        powers = {2**p for p in range(12) if 2**p < size / 8}
        assert powers | {size - each for each in powers} <= inner


def test_one_way_tables_share_by_a_power_of_their_cells():
    axes = tuple(in_line(n) for n in (1, 2, 16, 40))
    assert one_way_weights(axes) == (1000, 1366, 3482, 5259)


def test_class_sizes_are_weighed_by_the_variance_of_each_tables_sum():
    noisy = [np.array([[10, 40], [20, 30]]), np.array([[60, 10]])]
    found = OneWay.of((in_line(2), in_line(1)), noisy, [Fraction(1), Fraction(1, 2)])
    # Sums 30 and 70 with variances 2 * 1, sums 60 and 10 with 1 * 4: weights 1/2 and 1/4.
    assert found.classes.tolist() == pytest.approx([(2 * 30 + 60) / 3, (2 * 70 + 10) / 3])
    assert found.noise == [1.0, 2.0]


def test_cells_that_noise_hides_share_what_they_have_with_their_neighbours():
    counts = np.array([3, 5, 4, 400, 2, 6])
    found = OneWay.of((in_line(6),), [counts[:, None]], [Fraction(1, 2)]).tables[0][:, 0]
    # Noise has the deviation 2.8: 400 alone stands out, and the runs are 0-2, 3, 4-5. The outer
    # runs are lowered by a deviation of their noise, fall with the square of the distance, and
    # all of them are scaled to 420 records.
    below, above = 12 - 8**0.5 * 3**0.5, 8 - 8**0.5 * 2**0.5
    scaled = 420 / (below + 400 + above)
    falling = np.array([1 / 3 - 1 / 4, 1 / 2 - 1 / 3, 1 - 1 / 2]) / (3 / 4)
    assert found[:3] == pytest.approx(below * scaled * falling, rel=1e-3)
    assert found[3] == pytest.approx(400 * scaled, rel=1e-3)
    assert found[4:] == pytest.approx(above * scaled * np.array([3, 1]) / 4, rel=1e-3)
    apart = OneWay.of((unordered(np.eye(6)),), [counts[:, None]], [Fraction(1, 2)])
    assert apart.tables[0][:, 0].tolist() == pytest.approx([4, 4, 4, 400, 4, 4], rel=1e-3)
    bordering = np.array([7, 8, 0, 0, 0, 400])  # 2.5 deviations are 7.07
    found = OneWay.of((unordered(np.eye(6)),), [bordering[:, None]], [Fraction(1, 2)]).tables[0]
    assert found[:, 0].tolist() == pytest.approx([1.75, 8, 1.75, 1.75, 1.75, 400], rel=1e-3)


def test_counts_that_noise_drowns_are_even():
    """Sum of squared deviations 75, of which noise alone makes 48 on average."""
    drowned = np.array([7, 8, 0, 0, 0, 0])
    found = OneWay.of((unordered(np.eye(6)),), [drowned[:, None]], [Fraction(1, 2)]).tables[0]
    assert found[:, 0].tolist() == pytest.approx([found.sum() / 6] * 6)
    assert 15 <= found.sum() < 16


def test_values_are_merged_lightest_first_and_close_ones_before_others():
    together = np.array([[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]])
    depths = np.vstack([together, together[:, ::-1][::-1]])
    merging = Merging(unordered(depths), np.array([3.0, 3.0, 1.0, 1.0]))
    assert merging.groups(3).tolist() == [0, 1, 2, 2]
    assert merging.groups(2).tolist() == [0, 0, 1, 1]
    # The group of 2 and 3 is as far from 0 as the farther of both: 1 comes before it.
    depths = np.array(
        [[1, 0.5, 0.9, 0.0], [0.5, 1, 0.0, 0.0], [0.9, 0.0, 1, 0.9], [0.0, 0.0, 0.9, 1]]
    )
    merging = Merging(unordered(depths), np.array([2.0, 2.0, 1.0, 1.0]))
    assert merging.groups(3).tolist() == [0, 1, 2, 2]
    assert merging.groups(2).tolist() == [0, 0, 1, 1]


def test_a_number_is_cut_most_evenly_and_never_behind_its_last_group():
    masses = np.array([0.1, 0.1, 10.0])
    assert halves(Merging(in_line(3), masses), masses).tolist() == [0, 0, 1]
    masses = np.array([1.0, 1.0, 1.0, 4.0, 1.0])
    assert halves(Merging(in_line(5), masses), masses).tolist() == [0, 0, 0, 1, 1]


def test_an_order_table_adds_up_all_cells_of_the_finest_one():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 9, (5, 3, 2))
    mergings = Merging(in_line(5), np.ones(5)), Merging(in_line(3), np.ones(3))
    upper = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1])
    found = quartered(table, mergings, upper)
    assert found.shape == (2, 2, 1)
    assert found[1, 0, 0] == table[2:, :1].sum()
    assert found.sum() == table.sum()


@pytest.mark.parametrize("noisy", [[[90, 0], [0, 90]], [[0, 90], [90, 0]]])
def test_an_order_table_keeps_its_margins_and_has_no_negative_cell(noisy):
    first, second = np.array([30.0, 50.0]), np.array([20.0, 60.0])
    found = with_deviation(np.array(noisy)[:, :, None], first, second)[:, :, 0]
    assert found.min() == pytest.approx(0)
    assert found.sum(axis=1) == pytest.approx(first)
    assert found.sum(axis=0) == pytest.approx(second)


@pytest.mark.parametrize(
    ("n_records", "joins", "further", "one_way"),
    [(300, 1, 1, "4/5"), (3000, 3, 3, "19/25"), (30_000, 8, 8, "43/100"), (10**7, 10, 10, "2/5")],
)
def test_tables_grow_with_records_and_share_what_one_way_tables_leave(
    n_records, joins, further, one_way
):
    shape = WeaveShape.of(
        Fraction(1), n_records, n_predictors=14, has_class=True, leaves=False, n_ordered=3
    )
    assert (shape.joins, shape.further, shape.one_way) == (joins, further, Fraction(one_way))
    assert shape.orders == (3 if n_records >= 30_000 else 0)


def test_an_outline_says_how_many_cells_a_table_has_at_the_most():
    method = (
        METHODS["weave"].model_validate({"method": "weave", "epsilon": 1}).build(has_class=True)
    )
    schema = schema_over(values(4), line(30), values(3))
    few, many = (method.outline_of(schema, Fraction(1), n).n_groups for n in (100, 10**6))
    assert few == 9
    assert many > 1000


@pytest.mark.parametrize("compiled_from", [0, 10**9])
def test_weights_are_summed_in_the_tables_of_all_pairs(compiled_from, monkeypatch):
    monkeypatch.setattr(weighing, "COMPILED_FROM", compiled_from)
    rng = np.random.default_rng(2)
    layout = PairLayout(sizes=(3, 4, 2), n_classes=2)
    cells = np.stack([rng.integers(0, n, 500) for n in layout.sizes]).astype(np.int16)
    classes, weights = rng.integers(0, 2, 500), rng.random(500)
    by_class = (cells * 2 + classes).astype(np.int16)
    tables = layout.split(weighed_pairs(cells, by_class, weights, layout))
    for (a, b), table in tables.items():
        expected = np.zeros(table.shape)
        np.add.at(expected, (cells[a], cells[b], classes), weights)
        assert table == pytest.approx(expected)


def test_the_best_split_is_where_gini_impurity_falls_most():
    gain, cell = _best_split(np.array([[10.0, 0.0], [9.0, 1.0], [0.0, 5.0], [0.0, 5.0]]))
    assert cell == 2
    assert gain == pytest.approx((19**2 + 1) / 20 + 100 / 10 - (19**2 + 11**2) / 30)
    assert _best_split(np.array([[0.5, 0.0], [0.0, 9.0]])) == (0.0, -1)
    assert _best_split(np.array([[1.0, 0.0], [0.0, 9.0]]))[1] == 1


def pool_of(columns, classes):
    """A pool of records of equal weight, sorted by class."""
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    return Pool(
        columns=[np.asarray(column)[order].astype(np.int32) for column in columns],
        bounds=np.concatenate([[0], np.cumsum(sizes)]),
        weights=np.ones(len(classes)),
        component=list(range(len(columns))),
    )


def test_a_class_tree_makes_the_best_split_first():
    # Cell of a: 0 or 1 splits off 300 records; below that, b splits 60 of one side.
    a = np.repeat([0, 0, 1, 1], [300, 60, 240, 100])
    b = np.repeat([0, 1, 0, 1], [300, 60, 240, 100])
    classes = np.repeat([0, 1, 1, 0], [300, 60, 240, 100])
    tree = grown_tree(pool_of([a, b], classes), (in_line(2), in_line(2)), n_leaves=3)
    assert tree.attribute[0] == 0
    assert tree.n_leaves == 3
    # The side with 240 and 100 gains more than that with 300 and 60, and is split, not the other.
    left = int(tree.left[0])
    assert tree.attribute[[left, left + 1]].tolist() == [-1, 1]


@pytest.mark.parametrize(("n", "n_leaves"), [(40, 2), (39, 1)])
def test_a_class_tree_does_not_split_a_few_pooled_records(n, n_leaves):
    column = np.arange(n) % 2
    tree = grown_tree(pool_of([column], column), (in_line(2),), n_leaves=5)
    assert tree.n_leaves == n_leaves
