"""Counts in units of a person become counts of persons, and so does what is said of their noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.model.groups import LeafTable
from hedgerow.model.people import PeopleRule
from hedgerow.model.run import Run
from hedgerow.pipeline.people import in_persons, people_notes
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from support import replay_worlds as worlds

UNIT = 12
EPSILON = Fraction(1)


def released(name, **settings):
    """A release of a method, as of counts in units."""
    given = {"method": name, "epsilon": EPSILON, **settings}
    method = METHODS[name].model_validate(given).build(has_class=True)
    engine = worlds.table_engine(worlds.MIXED, worlds.rows_of(worlds.MIXED, 3000))
    return method.publish(Run.start(engine, epsilon=EPSILON, source=SeededSource(2)))


def rounded(counts):
    return np.floor(counts / UNIT + 0.5).astype(np.int64)


def test_counts_are_rounded_to_whole_persons_and_groups_of_none_are_left_out():
    groups = released("hedge")
    persons = in_persons(groups, UNIT)
    expected = rounded(groups.counts)
    assert persons.counts.tolist() == expected[expected > 0].tolist()
    assert all(len(each) == len(persons.counts) for each in (*persons.index, persons.classes))
    assert persons.origin.share == groups.origin.share * UNIT
    assert np.allclose(persons.tree.sizes * UNIT, groups.tree.sizes)
    assert all(
        np.allclose(one * UNIT, other)
        for one, other in zip(persons.marginals, groups.marginals, strict=True)
    )
    assert in_persons(groups, 1) is groups


def test_a_threshold_in_units_is_rounded_up_to_persons():
    groups = released("basic-table")
    origin = replace(groups.origin, threshold=UNIT + 1, lowered_by=6.0)
    persons = in_persons(replace(groups, origin=origin), UNIT)
    assert (persons.origin.threshold, persons.origin.lowered_by) == (2, 0.5)
    exact = in_persons(replace(groups, origin=replace(origin, threshold=UNIT)), UNIT)
    assert exact.origin.threshold == 1


def test_measured_tables_and_leaves_tell_the_noise_of_a_person():
    groups = released("weave")
    tree = released("hedge").tree
    leaves = LeafTable(tree=tree, counts=np.array([[30, 5], [6, 18]]), share=Fraction(1, 50))
    persons = in_persons(replace(groups, leaves=leaves), UNIT)
    assert len(persons.tables) > 5
    for one, other in zip(persons.tables, groups.tables, strict=True):
        assert one.share == other.share * UNIT
        assert np.array_equal(one.counts, rounded(other.counts))
    assert persons.leaves.share == leaves.share * UNIT
    assert persons.leaves.counts.tolist() == [[3, 0], [1, 2]]
    assert np.allclose(persons.leaves.tree.sizes * UNIT, tree.sizes)


def notes(most, **settings):
    return people_notes(PeopleRule(columns=("id",), most=most), auto=False, **settings)


def test_the_note_states_the_limit_and_what_is_counted():
    assert "At most 4 records of each person are used. Counts are of records" in notes(4)[0]
    rule = PeopleRule(columns=("id",), most=3, counted="people")
    assert "so counts are of people." in people_notes(rule, auto=False)[0]
    chosen = people_notes(PeopleRule(columns=("id",), most=9), auto=True)
    assert "A twentieth of epsilon chooses how many records" in chosen[0]


def test_no_smaller_bound_is_proposed_for_one_record_per_person():
    assert len(notes(1)) == 1
    assert len(notes(2)) == 2


@pytest.mark.parametrize(
    ("most", "part"), [(2, "half"), (3, "a third"), (4, "a quarter"), (5, "1/5")]
)
def test_the_noise_of_other_ways_to_count_persons_is_a_part_of_it(most, part):
    assert f"'count: people' {part}" in notes(most, may_count=True)[1]
    assert f"'join: union' {part}" in notes(most, records="baskets")[1]


def test_each_kind_of_data_is_shown_its_own_way_to_count_persons():
    assert "join" not in notes(4, may_count=True)[1]
    assert "count: people" not in notes(4, records="baskets", may_count=True)[1]
    assert "count: people" not in notes(4)[1]
