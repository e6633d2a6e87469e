"""Statements of a signature, as sentences for the person who signs."""

from __future__ import annotations

from fractions import Fraction

from hedgerow.plan.model import Plan
from hedgerow.plan.settings import PrivateSettings
from hedgerow.plan.signature import FROM_DATA, ITEMS
from hedgerow.privacy.budget import epsilon_text

_MOST_NAMED = 20


def signed_words(plan: Plan, public: tuple[str, ...], delta: Fraction) -> list[str]:
    """Return what is signed, in sentences; ``delta`` is that of the release."""
    said = []
    if isinstance(plan.publish, PrivateSettings):
        epsilon = epsilon_text(plan.publish.epsilon)
        more = f" and delta = {float(delta):.3g}" if delta else ""
        said.append(
            f"Publishes by the method {plan.publish.method} with epsilon = {epsilon}{more}."
        )
        said.append(_unit_words(plan))
    elif plan.publish is not None:
        said.append(
            f"Publishes by the method {plan.publish.method}, which is not differentially private."
        )
    if plan.disclose is not None:
        said.append(
            f"Discloses single records by the method {plan.disclose.method}, which is not"
            " differentially private."
        )
    if plan.covers is not None:
        said.append(f"Covers only records with some values of {plan.covers.column}.")
    if plan.ledger is not None:
        cap = epsilon_text(plan.ledger.cap)
        said.append(f"Booked on the account {plan.ledger.name}, whose cap is epsilon = {cap}.")
    said.append(_source_words(plan, public))
    return said


def _unit_words(plan: Plan) -> str:
    """Return the privacy unit of a plan in a sentence."""
    if plan.person is not None:
        bound = plan.records_per_person
        kept = "" if bound is None or bound == "auto" else f", of which at most {bound} count"
        return f"Protects each person (column {' and '.join(plan.person)}) with all records{kept}."
    if plan.one_record_per_person:
        return "Protects each person; nobody can have more than one record."
    return (
        "Protects each record. A person with ten records has ten times the privacy loss."
        if plan.protects == "records"
        else "The plan does not say what is protected."
    )


def _source_words(plan: Plan, public: tuple[str, ...]) -> str:
    if plan.items is not None:
        sources = {ITEMS: plan.items.source}
    else:
        sources = {name: each.source for name, each in plan.attributes.items() if each.is_read}
    stated = [f"{name}: {text}" for name, text in sources.items() if text and text != FROM_DATA]
    silent = [name for name, text in sources.items() if not text]
    parts = ["All domains are public knowledge."]
    if public:
        parts.append(f"Taken from the data and stated to be public: {few_names(public)}.")
    if stated:
        parts.append(f"Sources: {'; '.join(stated)}.")
    if silent:
        parts.append(f"Without a source: {few_names(tuple(silent))}.")
    return " ".join(parts)


def few_names(names: tuple[str, ...]) -> str:
    """Return names for a message, the first of many."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
