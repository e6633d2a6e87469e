"""Counts that follow from earlier ones are those that counting would have given."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.remembered import RememberedCounts
from hedgerow.model.placed import Borders, LevelBins, Routing, SharedBorders
from support.naive_trees import border_lists, compare_with_a_naive_tree
from support.tables import encoded_tables


def remembering(placed, **settings):
    """Let everything be worked out that can be, however few records there are."""
    return RememberedCounts(placed, rows_per_count=-1, **settings)


class Asked:
    """Placed records that note what they are asked."""

    def __init__(self, table):
        self.placed = PlacedInMemory(table, compiled=False)
        self.rows, self.routed, self.n_classes_asked = [], 0, 0

    def each(self, level):
        for a, counts in self.placed.each(level):
            self.rows.append(int(counts.sum()))
            yield a, counts

    def classes(self):
        self.n_classes_asked += 1
        return self.placed.classes()

    def route(self, routing):
        self.routed += 1
        self.placed.route(routing)


def divided(n_boxes, a, lists):
    n_children = [len(each) + 1 for each in lists]
    return Routing(
        attribute=np.full(n_boxes, a, dtype=np.int32),
        borders=Borders.of(lists),
        first_child=np.cumsum([0, *n_children[:-1]]),
        n_children=sum(n_children),
    )


@given(table=encoded_tables(), data=st.data())
def test_remembered_counts_equal_a_naive_tree(table, data):
    compare_with_a_naive_tree(remembering(PlacedInMemory(table)), table, data)


@given(table=encoded_tables(), data=st.data())
@settings(max_examples=100)
def test_borders_that_stay_and_boxes_that_are_some_give_the_same_counts(table, data):
    """Like a method's tree: the same borders again, coarser ones, some boxes, shared lists."""
    plain, kept = PlacedInMemory(table), remembering(PlacedInMemory(table))
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    lists = {a: data.draw(border_lists(2, size)) for a, size in enumerate(sizes)}
    n_boxes = 1
    for _ in range(4):
        for _ in range(data.draw(st.integers(0, 2))):
            level = question(data, lists, n_boxes)
            expected, found = plain.sum(level), kept.sum(level)
            assert list(found) == list(expected)
            for a in expected:
                assert found[a].tolist() == expected[a].tolist()
        if data.draw(st.booleans()):
            assert kept.classes().tolist() == plain.classes().tolist()
        a = data.draw(st.integers(0, len(sizes) - 1))
        routing = split(data, a, lists[a], n_boxes)
        plain.route(routing)
        kept.route(routing)
        n_boxes = routing.n_children
        if not n_boxes:
            return
    assert kept.classes().tolist() == plain.classes().tolist()


def question(data, lists, n_boxes):
    """Ask some attributes, of all boxes or of some, with lists of their own or shared ones."""
    borders, boxes = {}, {}
    for a in sorted(data.draw(st.sets(st.sampled_from(sorted(lists)), min_size=1))):
        rows = list(range(n_boxes))
        if data.draw(st.booleans()):
            rows = sorted(data.draw(st.sets(st.sampled_from(rows), min_size=1)))
            boxes[a] = np.array(rows)
        one = data.draw(st.booleans())
        which = [0 if one else data.draw(st.integers(0, 1)) for _ in rows]
        offered = [list(each) for each in lists[a]]
        if data.draw(st.booleans()) and offered[0]:
            offered[0].pop()
        if data.draw(st.booleans()):
            borders[a] = SharedBorders(lists=Borders.of(offered), which=np.array(which))
        else:
            borders[a] = Borders.of([offered[each] for each in which])
    return LevelBins(borders=borders, boxes=boxes)


def split(data, a, lists, n_boxes):
    attribute = [data.draw(st.sampled_from([a, a, a, -1])) for _ in range(n_boxes)]
    chosen = [data.draw(st.sampled_from([lists[0], lists[0][:1], []])) for _ in range(n_boxes)]
    chosen = [each if of >= 0 else [] for of, each in zip(attribute, chosen, strict=True)]
    n = [0 if of < 0 else len(each) + 1 for of, each in zip(attribute, chosen, strict=True)]
    return Routing(
        attribute=np.array(attribute, dtype=np.int32),
        borders=Borders.of(chosen),
        first_child=np.cumsum([0, *n[:-1]]),
        n_children=sum(n),
    )


@given(table=encoded_tables(min_records=1))
@settings(max_examples=30)
def test_the_largest_child_is_not_counted_and_the_last_level_not_placed(table):
    size = max(attribute.domain.size for attribute in table.schema.attributes)
    a = [attribute.domain.size for attribute in table.schema.attributes].index(size)
    asked = Asked(table)
    kept = remembering(asked)
    level = LevelBins(borders={a: Borders.of([[1]])})
    kept.sum(level)
    kept.route(divided(1, a, [[1]]))
    kept.sum(LevelBins(borders={a: Borders.of([[1], [1]])}))
    kept.route(divided(2, a, [[1], [1]]))
    sizes = kept.classes().sum(axis=1)
    assert asked.n_classes_asked == 0
    assert asked.routed == 1
    assert asked.rows == [len(table), len(table) - max(sizes)]


@given(table=encoded_tables(min_records=1))
@settings(max_examples=5)
def test_counts_that_do_not_fit_are_not_held(table):
    asked = Asked(table)
    kept = remembering(asked, most_held=0)
    for _ in range(2):
        kept.sum(LevelBins(borders={0: Borders.of([[1]])}))
    assert asked.rows == [len(table)] * 2
