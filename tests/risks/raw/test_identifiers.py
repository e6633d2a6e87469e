"""Columns that may identify people, by name and by form."""

from __future__ import annotations

import pandas as pd
import pytest

from hedgerow.read.open import open_table
from hedgerow.risks.raw.identifiers import KINDS, identifiers_in, named_kind

NAMES = {
    1: ["Name", "first_name", "Nachname"],
    2: ["zip", "PostCode", "city", "Straße"],
    3: ["DOB", "birthdate", "admission_date", "Geburtsdatum"],
    4: ["phone", "Telefon", "mobile_nr"],
    5: ["fax"],
    6: ["e-mail", "Email", "contact_email"],
    7: ["SSN", "social security number"],
    8: ["MRN", "patient_nbr", "PatientID"],
    9: ["health_plan", "member_id"],
    10: ["account_no", "IBAN"],
    11: ["licence", "passport_no"],
    12: ["plate", "VIN"],
    13: ["IMEI", "device_id"],
    14: ["url", "homepage"],
    15: ["ip", "ip_address"],
    16: ["fingerprint"],
    17: ["photo"],
    18: ["id", "uuid", "case_id", "visitId"],
}
HARMLESS = ["age", "income", "paid", "covid", "education", "hours-per-week", "shipment", "valid"]


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in NAMES.items() for n in names])
def test_each_of_the_eighteen_is_found_by_name(kind, name):
    assert named_kind(name) == kind


def test_the_list_has_eighteen_kinds():
    assert sorted(KINDS) == list(range(1, 19)) == sorted(NAMES)


@pytest.mark.parametrize("name", HARMLESS)
def test_ordinary_names_are_not(name):
    assert named_kind(name) is None


FORMS = {
    3: "2024-0{}-1{}",
    4: "+49 30 123{}56{}",
    6: "p{}{}@example.org",
    7: "12{}-45-678{}",
    13: "00:1A:2B:3C:4D:{}{}",
    14: "https://example.org/{}{}",
    15: "10.0.{}.{}",
}


@pytest.mark.parametrize("kind", FORMS)
def test_forms_are_found_whatever_the_name(kind):
    values = [FORMS[kind].format(1 + a % 9, b) for a in range(10) for b in range(10)]
    found = identifiers_in(open_table(pd.DataFrame({"x": values, "y": ["a", "b"] * 50})))
    assert [(each.column, each.kind, each.by) for each in found] == [("x", kind, "form")]


def test_codes_that_hardly_repeat_are_found_by_form():
    found = identifiers_in(open_table(pd.DataFrame({"x": [f"K{n:05}" for n in range(200)]})))
    assert [each.kind for each in found] == [18]


def test_ages_over_89_are_found():
    old = pd.DataFrame({"age": [str(a) for a in range(20, 95)], "b": ["u", "v", "w"] * 25})
    young = pd.DataFrame({"age": [str(a) for a in range(14, 89)]})
    assert [(each.column, each.kind) for each in identifiers_in(open_table(old))] == [("age", 3)]
    assert identifiers_in(open_table(young)) == ()
