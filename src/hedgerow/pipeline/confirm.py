"""confirm(plan): sign a plan as it is, so that no other one can be published in its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction

from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import PlanError, SettingError, UnconfirmedPlanError
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.pipeline.confirm_words import few_names, signed_words
from hedgerow.pipeline.prepare import PlanLike, as_plan, prepare
from hedgerow.pipeline.signed import signable_of, signature_states
from hedgerow.plan.fields import shown
from hedgerow.plan.load import checked, plan_mapping
from hedgerow.plan.model import Plan
from hedgerow.plan.settings import PrivateSettings
from hedgerow.plan.signature import FROM_DATA, ITEMS, Signable

UNIT_LINES = (
    "Add one of: 'person: COLUMN' with 'records-per-person: 4' (or auto), 'one-record-per-person:"
    " true' (nobody can have more than one record), or 'protects: records' (each record is"
    " protected; a person with ten records has ten times the privacy loss)."
)


@dataclass(frozen=True, kw_only=True)
class Signing:
    """A signed plan, and what has to be written into its file.

    ``keys`` has the new content of ``confirmed`` and ``approved``, ``None`` where the key goes;
    ``sources`` the new sources by column, `ITEMS` for set-valued data.
    """

    plan: Plan
    signed: Signable
    keys: dict[str, dict[str, object] | None]
    sources: dict[str, str]
    words: tuple[str, ...]
    notes: tuple[str, ...]


def confirm(
    plan: PlanLike,
    *,
    by: str,
    approve: bool = False,
    why: str | None = None,
    sources: Mapping[str, str] | None = None,
    all_public: bool = False,
    on: date | None = None,
) -> Plan:
    """Return the plan with a signature that is tied to its content.

    The signature says that all domains of the plan are public knowledge. It holds the fingerprint
    of the plan without its signatures, with the content of its taxonomies and domains; `publish`
    and `disclose` refuse a plan that differs. It does not prove who signed; `sign` does, for a
    release.

    Parameters
    ----------
    plan : Plan, mapping or path
        The plan to sign. A file is read and not written; `hedgerow confirm` writes it.
    by : str
        Who signs, as everybody may read it.
    approve : bool, default=False
        Sign for the release as well. A confirmation by somebody else that holds for the plan as
        it is stays.
    why : str, optional
        The reason for the release, in a sentence; with ``approve``.
    sources : mapping of str to str, optional
        The public source of the domain of a column, such as ``{"age": "code book p. 4"}``;
        ``items`` names the universe of set-valued data.
    all_public : bool, default=False
        State that all domains that were taken from the data are public knowledge.
    on : datetime.date, optional
        The day of the signature; today if it is not given.

    Returns
    -------
    Plan
        The signed plan.

    Raises
    ------
    UnconfirmedPlanError
        If a question of the plan is open, if it does not state its privacy unit, or if a domain
        was taken from the data and has no public source.
    PlanError
        If the plan has a mistake or does not set what to publish.

    Notes
    -----
    Privacy: no record is read. The guarantee assumes that all domains of the plan are public;
    this signature names who states it.

    Examples
    --------
    >>> signed = confirm({"attributes": {"age": {"numeric": [0, 110]}},
    ...                   "one-record-per-person": True,
    ...                   "publish": {"method": "hedge", "epsilon": 1}}, by="A. Officer")
    >>> signed.confirmed.by, len(signed.confirmed.plan)
    ('A. Officer', 64)

    """
    return signing_of(
        plan, by=by, approve=approve, why=why, sources=sources, all_public=all_public, on=on
    ).plan


def signing_of(
    plan: PlanLike,
    *,
    by: str,
    approve: bool = False,
    why: str | None = None,
    sources: Mapping[str, str] | None = None,
    all_public: bool = False,
    on: date | None = None,
) -> Signing:
    """Return the signed plan with what has to be written; see `confirm`."""
    if why is not None and not approve:
        raise SettingError(
            "A reason is given without an approval.", where="why", do="Add --approve, or remove it."
        )
    unsigned = as_plan(plan)
    sourced = with_sources(unsigned, sources or {})
    _check_answered(sourced)
    domain, delta = _prepared(sourced)
    waiting = domains_from_data(sourced)
    if waiting and not all_public:
        raise UnconfirmedPlanError(
            "Domains were taken from the data, and nobody has stated that they are public:"
            f" {few_names(waiting)}.",
            where="source",
            do="Replace each domain by public knowledge and give its source with"
            " --source 'COLUMN=code book p. 4'; or, if all of them are public knowledge as they"
            " are, say so with --all-public.",
        )
    now = signable_of(sourced, domain)
    day = (on or datetime.now(UTC).date()).isoformat()
    keys, notes = _signatures(sourced, now, by=by, on=day, why=why, approve=approve, public=waiting)
    signed = _with(sourced, keys)
    return Signing(
        plan=signed,
        signed=now,
        keys=keys,
        sources=dict(sources or {}),
        words=tuple(signed_words(signed, waiting, delta)),
        notes=notes,
    )


def domains_from_data(plan: Plan) -> tuple[str, ...]:
    """Return the columns whose domains were proposed from the data and have no public source."""
    if plan.items is not None:
        return (ITEMS,) if plan.items.source == FROM_DATA else ()
    return tuple(
        name for name, each in plan.attributes.items() if each.is_read and each.source == FROM_DATA
    )


def with_sources(plan: Plan, sources: Mapping[str, str]) -> Plan:
    """Return the plan with the public sources of some of its domains."""
    if not sources:
        return plan
    mapping = plan_mapping(plan)
    for name, text in sources.items():
        holder = mapping.get("attributes", {}).get(name)
        if name == ITEMS and plan.items is not None:
            holder = mapping[ITEMS]
        if holder is None:
            raise SettingError(
                f"The plan has no column {shown(name)}.",
                where="source",
                do="Give COLUMN=TEXT with a column of the plan, or items=TEXT for set-valued data.",
            )
        if text.strip().lower() in ("", FROM_DATA):
            raise SettingError(
                f"{shown(text)} is not a public source.",
                where=f"source of {name}",
                do="Name a code book, a form, a law or a standard.",
            )
        holder["source"] = text
    return checked(mapping, where="source", lines={}, base=plan.base)


def _check_answered(plan: Plan) -> None:
    if plan.publish is None and plan.disclose is None:
        raise PlanError(
            "The plan does not say how to publish, and a signature covers that.",
            where="publish",
            do="Add a section such as 'publish: {method: hedge, epsilon: 1}'.",
        )
    if plan.to_do:
        more = f", and {len(plan.to_do) - 1} more" if len(plan.to_do) > 1 else ""
        raise UnconfirmedPlanError(
            f"A question is open: {shown(plan.to_do[0])}{more}.",
            where="to-do",
            do="Answer it in the plan and remove it from the list, then confirm the plan.",
        )
    if isinstance(plan.publish, PrivateSettings) and plan.privacy_unit is None:
        raise UnconfirmedPlanError(
            "The plan does not say what is protected: a person or a record.",
            where="protects",
            do=UNIT_LINES,
        )


def _prepared(plan: Plan) -> tuple[Schema | Universe, Fraction]:
    """Return the domains and the delta; refuse whatever `publish` would refuse without data."""
    if plan.publish is None:
        return (schema_of(plan) if plan.items is None else universe_of(plan)), Fraction(0)
    ready = prepare(plan)
    return ready.domain, ready.delta if ready.private else Fraction(0)


def _signatures(
    plan: Plan,
    now: Signable,
    *,
    by: str,
    on: str,
    why: str | None,
    approve: bool,
    public: tuple[str, ...],
) -> tuple[dict[str, dict[str, object] | None], tuple[str, ...]]:
    """Return the new content of both keys, and what to say of signatures that stay or go."""
    states = {each.kind: each for each in signature_states(plan, now)}
    notes: list[str] = []
    stated = {"public": list(public)} if public else {}
    confirmed = {"by": by, "on": on, "plan": now.fingerprint, **stated, "signed": now.parts}
    keys: dict[str, dict[str, object] | None] = {"confirmed": {**confirmed}}
    before = states.get("confirmed")
    if approve and before is not None and before.bound and not before.is_void and before.by != by:
        del keys["confirmed"]
        notes.append(before.statement)
    approved = plan.approved
    if approve:
        reason = {} if why is None else {"why": why}
        keys["approved"] = {"by": by, "on": on, **reason, "plan": now.fingerprint}
    elif "approved" in states and states["approved"].is_void and approved is not None:
        keys["approved"] = None
        notes.append(
            f"The approval by {approved.by} on {approved.on} was for another plan and is removed."
            " Have this one approved with --approve."
        )
    elif approved is not None and approved.plan is not None:
        notes.append(states["approved"].statement)
    return keys, tuple(notes)


def _with(plan: Plan, keys: Mapping[str, dict[str, object] | None]) -> Plan:
    mapping = plan_mapping(plan)
    for key, value in keys.items():
        mapping.pop(key, None)
        if value is not None:
            mapping[key] = value
    return checked(mapping, where="plan", lines={}, base=plan.base)
