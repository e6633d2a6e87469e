"""The certificate says exactly what was promised, and nothing confidential."""

from __future__ import annotations

import json
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hedgerow.errors import ReleaseError
from hedgerow.model import certificate as parts
from hedgerow.privacy.budget import upward_text
from support.certificates import resealed


def test_the_json_schema_in_the_docs_is_up_to_date(root, golden):
    golden(root / "docs" / "certificate.schema.json", parts.certificate_schema_text())


def test_a_certificate_fits_its_json_schema(make_certificate):
    for reproducible in (False, True):
        facts = json.loads(make_certificate(reproducible=reproducible).to_json())
        jsonschema.validate(facts, parts.certificate_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(facts | {"records": 45222}, parts.certificate_schema())


def test_a_certificate_survives_its_file(make_certificate):
    certificate = make_certificate()
    text = certificate.to_json()
    assert parts.Certificate.from_json(text) == certificate
    assert parts.Certificate.from_json(text).to_json() == text


def test_budgets_are_exact_texts(make_certificate):
    facts = json.loads(make_certificate().to_json())
    assert facts["guarantee"]["epsilon"] == "1"
    assert [line["share"] for line in facts["budget"]["spends"]] == ["1/4", "1/4", "1/2"]
    assert facts["guarantee"]["delta"] == "0"
    tenth = parts.Guarantee.differential_privacy(
        Fraction(1, 10), reproducible=False, unit="records"
    )
    assert tenth.model_dump(mode="json")["epsilon"] == "1/10"
    assert tenth.epsilon_decimal == 0.1


@pytest.mark.parametrize("value", [0.1, "0.1", "1/0", "-1", "", "1/2/3", True, None])
def test_a_share_that_is_not_an_exact_fraction_is_refused(value):
    with pytest.raises(ValidationError):
        parts.Spend(on="counts", share=value, of_epsilon=Fraction(1))


def test_shares_that_do_not_add_up_are_refused():
    line = parts.Spend(on="counts", share=Fraction(1, 3), times=2, of_epsilon=Fraction(2, 3))
    assert parts.Budget(spends=(line,), total=Fraction(2, 3))
    with pytest.raises(ValidationError, match="add up"):
        parts.Budget(spends=(line,), total=Fraction(1, 3))


def test_boxes_without_a_record_in_common_pay_a_share_once():
    line = parts.Spend(on="counts", share=Fraction(1), times=9, level=1, of_epsilon=Fraction(1))
    assert parts.Budget(spends=(line,), total=Fraction(1)).total == 1


def test_a_budget_over_epsilon_is_refused(make_certificate):
    line = parts.Spend(on="counts", share=Fraction(2), of_epsilon=Fraction(1))
    with pytest.raises(ValidationError, match="exceeds the guaranteed epsilon"):
        make_certificate(budget=parts.Budget(spends=(line,), total=Fraction(2)))


def test_a_reproducible_run_promises_nothing(make_certificate):
    certificate = make_certificate(reproducible=True)
    assert not certificate.guarantee.private
    assert certificate.guarantee.statement.startswith("Reproducible, not private")
    assert json.loads(certificate.to_json())["randomness"]["stamp"] == "reproducible, not private"
    private = parts.Guarantee.differential_privacy(Fraction(1), reproducible=False, unit="records")
    with pytest.raises(ValidationError, match="cannot be private"):
        make_certificate(reproducible=True, guarantee=private)


def test_a_method_without_a_guarantee_has_no_epsilon(make_certificate):
    none = parts.Guarantee.none("Not differentially private: single records are disclosed.")
    assert make_certificate(guarantee=none).guarantee.epsilon is None
    with pytest.raises(ValidationError):
        parts.Guarantee(**(none.model_dump() | {"private": True}))


def test_the_size_of_the_data_is_told_by_the_noisy_total_alone(make_certificate):
    facts = json.loads(make_certificate().to_json())
    assert set(facts["data"]) == {"name", "attributes", "items", "noisy-total"}
    assert set(facts["data"]["attributes"][0]) == {
        "name",
        "role",
        "kind",
        "size",
        "unit",
        "meaning",
    }


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda facts: facts.pop("guarantee"), "guarantee"),
        (lambda facts: facts.update({"format-version": 0}), "format-version"),
        (
            lambda facts: facts["budget"]["spends"][0].update(share="a half"),
            "budget.spends.0.share",
        ),
        (lambda facts: facts.update(surprise=1), "surprise"),
    ],
)
def test_a_file_that_is_no_certificate_is_refused_by_name_and_place(
    make_certificate, change, place
):
    facts = json.loads(make_certificate().to_json())
    change(facts)
    with pytest.raises(ReleaseError) as refused:
        parts.Certificate.from_json(resealed(facts), where="out/certificate.json")
    assert refused.value.where == f"out/certificate.json: {place}"


def test_a_file_that_is_no_json_is_refused():
    with pytest.raises(ReleaseError, match=r"certificate\.json"):
        parts.Certificate.from_json("{")


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (Fraction(1), "2.72"),
        (Fraction(1, 10), "1.11"),
        (Fraction(8), "2,980.96"),
        (Fraction(1, 4), "1.29"),
        (Fraction(5), "148.42"),
        (Fraction(100), "2.7e+43"),
        (Fraction(10**6), "3.1e+434294"),
    ],
)
def test_the_factor_is_readable_at_every_epsilon(epsilon, text):
    assert parts.factor_text(epsilon) == text


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=900))
def test_bounds_are_rounded_outward_in_both_directions(epsilon):
    most = Fraction(parts.factor_text(epsilon).replace(",", ""))
    least = Fraction(parts.inverse_factor_text(epsilon))
    with localcontext(Context(prec=80)):
        exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        exact, inverse = Fraction(exponent.exp()), Fraction((-exponent).exp())
    assert exact <= most <= max(exact + Fraction(1, 100), exact * Fraction(11, 10))
    assert inverse * Fraction(9, 10) <= least <= inverse
    assert least * most <= Fraction(11, 10)


@given(st.fractions(min_value=0, max_value=10**6), st.integers(1, 8))
def test_a_bound_is_never_printed_below_itself(value, digits):
    shown = Fraction(upward_text(value, digits=digits))
    assert value <= shown <= value * (1 + Fraction(2, 10 ** (digits - 1)))


def test_the_statement_says_both_directions_once():
    told = parts.Guarantee.differential_privacy(
        Fraction(1, 4), reproducible=False, unit="records"
    ).statement
    assert "is at most 1.29 times, and at least 0.77 times, as likely" in told
    loose = parts.Guarantee.differential_privacy(
        Fraction(1), reproducible=False, delta=Fraction(1, 3), unit="records"
    )
    assert "delta = 0.334" in loose.statement
    assert "more than 2.72 times as likely with any one record as without it" in loose.statement
    assert "or without it as with it" in loose.statement
