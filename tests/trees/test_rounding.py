"""Scores in floating point stay near exact ones at the largest sizes, so that their slack holds.

One more record may round a score by half a unit on either side, and two units are declared:
floating point may add less than half a unit to each (docs/privacy.md, "Rounding").
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.methods.diffmulti.scores import information
from hedgerow.model.sizes import MOST_CLASSES, MOST_ROWS
from hedgerow.trees.box_scores import UNIT, Children, class_sums, gini_units
from hedgerow.trees.scores import GINI_UNIT, INFORMATION_UNIT, gini_count, information_gain
from hedgerow.trees.shared_choice import RangeCounts, compiled_gini

LAST_PLACE = Fraction(1, 1 << 53)
MOST_CLUSTERED = 20 * 65_537
SHAPES = ["one large", "even", "falling"]


def counts_of(n_classes, shape, total=MOST_ROWS):
    """Return counts that add up to about the most rows; sums in their order would go wrong."""
    if shape == "even":
        return np.full(n_classes, total // n_classes, dtype=np.int64)
    if shape == "falling":
        return (total // 2 // np.arange(1, n_classes + 1) ** 1.2).astype(np.int64)
    counts = np.full(n_classes, 22, dtype=np.int64)  # squares below half a last place of 2^62
    counts[0] = total // 2
    return counts


def as_children(counts):
    """Return children (rows) of one candidate, their classes far apart in memory."""
    return Children(
        counts=np.asfortranarray(counts),
        widths=np.ones(len(counts), dtype=np.int64),
        starts=np.array([0, len(counts)]),
        domain=len(counts),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 8, 129, 1025, 65_537, MOST_CLASSES, MOST_CLUSTERED])
def test_sums_over_classes_are_off_by_few_last_places_however_many_there_are(n, shape):
    squares = counts_of(n, shape).astype(np.float64) ** 2
    exact = Fraction(math.fsum(squares.tolist()))
    table = np.asfortranarray(np.stack([squares, squares[::-1]]))
    for found in class_sums(table).tolist():
        assert abs(Fraction(found) - exact) <= 45 * LAST_PLACE * exact


def test_sums_in_their_order_would_be_off_by_more():
    squares = counts_of(65_537, "one large").astype(np.float64) ** 2
    in_order = Fraction(float(np.cumsum(squares)[-1]))
    exact = Fraction(math.fsum(squares.tolist()))
    assert abs(in_order - exact) > 1000 * LAST_PLACE * exact


def exact_gini(counts):
    return sum(Fraction(sum(n * n for n in row), max(sum(row), 1)) for row in counts.tolist())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 7, 8, 257, 65_537])
def test_gini_counts_are_off_by_little_more_than_their_rounding(n, shape):
    counts = np.stack([counts_of(n, shape, MOST_ROWS // 2), counts_of(n, shape, MOST_ROWS // 3)])
    for row in counts:
        units = exact_gini(row[None]) * UNIT
        assert abs(int(gini_units(as_children(row[None]))[0]) - units) < Fraction(1, 2) + Fraction(
            1, 16
        )
        if n < 8:
            table = RangeCounts(
                counts=np.ascontiguousarray(row[:, None]),
                begin=0,
                end=1,
                edges=np.array([0, 1]),
                domain=1,
                numeric=False,
            )
            assert compiled_gini(table)[0] == gini_units(as_children(row[None]))[0]
    units = exact_gini(counts) / GINI_UNIT
    assert abs(int(gini_count(counts[None])[0]) - units) < Fraction(1, 2) + Fraction(1, 16)


def exact_information(counts):
    """Return the mutual information of rows and columns in bits, by 50 digits."""
    with localcontext() as context:
        context.prec = 50
        known: dict[int, Decimal] = {}

        def times_log(n):
            if n not in known:
                known[n] = n * Decimal(n).ln() if n else Decimal(0)
            return known[n]

        rows, columns = counts.sum(axis=1), counts.sum(axis=0)
        total = int(counts.sum())
        nats = times_log(total) + sum(map(times_log, counts.ravel().tolist()))
        nats -= sum(map(times_log, rows.tolist())) + sum(map(times_log, columns.tolist()))
        return nats / total / Decimal(2).ln()


@pytest.mark.parametrize("shape", ["one large", "even"])
@pytest.mark.parametrize(("children", "n"), [(2, 2), (2, 257), (2, 65_537), (65_537, 2)])
def test_information_is_off_by_little_more_than_its_rounding(children, n, shape):
    half = counts_of(max(children, n), shape, MOST_ROWS // 2)
    pair = np.stack([half, np.roll(half, 1)])
    counts = pair if n >= children else np.ascontiguousarray(pair.T)
    units = exact_information(counts) / Decimal(float(INFORMATION_UNIT))
    found = [
        int(information(as_children(counts), np.ones(1))[0]),
        int(information_gain(counts[None])[0]),
    ]
    for each in found:
        assert abs(Decimal(each) - units) < Decimal("0.6")
