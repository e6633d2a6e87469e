"""The questions of NIST SP 800-226, answered for a release.

Source: NIST Special Publication 800-226, "Guidelines for Evaluating Differential Privacy
Guarantees" (March 2025, doi.org/10.6028/NIST.SP.800-226). Its pyramid has three parts, sections 2
to 4; the rows go by their components, in our words. It is guidance, and nobody certifies by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hedgerow.model.certificate import Certificate

Answerer: TypeAlias = Literal["certificate", "documentation", "custodian"]

LARGEST_DELTA = 1e-5
"""Above it NIST finds a delta suspicious."""


@dataclass(frozen=True, kw_only=True)
class NistRow:
    """One question: its section, what is asked, who answers it, and the answer."""

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
"""Section of the publication, component or hazard in short, and where the answer is found."""


def nist_rows(certificate: Certificate) -> tuple[NistRow, ...]:
    """Return the table, filled in; nothing where there is no guarantee to evaluate."""
    if certificate.guarantee.kind == "none":
        return ()
    answers = {
        "Privacy parameters": _parameters(certificate),
        "All releases together": _together(certificate),
        "Unit of privacy": _unit(certificate),
        "Bounded contributions": _contributions(certificate),
        "Other releases of the same data": "The ledger knows what hedgerow has published, and what"
        " was told to it. Is anything else given out from these records?",
        "Audits": "Proofs and the tests that hold them are in the documentation (privacy, audit);"
        " hedgerow audit tries to refute every method's claim.",
        "Algorithms and correctness": _algorithms(certificate),
        "Bounds and bins without the data": f"{len(certificate.assumed_public)} facts are taken as"
        " public and listed above. Was none of them, nor any setting, taken from the data?",
        "Utility": _utility(certificate),
        "Bias": _bias(certificate),
        "Trust model": "Central: who publishes holds the records and is trusted. Recipients are"
        " not: they may know anything and work together.",
        "Side channels": "Noise is exact, in whole numbers. Run time, memory and failures are not"
        " covered: run it where only the owner can watch.",
        "Security and access control": "Who may read the records, the ledger and the machine?",
        "Data collection exposure": "How do the records come to the custodian, and who sees them on"
        " the way?",
    }
    alone = certificate.guarantee.person is None
    return tuple(
        NistRow(
            section=section,
            question=question,
            by="custodian" if question == "Bounded contributions" and alone else by,
            answer=answers[question],
        )
        for section, question, by in QUESTIONS
    )


def _parameters(certificate: Certificate) -> str:
    promised = certificate.guarantee
    if not promised.delta:
        kept = "" if promised.private else " Made with a known seed: the guarantee does not hold."
        return f"Pure differential privacy, ε = {promised.epsilon}, δ = 0.{kept}"
    loose = float(promised.delta) > LARGEST_DELTA
    warned = " NIST finds a δ above 0.00001 suspicious." if loose else ""
    return f"(ε, δ), ε = {promised.epsilon}, δ = {float(promised.delta):.3g}.{warned}"


def _together(certificate: Certificate) -> str:
    line = certificate.ledger
    if line is None:
        return "Booked on no ledger."
    whose = "people" if line.people else "data set"
    cap = "no cap" if line.cap is None else f"a cap of ε = {line.cap}"
    return f"Entry {line.entry} of {whose} “{line.dataset}”, with {cap} for all releases."


def _unit(certificate: Certificate) -> str:
    words = certificate.guarantee.protects(certificate.records_word)
    return (
        f"{'' if words is None else f'{words} '}Neighbouring tables:"
        f" {certificate.guarantee.neighbours}. Adding or removing (unbounded), so that the number"
        " of records is protected, too."
    )


def _contributions(certificate: Certificate) -> str:
    person, unit = certificate.guarantee.person, certificate.guarantee.unit
    if person is None:
        stated = {
            "one record per person": "The plan states that nobody has more than one record: is"
            " that so?",
            "records": "Not bounded: each record is protected, not each person. Is that enough?",
        }.get(unit or "", "One record per person is assumed: is that so?")
        return f"{stated} Somebody with k records is protected by k times ε."
    told = ", ".join(person.columns)
    if person.join is not None:
        return f"A {person.noun} (told by {told}) with all their baskets, joined to one."
    return f"A {person.noun} (told by {told}) with at most {person.records} records that count."


def _algorithms(certificate: Certificate) -> str:
    method, version = certificate.method.name, certificate.versions.get("hedgerow", "")
    steps = len(certificate.departures)
    departs = f" {steps} steps differ from the paper, and are listed." if steps else ""
    source = certificate.randomness.source
    return f"Method {method} of hedgerow {version}; random bits: {source}.{departs}"


def _utility(certificate: Certificate) -> str:
    counts = certificate.counts
    if counts is None:
        return "Rows or counts are drawn; what that is worth, hedgerow evaluate tells the owner."
    return (
        f"The noise on one count is within ± {counts.within_95:,} in 95 of 100 cases; what that is"
        " worth, hedgerow evaluate tells the owner."
    )


def _bias(certificate: Certificate) -> str:
    counts = certificate.counts
    adjusted = counts is not None and counts.adjustment
    then = f" Counts were {counts.adjustment}." if counts is not None and adjusted else ""
    return f"Small groups suffer most from noise, and rare ones may be missing.{then}"
