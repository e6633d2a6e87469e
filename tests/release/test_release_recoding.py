"""The recoding stands alone: other rows get the labels of the release."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.release.domains import describe
from hedgerow.release.recoding import Recoding
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

DOMAINS = [
    NumericDomain.even(low=17, high=90, step=1),
    NumericDomain.even(low="-0.5", high="1/3", step="1/7", missing=True),
    NumericDomain.from_edges([0, "0.5", 10], missing=True),
    CategoricalDomain.over(
        Taxonomy.from_nested("Any", {"A": ["a", "b"], "B": {"C": ["c"]}}),
        other="rest",
        missing="none",
    ),
    CategoricalDomain(taxonomy=Taxonomy.flat(["é", "日本", '"', "\\"])),
]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_is_made_again_from_its_description(domain):
    again = describe(domain).domain()
    assert again == domain
    assert describe(again).digest() == describe(domain).digest()


def test_different_domains_have_different_digests():
    assert len({describe(domain).digest() for domain in DOMAINS}) == len(DOMAINS)


def test_a_recoding_survives_its_file(schema, groups):
    recoding = Recoding.of(schema, groups)
    text = recoding.to_json()
    again = Recoding.from_json(text)
    assert again.schema == schema
    assert again.labels == recoding.labels
    assert again.is_cut
    assert again.to_json() == text


def test_the_file_lists_one_range_a_line(schema, groups):
    text = Recoding.of(schema, groups).to_json()
    assert '        [1, 20, "[0, 90]"]\n' in text
    facts = json.loads(text)
    assert facts["kind"] == "cut"
    assert facts["missing-values"] == ["?"]
    assert facts["attributes"][1]["ranges"][3] == [3, 6, "=Outdoor"]


@st.composite
def cuts(draw: st.DrawFn) -> tuple[NumericDomain, Ranges, list[int]]:
    size = draw(st.integers(1, 30))
    borders = sorted(draw(st.sets(st.integers(1, size - 1), max_size=6)) if size > 1 else [])
    pairs = list(zip([0, *borders], [*borders, size], strict=True))
    codes = draw(st.lists(st.integers(0, size - 1), max_size=20))
    return NumericDomain.even(low=0, high=size - 1, step=1), Ranges.of(pairs), codes


@given(cuts())
@settings(max_examples=60)
def test_a_row_gets_the_label_of_the_range_that_holds_it(cut):
    domain, ranges, codes = cut
    schema = Schema(attributes=(Attribute(name="x", domain=domain),), class_attribute=None)
    groups = Groups(
        ranges=(ranges,),
        index=(np.zeros(0, np.int32),),
        classes=None,
        counts=np.zeros(0, np.int64),
        is_cut=True,
    )
    recoding = Recoding.from_json(Recoding.of(schema, groups).to_json())
    found = recoding.apply(EncodedTable.from_codes(recoding.schema, [codes]))["x"].to_pylist()
    expected = [
        next(
            domain.label(int(first), int(stop))
            for first, stop in zip(ranges.first, ranges.stop, strict=True)
            if first <= code < stop
        )
        for code in codes
    ]
    assert found == expected


def test_the_class_is_kept_where_there_is_one(schema, groups):
    recoding = Recoding.of(schema, groups)
    table = EncodedTable.from_codes(schema, [[0, 19], [1, 5]], [1, 0])
    assert recoding.apply(table).to_pylist() == [
        {"age": "[-5, 0)", "job": "shop, small", "income": ">50K"},
        {"age": "[0, 90]", "job": "=Outdoor", "income": "<=50K"},
    ]


def test_boxes_that_are_no_cut_are_kept_but_not_applied(schema, groups):
    boxes = Groups(
        ranges=(Ranges.of([(0, 1), (0, 20)]), groups.ranges[1]),
        index=groups.index,
        classes=groups.classes,
        counts=groups.counts,
        is_cut=False,
    )
    recoding = Recoding.from_json(Recoding.of(schema, boxes).to_json())
    assert not recoding.is_cut
    assert recoding.labels[0] == ["[-5, 0)", "[-5, 90]"]
    table = EncodedTable.from_codes(schema, [[0], [0]], [0])
    with pytest.raises(ReleaseError, match="do not form one cut"):
        recoding.apply(table)


def test_ranges_that_do_not_tile_are_no_cut(schema, groups):
    with pytest.raises(InternalError, match="tile"):
        Recoding(schema=schema, ranges=groups.ranges[::-1], labels=([], []), is_cut=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.pop("class"),
        lambda facts: facts.update({"format-version": 9}),
        lambda facts: facts["attributes"][0]["ranges"].pop(),
        lambda facts: facts["attributes"][0]["ranges"].clear(),
        lambda facts: facts["attributes"][0]["domain"].update(step="0"),
        lambda facts: facts["attributes"][1]["domain"]["parents"].reverse(),
        lambda facts: facts["attributes"][1].update(name="age"),
        lambda facts: facts["class"].update(domain=facts["attributes"][0]["domain"]),
        lambda facts: facts["attributes"][0]["ranges"].append([2**40, 2**41, "x"]),
        lambda facts: facts["attributes"][0]["ranges"].append([20, 21, "x"]),
        lambda facts: facts["attributes"][0]["ranges"][0].__setitem__(2, "[0, 90]"),
        lambda facts: facts["attributes"][1]["domain"]["parents"].__setitem__(1, 2**40),
    ],
)
def test_a_file_that_is_no_recoding_is_refused(schema, groups, change):
    facts = json.loads(Recoding.of(schema, groups).to_json())
    change(facts)
    with pytest.raises(ReleaseError, match="not a recoding"):
        Recoding.from_json(json.dumps(facts))
