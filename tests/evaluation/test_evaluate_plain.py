"""Plain tables of other tools, read as groups."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import DataError
from hedgerow.evaluation.placing import drawn
from hedgerow.evaluation.plain import read_plain
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.run import Run
from hedgerow.model.schema import Attribute, Schema
from hedgerow.privacy.source import SeededSource
from hedgerow.release.records import record_tables
from hedgerow.release.table import groups_table
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.box_scores import GINI
from hedgerow.trees.scores import SCORES
from support.tables import encoded_tables

JOBS = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": ["farm", "sea"]})
SCHEMA = Schema(
    attributes=(
        Attribute(name="age", domain=NumericDomain.even(low=17, high=90, step=1)),
        Attribute(name="job", domain=CategoricalDomain(taxonomy=JOBS)),
    ),
    class_attribute=Attribute(
        name="sick", domain=CategoricalDomain(taxonomy=Taxonomy.flat(["no", "yes"]))
    ),
    missing_values=frozenset({"?"}),
)


def spans(groups):
    return [
        [(int(r.first[i]), int(r.stop[i])) for i in index]
        for r, index in zip(groups.ranges, groups.index, strict=True)
    ]


@pytest.mark.parametrize(
    "method", [DiffGen(specialisations=3, score=SCORES["max"], faithful=False), Hedge(score=GINI)]
)
@settings(max_examples=20)
@given(table=encoded_tables(min_records=1), seed=st.integers(0, 99))
def test_our_own_release_table_comes_back(method, table, seed):
    groups = method.publish(
        Run.start(MemoryEngine(table=table), epsilon=Fraction(8), source=SeededSource(seed))
    )
    schema, found = read_plain(groups_table(table.schema, groups), table.schema)
    assert schema == table.schema
    assert found.counts.sum() == groups.counts.sum()
    ours = sorted(zip(*spans(groups), groups.classes.tolist(), groups.counts.tolist(), strict=True))
    theirs = sorted(zip(*spans(found), found.classes.tolist(), found.counts.tolist(), strict=True))
    assert theirs == ours


@settings(max_examples=20)
@given(table=encoded_tables(min_records=1), seed=st.integers(0, 99))
def test_synthetic_records_come_back_as_points(table, seed):
    groups = Hedge(score=GINI).publish(
        Run.start(MemoryEngine(table=table), epsilon=Fraction(8), source=SeededSource(seed))
    )
    (records,) = record_tables(table.schema, groups, source=SeededSource(seed))
    _, found = read_plain(records, table.schema)
    assert not found.is_cut
    assert found.counts.sum() == groups.counts.sum()
    assert len(drawn(found, table.schema)) == groups.counts.sum()


def test_labels_of_every_kind_become_a_cut_when_they_are_apart():
    frame = pd.DataFrame(
        {
            "zip": ["1", "2", "3", "4"],
            "job": ["Indoor", "sea", "Indoor", "Indoor"],
            "age": ["[17,30)", "17-29", "30-59", "[17, 30)"],
            "sick": ["no", "yes", "no", "no"],
        }
    )
    schema, found = read_plain(frame, SCHEMA)
    assert schema is SCHEMA
    assert found.is_cut
    # The gaps (ages from 60, farm) are ranges of their own, so that any row has its place.
    assert [found.ranges[0].first.tolist(), found.ranges[0].stop.tolist()] == [
        [0, 13, 43],
        [13, 43, 74],
    ]
    assert found.ranges[1].first.tolist() == [0, 2, 3]
    assert found.counts.tolist() == [2, 1, 1]
    assert spans(found) == [[(0, 13), (0, 13), (13, 43)], [(0, 2), (3, 4), (0, 2)]]


def test_labels_that_overlap_are_loose_boxes():
    frame = pd.DataFrame(
        {"age": ["17-29", "20-59"], "job": ["*", "sea"], "sick": ["no", "no"], "count": [3, 4]}
    )
    _, found = read_plain(frame, SCHEMA)
    assert not found.is_cut
    assert found.counts.tolist() == [3, 4]


def test_a_file_may_lack_the_class_and_rows_may_lack_values():
    frame = pd.DataFrame({"age": [20, 30, None, 40], "job": ["sea", "?", "farm", "office"]})
    schema, found = read_plain(frame, SCHEMA)
    assert schema.class_attribute is None
    assert found.classes is None
    assert found.counts.tolist() == [1, 1]


def test_values_that_nobody_lists_become_other_where_there_is_one():
    domain = CategoricalDomain.over(JOBS, other="else")
    schema = Schema(attributes=(Attribute(name="job", domain=domain),), class_attribute=None)
    _, found = read_plain(pd.DataFrame({"job": ["moon", "sea"]}), schema)
    assert spans(found) == [[(3, 4), (4, 5)]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": ["seventeen"], "job": ["sea"]}, "Column 'age' holds a label"),
        ({"age": ["17"], "job": ["moon"]}, "Column 'job' holds a label"),
        ({"age": ["17"], "job": ["sea"], "count": ["-3"]}, "a count that is not an integer"),
        ({"age": ["17"], "job": ["sea"], "count": ["1.5"]}, "a count that is not an integer"),
        ({"age": ["17"], "job": ["sea"], "sick": ["*"]}, "The class is generalised"),
        ({"age": ["17"]}, "The column 'job' does not exist"),
    ],
)
def test_what_cannot_be_read_is_refused_without_showing_it(columns, message):
    with pytest.raises(DataError, match=message) as caught:
        read_plain(pd.DataFrame(columns), SCHEMA)
    assert "seventeen" not in str(caught.value)
    assert "moon" not in str(caught.value)


def test_a_file_without_rows_has_no_groups():
    _, found = read_plain(pd.DataFrame({"age": [], "job": [], "sick": []}, dtype=str), SCHEMA)
    assert len(found) == 0
    assert np.array_equal(found.counts, [])
