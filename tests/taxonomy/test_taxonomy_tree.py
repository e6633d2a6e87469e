from __future__ import annotations

import copy
import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.labels import MOST_LEVELS
from hedgerow.taxonomy.tree import Taxonomy
from support.taxonomy_strategies import taxonomies

JOBS = {"White-collar": ["Exec", "Prof"], "Blue-collar": {"Craft": ["a", "b"], "Other": ["c"]}}


@pytest.fixture
def jobs() -> Taxonomy:
    return Taxonomy.from_nested("Any", JOBS)


def test_nodes_come_in_depth_first_order_as_ranges_of_leaf_codes(jobs):
    assert jobs.labels == (
        "Any", "White-collar", "Exec", "Prof", "Blue-collar", "Craft", "a", "b", "Other", "c",
    )  # fmt: skip
    assert jobs.leaf_labels == ("Exec", "Prof", "a", "b", "c")
    assert jobs.first.tolist() == [0, 0, 0, 1, 2, 2, 2, 3, 4, 4]
    assert jobs.stop.tolist() == [5, 2, 1, 2, 5, 4, 3, 4, 5, 5]
    assert jobs.depth.tolist() == [0, 1, 2, 2, 1, 2, 3, 3, 2, 3]
    assert jobs.height.tolist() == [3, 1, 0, 0, 2, 1, 0, 0, 1, 0]
    assert jobs.parent.tolist() == [-1, 0, 1, 1, 0, 4, 5, 5, 4, 8]
    assert (jobs.n_leaves, jobs.n_nodes) == (5, 10)


def test_lookups_agree_with_the_tree(jobs):
    craft = jobs.find("Craft")
    assert [jobs.labels[child] for child in jobs.children(craft)] == ["a", "b"]
    assert jobs.children(jobs.find("a")).size == 0
    assert jobs.leaf_code["b"] == 3
    assert jobs.is_leaf(jobs.find("b"))
    assert not jobs.is_leaf(craft)
    assert jobs.path(craft).tolist() == [0, 4, 5]
    assert jobs.level_ancestor(jobs.find("a"), 1) == jobs.find("Blue-collar")
    assert jobs.level_ancestor(craft, 9) == craft
    assert [jobs.labels[node] for node in jobs.leaf_ancestors(2)] == [
        "Exec", "Prof", "Craft", "Craft", "Other",
    ]  # fmt: skip
    assert jobs.node_at(2, 4) == craft
    assert jobs.node_at(1, 3) is None


def test_a_unary_chain_gives_its_topmost_node_for_the_range():
    chain = Taxonomy.from_nested("*", {"A": {"B": ["c"]}, "D": ["e", "f"]})
    assert chain.labels[chain.node_at(0, 1)] == "A"
    alone = Taxonomy.from_nested("*", ["only"])
    assert (alone.n_leaves, alone.node_at(0, 1)) == (1, 0)


def test_find_refuses_an_unknown_label(jobs):
    with pytest.raises(TaxonomyError, match="There is no node 'farm'"):
        jobs.find("farm")


@pytest.mark.parametrize("name", ["parent", "first", "stop", "depth", "height", "leaf_nodes"])
def test_arrays_cannot_be_written_to_even_after_pickling(jobs, name):
    for tree in (jobs, pickle.loads(pickle.dumps(jobs)), copy.deepcopy(jobs)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        jobs.children(0)[0] = 1
    with pytest.raises(AttributeError):
        jobs.labels = ()


def test_a_taxonomy_does_not_change_with_the_array_it_was_built_from():
    parent = np.array([-1, 0, 0], dtype=np.int32)
    tree = Taxonomy(labels=("*", "a", "b"), parent=parent)
    parent[2] = 1
    assert tree.parent.tolist() == [-1, 0, 0]


def test_equality_is_by_structure_and_labels(jobs):
    assert jobs == Taxonomy.from_nested("Any", JOBS)
    assert hash(jobs) == hash(pickle.loads(pickle.dumps(jobs)))
    assert jobs != Taxonomy.from_nested("All", JOBS)
    assert Taxonomy.from_nested("*", {"A": ["b", "c"]}) != Taxonomy.from_nested(
        "*", ["A", "b", "c"]
    )
    assert jobs != "Any"


def test_repr_shows_sizes_only(jobs):
    assert repr(jobs) == "Taxonomy('Any', 5 leaves, 10 nodes, height 3)"


def test_a_leaf_can_be_added_as_the_last_code(jobs):
    more = jobs.with_leaf("unknown")
    assert more.leaf_code["unknown"] == 5
    assert more.leaf_labels[:5] == jobs.leaf_labels
    assert more.parent[more.find("unknown")] == 0
    with pytest.raises(TaxonomyError, match="'Craft' occurs twice"):
        jobs.with_leaf("Craft")


def test_lists_may_mix_values_and_groups():
    mixed = Taxonomy.from_nested("*", ["Never", {"Married": ["a", "b"], "Other": ["c"]}, 7])
    assert mixed.leaf_labels == ("Never", "a", "b", "c", "7")
    assert mixed.children(0).size == 4


def test_large_flat_taxonomies_build_at_once():
    items = [str(item) for item in range(16_470)]
    began = time.perf_counter()
    tree = Taxonomy.flat(items)
    assert time.perf_counter() - began < 0.5
    assert tree.n_leaves == 16_470
    assert tree.leaf_code["16469"] == 16_469


def deep(levels: int) -> object:
    tree: object = ["leaf"]
    for level in range(levels - 1):
        tree = {f"group {level}": tree}
    return tree


def test_the_limit_of_levels_can_be_reached():
    tree = Taxonomy.from_nested("*", deep(MOST_LEVELS))
    assert tree.height[0] == MOST_LEVELS


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 10_000])
def test_deeper_trees_are_refused_without_recursion(levels):
    with pytest.raises(TaxonomyError, match="more than 100 levels below the root"):
        Taxonomy.from_nested("*", deep(levels))
    labels = [str(node) for node in range(levels + 1)]
    with pytest.raises(TaxonomyError, match="more than 100 levels below the root"):
        Taxonomy.from_parents(labels, np.arange(levels + 1) - 1)


