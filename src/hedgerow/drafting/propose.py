"""A role and a domain for every column, each with its reason.

Every proposer examines one column and returns a proposal or none; the first proposal counts. A
further proposer is one more line in :data:`PROPOSERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from hedgerow.drafting.candidates import UnitCandidate
from hedgerow.drafting.columns import is_birth, is_code, is_free_text, is_weight, why_identifier
from hedgerow.drafting.labels import WHY
from hedgerow.drafting.lists import public_list_of
from hedgerow.drafting.match import TaxonomyFile, free_label, match_for, words_of
from hedgerow.drafting.moments import DateFound
from hedgerow.drafting.profile import RARE, Profile
from hedgerow.drafting.quantity import PLAIN_MARKS
from hedgerow.drafting.ranges import age_settings, date_settings, number_settings
from hedgerow.drafting.ready import ready_fit
from hedgerow.drafting.trees import code_settings, in_order, is_code_text, list_settings
from hedgerow.model.reading import NumberMarks
from hedgerow.plan.fields import MAX_TEXT, ROOT

MOST_VALUES = 500
_MOST_CLASSES = 20
_MOST_GUESSED_CLASSES = 10

_NEARLY_ALL = 0.99
_LEAST_LISTED = 0.05
_OFTEN_MISSING = 0.1
_CLASS_NAMES = {
    *("class", "income", "salaryclass", "target", "readmitted", "outcome", "label", "y"),
    *("response", "churn", "default", "survived", "died", "death", "deceased", "mortality"),
    *("diagnosisclass", "result", "klasse", "ziel", "zielvariable", "ergebnis", "verstorben"),
    *("wiederaufnahme", "outcomeclass", "taxableincomeamount", "approved", "fraud", "risk"),
}

Taken: TypeAlias = Literal["bounds", "list", "left out", "public", "taxonomy"]
"""Kind of content that a column's line takes from the data; ``public`` if none."""


_MOST_CLASSLESS = 0.1
"""Largest share of records without a value of the guessed class; these are left out."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The plan's line for one column, and its reason.

    ``settings`` are the keys of the attribute and their values; ``ask`` is a question that a person
    must answer before the plan can be confirmed, ``note`` a notice for the owner that no plan
    contains. ``derived`` is a further attribute, computed from the column.
    """

    name: str
    reason: str
    taken: Taken
    role: Literal["predictor", "class", "drop", "identifier"] = "predictor"
    settings: Mapping[str, Any] = field(default_factory=dict)
    ask: str | None = None
    note: str | None = None
    derived: Proposal | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """Listed values, if they are the domain."""
        return tuple(self.settings.get("values", ()))

    @property
    def is_ordered(self) -> bool:
        """Return whether the column holds numbers or dates."""
        return "numeric" in self.settings or "date" in self.settings


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Context:
    """Knowledge beside a column itself: files of taxonomies, and the rest of the table.

    ``person`` are the columns that the caller names as the person's, ``candidates`` those that may
    identify the person of a record.
    """

    files: Sequence[TaxonomyFile] = ()
    marks: NumberMarks = PLAIN_MARKS
    dates: Mapping[str, DateFound] = field(default_factory=dict)
    names: Sequence[str] = ()
    person: Sequence[str] = ()
    candidates: Mapping[str, UnitCandidate] = field(default_factory=dict)


Proposer: TypeAlias = Callable[[Profile, Context], Proposal | None]


def proposals(
    profiles: Mapping[str, Profile], context: Context, *, class_name: str | None
) -> list[Proposal]:
    """Return a proposal for every column, with ``class_name`` or a guess as the class."""
    first = [proposal_for(profile, context) for profile in profiles.values()]
    chosen = class_name or _likely_class(first, profiles)
    return [_as_class(profiles[one.name], one) if one.name == chosen else one for one in first]


def proposal_for(profile: Profile, context: Context) -> Proposal:
    """Return the first proposal for a column."""
    for propose in PROPOSERS:
        if (found := propose(profile, context)) is not None:
            return found
    return _left_out(profile, "no proposal fits")


