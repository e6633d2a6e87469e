"""Which counts of a cut are listed, and whether they fit, from public numbers alone."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from hedgerow.trees import counts as counting
from hedgerow.trees.counts import (
    MOST_GROUPS,
    MOST_ROWS,
    SPURIOUS_ROWS,
    counts_fit,
    noisy_groups,
    public_threshold,
)
from hedgerow.trees.cut import leaf_ranges
from support.tables import schema_of, table_of, values


def listed_by_noise(n_groups: int, epsilon: Fraction, threshold: int) -> float:
    """How many of so many empty groups reach a threshold, on average."""
    a = math.exp(-float(epsilon))
    return n_groups * a**threshold / (1 + a)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5, 2)])
@pytest.mark.parametrize("n_groups", [10, 10**7, 10**9, 10**15])
def test_the_threshold_is_the_least_that_keeps_noise_to_its_rows(n_groups, epsilon):
    least = public_threshold(n_groups, epsilon=epsilon)
    assert listed_by_noise(n_groups, epsilon, least) <= SPURIOUS_ROWS * (1 + 1e-9)
    assert least == 1 or listed_by_noise(n_groups, epsilon, least - 1) > SPURIOUS_ROWS


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_every_positive_count_is_kept_only_where_noise_lists_few_enough(epsilon):
    edge = int(MOST_ROWS / listed_by_noise(1, epsilon, 1))
    assert counts_fit(edge - 10, epsilon=epsilon, keep_all=True)
    assert not counts_fit(edge + 10, epsilon=epsilon, keep_all=True)
    assert counts_fit(edge + 10, epsilon=epsilon, keep_all=False)
    assert not counts_fit(MOST_GROUPS + 1, epsilon=epsilon, keep_all=False)


@pytest.mark.parametrize("total", [Fraction(0), Fraction(1, 10)])
def test_a_noisy_total_costs_its_share_and_the_counts_the_rest(total):
    table = table_of(schema_of(values(3)), [(1, 0)] * 5)
    run = Run.start(MemoryEngine(table=table), epsilon=Fraction(1), source=SeededSource(1))
    groups = noisy_groups(run, leaf_ranges(table.schema), total_share=total)
    booked = {line.on: line.share for line in run.ledger.bookings}
    assert booked == ({"total": total} if total else {}) | {"counts": 1 - total}
    assert groups.origin.share == 1 - total


def test_the_threshold_of_a_long_list_is_that_of_its_counts_share(monkeypatch):
    """All groups are occupied, so that a threshold which follows the empty ones is told."""
    monkeypatch.setattr(counting, "DENSE_GROUPS", 0)
    monkeypatch.setattr(counting, "SPURIOUS_ROWS", 0.01)
    everywhere = [(code, label) for code in range(3) for label in range(2)]
    table = table_of(schema_of(values(3)), everywhere)
    run = Run.start(MemoryEngine(table=table), epsilon=Fraction(1), source=SeededSource(1))
    groups = noisy_groups(run, leaf_ranges(table.schema), total_share=Fraction(1, 10))
    assert groups.origin.threshold == public_threshold(6, epsilon=Fraction(9, 10)) > 1
