"""Pictures of boxes: every figure is a sum of published counts, and no page is too large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_report import Page

from hedgerow.draw import tree as box_tree
from hedgerow.draw.axis import MOST_CELLS, PictureAxis, by_splits, cell_totals, density_steps
from hedgerow.draw.maps import box_maps, cell_counts, rectangles
from hedgerow.draw.strips import box_strips
from hedgerow.draw.tree import MOST_CHILDREN, MOST_NODES, tree_picture
from hedgerow.model.groups import Groups, Ranges, Tree
from hedgerow.model.locate import box_ranges
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release.release import Release
from hedgerow.taxonomy.domain import NumericDomain
from support.box_trees import groups_of, random_tree
from support.tables import domains, grid, schema_of, values

seeds = st.integers(0, 2**32 - 1)
schemas = st.builds(lambda some: schema_of(*some), st.lists(domains, min_size=2, max_size=4))


def released(schema: Schema, seed: int, **how: Any) -> Groups:
    rng = np.random.default_rng(seed)
    return groups_of(schema, random_tree(schema, rng, **how), rng)


@pytest.fixture
def small() -> tuple[Schema, Groups]:
    """Left of 4; right of it below and above 2."""
    schema = schema_of(grid(10), grid(6))
    tree = Tree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        attribute=np.array([-1, 0, 0, 1, 1], np.int32),
        first=np.array([0, 0, 4, 0, 2], np.int32),
        stop=np.array([0, 4, 10, 2, 6], np.int32),
        box=np.array([-1, 0, -1, 1, 2], np.int32),
        sizes=np.array([100.2, 24.0, 76.2, 36.0, 40.2]),
    )
    ranges, boxes = box_ranges(tree, [10, 6])
    groups = Groups(
        ranges=ranges,
        index=tuple(index[[0, 1, 1, 2]] for index in boxes),
        classes=np.array([0, 0, 1, 1], np.int32),
        counts=np.array([24, 30, 6, 60], np.int64),
        is_cut=False,
        tree=tree,
        boxes=boxes,
    )
    return schema, groups


@given(schema=schemas, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_a_cell_has_what_its_boxes_would_have_there_if_records_lay_evenly(schema, seed):
    groups = released(schema, seed)
    axes = tuple(PictureAxis.of(schema.attributes[at], groups.ranges[at]) for at in (0, 1))
    found = cell_counts(groups, (0, 1), axes, 2)
    sizes = [schema.attributes[at].domain.size for at in (0, 1)]
    by_code = np.zeros((2, *sizes))
    for row, (of_class, count) in enumerate(zip(groups.classes, groups.counts, strict=True)):
        spans = [
            slice(table.first[index[row]], table.stop[index[row]])
            for table, index in zip(groups.ranges[:2], groups.index[:2], strict=True)
        ]
        area = by_code[of_class, spans[0], spans[1]]
        area += count / area.size
    for across in range(len(axes[0])):
        for down in range(len(axes[1])):
            left, right = axes[0].borders[across : across + 2]
            top, bottom = axes[1].borders[down : down + 2]
            expected = by_code[:, left:right, top:bottom].sum(axis=(1, 2))
            assert found[:, across, down] == pytest.approx(expected)
    for at in (0, 1):
        marginal = found.sum(axis=(0, 2 - at))
        assert cell_totals(groups, at, axes[at]) == pytest.approx(marginal)


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_rectangles_of_equal_cells_tile_the_map(seed):
    cells = np.random.default_rng(seed).integers(0, 2, (6, 5))
    seen = np.zeros_like(cells)
    for left, right, top, bottom in rectangles(cells):
        assert len(set(cells[left:right, top:bottom].ravel().tolist())) == 1
        seen[left:right, top:bottom] += 1
    assert (seen == 1).all()


def test_a_map_is_the_boxes_where_they_do_not_overlap(small):
    schema, groups = small
    maps = box_maps(schema, groups)
    assert len(maps.maps) == 1
    drawn = maps.maps[0]
    assert (drawn.across, drawn.down) == ("a0", "a1")
    assert drawn.n_rectangles == 3
    # Densities 24 in 24, 36 in 12 and 60 in 24 codes, of 120 in 60; the y axis rises.
    found = {(shape.density, shape.group, shape.strength): shape.outline for shape in drawn.shapes}
    assert found == {
        (4, 1, 2): "M0 840h480v-840h-480z",
        (5, 1, 2): "M480 840h720v-280h-720z",
        (5, 0, 2): "M480 560h720v-560h-720z",
    }
    assert maps.classes == ("v1", "v0")
    assert [mark.text for mark in drawn.across_marks] == ["0", "4", "9"]


def test_colours_rise_with_density_and_nothing_has_none():
    shares, areas = np.array([0, 1e-6, 0.5, 0.5]), np.array([0.1, 0.5, 0.4, 0.001])
    assert density_steps(shares, areas).tolist() == [0, 1, 5, 8]


def test_the_attributes_that_divide_most_records_come_first(small):
    _, groups = small
    assert by_splits(groups) == [0, 1]
    swapped = replace(groups.tree, sizes=np.array([10.0, 5.0, 90.0, 45.0, 45.0]))
    assert by_splits(replace(groups, tree=swapped)) == [1, 0]
    one = schema_of(grid(4), grid(4))
    assert box_maps(one, released(one, 1, depth=1)).maps == ()


def test_a_long_axis_is_thinned_and_its_narrow_cells_are_drawn_wider():
    codes = np.arange(500, dtype=np.int32)
    attribute = Attribute(name="x", domain=NumericDomain.even(low=0, high=9999, step=1))
    axis = PictureAxis.of(attribute, Ranges(first=codes, stop=codes + 1))
    assert len(axis) == MOST_CELLS
    assert axis.n_cells == 501
    assert axis.stretched
    assert np.diff(axis.at).min() > 0.008
    assert axis.at[0] == 0
    assert axis.at[-1] == pytest.approx(1)
    assert axis.widths.sum() == pytest.approx(1)


def test_borders_of_numbers_are_named_as_numbers():
    domain = NumericDomain.even(low=10, high=40, step=5, missing=True)
    axis = PictureAxis.of(Attribute(name="x", domain=domain), Ranges.of([(0, 1), (1, 4), (4, 8)]))
    assert [axis.border_text(at) for at in range(4)] == ["missing", "10", "25", "40"]


def test_the_tree_is_drawn_with_its_noisy_sizes(small):
    schema, groups = small
    found = tree_picture(schema, groups.tree)
    assert [(row.attribute, row.label, row.size, row.split_by) for row in found.rows] == [
        ("", "all records", 100, "a0"),
        ("a0", "[0, 4)", 24, ""),
        ("a0", "[4, 9]", 76, "a1"),
        ("a1", "[0, 2)", 36, ""),
        ("a1", "[2, 5]", 40, ""),
    ]
    assert [len(row.branches) for row in found.rows] == [0, 1, 1, 2, 2]
    assert (found.n_boxes, found.n_levels, found.n_not_drawn) == (3, 2, 0)


def test_a_large_tree_is_drawn_in_part_and_the_rest_is_counted():
    schema = schema_of(*[grid(50)] * 4)
    groups = released(schema, 3, splits=1.0, depth=8)
    found = tree_picture(schema, groups.tree)
    assert len(found.rows) == 31  # four levels of halves
    assert found.n_not_drawn == len(groups.tree) - 31
    below = sum(row.n_boxes for row in found.rows if not row.is_open)
    assert below == found.n_boxes == len(groups.boxes[0])


def test_a_wide_node_is_drawn_with_its_largest_children():
    schema = schema_of(values(300), grid(5))
    tree = random_tree(schema, np.random.default_rng(1), depth=1)
    assert len(tree) == 301
    found = tree_picture(schema, tree)
    assert len(found.rows) == 1 + MOST_CHILDREN + 1 <= MOST_NODES
    assert found.rows[-1].n_more == 300 - MOST_CHILDREN
    assert found.n_not_drawn == 300 - MOST_CHILDREN
    smallest = min(row.size for row in found.rows[1:-1])
    assert np.count_nonzero(tree.sizes[1:] > smallest) < MOST_CHILDREN


def test_no_more_nodes_are_drawn_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(box_tree, "MOST_NODES", 10)
    schema = schema_of(*[grid(50)] * 4)
    found = tree_picture(schema, released(schema, 3, splits=1.0, depth=8).tree)
    assert len(found.rows) <= 10


def test_an_attribute_is_shown_by_the_parts_that_no_box_divides(small):
    schema, groups = small
    strips = box_strips(schema, groups).strips
    assert [(strip.name, strip.n_splits, strip.n_cells) for strip in strips] == [
        ("a0", 1, 2),
        ("a1", 1, 2),
    ]
    # Box 0 lies over all of a1: a third of its 24 records are below 2.
    assert [(cell.label, cell.count) for cell in strips[1].cells] == [
        ("[0, 2)", 44),
        ("[2, 5]", 76),
    ]
    assert [tick.text for tick in strips[1].ticks] == ["0", "2", "5"]


@given(schema=schemas, seed=seeds, columns=st.sampled_from([1, 2]))
@settings(max_examples=40, deadline=None)
def test_estimates_follow_the_marginals_as_records_do(schema, seed, columns):
    rng = np.random.default_rng(seed)
    size = schema.attributes[0].domain.size
    weights = rng.integers(0, 3, (size, columns)).astype(np.float64)
    groups = released(schema, seed)
    groups = replace(groups, marginals=(weights, *[weights] * (len(schema.attributes) - 1)))
    table, index = groups.ranges[0], groups.index[0]
    expected = np.zeros(size)
    for row, (of_class, count) in enumerate(zip(groups.classes, groups.counts, strict=True)):
        span = slice(table.first[index[row]], table.stop[index[row]])
        inside = weights[span, of_class if columns == 2 else 0]
        inside = inside if inside.sum() else np.ones(len(inside))
        expected[span] += count * inside / inside.sum()
    codes = np.arange(size, dtype=np.int32)
    axis = PictureAxis.of(schema.attributes[0], Ranges(first=codes, stop=codes + 1), most=size)
    assert cell_totals(groups, 0, axis) == pytest.approx(expected)


@pytest.fixture
def page_of(make_certificate: Callable[..., Any]) -> Callable[[Schema, Groups], str]:
    def render(schema: Schema, groups: Groups) -> str:
        return Release(schema=schema, groups=groups, certificate=make_certificate()).report()

    return render


def test_the_maps_are_switched_without_scripts(schema, page_of):
    html = page_of(schema, released(schema, 8, splits=0.9))
    page = Page(html)
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert not [tag for tag, _ in page.tags if tag == "script"]
    assert not [name for _, each in page.tags for name in each if name.startswith("on")]
    radios = [each for tag, each in page.tags if tag == "input"]
    assert {each["type"] for each in radios} == {"radio"}
    for name in ("map", "paint"):
        assert sum("checked" in each for each in radios if each["name"] == name) == 1
    named = [each["for"] for tag, each in page.tags if tag == "label"]
    assert sorted(named) == sorted(each["id"] for each in radios)
    ids = [each["id"] for _, each in page.tags if "id" in each]
    assert len(ids) == len(set(ids))
    assert all(each["aria-label"] for _, each in page.tags if each.get("role") == "img")
    assert "<script>alert" not in html


def test_the_page_tells_what_the_boxes_say(small, page_of):
    text = Page(page_of(*small)).text
    assert "3 boxes that cover the domain" in text
    assert "all records split by a0" in text
    assert "1 split; 6 steps in 2 ranges that no box splits" in text
    assert "The largest groups" in text


def test_boxes_without_groups_or_without_a_class_still_have_a_page(small, page_of):
    schema, groups = small
    none = np.zeros(0, np.int32)
    empty = replace(groups, index=(none, none), classes=none, counts=none.astype(np.int64))
    assert "Maps of the boxes" in Page(page_of(schema, empty)).text
    bare = replace(schema, class_attribute=None)
    text = Page(page_of(bare, replace(groups, classes=None))).text
    assert "majority class" not in text


def test_one_box_is_told_in_a_sentence(page_of):
    schema = schema_of(grid(4), grid(4))
    text = Page(page_of(schema, released(schema, 1, depth=0))).text
    assert "The whole domain is one box." in text
    assert "Maps of the boxes" not in text


def test_a_page_over_many_boxes_stays_small(page_of):
    schema = schema_of(*[grid(3000)] * 40, *[values(8, fan_out=2)] * 10, classes=8)
    rng = np.random.default_rng(2)
    groups = groups_of(schema, random_tree(schema, rng, splits=1.0, depth=11), rng)
    assert len(groups.boxes[0]) > 1500
    html = page_of(schema, groups)
    assert len(html.encode()) < 1_500_000
    assert "more nodes of the tree are not drawn here" in html
    assert "10 more attributes are not drawn here" in html
