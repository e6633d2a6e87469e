"""Order tables: how any two numbers rise together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.fit import Fit, Joint
from hedgerow.methods.weave.one_way import OneWay
from hedgerow.methods.weave.orders import halves, margin, order_pairs, quartered, with_deviation
from hedgerow.methods.weave.shape import WeaveShape


def number(n_cells):
    return CellAxis(edges=np.arange(n_cells + 1), ordered=True, depths=None)


def cut(n_cells, rng):
    """A number of so many cells and its cut, by made-up noisy counts."""
    masses = rng.random(n_cells)
    merging = Merging(number(n_cells), masses)
    return merging, halves(merging, masses)


@settings(max_examples=40, deadline=None)
@given(n_a=st.integers(2, 50), n_b=st.integers(2, 50), seed=st.integers(0, 99))
def test_order_tables_are_counted_as_record_by_record_and_a_record_is_in_one_cell(n_a, n_b, seed):
    rng = np.random.default_rng(seed)
    (first, up_a), (second, up_b) = cut(n_a, rng), cut(n_b, rng)
    assert set(up_a.tolist()) == {0, 1}
    assert (np.diff(up_a) >= 0).all()
    records = np.stack([rng.integers(0, n_a, 30), rng.integers(0, n_b, 30)], axis=1)

    def counted(rows):
        table = np.zeros((first.n_groups(FINEST), second.n_groups(FINEST), 2), dtype=np.int64)
        for a, b in rows.tolist():
            table[first.groups(FINEST)[a], second.groups(FINEST)[b], (a + b) % 2] += 1
        return quartered(table, (first, second), (up_a, up_b))

    expected = np.zeros((2, 2, 1), dtype=np.int64)
    for a, b in records.tolist():
        expected[up_a[a], up_b[b], 0] += 1
    assert np.array_equal(counted(records), expected)
    dropped = int(rng.integers(30))
    fewer = counted(np.delete(records, dropped, axis=0))
    assert np.abs(counted(records) - fewer).sum() == 1


def test_only_numbers_have_order_tables():
    named = CellAxis(edges=np.arange(4), ordered=False, depths=np.zeros((3, 3)))
    assert order_pairs((number(3), named, number(2), number(1), number(9))) == [
        (0, 2),
        (0, 4),
        (2, 4),
    ]


def test_order_tables_are_counted_where_noise_leaves_something_to_see():
    def orders(records, epsilon=Fraction(1)):
        shape = WeaveShape.of(
            epsilon, records, n_predictors=28, has_class=True, leaves=False, n_ordered=8
        )
        return shape.orders

    assert orders(68_000) == 28
    assert orders(68_000, Fraction(1, 4)) == 0
    assert orders(20_000) == 0


def test_what_is_told_has_the_margins_of_the_one_way_tables():
    table = with_deviation(
        np.array([[700, 10], [90, 400]])[:, :, None], np.array([600.0, 400]), np.array([700.0, 300])
    )
    assert np.allclose(table.sum(axis=1)[:, 0], [600, 400])
    assert np.allclose(table.sum(axis=0)[:, 0], [700, 300])


def test_numbers_that_no_other_table_joins_rise_together_as_told():
    axes = (number(8), number(8))
    noisy = [np.full((8, 1), 500) for _ in axes]
    one_way = OneWay.of(axes, noisy, [Fraction(1)] * 2)
    upper = np.repeat([0, 1], 4)
    counts = np.array([[1400.0, 600], [600, 1400]])[:, :, None]

    def correlation(tables):
        rng = np.random.default_rng(1)
        fit = Fit(one_way=one_way, axes=axes, rng=rng, share=1.0)
        fit.order(tables, margin(1.0))
        a, b = fit.pool.columns
        cov = np.cov(a, b, aweights=fit.pool.weights)
        return cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1])

    assert abs(correlation([])) < 0.03
    assert 0.3 < correlation([Joint(pair=(0, 1), groups=(upper, upper), counts=counts)]) < 0.45
