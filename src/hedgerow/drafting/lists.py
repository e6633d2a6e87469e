"""Well-known public lists of values; a column with one of them takes nothing from the data.

Each is in the spelling of files, so ``ja`` and ``nein`` are distinguished from ``J`` and ``N``, and
the plan states which it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, kw_only=True)
class PublicList:
    """A public list of values, and its description."""

    what: str
    values: tuple[str, ...]


_YES_NO = (
    ("no", "yes"),
    ("n", "y"),
    ("nein", "ja"),
    ("n", "j"),
    ("non", "oui"),
    ("no", "si"),
    ("no", "sí"),
    ("nee", "ja"),
    ("nej", "ja"),
    ("false", "true"),
    ("f", "t"),
    ("falsch", "wahr"),
    ("off", "on"),
    ("0", "1"),
    ("negative", "positive"),
    ("negativ", "positiv"),
)
_SEXES = (
    ("female", "male"),
    ("female", "male", "other"),
    ("f", "m"),
    ("f", "m", "x"),
    ("f", "m", "d"),
    ("f", "m", "u"),
    ("f", "m", "o"),
    ("m", "w"),
    ("m", "w", "d"),
    ("m", "w", "x"),
    ("m", "w", "u"),
    ("männlich", "weiblich"),
    ("männlich", "weiblich", "divers"),
    ("maennlich", "weiblich"),
    ("maennlich", "weiblich", "divers"),
    ("femme", "homme"),
    ("mujer", "hombre"),
    ("woman", "man"),
)
_MONTHS = (
    "January February March April May June July August September October November December",
    "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Jan Feb Mrz Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
)
_DAYS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "Mon Tue Wed Thu Fri Sat Sun",
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    "Mo Di Mi Do Fr Sa So",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
)
_QUARTERS = ("Q1 Q2 Q3 Q4", "I II III IV")
_BLOOD = (
    "0- 0+ A- A+ AB- AB+ B- B+",
    "A+ A- AB+ AB- B+ B- O+ O-",
    "0 A AB B",
    "A AB B O",
)


@cache
def public_lists() -> tuple[PublicList, ...]:
    """Return every list, shorter ones before longer ones of the same kind."""
    return tuple(_lists())


def _lists() -> Iterator[PublicList]:
    for pair in _YES_NO:
        for spelt in _cases(pair):
            yield PublicList(what=f"yes or no, spelt {spelt[1]} and {spelt[0]}", values=spelt)
    for sexes in _SEXES:
        for spelt in _cases(sexes):
            yield PublicList(what="the sexes", values=spelt)
    for what, lists in (
        ("the months", _MONTHS),
        ("the days of the week", _DAYS),
        ("the quarters", _QUARTERS),
        ("blood groups", _BLOOD),
    ):
        for text in lists:
            for spelt in _cases(tuple(text.split())):
                yield PublicList(what=what, values=spelt)


def _cases(values: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    forms = (
        values,
        tuple(value.lower() for value in values),
        tuple(value[:1].upper() + value[1:].lower() for value in values),
        tuple(value.upper() for value in values),
    )
    yield from dict.fromkeys(forms)


_LEAST_OF_MANY = 3


def public_list_of(values: Collection[str]) -> PublicList | None:
    """Return the list that contains a column's frequent values, if there is one.

    >>> public_list_of({"ja", "nein"}).what
    'yes or no, spelt ja and nein'
    """
    found = set(values)
    for known in public_lists():
        enough = min(len(known.values), 2 if len(known.values) <= 3 else _LEAST_OF_MANY)
        if len(found) >= enough and found <= set(known.values):
            return known
    return None
