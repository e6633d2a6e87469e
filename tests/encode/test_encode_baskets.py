"""Baskets as codes: the universe of a plan, sets of codes, neighbours."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.errors import InternalError, TaxonomyError
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.plan.load import plan_of
from hedgerow.read.items import ItemsPlace, open_items
from hedgerow.taxonomy.builders import context_free

TREE = context_free([f"i{n}" for n in range(12)], fan_out=3)


def records_of(baskets):
    bounds, codes = baskets.offsets.tolist(), baskets.items.tolist()
    return [codes[a:b] for a, b in pairwise(bounds)]


@given(
    records=st.lists(st.lists(st.integers(0, 15), max_size=9), max_size=30),
    n_items=st.sampled_from([1, 12, 3000]),
)
def test_sets_are_those_of_a_loop_over_records(records, n_items, tmp_path_factory):
    path = tmp_path_factory.mktemp("baskets") / "a.dat"
    path.write_text("".join(" ".join(map(str, record)) + "\n" for record in records) + "\n")
    universe = universe_of(plan_of({"items": {"universe": [0, n_items - 1]}}))
    found = encode_baskets(open_items(path, universe.place), universe)
    kept = [sorted({item for item in record if item < n_items}) for record in records]
    assert records_of(found) == [record for record in kept if record]


@given(
    sets=st.lists(st.sets(st.integers(0, 11), min_size=1), min_size=1, max_size=20),
    data=st.data(),
)
def test_the_neighbour_lacks_one_record_and_nothing_else(sets, data):
    baskets = EncodedBaskets.from_sets(TREE, sets)
    assert len(baskets) == len(sets)
    dropped = data.draw(st.integers(0, len(sets) - 1))
    rest = [sorted(each) for at, each in enumerate(sets) if at != dropped]
    assert records_of(baskets.without(dropped)) == rest


def test_a_record_that_is_not_there_cannot_be_dropped():
    with pytest.raises(IndexError):
        EncodedBaskets.from_sets(TREE, [{1}]).without(1)


def test_codes_outside_the_universe_are_refused():
    with pytest.raises(InternalError):
        EncodedBaskets.from_sets(TREE, [{12}])


def test_the_type_of_codes_follows_from_the_universe_alone():
    with pytest.raises(InternalError):
        EncodedBaskets(
            taxonomy=TREE, offsets=np.zeros(1, dtype=np.int64), items=np.zeros(0, dtype=np.uint32)
        )


def test_the_repr_shows_nothing_of_the_records():
    assert repr(EncodedBaskets.from_sets(TREE, [{1}, {2, 3}])) == (
        "EncodedBaskets(12 items in the universe)"
    )


def universe(base=None, **items):
    return universe_of(plan_of({"items": items}, base=base))


def test_a_universe_is_a_range_a_list_a_file_or_the_leaves_of_a_taxonomy(tmp_path):
    (tmp_path / "items.txt").write_text("b\na\n\nc\n")
    tree = {"Any": {"x": ["b", "a"], "y": ["c"]}}
    assert universe(universe=[8, 11]).taxonomy.leaf_labels == ("8", "9", "10", "11")
    for items in ({"universe": ["b", "a", "c"]}, {"universe": "items.txt"}, {"taxonomy": tree}):
        assert universe(tmp_path, **items).taxonomy.leaf_labels == ("b", "a", "c")
    both = universe(tmp_path, universe=["a", "b", "c"], taxonomy=tree)
    assert both.taxonomy.leaf_labels == ("b", "a", "c")


@pytest.mark.parametrize(
    ("items", "words"),
    [(["a", "b"], "universe has no item 'c'"), (["a", "b", "c", "d"], "taxonomy has no leaf 'd'")],
)
def test_a_universe_and_a_taxonomy_must_list_the_same_items(items, words):
    with pytest.raises(TaxonomyError, match=words):
        universe(universe=items, taxonomy={"Any": ["a", "b", "c"]})


@pytest.mark.parametrize(
    ("items", "separators"),
    [
        (["a", "b"], b" ,\t"),
        (["a b", "c"], b",\t"),
        (["a,b", "c"], b" \t"),
        (["a, b", "c"], b"\t"),
    ],
)
def test_separators_follow_from_the_universe_alone(items, separators):
    assert universe(universe=items).place.separators == separators


def test_where_items_lie_is_said_by_the_plan():
    place = universe(universe=[1, 2], column="item", record="id").place
    assert place == ItemsPlace(column="item", record="id", separators=b" ,\t")
    assert universe(universe=[1, 2], separator="comma").place.separators == b","
