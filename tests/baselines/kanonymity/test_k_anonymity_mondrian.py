"""Mondrian cuts as its paper says: compared with a plain recursion on raw values."""

from __future__ import annotations

import csv
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.kanonymity.mondrian import Mondrian
from hedgerow.baselines.kanonymity.mondrian_cuts import entropy_records
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.demo import adult_table
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.locate import box_of
from hedgerow.model.schema import Schema
from hedgerow.plan.load import load_plan
from hedgerow.privacy.source import SeededSource
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import CategoricalDomain
from support.naive_mondrian import Categories, Numbers, certainty_penalty, discernibility, mondrian
from support.tables import encoded_tables, grid, table_of, values
from support.tables import schema_of as schema_with

QUASI_IDENTIFIERS = (
    "age",
    "education",
    "marital-status",
    "sex",
    "native-country",
)


def published(table, k, **given):
    method = Mondrian(**{"k": k, "relaxed": False, "by_class": False, "ordered": False} | given)
    return method.publish(MemoryEngine(table=table), source=SeededSource(1))


def boxes_of(table, groups):
    """The records of each box that has some, by number."""
    box = box_of(groups.tree, table.codes)
    return [np.flatnonzero(box == each) for each in np.unique(box)]


def ways_up(domain):
    tree = domain.taxonomy
    return [[tree.labels[node] for node in tree.path(leaf)[::-1]] for leaf in tree.leaf_nodes]


def naive_columns(table):
    columns = []
    for attribute, codes in zip(table.schema.attributes, table.codes, strict=True):
        domain = attribute.domain
        if isinstance(domain, CategoricalDomain):
            labels = [domain.taxonomy.leaf_labels[code] for code in codes]
            columns.append(Categories(labels, ways_up(domain)))
        else:
            columns.append(Numbers(codes))
            columns[-1].range = max(columns[-1].range, 1.0)
    return columns


@settings(max_examples=30)
@given(table=encoded_tables(min_records=6, max_records=40), k=st.integers(1, 5))
def test_strict_boxes_are_those_of_a_plain_recursion(table, k):
    found = boxes_of(table, published(table, k))
    expected = mondrian(naive_columns(table), k)
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))


@pytest.fixture(scope="module")
def adult():
    """UCI Adult by five quasi-identifiers: encoded, and as raw columns of the file."""
    folder = files("hedgerow.demo") / "adult"
    whole = schema_of(load_plan(folder / "plan.yaml"))
    chosen = tuple(each for each in whole.attributes if each.name in QUASI_IDENTIFIERS)
    schema = Schema(
        attributes=chosen,
        class_attribute=whole.class_attribute,
        missing_values=whole.missing_values,
    )
    raw = adult_table()
    complete = np.ones(len(raw), dtype=bool)
    texts = {name: np.array(raw[name].to_pylist(), dtype=object) for name in QUASI_IDENTIFIERS}
    for cells in texts.values():
        complete &= np.array([cell not in (None, "", "?") for cell in cells])
    columns = []
    for name in QUASI_IDENTIFIERS:
        cells = texts[name][complete]
        if name == "age":
            columns.append(Numbers(cells))
            continue
        lines = (folder / "taxonomies" / f"{name}.csv").read_text().splitlines()
        columns.append(Categories(cells, list(csv.reader(lines, delimiter=";"))))
    return encode_table(open_table(raw), schema), columns


@pytest.mark.parametrize("k", [5, 10, 50])
def test_discernibility_and_ncp_on_adult_are_those_of_an_independent_implementation(adult, k):
    table, columns = adult
    ours = boxes_of_many(table, published(table, k))
    theirs = mondrian(columns, k)
    assert len(table) == sum(map(len, ours)) == sum(map(len, theirs))
    assert discernibility(ours) == pytest.approx(discernibility(theirs), rel=0.1)
    expected = certainty_penalty(columns, theirs)
    assert certainty_penalty(columns, ours) == pytest.approx(expected, rel=0.1)


def boxes_of_many(table, groups):
    """The same as `boxes_of`, for thousands of boxes."""
    box = box_of(groups.tree, table.codes)
    order = np.argsort(box, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(box[order])) + 1)


