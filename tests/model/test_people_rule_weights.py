"""The weights of people's records: no person weighs more than one, whatever the bound."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.model.people import MOST_RECORDS, MOST_UNITS, PeopleRule, noun_of


@pytest.mark.parametrize("most", [1, 2, 3, 7, 8, 9, 10, 11, 13, 64, 839, 841, MOST_RECORDS])
def test_the_kept_records_of_a_person_weigh_at_most_one_person(most):
    rule = PeopleRule(columns=("id",), most=most, counted="people")
    weights, kept = rule.weights(), np.arange(most + 1)
    assert weights[0] == 0
    assert (kept * weights <= rule.unit).all()
    assert (
        kept[1:] * (weights[1:] + 1) > rule.unit
    ).all()  # and no more is lost than rounding takes
    assert rule.cost == rule.unit <= MOST_UNITS


@pytest.mark.parametrize("most", [1, 9, 11])
def test_records_that_are_counted_weigh_one_each_and_cost_their_bound(most):
    rule = PeopleRule(columns=("id",), most=most)
    assert rule.weights().tolist() == [0, *[1] * most]
    assert (rule.unit, rule.cost) == (1, most)


def test_up_to_eight_records_nothing_is_lost_to_rounding():
    for most in range(1, 9):
        rule = PeopleRule(columns=("id",), most=most, counted="people")
        assert (np.arange(1, most + 1) * rule.weights()[1:] == rule.unit).all()


@pytest.mark.parametrize(
    ("columns", "noun"),
    [
        (("patient_nbr",), "patient"),
        (("CustomerID",), "customer"),
        (("admission_id",), "person"),
        (("id",), "person"),
        (("patient_visitor_id",), "person"),
        (("patient", "client"), "person"),
    ],
)
def test_only_a_column_that_names_one_kind_of_person_gives_the_noun(columns, noun):
    assert noun_of(columns) == noun


@pytest.mark.parametrize(
    ("counted", "join", "counts_people"),
    [
        ("records", None, False),
        ("people", None, True),
        ("records", "union", True),
    ],
)
def test_counts_are_of_people_if_weights_or_a_join_make_them_so(counted, join, counts_people):
    rule = PeopleRule(columns=("id",), most=1, counted=counted, join=join)
    assert rule.counts_people is counts_people
