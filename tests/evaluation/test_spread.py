"""Counting questions to a release: fast answers equal those of spreading every group."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import SettingError
from hedgerow.evaluation.marginals import bin_edges, marginal_errors, total_variation
from hedgerow.evaluation.ranges import random_range_queries, range_answers, range_errors
from hedgerow.evaluation.spread import Spread
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.box_scores import GINI
from support.loose_groups import KINDS, SCHEMA, density
from support.tables import encoded_tables, grid, schema_of, values


@settings(max_examples=60)
@given(groups=KINDS)
def test_marginals_are_those_of_spreading_every_group(groups):
    spread, whole = Spread.of_groups(groups, SCHEMA), density(groups)
    edges = [np.arange(size + 1) for size in whole.shape]
    for attributes in [(0,), (2, 3), (1, 0), (0, 1, 3), (0, 1, 2)]:
        found = spread.marginal(attributes, [edges[at] for at in attributes])
        others = tuple(at for at in range(4) if at not in attributes)
        summed = whole.sum(axis=others)
        order = np.argsort(np.argsort(attributes))
        assert np.allclose(found, summed.transpose(order))
    assert spread.total == groups.counts.sum()


@settings(max_examples=40)
@given(groups=KINDS, seed=st.integers(0, 99))
def test_range_queries_are_answered_as_from_all_points(groups, seed):
    queries = random_range_queries(SCHEMA, n=30, seed=seed)
    whole = density(groups)
    expected = []
    for block in queries:
        for low, high in zip(block.low, block.high, strict=True):
            box = [slice(None)] * 4
            for at, attribute in enumerate(block.attributes):
                box[attribute] = slice(int(low[at]), int(high[at]))
            expected.append(whole[tuple(box)].sum())
    assert np.allclose(range_answers(Spread.of_groups(groups, SCHEMA), queries), expected)


@settings(max_examples=40)
@given(table=encoded_tables(min_records=1), seed=st.integers(0, 99))
def test_records_answer_range_queries_by_being_counted(table, seed):
    if all(attribute.domain.size == 1 for attribute in table.schema.used()):
        return
    queries = random_range_queries(table.schema, n=30, seed=seed)
    columns = [*table.codes, table.classes]
    expected = []
    for block in queries:
        for low, high in zip(block.low, block.high, strict=True):
            inside = np.ones(len(table), dtype=bool)
            for at, attribute in enumerate(block.attributes):
                codes = columns[attribute].astype(int)
                inside &= (codes >= low[at]) & (codes < high[at])
            expected.append(inside.sum())
    assert range_answers(Spread.of_table(table), queries).tolist() == expected


def test_queries_ask_for_something_and_not_for_all_of_a_taxonomy():
    queries = random_range_queries(SCHEMA, n=3000, seed=1)
    assert {len(block.attributes) for block in queries} == {1, 2, 3}
    assert sum(len(block) for block in queries) == 3000
    sizes = [attribute.domain.size for attribute in SCHEMA.used()]
    for block in queries:
        assert (block.low < block.high).all()
        assert (block.high <= [sizes[at] for at in block.attributes]).all()
        for at, attribute in enumerate(block.attributes):
            if attribute in (1, 3):  # categorical
                assert not ((block.low[:, at] == 0) & (block.high[:, at] == sizes[attribute])).any()


def exact_release(table: EncodedTable) -> Groups:
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    return Groups(
        ranges=tuple(Ranges.of([(c, c + 1) for c in range(n)]) for n in sizes),
        index=tuple(codes.astype(np.int32) for codes in table.codes),
        classes=table.classes.astype(np.int32),
        counts=np.ones(len(table), dtype=np.int64),
        is_cut=False,
    )


@settings(max_examples=25)
@given(table=encoded_tables(min_records=1))
def test_the_records_themselves_have_no_error(table):
    groups = exact_release(table)
    width = len(table.schema.attributes) + 1
    for ways in range(1, min(3, width) + 1):
        found = marginal_errors(groups, table, ways=ways, with_class=True)
        assert found.mean == pytest.approx(0.0, abs=1e-12)
        assert found.n_marginals == found.n_possible
    if any(attribute.domain.size > 1 for attribute in table.schema.used()):
        for errors in range_errors(groups, table):
            assert errors.relative == errors.median == errors.absolute == 0.0


def test_errors_are_those_of_the_formula():
    schema = schema_of(grid(2), classes=None)
    table = EncodedTable.from_codes(schema, [[0, 0, 0, 1]])
    groups = Groups(
        ranges=(Ranges.of([(0, 2)]),),
        index=(np.zeros(1, np.int32),),
        classes=None,
        counts=np.array([6], np.int64),
        is_cut=True,
    )
    assert marginal_errors(groups, table, ways=1).mean == 0.25  # (1/2, 1/2) for (3/4, 1/4)
    (errors,) = range_errors(groups, table, seed=3)
    asked = random_range_queries(schema, seed=3)
    true = range_answers(Spread.of_table(table), asked)
    told = np.where(true == 4, 6, 3)
    assert errors.relative == pytest.approx(float(np.mean(np.abs(told - true) / true)))
    assert errors.answering_zero == 1.0


def test_hedge_answers_by_its_marginals():
    rng = np.random.default_rng(0)
    schema = schema_of(grid(40), values(4))
    skewed = np.minimum(rng.geometric(0.2, 3000) - 1, 39)
    table = EncodedTable.from_codes(
        schema, [skewed, rng.integers(0, 4, 3000)], rng.integers(0, 2, 3000)
    )
    groups = Hedge(score=GINI).publish(
        Run.start(MemoryEngine(table=table), epsilon=Fraction(4), source=SeededSource(1))
    )
    even = replace(groups, marginals=None)
    ours, theirs = (range_errors(each, table)[0].relative for each in (groups, even))
    assert ours < theirs


def test_bins_are_those_of_equal_steps():
    attribute = schema_of(grid(100)).attributes[0]
    assert bin_edges(attribute).tolist() == [100 * i // 16 for i in range(17)]
    assert bin_edges(schema_of(values(5)).attributes[0]).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_table_without_records_is_as_far_as_can_be():
    some = np.ones(3)
    assert total_variation(np.zeros(3), some) == 1.0
    assert total_variation(np.zeros(3), np.zeros(3)) == 0.0
    assert total_variation(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == 1.0


def test_marginals_of_too_many_attributes_are_refused():
    table = EncodedTable.from_codes(schema_of(grid(3)), [[1]], [0])
    with pytest.raises(SettingError, match="out of range"):
        marginal_errors(exact_release(table), table, ways=2)


def test_many_marginals_are_sampled():
    schema = schema_of(*[grid(2)] * 9)
    codes = [np.arange(8) // 4 for _ in range(9)]
    table = EncodedTable.from_codes(schema, codes, np.zeros(8))
    found = marginal_errors(exact_release(table), table, ways=3, most=10)
    assert (found.n_marginals, found.n_possible) == (10, 84)
