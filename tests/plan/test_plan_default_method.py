"""The method of a plan that names none."""

from __future__ import annotations

from fractions import Fraction

import pytest

import hedgerow
from hedgerow.errors import PlanError
from hedgerow.plan.defaults import LEAST_STRENGTH, USUAL_BOUND, strength_of, table_choice
from hedgerow.plan.load import plan_digest, plan_of
from hedgerow.plan.override import override

COLUMNS = {
    "age": {"numeric": [0, 99]},
    "sex": {"values": ["F", "M"]},
    "name": {"role": "identifier"},
    "income": {"role": "class", "values": ["low", "high"]},
}
N_COLUMNS = 3  # the identifier does not count
ENOUGH = LEAST_STRENGTH * N_COLUMNS


def table(*, records: int | None = None, **publish: object) -> dict[str, object]:
    plan: dict[str, object] = {"attributes": COLUMNS, "protects": "records"}
    plan["publish"] = {"epsilon": 1, **publish}
    return plan if records is None else {**plan, "records": records}


def method_of(plan: dict[str, object]) -> str:
    publish = plan_of(plan).publish
    assert publish is not None
    return publish.method


def test_rows_are_published_by_weave() -> None:
    assert method_of(table()) == "weave"
    assert method_of(table(records=10)) == "weave"


def test_a_table_to_read_is_published_by_hedge() -> None:
    assert method_of(table(**{"for": "table"})) == "hedge"


@pytest.mark.parametrize(("records", "method"), [(ENOUGH - 1, "hedge"), (ENOUGH, "weave")])
def test_one_class_is_predicted_by_hedge_from_few_records(records: int, method: str) -> None:
    assert method_of(table(records=records, **{"for": "classification"})) == method


def test_without_a_number_of_records_a_class_is_predicted_by_weave() -> None:
    assert method_of(table(**{"for": "classification"})) == "weave"


@pytest.mark.parametrize(
    ("people", "factor"),
    [
        ({"records-per-person": 3}, 3),
        ({"records-per-person": "auto"}, USUAL_BOUND),
        ({"records-per-person": 3, "count": "people"}, 1),
    ],
)
def test_the_strength_is_that_of_one_record_of_a_person(
    people: dict[str, object], factor: int
) -> None:
    for records, method in ((ENOUGH * factor - 1, "hedge"), (ENOUGH * factor, "weave")):
        plan = table(records=records, **{"for": "classification"})
        del plan["protects"]
        assert method_of({**plan, "person": "name", **people}) == method


def test_a_named_method_stays() -> None:
    assert method_of(table(method="hedge")) == "hedge"
    assert method_of(table(method="diffgen", h=3)) == "diffgen"


def test_settings_choose_the_default_of_a_plan_without_a_section() -> None:
    plan = plan_of({key: each for key, each in table(records=ENOUGH).items() if key != "publish"})
    chosen = override(plan, epsilon=1, purpose="classification").publish
    assert chosen is not None
    assert chosen.method == "weave"
    fewer = override(plan, epsilon="1/2", purpose="classification").publish
    assert fewer is not None
    assert fewer.method == "hedge"


def test_a_plan_that_names_its_default_is_the_same_plan() -> None:
    assert plan_digest(plan_of(table())) == plan_digest(plan_of(table(method="weave")))


def test_the_reason_is_given_with_the_figure_it_rests_on() -> None:
    few = plan_of(table(records=300, **{"for": "classification"})).why_method()
    assert few is not None
    assert "100" in few
    assert str(LEAST_STRENGTH) in few
    named = plan_of(table(method="diffgen", h=3)).why_method()
    assert named is not None
    assert "diffgen" in named
    assert "weave" in named


def test_check_and_the_certificate_state_the_reason() -> None:
    plan = table(records=20_000)
    reason = plan_of(plan).why_method()
    assert reason in hedgerow.check(plan).outline.notes
    rows = {"age": [30, 60] * 300, "sex": ["F", "M"] * 300, "income": ["low", "high"] * 300}
    confirmed = {**plan, "confirmed": True, "publish": {"epsilon": 1, "for": "table"}}
    frame = {**rows, "name": ["a"] * 600}
    import pyarrow as pa

    release = hedgerow.publish(confirmed, data=pa.table(frame), seed=1, even_if_noise=True)
    assert release.certificate.method.details["reason"] == plan_of(confirmed).why_method()


@pytest.mark.parametrize("epsilon", ["much", None, "1/0"])
def test_an_unreadable_epsilon_is_reported_by_the_check_of_the_plan(epsilon: object) -> None:
    with pytest.raises(PlanError, match="epsilon"):
        plan_of({"attributes": COLUMNS, "records": 9, "publish": {"epsilon": epsilon}})


def test_strength_is_public_arithmetic() -> None:
    assert strength_of(Fraction(1, 2), records=900, n_columns=3, bound=3) == 50
    assert strength_of(Fraction(1), records=None, n_columns=3, bound=None) is None
    assert table_choice("counting", Fraction(1)).method == "weave"
