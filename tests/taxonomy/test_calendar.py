"""Dates as cells: borders at calendar borders, labels as dates, levels that lie in each other."""

from __future__ import annotations

import datetime as dt
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.kanonymity.levels import AttributeLevels
from hedgerow.disclosure.lattice.lattice import hierarchy_of
from hedgerow.errors import SettingError
from hedgerow.evaluation.labels import span_of
from hedgerow.evaluation.marginals import bin_edges
from hedgerow.model.schema import Attribute
from hedgerow.release.domains import describe
from hedgerow.taxonomy.domain import DateDomain
from hedgerow.trees.axes import Axis
from hedgerow.trees.coarsening import ladder

STEPS = st.sampled_from(["day", "week", "month", "quarter", "year"])
DATES = st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31))


@st.composite
def domains(draw, most_days=2000):
    first = draw(DATES)
    last = first + dt.timedelta(days=draw(st.integers(1, most_days)))
    return DateDomain.between(first, last, step=draw(STEPS), missing=draw(st.booleans()))


@settings(max_examples=15)
@given(domain=domains())
def test_levels_lie_in_each_other_and_end_in_cells(domain):
    for coarse, fine in zip(domain.levels, domain.levels[1:], strict=False):
        assert set(coarse.tolist()) < set(fine.tolist())
    if domain.levels:
        assert domain.levels[-1].tolist() == list(range(domain.size + 1))
        assert all(level[0] == 0 and level[-1] == domain.size for level in domain.levels)


@settings(max_examples=15)
@given(domain=domains(), data=st.data())
def test_labels_of_dates_are_read_back(domain, data):
    first = data.draw(st.integers(0, domain.size - 1))
    stop = data.draw(st.integers(first + 1, domain.size))
    label = domain.label(first, stop)
    assert span_of(label, domain) == (first, stop)


def test_labels_of_other_tools_are_understood():
    domain = DateDomain.between(dt.date(2020, 1, 1), dt.date(2021, 12, 31), step="month")
    spans = {
        "2020-03-17": (2, 3),
        "2020-03": (2, 3),
        "2020-Q2": (3, 6),
        "2021": (12, 24),
        "2020-02-01..2020-03-31": (1, 3),
        "<2020-04-01": (0, 3),
        ">= 2021-12-01": (23, 24),
        "2020-03-17T12:30:00": (2, 3),
        "*": (0, 24),
        "2020-13": None,
        "2020-02-30": None,
        "march": None,
        "missing": None,
    }
    assert {label: span_of(label, domain) for label in spans} == spans


@settings(max_examples=15)
@given(domain=domains(), even=st.integers(2, 20), data=st.data())
def test_a_range_is_divided_where_periods_begin(domain, even, data):
    """Held against the rule, read out level by level."""
    axis = Axis.of(domain)
    first = data.draw(st.integers(0, domain.size - 1))
    stop = data.draw(st.integers(first + 1, domain.size))
    offered = axis.positions(
        np.array([first, 0], dtype=np.int32),
        np.array([stop, domain.size], dtype=np.int32),
        even=even,
    )
    mine = offered.values[: offered.starts[1]].tolist()
    inside = [[b for b in level.tolist() if first < b < stop] for level in domain.levels]
    dividing = [borders for borders in inside if borders]
    fitting = [borders for borders in dividing if len(borders) < even]
    if fitting:
        assert mine == fitting[-1]
    elif dividing:
        assert set(mine) <= set(dividing[0])
        assert mine == sorted(set(mine)) != []
    else:
        assert mine == []


@settings(max_examples=15)
@given(domain=domains(most_days=400))
def test_coarser_forms_of_a_date_keep_to_its_periods(domain):
    allowed = [set(level.tolist()) for level in domain.levels] or [{0, domain.size}]
    for coarse in ladder(domain):
        assert any(set(coarse.edges.tolist()) <= level for level in allowed)
    for ranges in AttributeLevels.of(domain, fan_out=2).ranges[:-2]:
        assert set(ranges.first.tolist()) <= allowed[-1]
    tree = hierarchy_of(domain)
    assert tree.n_leaves == domain.size
    assert int(tree.height[0]) <= 5


def test_a_month_is_below_its_quarter_and_year():
    domain = DateDomain.between(dt.date(2020, 1, 1), dt.date(2021, 12, 31), step="month")
    tree = hierarchy_of(domain)
    way = [tree.labels[node] for node in tree.path(tree.find("[2020-05-01, 2020-06-01)"))]
    assert way == [
        "*",
        "[2020-01-01, 2021-01-01)",
        "[2020-04-01, 2020-07-01)",
        "[2020-05-01, 2020-06-01)",
    ]
    bins = bin_edges(Attribute(name="d", domain=domain))
    assert [domain.label(int(a), int(b)) for a, b in itertools.pairwise(bins)][:2] == [
        "[2020-01-01, 2020-04-01)",
        "[2020-04-01, 2020-07-01)",
    ]


@settings(max_examples=15)
@given(domain=domains())
def test_a_domain_of_dates_is_described_and_made_again(domain):
    assert describe(domain).domain() == domain
    assert type(describe(domain)).model_validate(describe(domain).facts()).domain() == domain


def test_a_calendar_that_ends_before_it_begins_is_refused():
    with pytest.raises(SettingError, match="2020-01-02"):
        DateDomain.between(dt.date(2020, 1, 2), dt.date(2020, 1, 1), step="day")
