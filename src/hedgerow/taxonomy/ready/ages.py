"""Ages in bands: of five years, and of ten. A text may be an age, or such a band."""

from __future__ import annotations

import re
from functools import cache

from hedgerow.taxonomy.paths import from_paths
from hedgerow.taxonomy.tree import Taxonomy

_AGE = re.compile(r"([0-9]{1,3})(?:\.[0-9]+)?")
_BAND = re.compile(r"([\[(]?)([0-9]{1,3})\s*(?:-|–|to|bis|,|\.\.)\s*([0-9]{1,3})([\])]?)")
_OPEN = re.compile(r"(?:>=|≥)\s*([0-9]{1,3})|([0-9]{1,3})\s*(?:\+|and over|and older|or more)")
_FIVES, _TENS = 100, 90  # start of the open band
_OLDEST = 130


@cache
def age_bands_tree() -> Taxonomy:
    """Return bands of five years in the usual broad ones."""
    bands = [*range(0, _FIVES, 5), _FIVES]
    return from_paths(["any age", _broad(low), _band(low, 5, _FIVES)] for low in bands)


@cache
def age_decades_tree() -> Taxonomy:
    """Return bands of ten years."""
    bands = [*range(0, _TENS, 10), _TENS]
    return from_paths(["any age", _half(low), _band(low, 10, _TENS)] for low in bands)


def age_band_leaf(text: str) -> str | None:
    """Return the band of five years of an age, or of a text that names a band.

    >>> [age_band_leaf(text) for text in ("37", "35-39", "[35, 40)", "100+", "30-39")]
    ['35-39', '35-39', '35-39', '100+', None]
    """
    return _leaf(text, 5, _FIVES)


def age_decade_leaf(text: str) -> str | None:
    """Return the band of ten years of an age, or of a text that names a band.

    >>> [age_decade_leaf(text) for text in ("37", "30-39", "[70-80)", "90+")]
    ['30-39', '30-39', '70-79', '90+']
    """
    return _leaf(text, 10, _TENS)


def _leaf(text: str, width: int, top: int) -> str | None:
    bare = text.strip().casefold()
    if found := _AGE.fullmatch(bare):
        age = int(found[1])
        return _band(age // width * width, width, top) if age < _OLDEST else None
    if found := _OPEN.fullmatch(bare):
        return _band(top, width, top) if int(found[1] or found[2]) == top else None
    if not (found := _BAND.fullmatch(bare)):
        return None
    low, high = int(found[2]), int(found[3]) - (found[4] == ")")
    fits = found[1] != "(" and low % width == 0 and high == low + width - 1
    return _band(low, width, top) if fits else None


def _band(low: int, width: int, top: int) -> str:
    return f"{top}+" if low >= top else f"{low}-{low + width - 1}"


def _broad(low: int) -> str:
    if low < 15:
        return "under 15"
    if low < 25:
        return "15 to 24"
    return "25 to 64" if low < 65 else "65 and over"


def _half(low: int) -> str:
    return "under 20" if low < 20 else "20 to 59" if low < 60 else "60 and over"
