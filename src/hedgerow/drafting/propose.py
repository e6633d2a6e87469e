"""A role and a domain for every column, each with the reason that its comment gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log10
from typing import Literal

from hedgerow.drafting.labels import WHY
from hedgerow.drafting.match import Match, TaxonomyFile, free_label, match_for, words_of
from hedgerow.drafting.profile import RARE, Profile
from hedgerow.plan.fields import MAX_BOUND, MAX_TEXT, ROOT

MOST_VALUES = 500
_MOST_CLASSES = 20
_MOST_GUESSED_CLASSES = 10
_MOST_CODES = 100
_NEARLY_ALL = 0.99
_MOST_WHOLE_CELLS = 10_000
_CLASS_NAMES = ("class", "income", "salaryclass", "target", "readmitted", "outcome", "label", "y")
_PERSONAL = {"ssn", "email", "phone", "mobile", "passport", "surname", "firstname", "lastname"}
_IDENTIFYING = {"id", "name", "nbr", "no", "nr", "number", "uuid", "guid", "key", "address"}
_CODES = {"id", "code", "type", "zip", "postcode"}


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What the plan says about one column, and why."""

    name: str
    reason: str
    role: Literal["predictor", "class", "drop", "identifier"] = "predictor"
    bounds: tuple[Fraction, Fraction] | None = None
    step: Fraction | None = None
    values: tuple[str, ...] = ()
    match: Match | None = None
    other: str | None = None
    public: bool = False  # the domain is known without the data, so nothing is marked


def proposals(
    profiles: Mapping[str, Profile], files: Sequence[TaxonomyFile], *, class_name: str | None
) -> list[Proposal]:
    """Return a proposal for every column, with ``class_name`` or a guess as the class."""
    first = [_proposal(profile, files) for profile in profiles.values()]
    chosen = class_name or _likely_class(first, profiles)
    return [_as_class(profiles[one.name], one) if one.name == chosen else one for one in first]


def _proposal(profile: Profile, files: Sequence[TaxonomyFile]) -> Proposal:
    name, known = profile.name, profile.known
    if not profile.is_readable:
        return _left_out(name, "neither text nor numbers nor dates")
    if profile.is_empty:
        return _left_out(name, "no value at all")
    if (profile.complete and len(known) == 1) or profile.low == profile.high:
        return _left_out(name, "the same value in every record")
    if why := _identifies(profile):
        return Proposal(name=name, role="identifier", reason=why)
    if match := match_for(profile, files):
        why = "has this name and lists" if match.by_name else "lists"
        reason = f"the taxonomy, as it {why} the values found"
        return Proposal(name=name, match=match, other=match.other, reason=reason)
    if profile.labels:
        return _labelled(profile)
    if _is_quantity(profile):
        return _numeric(profile)
    if not profile.complete:
        return _left_out(name, "too many values to list; a taxonomy could make use of it")
    return _categorical(profile)


def _labelled(profile: Profile) -> Proposal:
    values = profile.labels
    other = None if set(profile.known) <= set(values) else free_label(values)
    return Proposal(name=profile.name, values=values, other=other, reason=WHY, public=True)


def _left_out(name: str, reason: str) -> Proposal:
    return Proposal(name=name, role="drop", reason=f"left out, {reason}")


def _identifies(profile: Profile) -> str | None:
    """Return why a column seems to identify people, or ``None``."""
    words = set(words_of(profile.name))
    pairs = {left + right for left, right in pairwise(words_of(profile.name))}
    if (words | pairs) & _PERSONAL:
        return "an identifier, by its name"
    is_text_or_whole = profile.is_whole or not profile.is_number
    if profile.is_unique and is_text_or_whole:
        return "an identifier, a different value in every record"
    is_many = not profile.complete or len(profile.known) > max(100, profile.n_records // 20)
    if words & _IDENTIFYING and is_many and is_text_or_whole:
        return "an identifier, by its name and many values"
    return None


def _is_quantity(profile: Profile) -> bool:
    if not profile.is_number:
        return False
    n_values = len(profile.known)
    is_code = bool(set(words_of(profile.name)) & _CODES) and n_values <= _MOST_CODES
    return not (profile.complete and profile.is_whole and (n_values <= 2 or is_code))


def _numeric(profile: Profile) -> Proposal:
    if max(abs(profile.low), abs(profile.high)) > MAX_BOUND / 100:
        return _left_out(profile.name, "its numbers are too large for a grid")
    low, high, unit = outward(profile.low, profile.high)
    step = unit / 100
    if profile.is_whole and high - low < _MOST_WHOLE_CELLS:
        step = Fraction(1)
    return Proposal(
        name=profile.name,
        bounds=(low, high),
        step=step,
        reason="bounds, rounded outwards, and step",
    )


def outward(low: float, high: float) -> tuple[Fraction, Fraction, Fraction]:
    """Return bounds around ``low`` and ``high`` in round units, and the unit.

    The unit is the largest power of ten within the range, so bounds have one or two digits
    that mean something.

    >>> [str(number) for number in outward(17, 88)]
    ['10', '90', '10']
    """
    size = max(high - low, max(abs(low), abs(high)) * 1e-6)
    unit = Fraction(10) ** floor(log10(size))
    return floor(Fraction(low) / unit) * unit, ceil(Fraction(high) / unit) * unit, unit


def _categorical(profile: Profile) -> Proposal:
    values = _frequent(profile)
    if not values:
        return _left_out(profile.name, f"no value in {RARE} records or more")
    if len(values) == 1 and profile.known[values[0]] >= _NEARLY_ALL * sum(profile.known.values()):
        return _left_out(profile.name, "nearly the same value in every record")
    if len(values) > MOST_VALUES:
        return _left_out(profile.name, "too many values to list; a taxonomy could make use of it")
    reason = f"the values in {RARE} records or more"
    other = free_label(values) if len(values) < len(profile.known) else None
    return Proposal(name=profile.name, values=values, other=other, reason=reason)


def _frequent(profile: Profile) -> tuple[str, ...]:
    words = [word for word, n in profile.known.items() if n >= RARE and _is_writable(word)]
    return tuple(sorted(words, key=_in_order))


def _is_writable(word: str) -> bool:
    return word.isprintable() and len(word) <= MAX_TEXT and word != ROOT


def _in_order(word: str) -> tuple[bool, int, str]:
    is_whole = word.isascii() and word.isdigit() and len(word) < 20
    return (not is_whole, int(word) if is_whole else 0, word)


def _likely_class(first: Sequence[Proposal], profiles: Mapping[str, Profile]) -> str | None:
    n_values = {
        one.name: len(_frequent(profiles[one.name])) if profiles[one.name].complete else 0
        for one in first
        if one.role == "predictor"
    }
    named = [
        name
        for name, n in n_values.items()
        if "".join(words_of(name)) in _CLASS_NAMES and 2 <= n <= _MOST_CLASSES
    ]
    few = [
        one.name
        for one in first
        if one.bounds is None and 2 <= n_values.get(one.name, 0) <= _MOST_GUESSED_CLASSES
    ]
    return next(reversed(named or few), None)


def _as_class(profile: Profile, before: Proposal) -> Proposal:
    if before.public:
        return replace(before, role="class")
    values = _frequent(profile)
    if before.match is not None:
        return Proposal(
            name=before.name,
            role="class",
            match=before.match,
            other=before.other,
            reason=f"the class, and {before.reason}",
        )
    other = free_label(values) if len(values) < len(profile.known) else None
    reason = f"the class, and its values in {RARE} records or more"
    return Proposal(name=before.name, role="class", values=values, other=other, reason=reason)
