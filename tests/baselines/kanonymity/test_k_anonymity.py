"""Every k-anonymity baseline keeps k, loses no record, and says what the records say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from hedgerow.baselines.kanonymity import mondrian_growth
from hedgerow.baselines.kanonymity.full_domain import FullDomain
from hedgerow.baselines.kanonymity.mondrian import Mondrian
from hedgerow.baselines.kanonymity.tds import TopDownSpecialisation
from hedgerow.count import distinct
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import DataError, SettingError
from hedgerow.model.locate import check_tree
from hedgerow.privacy.source import SeededSource
from hedgerow.release.recoding import Recoding
from support.tables import encoded_tables, grid, schema_of, table_of, values


def mondrian(k, **given):
    return Mondrian(**{"k": k, "relaxed": False, "by_class": False, "ordered": False} | given)


def full_domain(k, **given):
    usual = {"cost": "discernibility", "suppression": Fraction(0), "fan_out": 2}
    return FullDomain(**{"k": k} | usual | given)


RECODED = {
    "mondrian": mondrian,
    "mondrian by order": lambda k: mondrian(k, ordered=True),
    "mondrian by class": lambda k: mondrian(k, by_class=True),
    "mondrian by class and order": lambda k: mondrian(k, by_class=True, ordered=True),
    "tds": lambda k: TopDownSpecialisation(k=k),
    "full-domain": full_domain,
    "full-domain ncp": lambda k: full_domain(k, cost="ncp"),
    "full-domain height": lambda k: full_domain(k, cost="height", fan_out=3),
}
LOOSE = {
    "relaxed mondrian": lambda k: mondrian(k, relaxed=True),
    "relaxed mondrian by order": lambda k: mondrian(k, relaxed=True, ordered=True),
}
METHODS = RECODED | LOOSE
recoded = pytest.mark.parametrize("make", RECODED.values(), ids=list(RECODED))
loose = pytest.mark.parametrize("make", LOOSE.values(), ids=list(LOOSE))
every_method = pytest.mark.parametrize("make", METHODS.values(), ids=list(METHODS))


def run(method, table, **engine):
    method.validate(table.schema)
    return method.publish(MemoryEngine(table=table, **engine), source=SeededSource(1))


def labelled_groups(table, groups):
    """The release as people read it: labels of a row, without and with its class."""
    rows = Recoding.of(table.schema, groups)
    labels = [
        [texts[place] for place in index]
        for texts, index in zip(rows.labels, groups.index, strict=True)
    ]
    classes = [] if groups.classes is None else [groups.classes.tolist()]
    return Counter(
        dict(zip(zip(*labels, *classes, strict=True), groups.counts.tolist(), strict=True))
    )


def recount(table, groups):
    """What the raw records say, one by one, once the release's recoding has been applied."""
    schema = table.schema
    rows = Recoding.of(schema, groups).apply(table).to_pylist()
    names = [attribute.name for attribute in schema.attributes]
    classes = [()] * len(rows) if table.classes is None else [(int(c),) for c in table.classes]
    return Counter(
        tuple(row[name] for name in names) + label for row, label in zip(rows, classes, strict=True)
    )


def box_sizes(groups):
    boxes = zip(*(index.tolist() for index in groups.index), strict=True)
    sizes = Counter()
    for box, count in zip(boxes, groups.counts.tolist(), strict=True):
        sizes[box] += count
    return sizes


tables_and_k = st.integers(1, 6).flatmap(
    lambda k: st.tuples(encoded_tables(min_records=k, max_records=30), st.just(k))
)


@recoded
@settings(max_examples=20)
@given(case=tables_and_k)
def test_a_recount_of_the_raw_records_finds_the_release_and_k_in_every_box(make, case):
    table, k = case
    groups = run(make(k), table)
    counted = recount(table, groups)
    assert counted == labelled_groups(table, groups)
    sizes = Counter()
    for row, count in counted.items():
        sizes[row[:-1]] += count
    assert min(sizes.values()) >= k
    assert sum(sizes.values()) == len(table)
    if groups.tree is not None:
        check_tree(groups.tree, [a.domain.size for a in table.schema.attributes])


@loose
@settings(max_examples=20)
@given(case=tables_and_k)
def test_records_can_be_dealt_out_to_relaxed_boxes_and_every_box_has_k(make, case):
    table, k = case
    groups = run(make(k), table)
    assert min(box_sizes(groups).values()) >= k
    assert groups.counts.sum() == len(table)
    assert dealt_out(table, groups) == len(table)


