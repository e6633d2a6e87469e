from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SettingError, TaxonomyError
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain, code_dtype
from hedgerow.taxonomy.numbers import exact, written
from hedgerow.taxonomy.tree import Taxonomy

JOBS = Taxonomy.from_nested(
    "Any", {"Indoor": ["office", "shop"], "Outdoor": {"Land": ["farm"]}, "Sea": list("abcdef")}
)


def cell_of(number: Fraction, grid) -> int:
    """The cell of an exact number, counted border by border."""
    inside = min(max(number, grid.low), grid.high)
    return sum(grid.border(cell) <= inside for cell in range(1, grid.n_cells))


# Decimals with at most 3 + 3 digits: far coarser than a float.
decimals = st.decimals(min_value=-999, max_value=999, places=3).map(lambda x: str(x.normalize()))


@settings(max_examples=100)
@given(
    low=decimals,
    span=st.decimals(min_value=0, max_value=20, places=2),
    step=st.sampled_from(["0.1", "0.05", "0.3", "1", "2.5", "7", "1/3", "0.7"]),
    values=st.lists(decimals, min_size=1, max_size=20),
    missing=st.booleans(),
)
def test_a_written_number_falls_in_the_cell_that_holds_it_exactly(low, span, step, values, missing):
    domain = NumericDomain.even(
        low=low, high=Fraction(low) + Fraction(span), step=step, missing=missing
    )
    grid = domain.grid
    # Every border too, written as a decimal where it is one and as the nearest float if not.
    borders = [grid.border(cell) for cell in range(grid.n_cells)]
    numbers = [Fraction(value) for value in values] + borders
    floats = np.array([float(value) for value in values] + [float(border) for border in borders])
    expected = [cell_of(number, grid) + missing for number in numbers]
    assert domain.encode(floats).tolist() == expected
    # Just below a border lies the cell before it.
    below = np.nextafter([float(border) for border in borders], -math.inf)
    assert domain.encode(below).tolist() == [
        max(cell - 1, 0) + missing for cell in range(grid.n_cells)
    ]


@settings(max_examples=100)
@given(
    edges=st.lists(decimals, min_size=2, max_size=12, unique_by=Fraction),
    values=st.lists(decimals, min_size=1, max_size=20),
    missing=st.booleans(),
)
def test_edges_cut_where_they_are_written(edges, values, missing):
    edges = sorted(edges, key=Fraction)
    domain = NumericDomain.from_edges(edges, missing=missing)
    numbers = [Fraction(text) for text in [*values, *edges]]
    expected = [cell_of(number, domain.grid) + missing for number in numbers]
    assert domain.encode(np.array([float(number) for number in numbers])).tolist() == expected


@settings(max_examples=100)
@given(
    low=decimals,
    span=st.integers(0, 60),
    step=st.sampled_from(["0.5", "1", "3", "2.5", "1/3"]),
    values=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-1100, 1100), min_size=1),
)
def test_integers_are_encoded_exactly(low, span, step, values):
    even = NumericDomain.even(low=low, high=Fraction(low) + span, step=step)
    uneven = NumericDomain.from_edges([low, Fraction(low) + 1, Fraction(low) + span + 2])
    for domain in (even, uneven):
        expected = [cell_of(Fraction(value), domain.grid) for value in values]
        assert domain.encode(np.array(values, dtype=np.int64)).tolist() == expected


def test_three_tenths_opens_its_cell_though_the_float_lies_below_it():
    domain = NumericDomain.even(low=0, high=1, step=0.1)
    assert Fraction(0.3) < Fraction(3, 10)
    tenths = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert domain.encode(tenths).tolist() == list(range(11))
    assert domain.encode(tenths.astype(np.float32)).tolist() == list(range(11))
    assert domain.encode(np.array([np.nextafter(0.3, 0)])).tolist() == [2]


