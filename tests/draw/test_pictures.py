"""What the report draws shows every published label once, and no more than fits."""

from __future__ import annotations

import numpy as np

from hedgerow.draw.pictures import (
    MOST_ROWS,
    MOST_SEGMENTS,
    Picture,
    picture,
    shortened,
)
from hedgerow.draw.plots import bars
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

JOBS = Taxonomy.from_nested(
    "Any", {"Indoor": {"Desk": ["office", "bank"], "Shop": ["till"]}, "Outdoor": ["farm", "sea"]}
)


def drawn(domain: Domain, pairs: list[tuple[int, int]], counts: list[int] | None = None) -> Picture:
    n = len(pairs)
    groups = Groups(
        ranges=(Ranges.of(pairs),),
        index=(np.arange(n, dtype=np.int32),),
        classes=None,
        counts=np.array(counts or range(1, n + 1), np.int64),
        is_cut=True,
    )
    return picture(Attribute(name="x", domain=domain), groups, 0)


def outline(found: Picture) -> list[str]:
    marks = {"line": "│", "blank": " ", "tee": "├", "elbow": "└"}
    return [
        "".join(marks[branch] for branch in row.branches)
        + (f"[{row.label}] {row.count}" if row.published else row.label)
        for row in found.rows
    ]


def test_a_cut_is_drawn_as_the_tree_above_it():
    found = drawn(CategoricalDomain(taxonomy=JOBS), [(0, 2), (2, 3), (3, 5)], [7, 1, 5])
    assert outline(found) == ["Any", "├Indoor", "│├[Desk] 7", "│└[Shop] 1", "└[Outdoor] 5"]
    assert [row.inside for row in found.rows] == ["", "", "office, bank", "", "farm, sea"]
    assert [row.percent for row in found.rows] == [0, 0, 100.0, 14.3, 71.4]
    assert found.not_drawn == 0
    assert not found.is_full


def test_a_cut_at_the_root_is_one_row():
    found = drawn(CategoricalDomain(taxonomy=JOBS), [(0, 5)])
    assert outline(found) == ["[Any] 1"]
    assert found.rows[0].inside == "office, bank, till, farm and 1 more"


def test_a_cut_at_the_leaves_is_full():
    found = drawn(CategoricalDomain(taxonomy=JOBS), [(code, code + 1) for code in range(5)])
    assert found.is_full
    assert outline(found)[-2:] == [" ├[farm] 4", " └[sea] 5"]


def test_overlapping_boxes_are_all_drawn():
    found = drawn(CategoricalDomain(taxonomy=JOBS), [(0, 5), (0, 3), (3, 4)])
    assert outline(found) == ["[Any] 2", "├[Indoor] 1", "└Outdoor", " ├[farm] 3"]


def test_a_tall_thin_taxonomy_is_drawn_without_repeats():
    chain = Taxonomy.from_nested("top", {"middle": {"low": ["a", "b"]}, "side": ["c"]})
    found = drawn(CategoricalDomain(taxonomy=chain), [(0, 2), (2, 3)])
    assert outline(found) == ["top", "├[middle] 1", "└[side] 2"]


def test_a_wide_cut_is_drawn_in_part_and_the_rest_is_counted():
    wide = CategoricalDomain(taxonomy=Taxonomy.flat([f"v{i}" for i in range(500)]))
    found = drawn(wide, [(code, code + 1) for code in range(500)])
    assert len(found.rows) == MOST_ROWS
    assert found.not_drawn == 500 - (MOST_ROWS - 1)


def test_a_numeric_cut_is_a_band_with_its_split_points():
    found = drawn(NumericDomain.even(low=0, high=100, step=1), [(0, 25), (25, 50), (50, 101)])
    assert [(each.start, each.width) for each in found.segments] == [(0, 25), (25, 25), (50, 50)]
    assert [(tick.text, tick.at) for tick in found.ticks] == [
        ("0", 0.0),
        ("25", 25.0),
        ("50", 50.0),
        ("100", 100.0),
    ]
    assert [row.label for row in found.rows] == ["[0, 25)", "[25, 50)", "[50, 100]"]


def test_split_points_without_room_are_not_named():
    found = drawn(NumericDomain.even(low=0, high=100, step=1), [(0, 2), (2, 3), (3, 98), (98, 101)])
    assert [tick.text for tick in found.ticks] == ["0", "100"]
    assert len(found.segments) == 4


def test_missing_values_are_listed_beside_the_band():
    domain = NumericDomain.even(low=0, high=100, step=1, missing=True)
    found = drawn(domain, [(0, 1), (1, 51), (51, 102)])
    assert [row.label for row in found.rows] == ["missing", "[0, 50)", "[50, 100]"]
    assert [each.label for each in found.segments] == ["[0, 50)", "[50, 100]"]


def test_a_domain_of_one_number_is_drawn_without_a_band():
    found = drawn(NumericDomain.even(low=7, high=7, step=1), [(0, 1)])
    assert found.segments == ()
    assert [row.label for row in found.rows] == ["7"]


def test_a_band_of_too_many_ranges_is_left_out():
    size = MOST_SEGMENTS + 1
    domain = NumericDomain.even(low=0, high=size - 1, step=1)
    assert drawn(domain, [(code, code + 1) for code in range(size)]).segments == ()


def test_long_labels_are_cut():
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 59 + "…"


def test_names_in_a_bar_chart_are_text_and_not_formulas():
    """A pair of dollar signs was read as a formula and refused; other scripts gave warnings."""
    drawn = bars(["$_$ & <b>", "年齢"], {"release": [0.1, 0.2]}, what="error, %")
    assert "$_$ &amp; &lt;b&gt;" in drawn
    assert "年齢" in drawn
