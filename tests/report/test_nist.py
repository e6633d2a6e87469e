"""The questions of NIST SP 800-226: all of them, answered for the release, and documented."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from hedgerow.model.certificate import Guarantee
from hedgerow.model.people import PeopleRule
from hedgerow.report.nist import QUESTIONS, nist_rows


def answers(certificate) -> dict[str, tuple[str, str]]:
    return {row.question: (row.by, row.answer) for row in nist_rows(certificate)}


def test_every_question_is_answered_and_documented_in_the_same_words(root, make_certificate):
    rows = nist_rows(make_certificate())
    assert [(row.section, row.question) for row in rows] == [each[:2] for each in QUESTIONS]
    assert all(row.answer for row in rows)
    page = (root / "docs" / "limits.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| ([234]) \| ([^|]+) \| (\w+) \| \S", page, flags=re.MULTILINE)
    assert told == [tuple(each) for each in QUESTIONS]


def test_answers_are_those_of_the_release_at_hand(make_certificate):
    told = answers(make_certificate())
    assert "ε = 1, δ = 0" in told["Privacy parameters"][1]
    assert "Entry 1" in told["All releases together"][1]
    assert "cap of ε = 4" in told["All releases together"][1]
    assert "± 6" in told["Utility"][1]
    assert told["Bounded contributions"][0] == "custodian"  # only they know who has two records


def test_a_bound_on_peoples_records_is_the_certificates_word(make_certificate):
    people = PeopleRule(columns=("patient",), most=4, counted="records")
    promised = Guarantee.differential_privacy(
        Fraction(1), reproducible=False, unit="person", people=people
    )
    by, answer = answers(make_certificate(guarantee=promised))["Bounded contributions"]
    assert (by, "At most 4 records" in answer) == ("certificate", True)


@pytest.mark.parametrize(("delta", "warned"), [("1/100", True), ("1/10000000", False)])
def test_a_delta_that_is_too_large_is_called_so(make_certificate, delta, warned):
    promised = Guarantee.differential_privacy(
        Fraction(1), reproducible=False, unit="records", delta=Fraction(delta)
    )
    answer = answers(make_certificate(guarantee=promised))["Privacy parameters"][1]
    assert ("suspicious" in answer) == warned


def test_a_seeded_release_does_not_pass_for_private(make_certificate):
    assert "does not hold" in answers(make_certificate(reproducible=True))["Privacy parameters"][1]


def test_what_has_no_guarantee_answers_nothing(make_certificate, release):
    bare = make_certificate(guarantee=Guarantee.none("k-anonymous"), ledger=None)
    assert nist_rows(bare) == ()


def test_the_page_shows_the_table_and_room_to_sign_on_paper_only(release):
    page = release.report()
    assert page.count("<td>custodian</td>") == 5
    assert "Signed for this release" in page
    screen, _, paper = page.partition("@media print")
    assert ".signed { display: none; }" in screen
    assert ".signed { display: block;" in paper