def dealt_out(table, groups):
    """How many records can be given to groups that hold them, each group its count at most."""
    n, m = len(table), len(groups)
    edges = [(0, 1 + r, 1) for r in range(n)]
    edges += [(1 + n + g, 1 + n + m, int(count)) for g, count in enumerate(groups.counts)]
    inside = np.stack([table.classes[:, None] == groups.classes[None, :]])
    for codes, ranges, index in zip(table.codes, groups.ranges, groups.index, strict=True):
        first, stop = ranges.first[index], ranges.stop[index]
        holds = (codes[:, None] >= first) & (codes[:, None] < stop)
        inside = np.concatenate([inside, holds[None]])
    edges += [(1 + r, 1 + n + g, 1) for r, g in np.argwhere(inside.all(axis=0)).tolist()]
    tail, head, room = (np.array(each, dtype=np.int32) for each in zip(*edges, strict=True))
    graph = csr_array((room, (tail, head)), shape=(2 + n + m, 2 + n + m))
    return maximum_flow(graph, 0, 1 + n + m).flow_value


def test_the_dealing_would_notice_a_box_that_claims_too_many():
    table = table_of(schema_of(grid(4)), [(0, 0), (1, 0), (2, 0), (3, 0)])
    groups = run(mondrian(2, relaxed=True), table)
    groups.counts[:] = [3, 1]
    assert dealt_out(table, groups) == 3


@settings(max_examples=20)
@given(case=tables_and_k, share=st.sampled_from([Fraction(1, 10), Fraction(1, 3)]))
def test_suppression_leaves_out_a_share_at_the_most_and_only_small_boxes(case, share):
    table, k = case
    groups = run(full_domain(k, suppression=share), table)
    sizes = box_sizes(groups)
    assert not sizes or min(sizes.values()) >= k
    assert len(table) - groups.counts.sum() <= share * len(table)
    counted, published = recount(table, groups), labelled_groups(table, groups)
    assert published.items() <= counted.items()
    left_out = Counter()
    for row, count in (counted - published).items():
        left_out[row[:-1]] += count
    assert all(size < k for size in left_out.values())


@every_method
@settings(max_examples=5)
@given(case=tables_and_k)
def test_groups_are_listed_once_and_in_canonical_order(make, case):
    groups = run(make(case[1]), case[0])
    rows = list(zip(*(each.tolist() for each in (*groups.index, groups.classes)), strict=True))
    assert rows == sorted(set(rows))
    assert (groups.counts > 0).all()
    assert groups.origin is None


@every_method
def test_neither_the_order_nor_the_pieces_of_the_records_matter(make, monkeypatch):
    schema = schema_of(grid(40), values(9, 3), grid(7), classes=3)
    rows = [(i * 7 % 40, i * 5 % 9, i * i % 7, i % 3) for i in range(300)]

    def content(table, **engine):
        groups = run(make(4), table, **engine)
        return labelled_groups(table, groups)

    first = content(table_of(schema, rows))
    assert content(table_of(schema, rows[::-1])) == first
    assert content(table_of(schema, rows), piece=37) == first
    monkeypatch.setattr(distinct, "MOST_KEYS", 100)
    assert content(table_of(schema, rows)) == first


@every_method
def test_fewer_records_than_k_are_refused_without_saying_how_many(make):
    table = table_of(schema_of(grid(9), values(3)), [(1, 0, 0), (2, 1, 1), (3, 2, 0)])
    with pytest.raises(DataError, match="fewer complete records than k") as refused:
        run(make(4), table)
    assert "3" not in str(refused.value)
    assert sum(box_sizes(run(make(3), table)).values()) == 3


@pytest.mark.parametrize(
    "method", [mondrian(2, by_class=True), TopDownSpecialisation(k=2)], ids=["mondrian", "tds"]
)
def test_methods_that_compare_classes_want_a_class(method):
    with pytest.raises(SettingError, match="no attribute is the class"):
        method.validate(schema_of(grid(5), classes=None))


@pytest.mark.parametrize(
    "build",
    [
        *(lambda make=make: make(0) for make in METHODS.values()),
        lambda: mondrian(2, relaxed=True, by_class=True),
        lambda: full_domain(2, suppression=Fraction(1)),
        lambda: full_domain(2, fan_out=1),
    ],
)
def test_settings_out_of_range_are_refused_when_given(build):
    with pytest.raises(SettingError):
        build()


@pytest.mark.parametrize(
    "make",
    [mondrian, lambda k: mondrian(k, relaxed=True), full_domain],
    ids=["mondrian", "relaxed", "full-domain"],
)
def test_a_table_without_a_class_is_published_without_one(make):
    table = table_of(schema_of(grid(30), values(4), classes=None), [(i, i % 4) for i in range(30)])
    groups = run(make(3), table)
    assert groups.classes is None
    assert groups.counts.sum() == 30
    assert groups.counts.min() >= 3
    assert len(groups) > 1


@every_method
def test_the_statement_says_what_is_promised_and_what_is_not(make):
    statement = make(7).statement
    assert statement.startswith("Not differentially private.")
    assert "at least k = 7 records" in statement
    assert "6 others" in statement
    assert "class" in statement


@settings(max_examples=15)
@given(case=tables_and_k)
def test_wide_ranges_that_offer_few_cuts_still_keep_k(case):
    table, k = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian_growth, "MOST_VALUES", 2)
        groups = run(mondrian(k, ordered=True), table)
    assert recount(table, groups) == labelled_groups(table, groups)
    assert min(box_sizes(groups).values()) >= k
