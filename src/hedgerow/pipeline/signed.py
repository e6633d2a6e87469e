"""Check of the signatures in a plan against its current settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from hedgerow.errors import UnconfirmedPlanError, VoidSignatureError
from hedgerow.model.database import Database
from hedgerow.model.schema import Schema
from hedgerow.model.signatures import signature_words
from hedgerow.model.universe import Universe
from hedgerow.plan.approval import ConfirmedPlan
from hedgerow.plan.model import Plan
from hedgerow.plan.signature import ITEMS, Signable, differences, signable
from hedgerow.release.domains import describe
from hedgerow.taxonomy.domain import CategoricalDomain

SignatureKind = Literal["confirmed", "approved"]

UNEXPLAINED = (
    "the signature has another fingerprint, and none of the settings that it lists differs: it was"
    " edited, or the defaults of this version of hedgerow are not those of the version that signed"
)
UNLISTED = "the signature has another fingerprint, and does not list what was signed"
ALTERED = "the settings that the signature lists are not those that its fingerprint is for"
_MOST_SHOWN = 12


@dataclass(frozen=True, kw_only=True)
class SignatureState:
    """One signature of a plan, with the changes of the plan since.

    ``bound`` is false if it has no fingerprint, such as ``confirmed: true`` typed by hand;
    ``differences`` are then unknown.
    """

    kind: SignatureKind
    by: str | None
    on: date | None
    bound: bool
    differences: tuple[str, ...] = ()

    @property
    def is_void(self) -> bool:
        """True if the plan differs from the one that was signed."""
        return bool(self.differences)

    @property
    def statement(self) -> str:
        """Sentence on who signed and what."""
        if not self.is_void:
            return signature_words(self.kind, by=self.by, on=self.on, bound=self.bound)
        return (
            f"{self.by} {self.kind} another plan on {self.on}: {_listed(self.differences)}."
            " The signature is void."
        )

    def as_dict(self) -> dict[str, object]:
        """Return the state for JSON."""
        return {
            "kind": self.kind,
            "by": self.by,
            "on": None if self.on is None else self.on.isoformat(),
            "tied-to-plan": self.bound,
            "void": self.is_void,
            "differences": list(self.differences),
            "statement": self.statement,
        }


def domain_digests(domain: Schema | Universe) -> dict[str, str]:
    """Return the SHA-256 of the content of every domain, by the name of its column."""
    if isinstance(domain, Universe):
        return {ITEMS: describe(CategoricalDomain(taxonomy=domain.taxonomy)).digest()}
    return {each.name: describe(each.domain).digest() for each in domain.read()}


def signable_of(
    plan: Plan, domain: Schema | Universe, arguments: Mapping[str, object] | None = None
) -> Signable:
    """Return what a signature of the plan covers, with the content of its domains."""
    return signable(plan, domain_digests(domain), arguments)


def given_beside(plan: Plan, data: object, *, utility: object = None) -> dict[str, object]:
    """Return the arguments of a run that change what was signed, besides the settings of the plan.

    The path of the table is not among them; the query of a database is.
    """
    query = plan.table_query if data is None else data.query if isinstance(data, Database) else None
    arguments: dict[str, object] = {}
    if query != plan.table_query:
        arguments["data"] = "asks a database otherwise than the plan"
    if utility is not None:
        arguments["utility"] = "a function"
    return arguments


def signature_states(plan: Plan, now: Signable) -> list[SignatureState]:
    """Return every signature in the plan, with the changes since."""
    confirmed, approved = plan.confirmed, plan.approved
    states = []
    if isinstance(confirmed, ConfirmedPlan):
        changed = _changed(confirmed.plan, confirmed.signed, now)
        states.append(_state("confirmed", confirmed.by, confirmed.on, changed))
    elif confirmed:
        states.append(SignatureState(kind="confirmed", by=None, on=None, bound=False))
    if approved is not None and approved.plan is not None:
        signed = approved.signed
        if signed is None and isinstance(confirmed, ConfirmedPlan):
            signed = confirmed.signed if confirmed.plan == approved.plan else None
        changed = _changed(approved.plan, signed, now)
        states.append(_state("approved", approved.by, approved.on, changed))
    elif approved is not None:
        states.append(SignatureState(kind="approved", by=approved.by, on=approved.on, bound=False))
    return states


def _state(kind: SignatureKind, by: str, on: date, changed: tuple[str, ...]) -> SignatureState:
    return SignatureState(kind=kind, by=by, on=on, bound=True, differences=changed)


def _changed(
    fingerprint: str, signed: Mapping[str, object] | None, now: Signable
) -> tuple[str, ...]:
    """Return what differs from what was signed; the fingerprint decides whether anything does."""
    found = () if signed is None else differences(signed, now.parts)
    if fingerprint == now.fingerprint:
        return (ALTERED,) if found else ()
    return found or (UNLISTED if signed is None else UNEXPLAINED,)


def check_signed(
    plan: Plan, domain: Schema | Universe, arguments: Mapping[str, object] | None = None
) -> None:
    """Refuse a plan that nobody confirmed, or that differs from what was signed."""
    if not plan.confirmed:
        raise UnconfirmedPlanError(
            "Nobody has confirmed that the domains in this plan are public knowledge.",
            where="confirmed",
            do="Read every domain, replace what was taken from the data, then sign the plan with"
            " 'hedgerow confirm PLAN --by NAME'; for an experiment of your own, set"
            " 'confirmed: true'.",
        )
    if plan.to_do:
        raise UnconfirmedPlanError(
            "The plan has open questions, and nobody can confirm it before they are answered.",
            where="to-do",
            do="Answer each one in the plan and remove it from this list, then sign the plan.",
        )
    for state in signature_states(plan, signable_of(plan, domain, arguments)):
        if state.is_void:
            raise VoidSignatureError(
                f"This is not the plan that {state.by} {state.kind} on {state.on}:"
                f" {_listed(state.differences)}.",
                where=state.kind,
                do="Undo the change, or write it into the plan and have it signed again:"
                " hedgerow confirm PLAN --by NAME"
                + (" --approve" if state.kind == "approved" else ""),
                differences=state.differences,
            )


def _listed(sentences: tuple[str, ...]) -> str:
    more = len(sentences) - _MOST_SHOWN
    rest = (f"and {more} more changes",) if more > 0 else ()
    return "; ".join((*sentences[:_MOST_SHOWN], *rest))
