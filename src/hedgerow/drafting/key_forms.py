"""Forms of values that are typical of keys: UUIDs, hex, prefix and number, A to ZZ.

Privacy: confidential, except for the name of the form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

_ALL = 0.95
"""Share of the values that must have a form."""

_LOOKED_AT = 2_000
"""Number of values whose form is checked."""

_UUID = re.compile(r"\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?", re.I)
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{6,}|[0-9A-F]{6,})")
_RANDOM = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w+/=-]{16,}", re.ASCII)
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_PREFIXED = re.compile(r"(\D{1,24}?)[\s_:#.-]{0,2}([0-9]+)", re.ASCII)
_LETTERS = re.compile(r"[A-Z]{1,3}|[a-z]{1,3}")
_MOMENT = re.compile(
    r"(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}"
    r"|[0-9]{1,2} ?[A-Za-z]{3} ?[0-9]{4})?[T ,]*(?:[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?"
    r"(?: ?[AaPp][Mm])?)?(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2})?"
)
_PERIOD = re.compile(
    r"(?:1[89]|20)[0-9]{2}(?:[ /_-]|[ /_-]?(?:[QqMmWwSsTtHh]|KW|kw)[ _-]?)[0-9]{1,2}"
)
_RANGE = re.compile(r"\D{0,3}[0-9.,]+ ?(?:-|–|to|bis|,|\.\.) ?[0-9.,]+\D{0,3}")
_ONE_SHAPE_FROM = 4
_SHAPE_OF = str.maketrans(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "9" * 10 + "A" * 26 + "a" * 26
)


def is_random_form(words: Sequence[str]) -> str | None:
    """Return the kind of long random keys, if nearly all values are such; else ``None``.

    >>> is_random_form(["9f86d081", "60303ae2", "fd61a03a"])
    'hexadecimal numbers'
    """
    words = words[:_LOOKED_AT]
    if not words:
        return None
    if _share(words, _UUID) >= _ALL:
        return "UUIDs"
    lengths = {len(word) for word in words}
    alike = max(lengths) - min(lengths) <= 2
    if alike and _share(words, _HEX) >= _ALL and _mixes(words):
        return "hexadecimal numbers"
    return "long codes" if _share(words, _RANDOM) >= _ALL and alike else None


def key_form(words: Sequence[str]) -> str | None:
    """Return the form of keys that nearly all values have, or ``None``.

    >>> key_form([f"p{i}" for i in range(30)])
    'numbers after a prefix'
    >>> key_form(["2020-Q1", "2020-Q2"])
    """
    words = words[:_LOOKED_AT]
    if not words or is_moments(words):
        return None
    if (found := is_random_form(words)) is not None:
        return found
    if _share(words, _RANGE) >= _ALL or _share(words, _PERIOD) >= _ALL:
        return None
    if _is_padded(words):
        return "numbers with leading zeros"
    if _one_prefix(words):
        return "numbers after a prefix"
    if _counts_in_letters(words):
        return "letters in order"
    return "codes of one form" if _one_shape(words) else None


def is_moments(words: Sequence[str]) -> bool:
    """Return whether nearly all values are dates or times of day, in any format."""
    return _share(words[:_LOOKED_AT], _MOMENT) >= _ALL


def _share(words: Collection[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(word) is not None for word in words) / max(len(words), 1)


def _mixes(words: Collection[str]) -> bool:
    """Return whether letters and digits both occur often in hexadecimal texts, as at random."""
    letters = sum(any(map(str.isalpha, word)) for word in words)
    digits = sum(any(map(str.isdigit, word)) for word in words)
    return min(letters, digits) >= 0.5 * len(words)


def _is_padded(words: Collection[str]) -> bool:
    """Return whether values are digits of one length, three or more, some with leading zeros."""
    lengths = {len(word) for word in words}
    return (
        len(lengths) == 1
        and min(lengths) >= 3
        and _share(words, _DIGITS) == 1
        and any(word.startswith("0") for word in words)
    )


def _one_prefix(words: Collection[str]) -> bool:
    found = Counter(match[1] for word in words if (match := _PREFIXED.fullmatch(word)))
    return bool(found) and found.most_common(1)[0][1] >= _ALL * len(words)


def _counts_in_letters(words: Collection[str]) -> bool:
    """Return whether values are A, B, ... Z, AA, AB and so on, with few left out."""
    if _share(words, _LETTERS) < 1:
        return False
    places = [_place(word.upper()) for word in words]
    return len(words) >= 0.9 * (max(places) - min(places) + 1)


def _place(word: str) -> int:
    place = 0
    for letter in word:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place


def _one_shape(words: Collection[str]) -> bool:
    """Return whether all values have letters and digits at the same positions."""
    shapes = Counter(word.translate(_SHAPE_OF) for word in words)
    shape, n = shapes.most_common(1)[0]
    has_both = "9" in shape and shape.strip("9") != ""
    return has_both and len(shape) >= _ONE_SHAPE_FROM and n >= _ALL * len(words)


def is_evenly_counted(counts: np.ndarray) -> bool:
    """Return whether values occur more equally often than by chance, as in panels and telemetry.

    The variance of the counts is compared with that of a Poisson law without zero of their mean.
    """
    mean = float(counts.mean())
    if mean < 1.5 or counts.max() == 1:
        return False
    rate = mean
    for _ in range(50):  # solves rate / (1 - exp(-rate)) = mean
        rate = mean * (1 - float(np.exp(-rate)))
    by_chance = mean * (1 + rate - mean)
    return bool(counts.var() < by_chance / 4)


def is_unordered(counts: np.ndarray) -> bool:
    """Return whether the counts of increasing numbers look exchangeable, as those of keys are.

    A quantity is frequent in one part of its range, or its neighbours are about as frequent. Ranks
    are compared, so that a few popular round numbers do not decide.
    """
    d = len(counts)
    _, level, times = np.unique(counts, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - times / 2)[level] / d  # equal counts share a rank
    if counts.min() == counts.max():
        return True
    quarters = [float(part.mean()) for part in np.array_split(ranks, 4)]
    varied = max(quarters) - min(quarters) > max(0.3, 2.45 / np.sqrt(d))
    centred = ranks - ranks.mean()
    likeness = float((centred[1:] * centred[:-1]).sum() / max((centred**2).sum(), 1e-12))
    return not varied and likeness <= max(0.3, 3 / np.sqrt(d))
