"""Taxonomies of codes by their prefixes: 4711 is one of 47.., which is one of 4..."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from hedgerow.drafting.columns import is_called_code
from hedgerow.drafting.match import free_label
from hedgerow.drafting.profile import Profile
from hedgerow.plan.fields import ROOT

_MOST_DIGITS = 3
"""Number of digits that are kept of numerous codes of digits: 1,000 prefixes."""

_LEAST_GROUPED = 12
_MOST_LISTED = 100
_MOSTLY = 0.8
_NEARLY_ALL = 0.95
_MOST_LEVELS = 3
_CODE = re.compile(r"[A-Za-z]{0,3}[0-9][0-9A-Za-z]{0,7}(?:[.\-/][0-9A-Za-z]{1,5}){0,2}[+*!]?")
_MASK = ".."
_FAN_OUT = 3
_FIRST_NUMBER = re.compile(r"[^\w-]*([0-9]{1,15}(?:\.[0-9]{1,15})?)", re.ASCII)


def is_code_text(profile: Profile) -> bool:
    """Return whether a column holds many texts of letters and digits, such as A01.1 or V27."""
    if not profile.complete or profile.is_number or len(profile.known) <= _LEAST_GROUPED:
        return False
    codes = {word: n for word, n in profile.known.items() if _CODE.fullmatch(word)}
    lettered = sum(n for word, n in codes.items() if any(map(str.isalpha, word)))
    is_sure = 2 * lettered > profile.n_counted or (lettered > 0 and is_called_code(profile))
    return sum(codes.values()) >= _NEARLY_ALL * profile.n_counted and is_sure


def code_settings(
    profile: Profile, frequent: Sequence[str]
) -> tuple[dict[str, Any], Literal["public", "list"]]:
    """Return the settings of a column of codes; none if no value may be written."""
    length = _digits(profile)
    few = len(frequent) <= _MOST_LISTED and _share(profile, frequent) >= _MOSTLY
    if length > 1 and not few:
        kept = min(length, _MOST_DIGITS)
        settings: dict[str, Any] = {"taxonomy": {"prefix": {"length": kept}}}
        if kept < length:
            settings["letters"] = kept
        if any(len(word) != length or not word.isdigit() for word in profile.known):
            settings["other"] = "other"
        return settings, "public"
    values = sorted(frequent)
    if not values:
        return {}, "list"
    settings = list_settings(sorted(values, key=in_order))
    is_counted = len({len(word) for word in values if word.isdigit()}) > 1
    if len(values) > _LEAST_GROUPED and not is_counted:
        settings = {"taxonomy": {ROOT: code_tree(values)}}
    if not profile.complete or set(profile.known) - set(values):
        settings["other"] = free_label(values)
    return settings, "list"


def list_settings(values: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a list; a long one in groups of adjacent values.

    Releases split groups. A list that is split into all its values at once costs more noise than it
    is worth; adjacent numbers or names often have much in common.
    """
    if len(values) <= _LEAST_GROUPED:
        return {"values": tuple(values)}
    return {"taxonomy": {"context-free": {"items": tuple(values), "fan-out": _FAN_OUT}}}


def in_order(word: str) -> tuple[bool, float, str]:
    """Return the sort key of values: the number with which they begin, then the text.

    >>> sorted(["[100-125)", "V45", "250.8", "[25-50)", "38"], key=in_order)
    ['[25-50)', '38', '[100-125)', '250.8', 'V45']
    """
    found = _FIRST_NUMBER.match(word)
    return (found is None, float(found[1]) if found else 0.0, word)


def _share(profile: Profile, values: Sequence[str]) -> float:
    return sum(profile.known.get(value, 0) for value in values) / max(profile.n_counted, 1)


def _digits(profile: Profile) -> int:
    """Return the number of digits of nearly all codes, 0 if they differ."""
    lengths: dict[int, int] = {}
    for word, n in profile.known.items():
        size = len(word) if word.isascii() and word.isdigit() else 0
        lengths[size] = lengths.get(size, 0) + n
    length, n = max(lengths.items(), key=lambda each: each[1])
    return length if n >= _NEARLY_ALL * profile.n_counted else 0


def code_tree(values: Sequence[str], depth: int = 0, level: int = 1) -> list[Any]:
    """Return codes under their prefixes, as a nested tree of a plan, without groups of one.

    >>> code_tree(["A01", "A02", "B1"])
    [{'A0..': ['A01', 'A02']}, 'B1']
    """
    groups: dict[str, list[str]] = {}
    for value in values:
        groups.setdefault(value[: depth + 1], []).append(value)
    tree: list[Any] = []
    for members in groups.values():
        if len(members) == 1:
            tree += members
            continue
        begin = _common(members)
        label = begin.rstrip("./-") + _MASK
        inner: list[Any] = members
        if len(members) > _LEAST_GROUPED and level < _MOST_LEVELS:
            inner = code_tree(members, len(begin), level + 1)
        tree.append({label: inner})
    return tree


def _common(values: Sequence[str]) -> str:
    first, last = min(values), max(values)
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[:size]