def _left_out(profile: Profile, why: str) -> Proposal:
    return Proposal(name=profile.name, role="drop", taken="left out", reason=f"left out, {why}")


def _useless(profile: Profile, context: Context) -> Proposal | None:
    if not profile.is_readable:
        return _left_out(profile, "neither text nor numbers nor dates")
    if profile.is_empty:
        return _left_out(profile, "no values")
    if not profile.complete or len(profile.known) > 1:
        return None
    (value,) = profile.known
    if profile.missing_share <= _OFTEN_MISSING or not is_writable(value):
        return _left_out(profile, "the same value in every record")
    settings = {"values": (value,)}
    reason = "a value that many records have and the others lack"
    return Proposal(name=profile.name, taken="list", reason=reason, settings=settings)


def _key(profile: Profile, context: Context) -> Proposal | None:
    """Return the proposal for a column that identifies, or may identify, a person."""
    if profile.name in context.person:
        why = "an identifier: identifies the person of a record"
    elif (found := context.candidates.get(profile.name)) is not None:
        may = f"an identifier: may identify the person of a record: {found.why}"
        why = why_identifier(profile) or may
    else:
        return None
    return Proposal(name=profile.name, role="identifier", taken="left out", reason=why)


def _date(profile: Profile, context: Context) -> Proposal | None:
    found = context.dates.get(profile.name)
    if found is None:
        return None
    if is_birth(profile) and found.other is None:
        return _age(profile, context, found)
    settings, ask = date_settings(profile, found)
    reason = "dates"
    return Proposal(name=profile.name, taken="bounds", reason=reason, settings=settings, ask=ask)


def _age(profile: Profile, context: Context, found: DateFound) -> Proposal:
    """Return the age instead of a date of birth, which hardly any two people share."""
    taken = {name.casefold() for name in context.names}
    name = next(name for name in ("age", f"age by {profile.name}") if name not in taken)
    others = [each for other, each in context.dates.items() if other != profile.name]
    settings = age_settings(profile.name, found, others)
    age = Proposal(
        name=name, taken="bounds", reason="the age, at a date you choose", settings=settings
    )
    return replace(_left_out(profile, f"birth dates are replaced by {name!r}"), derived=age)


def _identifier(profile: Profile, context: Context) -> Proposal | None:
    why = why_identifier(profile)
    if why is None:
        return None
    return Proposal(name=profile.name, role="identifier", taken="left out", reason=why)


def _weight(profile: Profile, context: Context) -> Proposal | None:
    return _left_out(profile, "a survey weight") if is_weight(profile) else None


def _of_files(profile: Profile, context: Context) -> Proposal | None:
    match = match_for(profile, context.files)
    if match is None:
        return None
    why = "has this name and lists" if match.by_name else "lists"
    settings: dict[str, Any] = {"taxonomy": match.file.path}
    if match.other is not None:
        settings["other"] = match.other
    reason = f"the taxonomy that {why} the values found"
    return Proposal(name=profile.name, taken="taxonomy", reason=reason, settings=settings)


def _labelled(profile: Profile, context: Context) -> Proposal | None:
    if not profile.labels:
        return None
    return _listed(profile, profile.labels, taken="public", reason=WHY)


def _ready(profile: Profile, context: Context) -> Proposal | None:
    fit = ready_fit(profile)
    if fit is None:
        return None
    return Proposal(
        name=profile.name,
        taken="public",
        reason=fit.taxonomy.title,
        settings=fit.settings,
        note=fit.note(profile.name),
    )


def _known_list(profile: Profile, context: Context) -> Proposal | None:
    if not profile.complete:
        return None
    known = public_list_of(_frequent(profile))
    if known is None or _covered(profile, known.values) < _NEARLY_ALL - 0.09:
        return None
    return _listed(profile, known.values, taken="public", reason=known.what)