def test_values_outside_the_grid_are_clamped():
    age = NumericDomain.even(low=17, high=90, step=1)
    assert age.encode(np.array([-np.inf, -5.0, 16.99, 90.5, 1e300, np.inf])).tolist() == [
        0, 0, 0, 73, 73, 73,
    ]  # fmt: skip
    assert age.encode(np.array([0, 2**64 - 1], dtype=np.uint64)).tolist() == [0, 73]
    assert age.encode(np.array([-128, 127], dtype=np.int8)).tolist() == [0, 73]
    edges = NumericDomain.from_edges([0, 10, 20])
    assert edges.encode(np.array([-np.inf, 20.0, np.inf])).tolist() == [0, 1, 1]


def test_nan_raises_no_warning_and_gives_a_code_of_the_domain():
    for domain in (
        NumericDomain.even(low=0, high=9, step=1),
        NumericDomain.even(low=0, high=9, step="0.1"),
        NumericDomain.from_edges([0, 1, 2]),
    ):
        assert domain.encode(np.array([np.nan]))[0] < domain.size


def test_long_columns_are_encoded_block_by_block():
    values = np.arange(200_000) % 100
    domain = NumericDomain.even(low=0, high=99, step=1, missing=True)
    codes = domain.encode(values)
    assert codes.dtype == np.uint8
    assert (codes == values + 1).all()
    assert domain.encode(np.array([], dtype=np.float64)).tolist() == []


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(1, "u1"), (256, "u1"), (257, "u2"), (65_536, "u2"), (65_537, "u4"), (2**31, "u4")],
)
def test_codes_take_the_smallest_unsigned_type(size, dtype):
    assert code_dtype(size) == np.dtype(dtype)


@pytest.mark.parametrize(
    ("settings", "first", "stop", "label"),
    [
        ({"low": 17, "high": 90, "step": 1}, 0, 23, "[17, 40)"),
        ({"low": 17, "high": 90, "step": 1}, 5, 6, "22"),
        ({"low": 17, "high": 90, "step": 1}, 73, 74, "90"),
        ({"low": 17, "high": 90, "step": 1}, 72, 74, "[89, 90]"),
        ({"low": 17, "high": 90, "step": 1}, 0, 74, "[17, 90]"),
        ({"low": -5, "high": 5, "step": 1}, 0, 3, "[-5, -2)"),
        ({"low": 0, "high": 1, "step": "0.1"}, 3, 4, "[0.3, 0.4)"),
        ({"low": 0, "high": 1, "step": "0.1"}, 10, 11, "1"),
        ({"low": 0, "high": 1, "step": "1/3"}, 0, 1, "[0, 1/3)"),
        ({"low": 0, "high": 99, "step": 10}, 9, 10, "[90, 99]"),
        ({"low": 0, "high": "1.5", "step": 1}, 1, 2, "[1, 1.5]"),
        ({"low": 3, "high": 3, "step": 1}, 0, 1, "3"),
        ({"low": 17, "high": 90, "step": 1, "missing": True}, 0, 1, "missing"),
        ({"low": 17, "high": 90, "step": 1, "missing": True}, 0, 24, "missing or [17, 40)"),
        ({"low": 17, "high": 90, "step": 1, "missing": True}, 1, 2, "17"),
        ({"low": 17, "high": 90, "step": 1, "missing": True}, 0, 75, "missing or [17, 90]"),
    ],
)
def test_ranges_of_an_even_grid_are_labelled(settings, first, stop, label):
    domain = NumericDomain.even(**settings)
    assert domain.label(first, stop) == label
    assert domain.kind == "numeric"


def test_sizes_count_high_and_the_code_for_missing_values():
    assert NumericDomain.even(low=17, high=90, step=1).size == 74
    assert NumericDomain.even(low=17, high=90, step=1, missing=True).size == 75
    assert NumericDomain.even(low=0, high=1, step=0.1).size == 11
    domain = NumericDomain.from_edges(["0", 0.5, Decimal("1.5")], missing=True)
    assert (domain.size, domain.missing_code, domain.low, domain.high) == (3, 0, 0, Fraction(3, 2))
    assert domain.bounds(1, 3) == (0, Fraction(3, 2))
    assert domain.label(2, 3) == "[0.5, 1.5]"


