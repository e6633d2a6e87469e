"""Columns that may identify the person of a record: keys of people, cases, devices or households.

A column is a candidate by its name, by the form of its values or by their number. A false candidate
costs the owner a look; a missed one could have a person certified as one record.

Privacy: confidential. A draft writes the names of columns and forms, never a value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.drafting.columns import is_free_text, is_row_number, is_weight
from hedgerow.drafting.gaps import MISSING_WORDS, texts_are_gaps
from hedgerow.drafting.key_forms import (
    is_evenly_counted,
    is_moments,
    is_random_form,
    is_unordered,
    key_form,
)
from hedgerow.drafting.key_names import KeyName, ends_in_key, key_name
from hedgerow.drafting.lists import public_list_of
from hedgerow.drafting.match import TaxonomyFile, match_for
from hedgerow.drafting.profile import Distinct, Profile
from hedgerow.drafting.ready import ready_fit
from hedgerow.read.marks import number_pattern, plain_number_text

_FEWEST_NAMED = 5
_FEWEST_FORMED = 12
_FEWEST = 20
_MANY = 50
_PHRASE = 4
"""Average number of words from which a text is a phrase and not a key."""

_MOST_RECORDS_OF_ONE = 0.3
"""Largest share of the records with one value of a key, if the name does not show that it is one.
"""

_HARDLY_TWICE: Mapping[KeyName, float] = {"sure": 1.0, "likely": 0.98}
_HARDLY_TWICE_ELSE = 0.9
"""Values per record from which values count as unique, by the kind of name."""

_KEY_DIGITS = 4
_LONG_DIGITS = 6
_YEARS = (1800, 2100)
_ROUND = 0.5
_SPREAD = 0.1
_MOST_WITHIN = 50
_WITHIN = {
    *("pno", "pernum", "persnr", "perno", "personno", "personnr", "personnumber", "memberno"),
    *("membernr", "lineno", "hhmember", "personennummer", "pnr", "sporder", "linenum"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnitCandidate:
    """A column that may identify the person of a record, the reason, and the records of its values.

    ``within`` names the candidate whose values are subdivided: a person of a household.
    """

    column: str
    why: str
    sizes: NDArray[np.int64]
    n_values: int
    within: str | None = None


def candidates_in(
    profiles: Mapping[str, Profile],
    *,
    dates: Collection[str] = (),
    files: Sequence[TaxonomyFile] = (),
    but: str | None = None,
) -> dict[str, UnitCandidate]:
    """Return the candidates among the columns of a table, by their names.

    ``dates`` are the columns of dates; ``files`` are taxonomies, whose columns are attributes;
    ``but`` is a column that its owner calls an attribute.
    """
    found: dict[str, UnitCandidate] = {}
    for name, profile in profiles.items():
        if name in dates or name == but:
            continue
        distinct = _without_gaps(profile)
        if (why := _why(profile, distinct, files)) is not None:
            sizes, n_values = distinct.counts, distinct.n_values
            found[name] = UnitCandidate(column=name, why=why, sizes=sizes, n_values=n_values)
    owners = list(found.values())
    for name, profile in profiles.items():
        if name not in found and name != but and (within := _within(profile, owners)) is not None:
            why = f"numbers within {within!r}"
            sizes = profile.distinct.counts
            found[name] = UnitCandidate(
                column=name, why=why, sizes=sizes, n_values=len(sizes), within=within
            )
    return {name: found[name] for name in profiles if name in found}


def _why(profile: Profile, distinct: Distinct, files: Sequence[TaxonomyFile]) -> str | None:
    """Return why a column may identify the person of a record, or ``None``."""
    said = key_name(profile.name)
    if not _can_be_key(profile, distinct, said):
        return None
    words, d = distinct.words, distinct.n_values
    form = key_form(words) or key_form(profile.distinct.words)
    if said == "sure":
        enough = _FEWEST_NAMED if form is not None or _says_id(profile) else _FEWEST_FORMED
        return "named like a key, with values that repeat" if d >= enough else None
    if (random := is_random_form(words)) is not None and d >= _FEWEST_NAMED:
        return f"{random} that repeat"
    if said == "likely" and d >= (_FEWEST_FORMED if form else _FEWEST):
        return "named like a number of something, with values that repeat"
    is_quantity = said == "quantity" and _is_number(profile)
    if is_quantity or _is_public(profile, files):
        return None
    if profile.distinct.counts.max() > _MOST_RECORDS_OF_ONE * profile.distinct.counts.sum():
        return None
    if d >= _FEWEST and is_evenly_counted(distinct.counts):
        return "each value has about the same number of records"
    if said == "kind":
        is_key = ends_in_key(profile.name) and d >= _MANY
        return "named like a key, with many values that repeat" if is_key else None
    if _is_number(profile):
        return _why_number(profile, distinct)
    if form is not None and d >= _FEWEST_FORMED:
        return f"{form} that repeat"
    return "many different texts that repeat" if d >= _MANY else None


def _can_be_key(profile: Profile, distinct: Distinct, said: KeyName) -> bool:
    """Return whether values of a column repeat and are neither dates, decimals nor sentences."""
    if not profile.is_readable or profile.labels or not len(distinct.words):
        return False
    if is_moments(distinct.words) or (said != "sure" and _is_phrase(distinct.words)):
        return False
    if _is_number(profile) and (not profile.quantity.is_whole or profile.quantity.low < 0):
        return False
    if is_row_number(profile) or is_weight(profile) or is_free_text(profile):
        return False
    hardly_twice = _HARDLY_TWICE.get(said, _HARDLY_TWICE_ELSE)
    return len(distinct.counts) < hardly_twice * int(distinct.counts.sum())


def _is_phrase(words: Sequence[str]) -> bool:
    return sum(word.count(" ") for word in words) >= (_PHRASE - 1) * len(words)


def _is_number(profile: Profile) -> bool:
    """Return whether a column holds numbers, except for a few texts that mean a missing value."""
    return profile.is_number or (profile.is_mostly_number and texts_are_gaps(profile))


def _without_gaps(profile: Profile) -> Distinct:
    """Return the distinct values without those that stand for a missing one."""
    all_of_them = profile.distinct
    number = number_pattern(profile.marks).fullmatch if _is_number(profile) else None
    kept = [
        word.casefold() not in MISSING_WORDS and (number is None or number(word) is not None)
        for word in all_of_them.words
    ]
    if all(kept):
        return all_of_them
    words = [word for word, each in zip(all_of_them.words, kept, strict=True) if each]
    n_values = all_of_them.n_values - (len(kept) - len(words))
    return Distinct(words=words, counts=all_of_them.counts[np.array(kept)], n_values=n_values)


def _says_id(profile: Profile) -> bool:
    words = profile.name.casefold()
    return "id" in words


def _is_public(profile: Profile, files: Sequence[TaxonomyFile]) -> bool:
    """Return whether the values of a column are from a list or a taxonomy of public values."""
    if match_for(profile, files) is not None or ready_fit(profile) is not None:
        return True
    return profile.complete and public_list_of(profile.known) is not None


def _why_number(profile: Profile, distinct: Distinct) -> str | None:
    """Return why whole numbers look like keys and not like a quantity."""
    numbers = np.array([float(plain_number_text(w, profile.marks)) for w in distinct.words])
    order = np.argsort(numbers)
    numbers, counts = numbers[order], distinct.counts[order]
    low, high = profile.quantity.low, profile.quantity.high
    if _YEARS[0] <= low <= high <= _YEARS[1]:
        return None
    is_round = float((numbers % 10 == 0).mean()) > _ROUND
    digits = {len(str(int(low))), len(str(int(high)))}
    if len(digits) == 1 and min(digits) >= _KEY_DIGITS and not is_round:
        enough = _FEWEST_NAMED if min(digits) >= _LONG_DIGITS else _FEWEST_FORMED
        return "numbers of one length that repeat" if distinct.n_values >= enough else None
    if distinct.n_values < _FEWEST:
        return None
    quarters = np.histogram(numbers, bins=4, range=(low, high))[0] / len(numbers)
    if quarters.min() > _SPREAD and not is_round and is_unordered(counts):
        return "whole numbers that repeat in no order"
    return None


def _within(profile: Profile, owners: Sequence[UnitCandidate]) -> str | None:
    """Return the candidate within which a column counts: 1, 2, ... for each of its values."""
    if not owners or not profile.is_number or not profile.complete or not profile.quantity.is_whole:
        return None
    numbers = np.array(list(profile.values))
    counts = np.array(list(profile.values.values()))
    is_row = numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())
    if not is_row or not 2 <= len(numbers) <= _MOST_WITHIN or (np.diff(counts) > 0).any():
        return None
    is_called = "".join(profile.name.casefold().split("_")).replace(" ", "") in _WITHIN
    for owner in owners:
        if counts[0] == owner.n_values or is_called:
            return owner.column
    return None
