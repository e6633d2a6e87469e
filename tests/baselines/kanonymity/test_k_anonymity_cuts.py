"""TDS and full-domain generalisation choose what their papers choose: brute force says so."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.kanonymity import full_domain
from hedgerow.baselines.kanonymity.full_domain import FullDomain, descend, full_domain_cuts
from hedgerow.baselines.kanonymity.levels import AttributeLevels, levels_of
from hedgerow.baselines.kanonymity.tds import TopDownSpecialisation
from hedgerow.count import distinct
from hedgerow.count.distinct import distinct_rows
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.domain import NumericDomain
from support.tables import encoded_tables, grid, schema_of, table_of, values

# Distinct rows ------------------------------------------------------------------------------


@settings(max_examples=25)
@given(table=encoded_tables(min_records=1), room=st.sampled_from([1, 20, 500, 1 << 62]))
def test_distinct_rows_are_those_of_the_table_however_few_keys_there_is_room_for(table, room):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct, "MOST_KEYS", room)
        rows = distinct_rows(MemoryEngine(table=table, piece=3))
    counted = Counter(
        zip(*(codes.tolist() for codes in (*table.codes, table.classes)), strict=True)
    )
    found = {}
    for at, codes in enumerate(zip(*(codes.tolist() for codes in rows.codes), strict=True)):
        found |= {(*codes, y): int(n) for y, n in enumerate(rows.counts[at]) if n}
    assert found == counted


# TDS ----------------------------------------------------------------------------------------


def entropy(labels):
    n = len(labels)
    return -sum(c / n * log2(c / n) for c in Counter(labels).values())


class NaiveTds:
    """Top-down specialisation for taxonomies, on lists of records [TDS, Alg. 1]."""

    def __init__(self, table, k):
        self.trees = [attribute.domain.taxonomy for attribute in table.schema.attributes]
        columns = (*table.codes, table.classes)
        self.records = list(zip(*(codes.tolist() for codes in columns), strict=True))
        self.k = k
        self.cut = [(a, self.branching(a, 0)) for a in range(len(self.trees))]
        while (chosen := self.choose()) is not None:
            self.cut = self.specialised(chosen)

    def branching(self, a, node):
        while len(self.trees[a].children(node)) == 1:
            node = int(self.trees[a].children(node)[0])
        return node

    def covers(self, part, record):
        a, node = part
        return self.trees[a].first[node] <= record[a] < self.trees[a].stop[node]

    def specialised(self, part):
        a, node = part
        children = [(a, self.branching(a, int(child))) for child in self.trees[a].children(node)]
        return [other for other in self.cut if other != part] + children

    def anonymity(self, cut):
        """The size of the smallest group of equal generalised records."""
        groups = Counter(
            frozenset(part for part in cut if self.covers(part, record)) for record in self.records
        )
        return min(groups.values())

    def choose(self):
        best, highest = None, -1.0
        before = self.anonymity(self.cut)
        for part in self.cut:
            inside = [record for record in self.records if self.covers(part, record)]
            if not len(self.trees[part[0]].children(part[1])) or len({r[-1] for r in inside}) < 2:
                continue
            after = self.specialised(part)
            if (anonymity := self.anonymity(after)) < self.k:
                continue
            gain = entropy([record[-1] for record in inside])
            for child in after[len(self.cut) - 1 :]:
                labels = [record[-1] for record in inside if self.covers(child, record)]
                gain -= len(labels) / len(inside) * entropy(labels) if labels else 0
            score = gain / (before - anonymity) if anonymity < before else gain
            if score > highest + 1e-8:
                best, highest = part, score
        return best

    def ranges(self):
        spans = [[] for _ in self.trees]
        for a, node in self.cut:
            spans[a].append((int(self.trees[a].first[node]), int(self.trees[a].stop[node])))
        return [sorted(each) for each in spans]


categorical_tables = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)),
    min_size=6,
    max_size=60,
).map(lambda rows: table_of(schema_of(values(6, 2), values(3), values(4, 2)), rows))


def ranges_of(groups):
    return [
        list(zip(each.first.tolist(), each.stop.tolist(), strict=True)) for each in groups.ranges
    ]


@settings(max_examples=40)
@given(table=categorical_tables, k=st.integers(1, 6))
def test_tds_reaches_the_cut_of_a_plain_implementation(table, k):
    method = TopDownSpecialisation(k=k)
    groups = method.publish(MemoryEngine(table=table), source=SeededSource(1))
    assert groups.is_cut
    assert ranges_of(groups) == NaiveTds(table, k).ranges()


def test_tds_splits_an_interval_where_the_classes_part():
    rows = [(age, int(age >= 30)) for age in range(20, 40) for _ in range(3)]
    table = table_of(schema_of(grid(60)), rows)
    groups = TopDownSpecialisation(k=30).publish(MemoryEngine(table=table), source=SeededSource(1))
    assert ranges_of(groups) == [[(0, 30), (30, 60)]]
    assert groups.counts.tolist() == [30, 30]


def test_tds_prefers_gain_per_loss_of_anonymity():
    """Both attributes tell the class; the second leaves smaller groups, so the first goes first,
    and after it k forbids the second."""
    rows = [(0, 0, 0)] * 10 + [(1, 1, 1)] * 8 + [(1, 2, 1)] * 2
    table = table_of(schema_of(values(2), values(3)), rows)
    groups = TopDownSpecialisation(k=3).publish(MemoryEngine(table=table), source=SeededSource(1))
    assert ranges_of(groups) == [[(0, 1), (1, 2)], [(0, 3)]]


# Full-domain --------------------------------------------------------------------------------


def naive_costs(table, levels, k, limit):
    """What every valid vector of levels costs, by measure, from one record at a time."""
    records = list(zip(*(codes.tolist() for codes in table.codes), strict=True))
    n, width = len(records), len(levels)
    for vector in itertools.product(*(range(len(each)) for each in levels)):
        places = [
            each.ranges[level].partition_of(each.ranges[0].stop[-1])
            for each, level in zip(levels, vector, strict=True)
        ]
        classes = Counter(tuple(int(p[c]) for p, c in zip(places, r, strict=True)) for r in records)
        gone = sum(size for size in classes.values() if size < k)
        if gone > limit:
            continue
        penalty = gone * width
        for row, size in classes.items():
            if size >= k:
                penalty += size * sum(
                    float(each.penalties[level][place])
                    for each, level, place in zip(levels, vector, row, strict=True)
                )
        squares = sum(size**2 for size in classes.values() if size >= k)
        yield (
            vector,
            {"discernibility": squares + gone * n, "ncp": penalty, "height": sum(vector)},
        )


@settings(max_examples=30)
@given(
    table=encoded_tables(min_records=5, max_records=30),
    k=st.integers(1, 5),
    cost=st.sampled_from(["discernibility", "ncp", "height"]),
    suppression=st.sampled_from([Fraction(0), Fraction(1, 5)]),
)
def test_the_vector_found_is_the_cheapest_of_all(table, k, cost, suppression):
    levels = levels_of(table.schema, fan_out=3)
    limit = int(suppression * len(table))
    costs = dict(naive_costs(table, levels, k, limit))
    cuts = full_domain_cuts(
        MemoryEngine(table=table), ks=[k], cost=cost, suppression=suppression, fan_out=3
    )
    found = costs[cuts[k].levels][cost]
    assert found == pytest.approx(min(each[cost] for each in costs.values()))


@settings(max_examples=25)
@given(
    table=encoded_tables(min_records=5, max_records=30),
    k=st.integers(2, 5),
    cost=st.sampled_from(["discernibility", "ncp"]),
    suppression=st.sampled_from([Fraction(0), Fraction(1, 5)]),
)
def test_a_descent_ends_at_a_minimal_vector(table, k, cost, suppression):
    levels = levels_of(table.schema, fan_out=2)
    valid = dict(naive_costs(table, levels, k, int(suppression * len(table))))
    rows = distinct_rows(MemoryEngine(table=table))
    found = tuple(descend(rows, levels, k=k, cost=cost, suppression=suppression).tolist())
    assert found in valid
    for at in range(len(found)):
        lower = (*found[:at], found[at] - 1, *found[at + 1 :])
        assert lower not in valid


def test_one_walk_serves_every_k_as_a_run_of_its_own_would(monkeypatch):
    rows = [(i * 7 % 40, i * 5 % 9, i * i % 7, i % 3) for i in range(300)]
    table = table_of(schema_of(grid(40), values(9, 3), grid(7), classes=3), rows)
    engine = MemoryEngine(table=table)
    cuts = full_domain_cuts(engine, ks=range(1, 101))
    assert cuts[1].levels == (0, 0, 0)
    for k in (2, 5, 17, 100):
        alone = FullDomain(k=k, cost="discernibility", suppression=Fraction(0), fan_out=2)
        groups = alone.publish(engine, source=SeededSource(1))
        assert ranges_of(groups) == [
            list(zip(each.first, each.stop, strict=True)) for each in cuts[k].ranges
        ]
        places = np.stack(cuts[k].generalise(table), axis=1)
        _, sizes = np.unique(places, axis=0, return_counts=True)
        assert sizes.min() >= k
        assert sizes.sum() == 300
    monkeypatch.setattr(full_domain, "MOST_VECTORS", 1)
    by_descent = full_domain_cuts(engine, ks=[5])[5]
    _, sizes = np.unique(np.stack(by_descent.generalise(table)), axis=1, return_counts=True)
    assert sizes.min() >= 5


def test_levels_of_a_grid_keep_missing_values_apart_until_the_end():
    domain = NumericDomain.even(low=0, high=4, step=1, missing=True)
    levels = AttributeLevels.of(domain, fan_out=2)
    assert [each.first.tolist() for each in levels.ranges] == [
        [0, 1, 2, 3, 4, 5],
        [0, 1, 3, 5],
        [0, 1, 5],
        [0, 1],
        [0],
    ]
    assert domain.label(0, 1) == "missing"


def test_levels_of_a_taxonomy_are_its_depths():
    levels = AttributeLevels.of(values(6, 2), fan_out=2)
    assert [each.first.tolist() for each in levels.ranges] == [
        [0, 1, 2, 3, 4, 5],
        [0, 2, 4, 5],  # 4 and 5 end a level higher up and stay themselves until then
        [0, 4],
        [0],
    ]
    assert levels.penalties[0].tolist() == [0.0] * 6
    assert levels.penalties[-1].tolist() == [1.0]
    assert len(AttributeLevels.of(values(1), fan_out=2)) == 1