def test_a_structure_that_holds_itself_is_refused():
    loop: dict[str, object] = {}
    loop["A"] = loop
    with pytest.raises(TaxonomyError, match="'A' occurs twice on one path"):
        Taxonomy.from_nested("*", loop)


@pytest.mark.parametrize(
    ("children", "message"),
    [
        ([], "The group '\\*' has no value below it"),
        ({"A": []}, "The group 'A' has no value below it"),
        ({"A": None, "B": ["c"]}, "The group 'A' has no value below it"),
        ({"A": {}}, "The group 'A' has no value below it"),
        ({"A": ["b", "b"]}, "The label 'b' occurs twice, so it has two parents"),
        ({"A": ["b"], "C": ["b"]}, "The label 'b' occurs twice, so it has two parents"),
        ({"A": {"B": ["A"]}}, "The label 'A' occurs twice on one path"),
        ({"A": ["A"]}, "The label 'A' occurs twice on one path"),
        (["*"], "The label '\\*' occurs twice on one path"),
        ({"A": "b"}, "Below 'A' is 'b', not a list or a mapping"),
        ("b", "Below '\\*' is 'b', not a list"),
        ([["a"]], "A list is directly in a list"),
        ([True], "label True is not text"),
        ([1.5], "label 1.5 is not text"),
        ([None], "label None is not text"),
        ([""], "label '' is empty"),
        ([" a"], "has blanks around it"),
        (["a\nb"], "holds a line break or a control character"),
    ],
)
def test_faults_of_nested_structures_are_named(children, message):
    with pytest.raises(TaxonomyError, match=message) as caught:
        Taxonomy.from_nested("*", children)
    assert caught.value.do


@pytest.mark.parametrize(
    ("labels", "parents", "message"),
    [
        ([], [], "0 labels do not match 0 parents"),
        (["a", "b"], [-1], "2 labels do not match 1 parents"),
        (["a"], [-1], "The root 'a' has no value below it"),
        (["a", "b"], [-1, -1], "2 nodes have no parent"),
        (["a", "b"], [1, 0], "0 nodes have no parent"),
        (["a", "b"], [-1, 7], "a parent is not among the nodes"),
        (["a", "b", "c"], [-1, 2, 1], "The parents of 'b' form a circle"),
        (["a", "a"], [-1, 0], "The label 'a' occurs twice"),
        (["a", ""], [-1, 0], "label '' is empty"),
    ],
)
def test_parents_that_make_no_tree_are_refused(labels, parents, message):
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy.from_parents(labels, parents)


def test_the_constructor_refuses_nodes_that_are_not_in_depth_first_order():
    with pytest.raises(TaxonomyError, match="not in depth-first order"):
        Taxonomy(labels=("*", "A", "B", "a"), parent=np.array([-1, 0, 0, 1], dtype=np.int32))


@settings(max_examples=60)
@given(tree=taxonomies())
def test_every_node_is_the_range_of_the_leaves_below_it(tree):
    for node in range(tree.n_nodes):
        leaves = [
            code for code in range(tree.n_leaves) if node in tree.path(int(tree.leaf_nodes[code]))
        ]
        assert leaves == list(range(tree.first[node], tree.stop[node]))
        children = tree.children(node)
        if children.size:
            assert tree.first[children[0]] == tree.first[node]
            assert tree.stop[children[-1]] == tree.stop[node]
            assert (tree.first[children[1:]] == tree.stop[children[:-1]]).all()
            assert tree.height[node] == tree.height[children].max() + 1
            assert (tree.depth[children] == tree.depth[node] + 1).all()
        else:
            assert tree.height[node] == 0
            assert tree.stop[node] == tree.first[node] + 1


@settings(max_examples=60)
@given(tree=taxonomies(), data=st.data())
def test_node_order_does_not_matter_as_long_as_siblings_keep_theirs(tree, data):
    # Reversing whole levels and putting siblings back in order gives the same tree.
    order = np.lexsort((np.arange(tree.n_nodes), -tree.depth))
    place = np.argsort(order)
    parents = [-1 if tree.parent[node] < 0 else int(place[tree.parent[node]]) for node in order]
    assert Taxonomy.from_parents([tree.labels[node] for node in order], parents) == tree
    depth = data.draw(st.integers(0, int(tree.height[0])))
    expected = [tree.level_ancestor(int(leaf), depth) for leaf in tree.leaf_nodes]
    assert tree.leaf_ancestors(depth).tolist() == expected
