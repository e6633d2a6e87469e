"""Edits of a taxonomy's tree: no value is lost or doubled, and files give the same tree back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.edits import EditableTree
from hedgerow.taxonomy.files import FORMATS, read_taxonomy, write_taxonomy
from hedgerow.taxonomy.paste import pasted_ways
from hedgerow.taxonomy.tree import Taxonomy

JOBS = Taxonomy.from_nested(
    "Any", {"Indoor": ["office", {"Shop": ["till", "stock"]}], "Outdoor": ["farm", "road"]}
)
NAMES = ["new", "<b>new</b>", "a;b", "a,b", 'say "x"', "office", "Indoor", "", " x", "é 🙂", "#1"]


def labels_of(tree: EditableTree) -> list[str]:
    return list(tree.taxonomy().labels)


def one_edit(tree: EditableTree, data: st.DataObject) -> EditableTree:
    """Some edit that keeps the values, drawn from all nodes, sensible or not."""
    known = labels_of(tree)
    node = st.sampled_from(known)
    some = st.lists(node, max_size=3)
    name = st.sampled_from(NAMES)
    edits = {
        "moved": lambda: tree.moved(
            data.draw(some), data.draw(node), before=data.draw(st.none() | node)
        ),
        "grouped": lambda: tree.grouped(data.draw(some), data.draw(name)),
        "renamed": lambda: tree.renamed(data.draw(node), data.draw(name)),
        "split": lambda: tree.split(data.draw(node), data.draw(some), data.draw(name)),
        "dissolved": lambda: tree.dissolved(data.draw(node)),
        "placed": lambda: tree.placed([data.draw(some)]),
    }
    kind = data.draw(st.sampled_from(sorted(edits)))
    try:
        edited = edits[kind]()
    except TaxonomyError:
        return tree
    if kind == "renamed":  # a value may have got another label: as many as before
        assert len(list(edited.leaves())) == len(list(tree.leaves()))
    else:
        assert sorted(edited.leaves()) == sorted(tree.leaves())
    return edited


@settings(max_examples=60)
@given(data=st.data())
def test_any_sequence_of_edits_keeps_every_value_once_and_files_give_the_tree_back(data) -> None:
    tree = EditableTree.of(JOBS)
    for _ in range(data.draw(st.integers(1, 12))):
        tree = one_edit(tree, data)
    taxonomy = tree.taxonomy()  # which refuses labels that occur twice
    assert set(taxonomy.leaf_labels) == set(tree.leaves())
    assert EditableTree.of(taxonomy).taxonomy() == taxonomy
    with TemporaryDirectory() as folder:
        for format_ in FORMATS:
            path = Path(folder) / f"tree.{format_}"
            write_taxonomy(taxonomy, path, format_)
            assert read_taxonomy(path, format=format_) == taxonomy


def test_moving_puts_a_node_with_all_below_it_where_it_is_told() -> None:
    tree = EditableTree.of(JOBS).moved(["Shop"], "Outdoor", before="road")
    assert labels_of(tree) == [
        *("Any", "Indoor", "office"),
        *("Outdoor", "farm", "Shop", "till", "stock", "road"),
    ]


def test_moving_before_itself_changes_nothing() -> None:
    tree = EditableTree.of(JOBS).moved(["farm"], "Outdoor", before="farm")
    assert tree.taxonomy() == JOBS


def test_members_change_places_within_a_group() -> None:
    tree = EditableTree.of(JOBS).moved(["road"], "Outdoor", before="farm")
    assert tree.below["Outdoor"] == ("road", "farm")


def test_a_group_without_members_goes_and_so_does_the_one_around_it() -> None:
    tree = EditableTree.of(JOBS).moved(["till", "stock", "office"], "Any")
    assert "Shop" not in tree
    assert "Indoor" not in tree


def test_grouping_takes_the_place_of_the_first_and_nodes_below_go_along() -> None:
    tree = EditableTree.of(JOBS).grouped(["office", "Shop", "till"], "Rooms")
    assert tree.below["Indoor"] == ("Rooms",)
    assert tree.below["Rooms"] == ("office", "Shop")
    assert tree.below["Shop"] == ("till", "stock")


def test_splitting_leaves_the_rest_where_it_was() -> None:
    tree = EditableTree.of(JOBS).split("Outdoor", ["road"], "Ways")
    assert tree.below["Any"] == ("Indoor", "Outdoor", "Ways")
    assert tree.below["Outdoor"] == ("farm",)


def test_a_group_that_is_dissolved_leaves_its_members() -> None:
    tree = EditableTree.of(JOBS).dissolved("Shop")
    assert tree.below["Indoor"] == ("office", "till", "stock")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda tree: tree.moved(["Indoor"], "Shop"), "is itself in"),
        (lambda tree: tree.moved(["farm"], "office"), "is a value"),
        (lambda tree: tree.moved(["Any"], "Indoor"), "The root"),
        (lambda tree: tree.moved([], "Indoor"), "Nothing is selected"),
        (lambda tree: tree.moved(["farm"], "Indoor", before="road"), "not a member"),
        (lambda tree: tree.grouped(["farm"], "Indoor"), "taken"),
        (lambda tree: tree.renamed("farm", " x"), "blanks"),
        (lambda tree: tree.split("Outdoor", ["farm", "road"], "x"), "would be left"),
        (lambda tree: tree.split("Any", ["Indoor"], "x"), "root"),
        (lambda tree: tree.dissolved("Any"), "root"),
        (lambda tree: tree.added(["x", "x"], "Any"), "twice"),
        (lambda tree: tree.added(["farm"], "Any"), "taken"),
        (lambda tree: tree.removed(["Indoor", "Outdoor"]), "No value"),
        (lambda tree: tree.placed([["office", "x"]]), "is a value"),
        (lambda tree: tree.placed([["Shop", "Indoor", "Shop", "x"]]), "itself"),
        (lambda tree: tree.placed([["x", "Shop"]]), "is a group"),
    ],
)
def test_what_would_break_the_tree_is_refused_in_words(edit, says) -> None:
    with pytest.raises(TaxonomyError, match=says):
        edit(EditableTree.of(JOBS))


def test_values_can_be_added_and_taken_away() -> None:
    tree = EditableTree.of(JOBS).added(["mine"], "Outdoor").removed(["farm", "Shop"])
    assert list(tree.leaves()) == ["office", "road", "mine"]


def test_rows_from_a_spreadsheet_move_what_is_there_and_add_the_rest() -> None:
    ways = pasted_ways("road\tTransport\nrail\tTransport\ntill\tOffice work\tIndoor\n")
    tree = EditableTree.of(JOBS).placed(ways)
    assert tree.below["Transport"] == ("road", "rail")
    assert tree.way("till") == ["Any", "Indoor", "Office work", "till"]
    assert set(JOBS.leaf_labels) | {"rail"} == set(tree.leaves())


def test_merged_cells_repeat_the_group_above_and_the_root_may_be_there() -> None:
    ways = pasted_ways("Any,Indoor,x\n,,y\n,Sea,z\n", order="group-first")
    assert ways == [["Any", "Indoor", "x"], ["Any", "Indoor", "y"], ["Any", "Sea", "z"]]
    tree = EditableTree.of(JOBS).placed(ways)
    assert tree.way("z") == ["Any", "Sea", "z"]


@pytest.mark.parametrize("text", ["", "\n\n", "a\tb\ta\n", '"open\tx\n\x01'])
def test_cells_that_are_no_labels_are_refused(text) -> None:
    with pytest.raises(TaxonomyError):
        pasted_ways(text)


def test_many_values_are_placed_at_once() -> None:
    ways = [[f"group {at % 100}", f"value {at}"] for at in range(20_000)]
    tree = EditableTree.of(JOBS).placed(ways)
    assert len(list(tree.leaves())) == 20_000 + JOBS.n_leaves