def _code(profile: Profile, context: Context) -> Proposal | None:
    if not is_code(profile) and not is_code_text(profile):
        return None
    settings, taken = code_settings(profile, _frequent(profile)[:MOST_VALUES])
    if not settings:
        return None
    reason = "codes" if taken == "public" else f"codes that occur in at least {RARE} records"
    return Proposal(name=profile.name, taken=taken, reason=reason, settings=settings)


def _number(profile: Profile, context: Context) -> Proposal | None:
    settings = number_settings(profile, context.marks)
    if settings is None:
        return None
    reason = "numbers"
    return Proposal(name=profile.name, taken="bounds", reason=reason, settings=settings)


def _text(profile: Profile, context: Context) -> Proposal | None:
    return _left_out(profile, "free text") if is_free_text(profile) else None


def _list(profile: Profile, context: Context) -> Proposal:
    values = _frequent(profile)
    if not values:
        return _left_out(profile, f"no value occurs in at least {RARE} records")
    if len(values) == 1 and _covered(profile, values) >= _NEARLY_ALL:
        return _left_out(profile, "nearly the same value in every record")
    if _covered(profile, values) < _LEAST_LISTED:
        return _left_out(profile, "too many values to list; a taxonomy could group them")
    reason = f"values that occur in at least {RARE} records"
    return _listed(profile, values[:MOST_VALUES], taken="list", reason=reason)


def _listed(profile: Profile, values: Sequence[str], *, taken: Taken, reason: str) -> Proposal:
    ordered = sorted(values, key=in_order) if taken == "list" else values
    settings: dict[str, Any] = {"values": tuple(ordered)}
    if taken == "list":
        settings = list_settings(ordered)
    if not profile.complete or any(word not in set(values) for word in profile.known):
        settings["other"] = free_label(ordered)
    return Proposal(name=profile.name, taken=taken, reason=reason, settings=settings)


PROPOSERS: tuple[Proposer, ...] = (
    _key,
    _useless,
    _date,
    _identifier,
    _weight,
    _of_files,
    _labelled,
    _ready,
    _known_list,
    _code,
    _number,
    _text,
    _list,
)
"""The proposers, in this order."""


def _covered(profile: Profile, values: Sequence[str]) -> float:
    return sum(profile.known.get(value, 0) for value in values) / max(profile.n_counted, 1)


def _frequent(profile: Profile) -> tuple[str, ...]:
    """Return the values that occur in many records, the most frequent first."""
    words = [word for word, n in profile.known.items() if n >= RARE and is_writable(word)]
    return tuple(sorted(words, key=lambda word: (-profile.known[word], word)))


def is_writable(word: str) -> bool:
    """Return whether a plan can hold a value."""
    return word.isprintable() and len(word) <= MAX_TEXT and word != ROOT


def _likely_class(first: Sequence[Proposal], profiles: Mapping[str, Profile]) -> str | None:
    n_values = {
        one.name: _n_classes(profiles[one.name]) for one in first if one.role == "predictor"
    }
    named = [
        name
        for name, n in n_values.items()
        if "".join(words_of(name)) in _CLASS_NAMES and 2 <= n <= _MOST_CLASSES
    ]
    few = [
        one.name
        for one in first
        if not one.is_ordered and 2 <= n_values.get(one.name, 0) <= _MOST_GUESSED_CLASSES
    ]
    return next(reversed(named or few), None)


def _n_classes(profile: Profile) -> int:
    if profile.missing_share > _MOST_CLASSLESS:
        return 0
    values = _frequent(profile) if profile.complete else ()
    return len(values) if _covered(profile, values) >= _NEARLY_ALL - 0.09 else 0


def _as_class(profile: Profile, before: Proposal) -> Proposal:
    if before.taken in ("taxonomy", "public"):
        return replace(before, role="class", reason=f"the class, and {before.reason}")
    values = _frequent(profile)
    listed = _listed(
        profile,
        values,
        taken="list",
        reason=(f"the class, with values that occur in at least {RARE} records"),
    )
    return replace(listed, role="class", settings=listed.settings if values else {})
