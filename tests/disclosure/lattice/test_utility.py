"""The measures of utility."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.disclosure.lattice.utility import MEASURES, utility_tables
from hedgerow.errors import SettingError
from hedgerow.taxonomy.tree import Taxonomy
from support.tables import categorical, domains, values

CITY = Taxonomy.from_nested(
    "any",
    {"Indiana": {"Tippecanoe": ["Dayton", "Lafayette"], "Marion": ["Speedway"]}, "Ohio": ["Lima"]},
)


def table_of(measure, domain):
    (table,) = utility_tables(measure, [Chains.of(domain)])
    return table


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("depth", [3, 2, 1, 0]),
        ("leaves", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("log-leaves", [math.log(4), math.log(2), math.log(4 / 3), 0]),
        ("lm", [1, 2 / 3, 1 / 3, 0]),
        ("xiao-tao", [1, 3 / 4, 1 / 2, 1 / 4]),
    ],
)
def test_measures_are_those_of_the_paper(measure, expected):
    table = table_of(measure, categorical(CITY))
    assert table[0].tolist() == pytest.approx(expected)


def test_short_chains_end_at_the_root():
    table = table_of("depth", categorical(CITY))
    assert table[3].tolist() == [2, 1, 0, 0]


@given(domain=domains, measure=st.sampled_from(MEASURES))
def test_utility_falls_with_every_level_and_is_never_negative(domain, measure):
    table = table_of(measure, domain)
    assert (np.diff(table, axis=1) <= 0).all()
    assert (table >= 0).all()


def test_a_domain_of_one_value_loses_nothing():
    assert table_of("lm", values(1)).tolist() == [[1, 1]]


def test_an_unknown_measure_is_refused():
    with pytest.raises(SettingError, match="depth, leaves, log-leaves, lm, xiao-tao"):
        utility_tables("entropy", [])  # type: ignore[arg-type]
