"""A release of boxes: other rows find their box, and the folder gives it all back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SeededSource
from hedgerow.release.recoding import Recoding
from hedgerow.release.release import Release, load_recoding
from support.box_trees import groups_of, random_tree
from support.tables import domains, schema_of

schemas = st.builds(lambda some: schema_of(*some), st.lists(domains, min_size=1, max_size=4))


@pytest.fixture
def boxes(schema: Schema) -> Groups:
    """Boxes over the awkward labels of the small release, some of them without a group."""
    rng = np.random.default_rng(8)
    return groups_of(schema, random_tree(schema, rng, splits=0.9), rng, listed=0.7)


@pytest.fixture
def release_of_boxes(
    schema: Schema, boxes: Groups, make_certificate: Callable[..., Any]
) -> Release:
    return Release(schema=schema, groups=boxes, certificate=make_certificate(counts=None))


def same_boxes(one: Groups, other: Groups) -> bool:
    assert one.tree is not None
    assert other.tree is not None
    assert one.boxes is not None
    assert other.boxes is not None
    names = ("parent", "attribute", "first", "stop", "box", "sizes")
    trees = [(getattr(one.tree, name), getattr(other.tree, name)) for name in names]
    columns = [
        *zip(one.boxes, other.boxes, strict=True),
        *zip(one.index, other.index, strict=True),
        *((mine.first, yours.first) for mine, yours in zip(one.ranges, other.ranges, strict=True)),
        *((mine.stop, yours.stop) for mine, yours in zip(one.ranges, other.ranges, strict=True)),
        (one.classes, other.classes),
        (one.counts, other.counts),
        *trees,
    ]
    return all(np.array_equal(mine, yours) and mine.dtype == yours.dtype for mine, yours in columns)


@given(schema=schemas, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_a_row_gets_the_labels_of_the_box_that_holds_it(schema, seed):
    rng = np.random.default_rng(seed)
    groups = groups_of(schema, random_tree(schema, rng), rng)
    recoding = Recoding.from_json(Recoding.of(schema, groups).to_json())
    codes = [rng.integers(0, each.domain.size, 15) for each in schema.attributes]
    rows = recoding.apply(EncodedTable.from_codes(schema, codes, np.zeros(15, int))).to_pylist()
    for at, row in enumerate(rows):
        expected = [box_labels(schema, groups, box) for box in holding(groups, codes, at)]
        assert [{name: row[name] for name in expected[0]}] == expected


def holding(groups: Groups, codes: list[Any], row: int) -> list[int]:
    found = []
    for box in range(len(groups.boxes[0])):
        spans = [
            (table.first[index[box]], table.stop[index[box]])
            for table, index in zip(groups.ranges, groups.boxes, strict=True)
        ]
        if all(f <= column[row] < s for column, (f, s) in zip(codes, spans, strict=True)):
            found.append(box)
    return found


def box_labels(schema: Schema, groups: Groups, box: int) -> dict[str, str]:
    return {
        attribute.name: attribute.domain.label(
            int(table.first[index[box]]), int(table.stop[index[box]])
        )
        for attribute, table, index in zip(
            schema.attributes, groups.ranges, groups.boxes, strict=True
        )
    }


def test_a_recoding_of_boxes_survives_its_file(schema, boxes):
    recoding = Recoding.of(schema, boxes)
    text = recoding.to_json()
    again = Recoding.from_json(text)
    assert again.to_json() == text
    assert not again.is_cut
    facts = json.loads(text)
    assert facts["kind"] == "boxes"
    assert list(facts["tree"]) == ["parent", "attribute", "first", "stop", "box", "sizes"]
    assert len(facts["attributes"][0]["boxes"]) == len(boxes.boxes[0])
    assert max(len(line) for line in text.splitlines()) < 2000


def test_a_folder_gives_the_boxes_and_their_tree_back(release_of_boxes, tmp_path):
    release_of_boxes.write(tmp_path / "release", records=True)
    again = Release.load(tmp_path / "release")
    assert same_boxes(again.groups, release_of_boxes.groups)
    assert again.report() == release_of_boxes.report()
    assert again.digest == release_of_boxes.digest
    assert load_recoding(tmp_path / "release").tree is not None


def test_no_two_rows_of_the_table_are_the_same_group(release_of_boxes):
    rows = release_of_boxes.to_arrow().drop_columns(["count"]).to_pylist()
    assert len({tuple(row.values()) for row in rows}) == len(rows)
    ages = release_of_boxes.groups.ranges[0]
    assert (ages.first[1:] < ages.stop[:-1]).any()  # ranges of different boxes overlap


def test_records_lie_in_the_boxes_of_their_groups(release_of_boxes):
    table = release_of_boxes.records(source=SeededSource(3))
    groups, schema = release_of_boxes.groups, release_of_boxes.schema
    job = schema.attributes[1].domain
    ages = np.array([(age + 5) // 5 for age in table["age"].to_pylist()])
    jobs = np.array([job.taxonomy.leaf_code[each] for each in table["job"].to_pylist()])
    row = np.repeat(np.arange(len(groups)), groups.counts)
    assert len(ages) == len(row)
    for codes, ranges, index in zip((ages, jobs), groups.ranges, groups.index, strict=True):
        assert (codes >= ranges.first[index[row]]).all()
        assert (codes < ranges.stop[index[row]]).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["tree"]["parent"].pop(),
        lambda facts: facts["tree"]["parent"].__setitem__(1, 5),
        lambda facts: facts["tree"]["attribute"].__setitem__(1, 9),
        lambda facts: facts["tree"]["sizes"].__setitem__(0, "many"),
        lambda facts: facts["tree"]["box"].reverse(),
        lambda facts: facts["tree"].update(extra=[]),
        lambda facts: facts["attributes"][0].pop("boxes"),
        lambda facts: [each.pop("boxes") for each in facts["attributes"]],
        lambda facts: facts["attributes"][0]["boxes"].reverse(),
        lambda facts: facts["attributes"][0]["boxes"].pop(),
        lambda facts: facts["attributes"][1]["boxes"].__setitem__(0, 999),
        lambda facts: facts.pop("tree"),
        lambda facts: facts.update(kind="cut"),
    ],
)
def test_a_file_whose_boxes_do_not_fit_their_tree_is_refused(schema, boxes, change):
    facts = json.loads(Recoding.of(schema, boxes).to_json())
    change(facts)
    with pytest.raises(ReleaseError, match="not a recoding"):
        Recoding.from_json(json.dumps(facts))


def test_a_cut_has_no_tree(schema, groups, boxes):
    with pytest.raises(InternalError, match="Boxes need a tree"):
        Recoding.of(schema, replace(groups, tree=boxes.tree, boxes=boxes.boxes))


def test_a_row_that_is_no_box_is_refused(release_of_boxes, tmp_path, monkeypatch):
    """Labels that each exist, in a combination that no box has."""
    release_of_boxes.write(tmp_path / "release")
    path: Path = tmp_path / "release" / "release.csv"
    groups = release_of_boxes.groups
    taken = {*zip(*(index.tolist() for index in groups.boxes), strict=True)}
    ages, jobs = (range(len(table)) for table in groups.ranges)
    age, job = next((a, j) for a in ages for j in jobs if (a, j) not in taken)
    moved = replace(
        groups,
        index=(np.array([age], np.int32), np.array([job], np.int32)),
        classes=groups.classes[:1],
        counts=groups.counts[:1],
    )
    wrong = replace(release_of_boxes, groups=moved)
    wrong._write_csv(path)
    monkeypatch.setattr("hedgerow.release.release.vouch", lambda *_: None)
    with pytest.raises(ReleaseError, match="does not have the content"):
        Release.load(tmp_path / "release")
