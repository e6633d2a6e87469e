"""Clusters as the class of DiffMulti: private, record by record, the same on every engine."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.auditing.neighbours import TablePair, schema_over, values
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import InputError
from hedgerow.evaluation.clustering import cluster
from hedgerow.evaluation.examples import Examples
from hedgerow.methods.diffmulti import clusters as finding
from hedgerow.methods.diffmulti import diffmulti as running
from hedgerow.methods.diffmulti.clusters import (
    CLUSTERS,
    SHARE,
    centres_of,
    cluster_score,
    without_labels,
)
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.weave.weave import Weave
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.box_scores import Children
from support.broken_twins import outcome
from support.tables import encoded_tables, grid, schema_of, table_of
from support.tables import values as categories

ONE = Fraction(1)
METHOD = DiffMulti(
    specialisations=1, score=CLUSTERS, fair=True, depth=None, faithful=False, clusters=2
)


@st.composite
def labelled_tables(draw):
    """A table with a class, and centres of whole numbers for it."""
    table = draw(encoded_tables())
    k = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    nearest = NearestCentre(distances=tuple(rng.integers(0, 3, (size, k)) for size in sizes))
    return table, nearest


@settings(max_examples=40)
@given(given_table=labelled_tables(), data=st.data())
def test_a_label_is_a_function_of_the_record_alone_and_ties_go_to_the_first(given_table, data):
    table, nearest = given_table
    labels = nearest.of(table.codes)
    columns = list(zip(nearest.distances, table.codes, strict=True))
    for at in range(len(table)):
        away = [
            sum(int(t[column[at], j]) for t, column in columns) for j in range(nearest.n_labels)
        ]
        assert labels[at] == away.index(min(away))
    if len(table):
        gone = data.draw(st.integers(0, len(table) - 1))
        others = nearest.of(table.without(gone).codes)
        assert others.tolist() == np.delete(labels, gone).tolist()


@settings(max_examples=40)
@given(given_table=labelled_tables(), data=st.data())
def test_one_record_moves_one_labelled_count_by_one_and_scores_by_one_at_the_most(
    given_table, data
):
    table, nearest = given_table
    gone = data.draw(st.integers(0, max(len(table) - 1, 0)))
    if not len(table):
        return
    counts = []
    for each in (table, table.without(gone)):
        labelled = MemoryEngine(table=each).labelled(nearest)
        assert labelled.schema.n_classes == nearest.n_labels * table.schema.n_classes
        counts.append(labelled.place().classes())
    assert (counts[0] - counts[1]).sum() == np.abs(counts[0] - counts[1]).sum() == 1
    own = without_labels(counts[0], nearest.n_labels)
    assert own.tolist() == [np.bincount(table.classes, minlength=own.shape[1]).tolist()]
    score = cluster_score(nearest.n_labels)
    moved = [
        int(
            score.of(
                Children(
                    counts=each,
                    widths=np.ones(1, dtype=np.int64),
                    starts=np.array([0, 1]),
                    domain=2,
                ),
                np.ones(1),
            )[0]
        )
        for each in counts
    ]
    assert 0 <= moved[0] - moved[1] <= 1 == score.span


def test_clusters_that_stand_apart_are_found_in_a_release():
    schema = schema_of(grid(101), categories(4), classes=None)
    rng = np.random.default_rng(3)
    rows = [(int(rng.integers(0, 20)), 0) for _ in range(400)]
    rows += [(int(rng.integers(80, 100)), 3) for _ in range(300)]
    table = table_of(schema, rows)
    groups = Weave(purpose="clustering").publish(
        Run.start(MemoryEngine(table=table), epsilon=ONE, source=SeededSource(1))
    )
    labels = centres_of(groups, schema, 2).of(table.codes)
    assert len(set(labels[:400])) == len(set(labels[400:])) == 1
    assert labels[0] != labels[-1]


def test_a_fifth_of_epsilon_finds_the_centres_and_is_booked_first():
    table = table_of(
        schema_of(grid(16), categories(3)), [(i % 16, i % 3, i % 2) for i in range(90)]
    )
    ledger = PathLedger(ONE)
    groups = METHOD.publish(
        Run(engine=MemoryEngine(table=table), epsilon=ONE, ledger=ledger, source=SeededSource(1))
    )
    assert ledger.settled()
    assert ledger.bookings[0].share == SHARE == Fraction(1, 5)
    assert groups.classes.max() <= 1  # classes of the table, no clusters
    outline = METHOD.outline(table.schema, ONE)
    assert sum(step.share * step.times for step in outline.steps) == 1


def test_the_printed_clusters_are_not_private_one_record_moves_the_labels_of_others():
    """ClusterMP as printed: each record's class is its cluster among all raw records.

    Three records at 0 and three at 40 are two clusters. With one more, at 100, it is a cluster
    of its own and the six are one: the numbers of records with each label move by five, where
    the noise on counts is made for one.
    """
    schema = schema_of(grid(101), classes=None)
    rows = [(0,)] * 3 + [(40,)] * 3
    sizes = []
    for every in (rows, [*rows, (100,)]):
        examples = Examples.of_records(table_of(schema, every))
        labels = cluster(examples, examples, clusters=2)
        sizes.append(np.sort(np.bincount(labels, minlength=2)))
        assert len(set(labels[:6])) == (2 if len(every) == 6 else 1)
    assert sizes[0].tolist() == [3, 3]
    assert sizes[1].tolist() == [1, 6]
    # By our rule the six keep their labels, whatever the centres are and whoever else is there.
    nearest = NearestCentre(distances=(np.abs(np.arange(101)[:, None] - np.array([10, 60])),))
    six, seven = (nearest.of(table_of(schema, each).codes) for each in (rows, [*rows, (100,)]))
    assert six.tolist() == seven[:6].tolist()


BALANCED = ((0, 0, 0),) * 30 + ((1, 1, 0),) * 20 + ((0, 1, 0),) * 20 + ((1, 0, 0),) * 20
"""Two values each: clusters by the first attribute and by the second cost alike."""


def raw_centres(run, n_clusters, *, share):
    """[A twin] Clusters of the raw records, as the paper has them."""
    run.ledger.spend(share, on="cluster centres, from a first release")
    engine = run.engine
    points = [column.astype(np.int64) for column in engine.table.codes]
    rng = np.random.default_rng(1)
    found = [finding._search(points, engine.schema, n_clusters, rng) for _ in range(12)]
    tables = min(found, key=lambda each: each[0])[1]
    return NearestCentre(distances=tuple(np.rint(t * 2**20).astype(np.int64) for t in tables))


def tipping_pair():
    """The neighbour of the balanced table whose clusters are along the other attribute."""
    schema = schema_over(values(2), values(2))
    pairs = [
        TablePair(name="tips", about="", schema=schema, rest=BALANCED, record=record)
        for record in ((0, 1, 0), (1, 0, 0))
    ]
    for pair in pairs:
        labels = []
        for has_record in (False, True):
            engine = pair.engine(has_record=has_record)
            run = Run.start(engine, epsilon=ONE, source=SeededSource(1))
            nearest = raw_centres(run, 2, share=ONE)
            labels.append(nearest.of(engine.table.codes)[: len(BALANCED)])
        if 0.1 < (labels[0] == labels[1]).mean() < 0.9:
            return pair
    return pytest.fail("no record tips the clusters")


@pytest.mark.audit
def test_a_twin_whose_clusters_are_those_of_the_raw_records_is_refuted(monkeypatch):
    pair = tipping_pair()
    assert outcome(METHOD, pair) == "not refuted"
    monkeypatch.setattr(running, "noisy_centres", raw_centres)
    assert outcome(METHOD, pair) == "refuted"


ROWS = pd.DataFrame(
    {"age": [20, 25, 70, 75] * 100, "ward": ["a", "a", "b", "c"] * 100, "who": list(range(400))}
)


def plan(tmp_path, *, publish=None, **rest):
    return {
        "attributes": {
            "age": {"numeric": [0, 127]},
            "ward": {"values": ["a", "b", "c"]},
            "who": {"role": "identifier"},
        },
        "confirmed": True,
        "one-record-per-person": "person" not in rest,
        "publish": {
            "method": "diffmulti",
            "epsilon": 1,
            "h": 6,
            "for": "clustering",
            **(publish or {}),
        },
        "ledger": {"dataset": "wards", "cap": 10, "file": str(tmp_path / "ledger.sqlite")},
        **rest,
    }


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("count", [None, "records", "people"])
def test_engines_agree_also_on_people(tmp_path, faithful, count):
    people = {} if count is None else {"person": "who", "records-per-person": 2, "count": count}
    given = plan(tmp_path, publish={"faithful": faithful, "clusters": 3}, **people)
    tables = [
        hedgerow.publish(given, data=ROWS, seed=2, engine=engine).to_pandas()
        for engine in ("memory", "stream")
    ]
    assert tables[0].equals(tables[1])
    assert list(tables[0].columns) == ["age", "ward", "count"]


def test_the_certificate_tells_of_the_clusters(tmp_path):
    method = hedgerow.publish(plan(tmp_path), data=ROWS, seed=1).certificate.method
    assert method.details["clusters"] == "2"
    assert method.settings["score"] == "clusters"


@pytest.mark.parametrize(
    "wrong",
    [
        {"clusters": 1},
        {"clusters": 21},
        {"clusters": 3, "for": "general"},
        {"clusters": 3, "score": "ncp"},
    ],
)
def test_clusters_where_they_have_no_place_are_refused(tmp_path, wrong):
    with pytest.raises(InputError):
        hedgerow.check(plan(tmp_path, publish=wrong))


def test_a_score_of_ones_own_choice_still_takes_the_place_of_clusters(tmp_path):
    told = hedgerow.publish(plan(tmp_path, publish={"score": "ncp"}), data=ROWS, seed=1)
    assert told.certificate.method.settings["score"] == "ncp"
    assert replace(METHOD, clusters=None).budget(schema_of(grid(4)), ONE).epsilon == 1