def allowable_cuts(table, k):
    """Every allowable cut of the whole table, as the sizes-weighted entropy it leaves."""
    classes = np.eye(int(table.classes.max(initial=0)) + 1, dtype=np.int64)[table.classes]
    for attribute, codes in zip(table.schema.attributes, table.codes, strict=True):
        domain = attribute.domain
        ways = [[0, border, domain.size] for border in range(1, domain.size)]
        if isinstance(domain, CategoricalDomain):
            tree, node = domain.taxonomy, 0
            while len(tree.children(node)) == 1:
                node = int(tree.children(node)[0])
            children = tree.children(node)
            ways = [[0, *tree.stop[children].tolist()]] if len(children) else []
        for way in ways:
            parts = [(codes >= low) & (codes < high) for low, high in pairwise(way)]
            sizes = [int(part.sum()) for part in parts]
            numeric = not isinstance(domain, CategoricalDomain)
            if all(size >= k or (size == 0 and not numeric) for size in sizes):
                yield sum(float(entropy_records(classes[part].sum(axis=0))) for part in parts)


@settings(max_examples=25)
@given(table=encoded_tables(min_records=6, max_records=30), k=st.integers(1, 4))
def test_by_class_the_first_cut_leaves_the_least_entropy_of_all_allowable_ones(table, k):
    groups = published(table, k, by_class=True)
    cuts = list(allowable_cuts(table, k))
    if not cuts:
        assert len(groups.tree) == 1
        return
    children = np.flatnonzero(groups.tree.parent == 0)
    codes = table.codes[groups.tree.attribute[children[0]]]
    classes = np.eye(int(table.classes.max(initial=0)) + 1, dtype=np.int64)[table.classes]
    left = sum(
        float(entropy_records(classes[(codes >= first) & (codes < stop)].sum(axis=0)))
        for first, stop in zip(groups.tree.first[children], groups.tree.stop[children], strict=True)
    )
    assert left == pytest.approx(min(cuts), abs=1e-9)


@settings(max_examples=25)
@given(values=st.sets(st.integers(0, 99), min_size=4, max_size=60), k=st.integers(1, 4))
def test_relaxed_boxes_of_different_values_have_k_to_2k_records_and_share_none(values, k):
    table = table_of(schema_with(grid(100), classes=None), [(value,) for value in sorted(values)])
    groups = published(table, k, relaxed=True)
    assert groups.counts.min() >= k
    assert groups.counts.max() < 2 * k
    assert (groups.ranges[0].first[1:] == groups.ranges[0].stop[:-1]).all()


def test_a_relaxed_cut_shares_out_the_records_of_the_median():
    table = table_of(schema_with(grid(10), classes=None), [(1,), (4,), (4,), (4,), (4,), (9,)])
    groups = published(table, 3, relaxed=True)
    ranges = groups.ranges[0]
    boxes = list(zip(ranges.first.tolist(), ranges.stop.tolist(), strict=True))
    assert boxes == [(0, 5), (4, 10)]
    assert groups.counts.tolist() == [3, 3]
    assert groups.tree is None
    strict = published(table, 3)
    assert len(strict) == 1  # no strict cut leaves three on both sides


def test_categories_are_cut_by_taxonomy_or_by_order():
    rows = [(code,) for code in range(6) for _ in range(4)]
    table = table_of(schema_with(values(6, 3), classes=None), rows)
    by_order = published(table, 8, ordered=True).ranges[0]
    assert list(zip(by_order.first, by_order.stop, strict=True)) == [(0, 3), (3, 6)]
    by_tree = published(table, 8).ranges[0]
    children = table.schema.attributes[0].domain.taxonomy.children(0)
    assert len(by_tree) in (1, len(children))


def test_a_node_with_records_in_one_child_only_is_narrowed_without_dividing_anybody():
    table = table_of(schema_with(values(4, 2), classes=None), [(3,)] * 3)
    groups = published(table, 3)
    place = groups.index[0][0]
    assert (groups.ranges[0].first[place], groups.ranges[0].stop[place]) == (3, 4)
    assert groups.counts.tolist() == [3]
