"""The questions of NIST SP 800-226, answered for a release.

Source: NIST Special Publication 800-226, "Guidelines for Evaluating Differential Privacy
Guarantees" (March 2025, doi.org/10.6028/NIST.SP.800-226). Its pyramid has three parts, sections 2
to 4; the rows follow their components, in our words. It is guidance; there is no certification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hedgerow.model.certificate import Certificate

Answerer: TypeAlias = Literal["certificate", "documentation", "custodian"]

LARGEST_DELTA = 1e-5
"""Largest delta that NIST does not call suspicious."""


@dataclass(frozen=True, kw_only=True)
class NistRow:
    """One question: its section, its text, who answers it, and the answer."""

    section: str
    question: str
    by: Answerer
    answer: str


QUESTIONS: tuple[tuple[str, str, Answerer], ...] = (
    ("2", "Privacy parameters", "certificate"),
    ("2", "All releases together", "certificate"),
    ("2", "Unit of privacy", "certificate"),
    ("2", "Bounded contributions", "certificate"),
    ("2", "Other releases of the same data", "custodian"),
    ("2", "Audits", "documentation"),
    ("3", "Algorithms and correctness", "certificate"),
    ("3", "Bounds and bins without the data", "custodian"),
    ("3", "Utility", "certificate"),
    ("3", "Bias", "documentation"),
    ("4", "Trust model", "documentation"),
    ("4", "Side channels", "documentation"),
    ("4", "Security and access control", "custodian"),
    ("4", "Data collection exposure", "custodian"),
)
"""Section of the publication, component or hazard, and the source of the answer."""


def nist_rows(certificate: Certificate) -> tuple[NistRow, ...]:
    """Return all questions with answers, or none if there is no guarantee to evaluate."""
    if certificate.guarantee.kind == "none":
        return ()
    answers = {
        "Privacy parameters": _parameters(certificate),
        "All releases together": _all_releases(certificate),
        "Unit of privacy": _unit(certificate),
        "Bounded contributions": _contributions(certificate),
        "Other releases of the same data": "The ledger lists releases made with hedgerow and those"
        " that were entered by hand. Is anything else published from these records?",
        "Audits": "The documentation (privacy, audit) has the proofs and the tests that check them;"
        " hedgerow audit tries to refute the claim of every method.",
        "Algorithms and correctness": _algorithms(certificate),
        "Bounds and bins without the data": f"{len(certificate.assumed_public)} facts are taken as"
        " public and listed above. Is it certain that none of them, and no setting, was taken from"
        " the data?",
        "Utility": _utility(certificate),
        "Bias": _bias(certificate),
        "Trust model": "Central: the publisher holds the records and is trusted. Recipients are not"
        " trusted: they may have any knowledge and may cooperate.",
        "Side channels": "Noise is sampled exactly, as integers. Run time, memory use and failures"
        " are not covered: run hedgerow where only the data owner can observe it.",
        "Security and access control": "Who can access the records, the ledger and the computer?",
        "Data collection exposure": "How do the records reach the custodian, and who can see them"
        " on the way?",
    }
    is_unbounded = certificate.guarantee.person is None
    return tuple(
        NistRow(
            section=section,
            question=question,
            by="custodian" if question == "Bounded contributions" and is_unbounded else by,
            answer=answers[question],
        )
        for section, question, by in QUESTIONS
    )


def _parameters(certificate: Certificate) -> str:
    guarantee = certificate.guarantee
    if not guarantee.delta:
        seeded = "" if guarantee.private else " The seed is known, so the guarantee does not hold."
        return f"Pure differential privacy, ε = {guarantee.epsilon}, δ = 0.{seeded}"
    is_large = float(guarantee.delta) > LARGEST_DELTA
    warning = " NIST calls a δ above 0.00001 suspicious." if is_large else ""
    return f"(ε, δ), ε = {guarantee.epsilon}, δ = {float(guarantee.delta):.3g}.{warning}"


def _all_releases(certificate: Certificate) -> str:
    line = certificate.ledger
    if line is None:
        return "Not booked on a ledger."
    whose = "people" if line.people else "data set"
    cap = "no cap" if line.cap is None else f"a cap of ε = {line.cap}"
    return f"Entry {line.entry} of {whose} “{line.dataset}”, with {cap} for all releases."


def _unit(certificate: Certificate) -> str:
    words = certificate.guarantee.protects(certificate.records_word)
    return (
        f"{'' if words is None else f'{words} '}Neighbouring tables:"
        f" {certificate.guarantee.neighbours}. Records are added or removed (unbounded), so the"
        " number of records is protected as well."
    )


def _contributions(certificate: Certificate) -> str:
    person, unit = certificate.guarantee.person, certificate.guarantee.unit
    if person is None:
        stated = {
            "one record per person": "The plan states that no person has more than one record. Is"
            " this true?",
            "records": "Not bounded: each record is protected, not each person. Is this enough?",
        }.get(unit or "", "One record per person is assumed. Is this true?")
        return f"{stated} The cost for a person with k records is k times ε."
    columns = f"{'column' if len(person.columns) == 1 else 'columns'} {', '.join(person.columns)}"
    if person.join is not None:
        return f"All baskets of a {person.noun} ({columns}) are joined into one."
    return f"At most {person.records} records of a {person.noun} ({columns}) are used."


def _algorithms(certificate: Certificate) -> str:
    method, version = certificate.method.name, certificate.versions.get("hedgerow", "")
    steps = len(certificate.departures)
    departs = f" {steps} listed steps differ from the paper." if steps else ""
    source = certificate.randomness.source
    return f"Method {method} of hedgerow {version}; random bits: {source}.{departs}"


def _utility(certificate: Certificate) -> str:
    counts = certificate.counts
    if counts is None:
        return "Rows or counts are synthetic; hedgerow evaluate measures their utility."
    return (
        f"The noise on one count is within ± {counts.within_95:,} in 95 of 100 cases; hedgerow"
        " evaluate measures the utility."
    )


def _bias(certificate: Certificate) -> str:
    counts = certificate.counts
    adjusted = counts is not None and counts.adjustment
    then = f" Counts were {counts.adjustment}." if counts is not None and adjusted else ""
    return f"Noise affects small groups most, and rare groups may be missing.{then}"
