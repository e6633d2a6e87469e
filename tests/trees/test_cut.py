from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.model.groups import Ranges
from hedgerow.model.schema import Attribute, Schema
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.cut import Cut, leaf_ranges

JOB = Taxonomy.from_nested(
    "Any_Job", {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}
)
CHAIN = Taxonomy.from_nested("*", {"only": {"way": ["a", "b"]}})


def schema_of(*domains):
    attributes = tuple(Attribute(name=f"a{i}", domain=domain) for i, domain in enumerate(domains))
    return Schema(attributes=attributes, class_attribute=None)


def categorical(taxonomy):
    return CategoricalDomain(taxonomy=taxonomy, other=None, missing=None)


SCHEMA = schema_of(categorical(JOB), NumericDomain.even(low=18, high=64, step=1))


def test_the_topmost_cut_has_one_part_per_attribute():
    cut = Cut.topmost(SCHEMA)
    assert [(part.first, part.stop) for part in cut.parts] == [(0, 4), (0, 47)]
    assert cut.specialisable() == list(cut.parts)


def test_a_categorical_part_becomes_its_children():
    cut = Cut.topmost(SCHEMA)
    finer = cut.specialise(cut.parts[0])
    assert [len(ranges) for ranges in finer.ranges()] == [2, 1]
    assert finer.ranges()[0].stop.tolist() == [2, 4]


def test_a_numeric_part_splits_at_its_position():
    cut = Cut.topmost(SCHEMA)
    finer = cut.specialise(cut.parts[1], 22)
    assert finer.ranges()[1].first.tolist() == [0, 22]


@pytest.mark.parametrize("position", [None, 0, 47, 60])
def test_a_split_outside_the_part_is_refused(position):
    cut = Cut.topmost(SCHEMA)
    with pytest.raises(InternalError):
        cut.specialise(cut.parts[1], position)


def test_a_part_of_another_cut_is_refused():
    cut = Cut.topmost(SCHEMA)
    with pytest.raises(InternalError):
        cut.specialise(cut.parts[0]).specialise(cut.parts[0])


def test_single_children_are_passed_over():
    cut = Cut.topmost(schema_of(categorical(CHAIN)))
    finer = cut.specialise(cut.parts[0])
    assert finer.ranges()[0].first.tolist() == [0, 1]
    assert finer.specialisable() == []


@given(choices=st.lists(st.integers(0, 1_000_000), max_size=60))
def test_every_cut_tiles_every_domain(choices):
    cut = Cut.topmost(SCHEMA)
    for choice in choices:
        candidates = cut.specialisable()
        if not candidates:
            break
        part = candidates[choice % len(candidates)]
        inside = part.stop - part.first - 1
        cut = cut.specialise(part, part.first + 1 + choice % inside if part.is_numeric else None)
    for ranges, attribute in zip(cut.ranges(), SCHEMA.attributes, strict=True):
        places = ranges.partition_of(attribute.domain.size)
        assert len(places) == attribute.domain.size
        assert (np.bincount(places) == ranges.stop - ranges.first).all()


def test_the_lowest_cut_has_a_range_for_every_code():
    assert [len(ranges) for ranges in leaf_ranges(SCHEMA)] == [4, 47]


def test_ranges_that_do_not_tile_are_refused():
    with pytest.raises(InternalError):
        Ranges.of([(0, 2), (3, 5)]).partition_of(5)
    with pytest.raises(InternalError):
        Ranges.of([(2, 2)])
