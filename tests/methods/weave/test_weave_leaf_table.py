"""Releases with a leaf table: other rows are generalised by its boxes, and folders read back."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import hedgerow
from hedgerow.errors import ReleaseError
from hedgerow.model.leaf_groups import leaf_groups
from hedgerow.model.locate import box_of, check_tree, node_bounds
from hedgerow.release.release import Release, load_recoding
from support.engine_plans import table_plan, write_table

VARIANT = ("weave", {"epsilon": 20, "leaf-table": True})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("data") / "table.csv")


@pytest.fixture(scope="module")
def release(data, tmp_path_factory) -> tuple[Release, object]:
    out = tmp_path_factory.mktemp("out") / "release"
    plan = table_plan(VARIANT)
    return hedgerow.publish(plan, data=data, out=out, seed=11), out


def sizes(release):
    return [attribute.domain.size for attribute in release.schema.attributes]


def test_the_leaves_are_boxes_that_divide_the_domain(release):
    made, _ = release
    leaves = made.groups.leaves
    check_tree(leaves.tree, sizes(made))
    assert len(leaves.counts) > 2
    assert leaves.counts.shape[0] == int(leaves.tree.box.max()) + 1
    groups = leaf_groups(leaves, sizes(made), has_class=True)
    assert int(groups.counts.sum()) == int(np.maximum(leaves.counts, 0).sum())
    assert leaves.tree.sizes[0] == groups.counts.sum()
    keys = np.stack([*groups.index, groups.classes])
    assert (np.lexsort(keys[::-1]) == np.arange(len(groups))).all()


def test_other_rows_get_the_boxes_of_the_leaf_table(release, data):
    made, out = release
    rows = hedgerow.generalise(made, data)
    assert rows.equals(hedgerow.generalise(out, data))
    first, stop = node_bounds(made.groups.leaves.tree, sizes(made))
    nodes = np.flatnonzero(made.groups.leaves.tree.box >= 0)
    boxes = {
        tuple(
            attribute.domain.label(int(first[node, a]), int(stop[node, a]))
            for a, attribute in enumerate(made.schema.attributes)
        )
        for node in nodes
    }
    names = [attribute.name for attribute in made.schema.attributes]
    found = {tuple(row[name] for name in names) for row in rows.to_pylist()}
    assert len(found) > 1
    assert found <= boxes


def test_rows_of_the_leaf_file_are_the_boxes_by_class(release):
    made, out = release
    with (out / "tables" / "leaves.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    assert [int(line[-1]) for line in lines] == made.groups.leaves.counts.ravel().tolist()
    tree = made.groups.leaves.tree
    first, stop = node_bounds(tree, sizes(made))
    for node in np.flatnonzero(tree.box >= 0).tolist():
        codes = [
            np.array([low, high - 1]) for low, high in zip(first[node], stop[node], strict=True)
        ]
        box = int(tree.box[node])
        assert box_of(tree, codes).tolist() == [box, box]
        told = lines[box * made.schema.n_classes][: len(codes)]
        domains = [attribute.domain for attribute in made.schema.attributes]
        spans = zip(domains, first[node].tolist(), stop[node].tolist(), strict=True)
        assert told == [domain.label(low, high) for domain, low, high in spans]


def test_a_release_read_back_has_its_tables_again(release):
    made, out = release
    again = Release.load(out)
    assert len(again.groups.tables) == len(made.groups.tables) > 0
    for ours, theirs in zip(made.groups.tables, again.groups.tables, strict=True):
        assert (ours.kind, ours.attributes, ours.share) == (
            theirs.kind,
            theirs.attributes,
            theirs.share,
        )
        assert np.array_equal(ours.counts, theirs.counts)
        for one, other in zip(ours.groups, theirs.groups, strict=True):
            assert np.array_equal(one, other)
    ours, theirs = made.groups.leaves, again.groups.leaves
    assert np.array_equal(ours.counts, theirs.counts)
    assert ours.share == theirs.share
    assert np.array_equal(ours.tree.box, theirs.tree.box)
    assert again.report() == made.report()


def test_the_report_shows_the_boxes_of_the_leaf_table(release):
    _, out = release
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Maps of the boxes" in page
    assert "tables/leaves.csv" in page


def test_a_release_without_a_leaf_table_has_its_tables_and_no_boxes(data, tmp_path):
    plan = table_plan(("weave", {"epsilon": 20, "leaf-table": False}))
    made = hedgerow.publish(plan, data=data, out=tmp_path / "release", seed=3)
    again = Release.load(tmp_path / "release")
    assert len(again.groups.tables) == len(made.groups.tables)
    assert again.groups.leaves is None
    assert "Maps of the boxes" not in made.report()
    with pytest.raises(ReleaseError, match="no tree leads to them"):
        hedgerow.generalise(again, data)


def test_changed_tables_are_refused(data, tmp_path):
    out = tmp_path / "release"
    hedgerow.publish(table_plan(VARIANT), data=data, out=out, seed=11)
    for name in ("leaves.json", "leaves.csv", "index.json"):
        path = out / "tables" / name
        kept = path.read_bytes()
        path.write_bytes(kept + b" ")
        with pytest.raises(ReleaseError, match="not the one that the certificate"):
            Release.load(out)
        path.write_bytes(kept)
    (out / "tables" / "leaves.json").unlink()
    with pytest.raises(ReleaseError, match="cannot be read"):
        load_recoding(out)
