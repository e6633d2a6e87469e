"""One battery for every method that publishes tables: ledger, determinism, order, shape."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count import memory, placed_memory
from hedgerow.count.memory import MemoryEngine
from hedgerow.partition.box_scores import BOX_SCORES
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.diffmulti import DiffMulti
from hedgerow.partition.diffmulti_scores import multi_score
from hedgerow.partition.hedge import Hedge
from hedgerow.partition.scores import SCORES
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from tables import encoded_tables, grid, schema_of, table_of, values

METHODS = {
    **{
        f"diffgen {score} {'faithful' if faithful else 'improved'}": DiffGen(
            specialisations=4, score=SCORES[score], faithful=faithful
        )
        for score in SCORES
        for faithful in (False, True)
        if not (faithful and score == "gini")
    },
    "diffgen to the leaves": DiffGen(specialisations=None, score=SCORES["max"], faithful=False),
    **{f"hedge {score}": Hedge(score=BOX_SCORES[score]) for score in BOX_SCORES},
    **{
        f"diffmulti {score} {'faithful' if faithful else 'improved'}": DiffMulti(
            specialisations=12,
            score=multi_score(score, faithful=faithful),
            fair=True,
            depth=None,
            faithful=faithful,
        )
        for score in ("discernibility", "ncp", "max", "infogain")
        for faithful in (False, True)
    },
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


def run(method, table, *, epsilon=Fraction(1), seed=1, **engine):
    ledger = PathLedger(epsilon)
    groups = method.publish(
        MemoryEngine(table=table, **engine),
        epsilon=epsilon,
        ledger=ledger,
        source=SeededSource(seed),
    )
    return groups, ledger


def content(groups):
    return (
        [(ranges.first.tolist(), ranges.stop.tolist()) for ranges in groups.ranges],
        [index.tolist() for index in groups.index],
        None if groups.classes is None else groups.classes.tolist(),
        groups.counts.tolist(),
    )


@every_method
@settings(max_examples=25)
@given(
    table=encoded_tables(),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_no_path_exceeds_epsilon_and_none_falls_short(method, table, epsilon, seed):
    method.validate(table.schema, epsilon)
    groups, ledger = run(method, table, epsilon=epsilon, seed=seed)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (groups.counts > 0).all()
    rows = list(zip(*(index.tolist() for index in (*groups.index, groups.classes)), strict=True))
    assert rows == sorted(set(rows))


def busy_table():
    schema = schema_of(grid(40), values(9, 3), grid(7), classes=3)
    rows = [(i * 7 % 40, i * 5 % 9, i * i % 7, i % 3) for i in range(600)]
    return schema, rows


@every_method
def test_the_same_seed_gives_the_same_release_whatever_counts_the_records(method, monkeypatch):
    schema, rows = busy_table()
    table = table_of(schema, rows)
    first = content(run(method, table)[0])
    assert content(run(method, table, piece=37)[0]) == first
    assert content(run(method, table_of(schema, rows[::-1]))[0]) == first
    monkeypatch.setattr(memory, "COMPILED_FROM", 0)
    monkeypatch.setattr(placed_memory, "COMPILED_FROM", 0)
    assert content(run(method, table)[0]) == first
    monkeypatch.setattr(placed_memory.os, "cpu_count", lambda: 1)
    assert content(run(method, table)[0]) == first


@every_method
def test_another_seed_gives_another_release(method):
    schema, rows = busy_table()
    table = table_of(schema, rows)
    releases = {str(content(run(method, table, seed=seed)[0])) for seed in range(4)}
    assert len(releases) > 1


@every_method
def test_boxes_hold_whole_ranges_of_their_domains(method):
    schema, rows = busy_table()
    groups, _ = run(method, table_of(schema, rows))
    for ranges, attribute in zip(groups.ranges, schema.attributes, strict=True):
        assert ranges.first.min() == 0
        assert ranges.stop.max() == attribute.domain.size
        assert np.all(ranges.first < ranges.stop)
