"""Markers of a missing value among numbers and dates: words, and numbers such as 999."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from hedgerow.drafting.profile import RARE, Profile

MISSING_WORDS = frozenset(
    {
        *("unbekannt", "unbek.", "unbek", "k.a.", "k. a.", "k.a", "ka", "keine angabe", "fehlt"),
        *("keine angaben", "nicht bekannt", "nicht erhoben", "nicht gemessen", "nicht messbar"),
        *("nicht zutreffend", "entfällt", "offen", "n.b.", "nb", "n.e.", "ohne angabe", "o.a."),
        *("unknown", "unk", "unk.", "n.a.", "n.a", "na", "n/a", "n/k", "n.k.", "not available"),
        *("not applicable", "not measured", "not recorded", "not known", "not stated", "missing"),
        *("not in universe", "niu", "refused", "don't know", "dont know", "dk", "none", "null"),
        *("nan", "n.d.", "nd", "no data", "tbd", "pending", "invalid", "error", "blank", "empty"),
        *("inconnu", "inconnue", "non renseigné", "non renseigne", "desconocido", "no consta"),
        *("sconosciuto", "onbekend", "okänd", "ukjent", "ukendt", "-", "--", "---", ".", "..", "…"),
        *("*", "**", "x", "xx", "xxx", "#", "#nv", "#wert!", "#value!", "#div/0!", "#ref!", "#n/a"),
        *("suppressed", "s", "z", "(x)", "(na)", "(d)", ":", "n", "nil"),
    }
)
"""Words that mean a missing value in place of a number or a date, in lower case."""

_CENSORED = re.compile(r"[<>≤≥]=?\s*[0-9][0-9.,]*")
_MOST_TEXTS = 0.1
_MOST_TYPOS = 0.01
_NUMBERS_ENOUGH = 10
_NINES = re.compile(r"9{2,}|9{1,}[678]|[678]{2,}")


def texts_are_gaps(profile: Profile) -> bool:
    """Return whether the texts among a column's numbers are few, or mean a missing value."""
    texts = profile.texts
    if not profile.complete and not texts:
        return True
    strange = {word: n for word, n in texts.items() if word.casefold() not in MISSING_WORDS}
    typos = sum(
        n
        for word, n in strange.items()
        if any(letter.isdigit() for letter in word) and not _CENSORED.fullmatch(word)
    )
    n = profile.n_counted
    has_numbers = len(profile.values) >= _NUMBERS_ENOUGH or 2 * sum(profile.values.values()) > n
    return (
        has_numbers
        and typos <= _MOST_TYPOS * n
        and sum(strange.values()) <= _MOST_TEXTS * n
        and len(profile.values) > len(strange)
    )


def missing_texts(words: dict[str, int]) -> tuple[tuple[str, ...], bool]:
    """Return the texts that many records have, and whether there are others."""
    often = sorted(word for word, n in words.items() if n >= RARE and word.isprintable())
    return tuple(often), len(often) < len(words)


def sentinels(profile: Profile) -> tuple[float, ...]:
    """Return numbers far from all others that mean a missing value: 999 among heights, -1."""
    if not profile.complete or len(profile.values) <= _NUMBERS_ENOUGH:
        return ()
    numbers = np.array(list(profile.values))
    counts = np.array(list(profile.values.values()))
    return (*_below(numbers, counts), *_above(numbers, counts))


def _above(numbers: Sequence[float] | np.ndarray, counts: np.ndarray) -> list[float]:
    """Return 99, 999 and the like, with 97 and 98 before them, above a wide gap."""
    numbers = np.asarray(numbers)
    place = len(numbers)
    while place > 0 and counts[place - 1] >= RARE and _is_nines(numbers[place - 1]):
        place -= 1
    if place in (0, len(numbers)):
        return []
    last = numbers[place - 1]
    middle = numbers[np.searchsorted(np.cumsum(counts[:place]), counts[:place].sum() / 2)]
    gap = numbers[place] - last
    return numbers[place:].tolist() if gap > 3 * (last - middle) and gap > 1 else []


def _below(numbers: np.ndarray, counts: np.ndarray) -> list[float]:
    """Return -1, -9, -99 and the like, if no other number is below 0."""
    negative = numbers < 0
    n_negative = int(negative.sum())
    if not 0 < n_negative <= 3 or (numbers == np.floor(numbers)).all() is False:
        return []
    found = numbers[negative]
    is_coded = all(number == int(number) and _is_code_below(int(-number)) for number in found)
    return found.tolist() if is_coded and (counts[negative] >= RARE).all() else []


def _is_code_below(number: int) -> bool:
    return number <= 9 or bool(_NINES.fullmatch(str(number)))


def _is_nines(number: float) -> bool:
    return number == int(number) and number > 9 and bool(_NINES.fullmatch(str(int(number))))
