"""The privacy unit in certificates, and certificates from before there was one."""

from __future__ import annotations

import json
import tarfile
from fractions import Fraction
from pathlib import Path

import pytest
from pydantic import ValidationError

from hedgerow.model.certificate import Certificate, Guarantee
from hedgerow.model.people import PeopleRule
from hedgerow.model.unit import protection
from hedgerow.report.nist import nist_rows

FORMATS = Path(__file__).resolve().parents[1] / "formats"


def old_text() -> str:
    """Return a certificate of a version that did not ask for the privacy unit."""
    with tarfile.open(FORMATS / "certificate-2-ledger-4.tar.gz") as samples:
        names = [name for name in samples.getnames() if name.endswith("table/certificate.json")]
        found = samples.extractfile(names[0])
        assert found is not None
        return found.read().decode("utf-8")


def test_a_certificate_of_an_earlier_version_keeps_its_words():
    text = old_text()
    old = Certificate.from_json(text)
    assert old.guarantee.unit is None
    assert old.guarantee.neighbours == "add or remove one record; one record per person"
    assert old.guarantee.protects() is None
    assert old.to_json() == text


def test_nothing_is_said_of_the_unit_of_an_earlier_certificate():
    old = Certificate.from_json(old_text())
    answers = {row.question: row.answer for row in nist_rows(old)}
    assert answers["Unit of privacy"].startswith("Neighbouring tables: add or remove one record;")
    assert "is assumed. Is this true?" in answers["Bounded contributions"]
    assert "privacy unit" not in [name for name, value in old.card_facts() if value is not None]


@pytest.mark.parametrize("unit", ["one record per person", "records"])
def test_a_certificate_with_a_unit_is_read_back_as_it_was_written(make_certificate, unit):
    promised = Guarantee.differential_privacy(Fraction(1), reproducible=False, unit=unit)
    certificate = make_certificate(guarantee=promised)
    assert json.loads(certificate.to_json())["guarantee"]["unit"] == unit
    assert Certificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize("unit", ["one record per person", "records"])
def test_a_unit_that_is_not_the_certified_person_is_refused(unit):
    people = PeopleRule(columns=("patient",), most=4)
    promised = Guarantee.differential_privacy(
        Fraction(1), reproducible=False, unit="person", people=people
    )
    facts = promised.model_dump(by_alias=True)
    with pytest.raises(ValidationError, match="privacy unit does not agree"):
        Guarantee.model_validate(facts | {"unit": unit})
    with pytest.raises(ValidationError, match="privacy unit does not agree"):
        Guarantee.model_validate(facts | {"person": None})
    with pytest.raises(ValidationError, match="privacy unit does not agree"):
        Guarantee.model_validate(Guarantee.none("k-anonymous").model_dump() | {"unit": unit})


@pytest.mark.parametrize("column", ["a\nb", "pat\u202eient", "x" * 500])
def test_a_column_that_cannot_be_shown_plainly_is_quoted_or_cut(column):
    words = protection("person", (column,))
    assert words.isprintable()
    assert len(words) < 200
