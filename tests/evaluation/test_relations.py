"""Pairs, correlations and means of a release equal those of spreading it code by code."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation import pair_tables
from hedgerow.evaluation.marginals import bin_edges, total_variation
from hedgerow.evaluation.moments import moments, scale_of
from hedgerow.evaluation.relations import relation_facts, relations
from hedgerow.evaluation.spread import Spread
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy
from support.loose_groups import KINDS, SCHEMA, density
from support.tables import encoded_tables, grid, schema_of, table_of, values


def weighted_points(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Every point of the domain with some weight: its codes by attribute, and its weight."""
    whole = density(groups)
    points = np.argwhere(whole > 0)
    return points, whole[tuple(points.T)]


@settings(max_examples=40, deadline=None)
@given(KINDS)
def test_means_and_correlations_are_numpys_over_all_points(groups):
    scales = {at: scale_of(each.domain) for at, each in enumerate(SCHEMA.used())}
    scales = {at: scale for at, scale in scales.items() if scale is not None}
    assert sorted(scales) == [0, 2, 3]  # two grids, and a class of two values
    found = moments(Spread.of_groups(groups, SCHEMA), scales)
    points, weights = weighted_points(groups)
    columns = [scales[at].values[points[:, at]] for at in sorted(scales)]
    means = [np.average(column, weights=weights) for column in columns]
    assert found.means == pytest.approx(means)
    for a, b in combinations(range(3), 2):
        spreads = [float(np.cov(columns[at], aweights=weights, ddof=0)) for at in (a, b)]
        if min(spreads) < 1e-9:
            assert np.isnan(found.correlations[a, b])
            continue
        covariance = np.cov(columns[a], columns[b], aweights=weights, ddof=0)[0, 1]
        expected = covariance / np.sqrt(spreads[0] * spreads[1])
        assert found.correlations[a, b] == pytest.approx(expected, abs=1e-6)
        assert found.correlations[b, a] == pytest.approx(expected, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(KINDS)
def test_tables_by_pieces_are_those_of_one_product(groups):
    spread = Spread.of_groups(groups, SCHEMA)
    edges = [bin_edges(attribute) for attribute in SCHEMA.used()]
    few, whole = pair_tables._by_pieces(spread, edges), pair_tables._multiplied(spread, edges)
    for a, b in combinations(range(len(edges)), 2):
        assert np.allclose(few(a, b), whole(a, b))


def test_many_pieces_are_multiplied_in_one_product():
    schema = schema_of(grid(1000), grid(1000), classes=None)
    edges = [bin_edges(attribute) for attribute in schema.attributes]
    alone = np.arange(400, dtype=np.int32)
    ranges = Ranges.of([(at, at + 2) for at in range(400)])
    many = Groups(
        ranges=(ranges, ranges),
        index=(alone, alone),
        classes=None,
        counts=np.ones(400, dtype=np.int64),
        is_cut=False,
    )
    few = replace(many, ranges=(Ranges.of([(0, 9)]),) * 2, index=(alone * 0, alone * 0))
    found = [pair_tables._few_pieces(Spread.of_groups(each, schema), edges) for each in (many, few)]
    assert found == [False, True]


@settings(max_examples=40, deadline=None)
@given(KINDS, st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_impossible_combinations_are_those_of_every_point_by_itself(groups, seed, n_records):
    rng = np.random.default_rng(seed)
    rows = [
        tuple(int(rng.integers(0, a.domain.size)) for a in SCHEMA.used()) for _ in range(n_records)
    ]
    table = table_of(SCHEMA, rows)
    points, weights = weighted_points(groups)
    found = relations(groups, table, with_class=True)
    assert found.exact
    assert [each.attributes for each in found.pairs] == list(combinations(range(4), 2))
    for each in found.pairs:
        a, b = each.attributes
        there = {(row[a], row[b]) for row in rows}  # domains are small: every code is a bin
        outside = [(p[a], p[b]) not in there for p in points.tolist()]
        share = weights[np.array(outside)].sum() / weights.sum()
        assert each.impossible == pytest.approx(share, abs=1e-12)
        sizes = [attribute.domain.size for attribute in SCHEMA.used()]
        assert each.even == pytest.approx(1 - len(there) / (sizes[a] * sizes[b]))


@settings(max_examples=40, deadline=None)
@given(encoded_tables(min_records=2))
def test_the_records_themselves_have_no_error_at_all(table):
    codes = [np.unique(column, return_inverse=True) for column in table.codes]
    groups = Groups(
        ranges=tuple(Ranges.of([(int(c), int(c) + 1) for c in used]) for used, _ in codes),
        index=tuple(place.astype(np.int32) for _, place in codes),
        classes=None if table.classes is None else table.classes.astype(np.int32),
        counts=np.ones(len(table), dtype=np.int64),
        is_cut=False,
    )
    found = relations(groups, table, with_class=table.classes is not None)
    for each in found.pairs:
        assert each.impossible == 0
        assert each.error == pytest.approx(0, abs=1e-12)
        assert each.correlation == pytest.approx(each.true_correlation)
    assert all(each.error == pytest.approx(0, abs=1e-9) for each in found.means)


def people(n: int, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 90, n)
    b = np.clip(a + rng.integers(-9, 10, n), 0, 99)
    return EncodedTable.from_codes(
        schema_of(grid(90), grid(100), values(70)), [a, b, a * 7 % 70], (a > 60).astype(np.int64)
    )


def test_correlations_of_records_are_numpys():
    table = people(2000, 3)
    scales = {at: scale_of(table.schema.attributes[at].domain) for at in (0, 1)}
    found = moments(Spread.of_table(table), scales)
    expected = np.corrcoef(table.codes[0], table.codes[1])[0, 1]
    assert found.correlations[0, 1] == pytest.approx(expected)
    assert found.means == pytest.approx([codes.mean() for codes in table.codes[:2]])


def test_missing_values_are_left_out_pair_by_pair():
    domain = NumericDomain.even(low=0, high=9, step=1, missing=True)
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 11, 500), rng.integers(0, 11, 500)
    table = EncodedTable.from_codes(schema_of(domain, domain, classes=None), [a, b], None)
    scales = {at: scale_of(domain) for at in (0, 1)}
    found = moments(Spread.of_table(table), scales)
    both = (a > 0) & (b > 0)
    expected = np.corrcoef(a[both], b[both])[0, 1]
    assert found.correlations[0, 1] == pytest.approx(expected)
    assert found.means == pytest.approx([a[a > 0].mean() - 1, b[b > 0].mean() - 1])


def test_values_stand_in_the_middle_of_their_cells():
    assert scale_of(grid(4)).values.tolist() == [0, 1, 2, 3]
    cells = NumericDomain.from_edges([0, 10, 100], missing=True)
    assert scale_of(cells).values[1:].tolist() == [5, 55]
    assert scale_of(cells).known.tolist() == [False, True, True]
    assert scale_of(values(3)) is None
    unknown = CategoricalDomain.over(Taxonomy.flat(["yes"]), missing="unknown")
    assert scale_of(unknown) is None
    assert scale_of(grid(1)) is None


def test_many_boxes_are_stood_for_by_drawn_records(monkeypatch):
    table = people(3000, 1)
    thirds = [Ranges.of([(0, s // 3), (s // 3, s)]) for s in (90, 100, 70)]
    groups = Groups(
        ranges=tuple(thirds),
        index=tuple(np.array(each, np.int32) for each in ([0, 1], [0, 1], [1, 0])),
        classes=np.array([0, 1], np.int32),
        counts=np.array([30_000, 60_000], np.int64),
        is_cut=False,
    )
    exact = relations(groups, table, with_class=True)
    monkeypatch.setattr(pair_tables, "MOST_PRODUCTS", 1)
    drawn = relations(groups, table, with_class=True)
    assert exact.exact
    assert not drawn.exact
    for ours, theirs in zip(exact.pairs, drawn.pairs, strict=True):
        assert ours.impossible == pytest.approx(theirs.impossible, abs=0.02)
        assert ours.error == pytest.approx(theirs.error, abs=0.02)
        assert ours.correlation == theirs.correlation  # of these all is known
    assert relation_facts(drawn, "abcd")["tables"] == "of records drawn from the release"


@given(KINDS)
@settings(max_examples=40, deadline=None)
def test_all_tables_together_are_those_of_single_marginals(groups):
    spread = Spread.of_groups(groups, SCHEMA)
    edges = [bin_edges(attribute) for attribute in SCHEMA.used()]
    table = pair_tables.pair_tables(spread, edges)
    for a, b in combinations(range(4), 2):
        assert np.allclose(table(a, b), spread.marginal((a, b), [edges[a], edges[b]]))


def test_the_error_of_a_pair_is_that_of_its_table():
    table = people(500, 2)
    groups = Groups(
        ranges=tuple(Ranges.of([(0, each.domain.size)]) for each in table.schema.attributes),
        index=tuple(np.zeros(1, np.int32) for _ in range(3)),
        classes=np.zeros(1, np.int32),
        counts=np.array([500], np.int64),
        is_cut=False,
    )
    found = relations(groups, table)
    assert len(found.pairs) == 3
    edges = [bin_edges(table.schema.attributes[at]) for at in (0, 1)]
    true = Spread.of_table(table).marginal((0, 1), edges)
    told = Spread.of_groups(groups, table.schema).marginal((0, 1), edges)
    assert found.pairs[0].error == pytest.approx(total_variation(told, true))
    assert found.pairs[0].impossible == pytest.approx(found.pairs[0].even)  # it is spread evenly
    assert found.pairs[0].correlation == pytest.approx(0, abs=1e-9)


def test_facts_say_how_far_who_knows_nothing_would_be_off():
    table = people(800, 4)
    empty = Groups(
        ranges=tuple(Ranges.of([(0, each.domain.size)]) for each in table.schema.attributes),
        index=tuple(np.zeros(1, np.int32) for _ in range(3)),
        classes=np.zeros(1, np.int32),
        counts=np.array([800], np.int64),
        is_cut=False,
    )
    facts = relation_facts(relations(empty, table), ["a", "b", "c"])
    assert facts["impossible"]["mean"] == pytest.approx(facts["impossible"]["even"])
    assert facts["correlations"]["mean-error"] == pytest.approx(
        facts["correlations"]["answering-zero"]
    )
    assert facts["mean-errors"]["mean-error"] == pytest.approx(
        facts["mean-errors"]["answering-middle"], abs=1e-9
    )
    assert [each["attributes"] for each in facts["pairs"]] == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert facts["pairs"][1]["correlation"] is None  # c has 70 values and no order
    nobody = replace(empty, counts=np.zeros(1, np.int64))
    assert relation_facts(relations(nobody, table), "abc")["impossible"]["mean"] == 0
