"""The plan's `disclose` section: what it takes, and the words for its mistakes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hedgerow.errors import PlanError
from hedgerow.plan.disclose import AggregateDisclose, ApproxDisclose, ThresholdDisclose
from hedgerow.plan.disclose_parts import UtilityThreshold
from hedgerow.plan.load import dump_plan, plan_digest, plan_mapping, plan_of
from hedgerow.plan.override import override_disclosure

BASE = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B"]},
        "note": {"role": "drop"},
        "name": {"role": "identifier"},
        "sick": {"role": "class", "values": ["no", "yes"]},
    }
}


def disclosing(section):
    return plan_of({**BASE, "disclose": section})


def test_a_section_without_keys_asks_for_the_least_risk_at_half_the_utility():
    plan = disclosing({})
    assert isinstance(plan.disclose, ThresholdDisclose)
    assert plan.disclose.method == "aruba"
    assert plan.disclose.threshold == UtilityThreshold(value=Fraction(1, 2), of_most=True)


@pytest.mark.parametrize(
    ("given", "value", "of_most"),
    [
        ("half", Fraction(1, 2), True),
        ("60%", Fraction(3, 5), True),
        ("12.5 %", Fraction(1, 8), True),
        (12, Fraction(12), False),
        ("1/2", Fraction(1, 2), False),
        (0, Fraction(0), False),
    ],
)
def test_a_utility_is_a_number_or_a_share(given, value, of_most):
    plan = disclosing({"utility": {"at-least": given}})
    assert plan.disclose.utility.at_least == UtilityThreshold(value=value, of_most=of_most)
    assert plan_of(plan_mapping(plan)) == plan


def test_a_goal_at_a_risk_leaves_the_utility_open():
    plan = disclosing({"risk": {"at-most": 0.1}})
    assert plan.disclose.threshold is None


def test_a_plan_may_publish_and_disclose():
    plan = plan_of(
        {**BASE, "publish": {"method": "hedge", "epsilon": 1}, "disclose": {"method": "btda"}}
    )
    assert plan.publish is not None
    assert plan.disclose is not None
    assert "method: btda" in dump_plan(plan)


def test_other_families_have_their_own_settings():
    aggregate = disclosing({"method": "aggregate", "lambda": 5, "kappa": 2}).disclose
    assert isinstance(aggregate, AggregateDisclose)
    assert (aggregate.risk_weight, aggregate.power) == (5, 2)
    approx = disclosing({"method": "approx", "risk": {"at-most": 1}, "faithful": True}).disclose
    assert isinstance(approx, ApproxDisclose)


def test_the_section_belongs_to_the_digest_of_a_plan():
    digests = {plan_digest(plan_of(BASE)), plan_digest(disclosing({}))}
    digests.add(plan_digest(disclosing({"risk": {"model": 2}})))
    assert len(digests) == 3


def test_settings_are_overridden_and_checked_again():
    plan = disclosing({"utility": {"measure": "lm"}})
    other = override_disclosure(
        plan, method="btda", utility={"at-least": "70%", "measure": None}, risk={"model": None}
    )
    assert other.disclose.method == "btda"
    assert other.disclose.utility.measure == "lm"
    assert str(other.disclose.utility.at_least) == "70%"
    assert override_disclosure(plan, method=None) is plan
    with pytest.raises(PlanError) as refused:
        override_disclosure(other, **{"method": "aggregate", "lambda": 1})
    assert refused.value.paths == ("disclose.utility.at-least",)


MISTAKES = {
    "an unknown method": ({"method": "arba"}, "disclose.method", "'aruba'"),
    "a method that is a number": ({"method": 3}, "disclose.method", "aruba, btda"),
    "no mapping": (5, "disclose", "mapping"),
    "a risk that is no mapping": ({"risk": 3}, "disclose.risk", "mapping"),
    "an unknown model": ({"risk": {"model": 4}}, "disclose.risk.model", "1, 2, 3"),
    "an unknown key of risk": ({"risk": {"modl": 4}}, "disclose.risk.modl", "'model'"),
    "a key one level too high": ({"measure": "lm"}, "disclose.measure", "disclose.utility"),
    "an unknown measure": ({"utility": {"measure": "deep"}}, "disclose.utility.measure", "depth"),
    "a share above all": ({"utility": {"at-least": "101%"}}, "disclose.utility.at-least", "100%"),
    "a utility in words": ({"utility": {"at-least": "much"}}, "disclose.utility.at-least", "60%"),
    "a negative utility": ({"utility": {"at-least": -1}}, "disclose.utility.at-least", "above"),
    "a risk of zero": ({"risk": {"at-most": 0}}, "disclose.risk.at-most", "above 0"),
    "two goals": (
        {"utility": {"at-least": 1}, "risk": {"at-most": 1}},
        "disclose.risk.at-most",
        "Keep one",
    ),
    "a rate for a walk": ({"rate": 1}, "disclose.rate", "brute-force"),
    "weights of a stranger": (
        {"risk": {"severities": {"agee": 2}}},
        "disclose.risk.severities.agee",
        "age, ward",
    ),
    "a weight of text": (
        {"risk": {"severities": {"ward": {"A": "x"}}}},
        "disclose.risk.severities.ward.A",
        "weight",
    ),
    "a negative weight": (
        {"risk": {"severities": {"ward": -1}}},
        "disclose.risk.severities.ward",
        "from 0",
    ),
    "weights in an identifier": (
        {"risk": {"weights": {"age": "name"}}},
        "disclose.risk.weights.age",
        "column",
    ),
    "weights of the class": (
        {"risk": {"weights": {"sick": "w"}}},
        "disclose.risk.weights.sick",
        "age, ward",
    ),
    "weights for model 2": (
        {"risk": {"model": 2, "weights": "w.csv"}},
        "disclose.risk.weights",
        "model",
    ),
    "a printed model 1": ({"risk": {"printed": True}}, "disclose.risk.printed", "model 3"),
    "a similarity of nothing": (
        {"risk": {"similar-from": 0.5}},
        "disclose.risk.similar-from",
        "jaro",
    ),
    "no lambda": ({"method": "aggregate"}, "disclose.lambda", "weight of low risk"),
    "a concave power": (
        {"method": "aggregate", "lambda": 1, "kappa": 0.5},
        "disclose.kappa",
        "from 1",
    ),
    "no floor": ({"method": "aggregate", "lambda": 1, "floor": 0}, "disclose.floor", "excluded"),
    "model 3 for aggregate": (
        {"method": "aggregate", "lambda": 1, "risk": {"model": 3}},
        "disclose.risk.model",
        "1 or 2",
    ),
    "no limit for approx": ({"method": "approx"}, "disclose.risk.at-most", "largest risk"),
    "two limits for approx": (
        {"method": "approx", "risk": {"at-most": 1}, "utility": {"at-least": 2}},
        "disclose.utility.at-least",
        "Keep one",
    ),
    "a share for the dual of approx": (
        {"method": "approx", "utility": {"at-least": 2}, "share": "1/2"},
        "disclose.share",
        "Remove it",
    ),
    "a utility for aggregate": (
        {"method": "aggregate", "lambda": 1, "utility": {"at-least": 2}},
        "disclose.utility.at-least",
        "Remove it",
    ),
    "a share for approx": (
        {"method": "approx", "risk": {"at-most": 1}, "share": 2},
        "disclose.share",
        "at most 1",
    ),
    "lambda for aruba": ({"lambda": 1}, "disclose.lambda", "Allowed here"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named_with_its_path_and_what_is_allowed(case):
    section, path, hint = MISTAKES[case]
    with pytest.raises(PlanError) as refused:
        disclosing(section)
    assert refused.value.paths == (path,)
    assert hint in str(refused.value)


def test_baskets_cannot_be_disclosed():
    with pytest.raises(PlanError, match="one by one"):
        plan_of({"items": {"universe": ["a", "b"]}, "disclose": {}})


def test_a_table_without_predictors_cannot_be_disclosed():
    attributes = {"sick": {"role": "class", "values": ["no", "yes"]}}
    with pytest.raises(PlanError, match="nothing to disclose"):
        plan_of({"attributes": attributes, "disclose": {}})
