"""Labels as hedgerow and other tools write them, back to ranges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation.labels import span_of
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

AGE = NumericDomain.even(low=17, high=90, step=1)
TENS = NumericDomain.even(low=0, high=100, step=10)
PAID = NumericDomain.from_edges([0, 10, 100], missing=True)
JOBS = CategoricalDomain(
    taxonomy=Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm", "sea"]})
)
CODES = CategoricalDomain(taxonomy=Taxonomy.flat(["1", "2", "10"]))
NUMERIC = [
    AGE,
    TENS,
    PAID,
    NumericDomain.even(low="0.5", high="2.5", step="0.25", missing=True),
    NumericDomain.even(low=-5, high=5, step=1),
]


@settings(max_examples=60)
@given(domain=st.sampled_from([*NUMERIC, JOBS]), data=st.data())
def test_a_label_of_ours_comes_back_as_its_range(domain, data):
    first = data.draw(st.integers(0, domain.size - 1))
    stop = data.draw(st.integers(first + 1, domain.size))
    assert span_of(domain.label(first, stop), domain) == (first, stop)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("17", (0, 1)),
        ("17.0", (0, 1)),
        (" [17,30) ", (0, 13)),
        ("[17, 30[", (0, 13)),
        ("[17;30)", (0, 13)),
        ("]17,30]", (1, 14)),
        ("(17,30]", (1, 14)),
        ("17-29", (0, 13)),
        ("17 – 29", (0, 13)),
        ("17..29", (0, 13)),
        ("17 to 29", (0, 13)),
        ("<30", (0, 13)),
        ("<= 30", (0, 14)),
        (">=65", (48, 74)),
        ("> 65", (49, 74)),
        ("[80, 120)", (63, 74)),
        ("[0, 17)", (0, 1)),
        ("*", (0, 74)),
        ("30-17", None),
        ("(20,21)", None),
        ("old", None),
        ("", None),
        ("1e400", (73, 74)),
        ("1e999999999", None),
        ("inf", None),
        ("nan", None),
    ],
)
def test_intervals_of_other_tools_are_understood(text, span):
    assert span_of(text, AGE) == span


def test_an_interval_takes_every_cell_that_it_touches():
    assert span_of("[0,20)", TENS) == (0, 2)
    assert span_of("20-39", TENS) == (2, 4)
    assert span_of("[5,25)", TENS) == (0, 3)
    assert span_of("-3--1", NUMERIC[-1]) == (2, 5)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("shop", (1, 2)),
        ("Indoor", (0, 2)),
        ("Any", (0, 4)),
        ("*", (0, 4)),
        ("shop|farm", (1, 3)),
        ("{farm, shop}", (1, 3)),
        ("{office;Outdoor}", None),
        ("{office, nowhere}", None),
        ("'sea", (3, 4)),
        ("harbour", None),
    ],
)
def test_nodes_and_sets_of_values_are_understood(text, span):
    assert span_of(text, JOBS) == span


def test_whole_numbers_are_values_however_they_are_spelt():
    assert span_of("10.0", CODES) == (2, 3)


def test_missing_values_have_their_code_or_none():
    markers = frozenset({"?"})
    assert span_of("?", PAID, markers=markers) == (0, 1)
    assert span_of("", PAID, markers=markers) == (0, 1)
    assert span_of("missing or [0, 10)", PAID) == (0, 2)
    assert span_of("?", AGE, markers=markers) is None