@pytest.mark.parametrize(
    "settings",
    [
        {"low": 1, "high": 0, "step": 1},
        {"low": 0, "high": 1, "step": 0},
        {"low": 0, "high": 1, "step": -1},
        {"low": 0, "high": 1, "step": "1e-12"},
        {"low": 0, "high": "1e15", "step": "0.001"},
        {"low": "1/3333333333333333333", "high": 1, "step": 1},
        {"low": 0, "high": float("nan"), "step": 1},
        {"low": 0, "high": float("inf"), "step": 1},
        {"low": "zero", "high": 1, "step": 1},
        {"low": "1/0", "high": 1, "step": 1},
        {"low": True, "high": 1, "step": 1},
        {"low": None, "high": 1, "step": 1},
        {"low": "1e999999999", "high": 1, "step": 1},
        {"low": 0, "high": Decimal("1E+999999"), "step": 1},
    ],
)
def test_bad_grids_are_refused(settings):
    with pytest.raises(SettingError) as caught:
        NumericDomain.even(**settings)
    assert caught.value.do


@pytest.mark.parametrize(
    "edges", [[], [1], [1, 1], [2, 1], [0, 1, 0.5], [0, 1e300], ["0.1", "0.1" + "0" * 30 + "1"]]
)
def test_bad_edges_are_refused(edges):
    with pytest.raises(SettingError):
        NumericDomain.from_edges(edges)


@pytest.mark.parametrize(("first", "stop"), [(-1, 2), (0, 0), (3, 2), (0, 10), (9, 10)])
def test_ranges_outside_a_domain_are_refused(first, stop):
    for domain in (
        CategoricalDomain(taxonomy=JOBS),
        NumericDomain.even(low=0, high=8, step=1),
    ):
        with pytest.raises(SettingError, match="within \\[0, 9\\)"):
            domain.label(first, stop)


@pytest.mark.parametrize(
    ("first", "stop", "label"),
    [
        (0, 9, "Any"),
        (0, 2, "Indoor"),
        (2, 3, "Outdoor"),
        (1, 2, "shop"),
        (1, 3, "shop|farm"),
        (0, 4, "office|shop|farm|a"),
        (1, 8, "shop|farm|...|e (7 values)"),
    ],
)
def test_categorical_ranges_are_called_by_their_topmost_node_or_their_values(first, stop, label):
    domain = CategoricalDomain(taxonomy=JOBS)
    assert domain.label(first, stop) == label
    assert (domain.size, domain.kind) == (9, "categorical")


def test_leaves_for_other_and_missing_values_are_added_where_they_lack():
    domain = CategoricalDomain.over(JOBS, other="elsewhere", missing="?")
    assert (domain.size, domain.other_code, domain.missing_code) == (11, 9, 10)
    assert domain.taxonomy.leaf_labels[:9] == JOBS.leaf_labels
    same = CategoricalDomain.over(JOBS, other="farm", missing="farm")
    assert same.taxonomy is JOBS
    assert (same.other_code, same.missing_code) == (2, 2)
    plain = CategoricalDomain.over(JOBS)
    assert (plain.other_code, plain.missing_code) == (None, None)


def test_other_and_missing_must_be_leaves():
    for label in ("elsewhere", "Indoor"):
        with pytest.raises(TaxonomyError, match="is not a value of the taxonomy"):
            CategoricalDomain(taxonomy=JOBS, other=label)
        with pytest.raises(TaxonomyError, match="is not a value of the taxonomy"):
            CategoricalDomain(taxonomy=JOBS, missing=label)
    with pytest.raises(TaxonomyError, match="'Indoor' occurs twice"):
        CategoricalDomain.over(JOBS, other="Indoor")


@settings(max_examples=100)
@given(number=st.fractions(max_denominator=5000))
def test_written_numbers_are_read_back_exactly(number):
    assert exact(written(number), setting="low") == number


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (" 5 ", Fraction(5)),
        (".5", Fraction(1, 2)),
        (Decimal("1.10"), Fraction(11, 10)),
        (-3, Fraction(-3)),
        (1e22, Fraction(10**22)),
    ],
)
def test_numbers_mean_what_was_written(value, number):
    assert exact(value, setting="low") == number
