"""Scores of splitting a box, where their products come near the end of 64 bits and beyond."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.trees.box_scores import UNIT, Children, ncp_units, skew_units

MOST_CELLS = 10_000_000


def children_of(splits: list[list[tuple[int, int]]], *, domain: int, classes: int = 1) -> Children:
    pairs = all(len(split) == 2 for split in splits)
    turned = [list(side) for side in zip(*splits, strict=True)] if pairs else splits
    flat = [child for split in turned for child in split]
    counts = np.zeros((len(flat), classes), dtype=np.int64)
    counts[:, -1] = [n for n, _ in flat]
    return Children(
        counts=counts,
        widths=np.array([width for _, width in flat], dtype=np.int64),
        starts=None if pairs else np.cumsum([0, *map(len, splits)]),
        domain=domain,
    )


def ncp_of(split: list[tuple[int, int]], domain: int) -> int:
    whole = sum(width for _, width in split)
    return sum(n * (whole - width) * UNIT // domain for n, width in split)


def skew_of(split: list[tuple[int, int]]) -> int:
    n_records, whole = sum(n for n, _ in split), sum(width for _, width in split)
    away = sum(abs(n - Fraction(n_records * width, whole)) for n, width in split)
    return floor(away * UNIT / 2)


COUNTS = st.sampled_from(
    [0, 1, 7, 10**6, 10**8, 4 * 10**8, 9 * 10**8, 10**9, 10**10, 5 * 10**10, 10**12, 1 << 42]
)
CHILD = st.tuples(COUNTS, st.sampled_from([1, 2, 999, 3_333_333, 5_000_000]))


@given(
    splits=st.lists(st.lists(CHILD, min_size=2, max_size=4), min_size=1, max_size=4),
    classes=st.integers(1, 3),
)
@example(splits=[[(900_719_925, 5_000_000), (900_719_925, 5_000_000)]], classes=1)
def test_scores_are_exact_whatever_the_size_of_their_products(splits, classes):
    domain = max(MOST_CELLS, *(sum(width for _, width in split) for split in splits))
    children = children_of(splits, domain=domain, classes=classes)
    ncp, skew = ncp_units(children), skew_units(children)
    assert ncp.dtype == skew.dtype == np.int64
    assert ncp.tolist() == [ncp_of(split, domain) for split in splits]
    assert skew.tolist() == [skew_of(split) for split in splits]


@pytest.mark.parametrize("n", [4 * 10**11, 10**12, 840 << 32, 1 << 50])
def test_people_counted_in_parts_do_not_exceed_the_scores_either(n):
    """Of 840 parts each, 480 million people were more than 64 bits held on the longest grid."""
    for split in ([(n, 1), (0, MOST_CELLS - 1)], [(n // 2, MOST_CELLS - 7), (n - n // 2, 7)]):
        children = children_of([split], domain=MOST_CELLS)
        assert ncp_units(children).tolist() == [ncp_of(split, MOST_CELLS)]
        assert skew_units(children).tolist() == [skew_of(split)]


@pytest.mark.parametrize("beyond", [-2, -1, 0, 1, 2])
def test_the_edge_of_64_bits_is_no_edge_of_the_scores(beyond):
    """At the last size whose products fit, and right behind it, one record moves one unit."""
    edge = (1 << 63) // (4 * MOST_CELLS * UNIT) + beyond
    split = [(edge, MOST_CELLS - 1), (edge, 1)]
    children = children_of([split], domain=MOST_CELLS)
    assert ncp_units(children).tolist() == [ncp_of(split, MOST_CELLS)]
    assert skew_units(children).tolist() == [skew_of(split)]


def test_the_scores_overflowed_without_the_guard():
    split = [(2 * 10**9, 1), (0, MOST_CELLS - 1)]
    with np.errstate(over="ignore"):
        product = np.array([2 * 10**9]) * (MOST_CELLS - 1) * UNIT
    assert product[0] // MOST_CELLS != ncp_of(split, MOST_CELLS)
    assert ncp_units(children_of([split], domain=MOST_CELLS)).tolist() == [
        ncp_of(split, MOST_CELLS)
    ]
