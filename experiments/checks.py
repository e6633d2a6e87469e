"""Checks of how high lines are: printed numbers, bounds, one line beside another.

Each function returns a check: given curves, it returns the claims that a statement of a paper
comes to, which :mod:`~experiments.rule` judges. Checks of how lines go are in
:mod:`~experiments.trends`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import numpy as np

from experiments.curves import Curves, NotMeasuredError
from experiments.figure import Check, Outcome
from experiments.rule import (
    ANY,
    POINTS,
    UNMEASURED,
    Claim,
    Joined,
    Judged,
    Margin,
    every,
    judged,
    some,
)

Claims = Callable[[Curves], Judged]
Make = TypeVar("Make", bound=Callable[..., Claims])


class Asked:
    """A check that answers *not measured* where its points are missing."""

    def __init__(self, panel: str, claims: Claims) -> None:
        self.panel = panel
        self.claims = claims

    def __call__(self, curves: Curves) -> Outcome:
        """Return the verdict."""
        try:
            answer, found = judged(self.claims(curves))
        except NotMeasuredError as missing:
            return Outcome(answer=UNMEASURED, found=f"({missing})")
        return Outcome(answer=answer, found=found)


def where_measured(make: Make) -> Callable[..., Asked]:
    """Let a function that returns claims return a check."""

    @wraps(make)
    def making(panel: str, *arguments: object, **named: object) -> Asked:
        return Asked(panel, make(panel, *arguments, **named))

    return making


def all_of(*checks: Asked) -> Check:
    """Return a check that holds where all of some do; what is not measured is left out.

    Claims are told by panel, where there are several.
    """
    several = len({each.panel for each in checks}) > 1

    def claims(curves: Curves) -> Judged:
        found, missing = [], None
        for each in checks:
            try:
                part = each.claims(curves)
            except NotMeasuredError as error:
                missing = error
                continue
            found.append(_in_panel(part, each.panel) if several else part)
        if not found and missing is not None:
            raise missing
        return every(*found)

    return Asked("", claims)


def _in_panel(given: Judged, panel: str) -> Judged:
    if isinstance(given, Claim):
        return replace(given, label=f"{panel}: {given.label}")
    if isinstance(given, Joined):
        return replace(given, parts=[_in_panel(part, panel) for part in given.parts])
    return given


def value(
    curves: Curves,
    panel: str,
    line: str,
    x: float,
    *,
    low: float = -math.inf,
    high: float = math.inf,
) -> Claim:
    """Return the claim that the mean of a line at a place lies between two bounds."""
    (values,), exact = curves.paired(panel, (line, x))
    return Claim(label=f"{line} at {place(x)}:", values=values, low=low, high=high, exact=exact)


def difference(
    curves: Curves,
    panel: str,
    upper: tuple[str, float],
    lower: tuple[str, float],
    *,
    low: float = -math.inf,
    high: float = math.inf,
    ratio: bool = False,
) -> Claim:
    """Return the claim that the difference (or ratio) of two points lies between two bounds."""
    (one, other), exact = curves.paired(panel, upper, lower)
    label = _pair(upper, lower, "/" if ratio else "−")
    empty = not one.any() and not other.any()
    if not ratio:
        gap = one - other
        return Claim(label=label, values=gap, low=low, high=high, exact=exact, empty=empty)
    logs = np.log(np.maximum(one, 1e-300)) - np.log(np.maximum(other, 1e-300))
    ends = [math.log(end) if end > 0 else -math.inf for end in (low, high)]
    return Claim(
        label=label,
        values=logs,
        low=ends[0],
        high=ends[1],
        exact=exact,
        logs=True,
        empty=empty,
    )


def _pair(upper: tuple[str, float], lower: tuple[str, float], sign: str) -> str:
    (one, x), (other, y) = upper, lower
    if one == other:
        return f"{one}, {place(x)} {sign} {place(y)}:"
    if x == y:
        return f"{one} {sign} {other} at {place(x)}:"
    return f"{one} at {place(x)} {sign} {other} at {place(y)}:"


def place(x: float) -> str:
    """Return a place of an axis in words.

    >>> place(1_000_000), place(0.25)
    ('1,000,000', '0.25')
    """
    return f"{x:,.7g}"


def beyond(
    curves: Curves, panel: str, upper: tuple[str, float], lower: tuple[str, float], by: Margin
) -> Claim:
    """Return the claim that one point lies above another by more than a margin."""
    low = by.size if by.ratio or by.size else 0.0
    return difference(curves, panel, upper, lower, low=low, ratio=by.ratio)


def within(
    curves: Curves, panel: str, one: tuple[str, float], other: tuple[str, float], by: Margin
) -> Claim:
    """Return the claim that two points lie no further apart than a margin."""
    low = 1 / by.size if by.ratio else -by.size
    return difference(curves, panel, one, other, low=low, high=by.size, ratio=by.ratio)


@where_measured
def near(panel: str, line: str, x: float, printed: float) -> Claims:
    """Return a check that a line passes a printed percentage, within one point."""

    def claims(curves: Curves) -> Judged:
        return value(curves, panel, line, x, low=printed - POINTS.size, high=printed + POINTS.size)

    return claims


@where_measured
def difference_near(panel: str, upper: str, lower: str, x: float, printed: float) -> Claims:
    """Return a check that the difference of two lines is the printed one, within one point."""
    low, high = printed - POINTS.size, printed + POINTS.size

    def claims(curves: Curves) -> Judged:
        return difference(curves, panel, (upper, x), (lower, x), low=low, high=high)

    return claims


@where_measured
def difference_below(panel: str, upper: str, lower: str, x: float, most: float) -> Claims:
    """Return a check that one line is above another by no more than so much."""

    def claims(curves: Curves) -> Judged:
        return difference(curves, panel, (upper, x), (lower, x), high=most)

    return claims


@where_measured
def difference_between(panel: str, upper: str, lower: str, low: float, high: float) -> Claims:
    """Return a check that two lines differ by a printed range everywhere, one point tolerated."""

    def claims(curves: Curves) -> Judged:
        least, most = low - POINTS.size, high + POINTS.size
        places = curves.places(panel, upper, lower)
        return every(
            *(
                difference(curves, panel, (upper, x), (lower, x), low=least, high=most)
                for x in places
            )
        )

    return claims


@where_measured
def most_near(panel: str, line: str, printed: float) -> Claims:
    """Return a check that the highest point of a line is the printed one, within one point."""

    def claims(curves: Curves) -> Judged:
        places = curves.places(panel, line)
        low, high = printed - POINTS.size, printed + POINTS.size
        return every(
            *(value(curves, panel, line, x, high=high) for x in places),
            some(*(value(curves, panel, line, x, low=low) for x in places)),
        )

    return claims


@where_measured
def stays_above(panel: str, line: str, bound: float, *, at: float | None = None) -> Claims:
    """Return a check that no point of a line, or the one at a place, lies below a bound."""

    def claims(curves: Curves) -> Judged:
        places = curves.places(panel, line) if at is None else [at]
        return every(*(value(curves, panel, line, x, low=bound) for x in places))

    return claims


@where_measured
def stays_below(
    panel: str, lines: str | Sequence[str], bound: float, *, at: float | None = None
) -> Claims:
    """Return a check that no point of some lines, or theirs at one place, exceeds a bound."""
    named = [lines] if isinstance(lines, str) else list(lines)

    def claims(curves: Curves) -> Judged:
        return every(
            *(
                value(curves, panel, line, x, high=bound)
                for line in named
                for x in (curves.places(panel, line) if at is None else [at])
            )
        )

    return claims


@where_measured
def share_of(panel: str, line: str, whole: str, *, least: float) -> Claims:
    """Return a check that a line is everywhere at least some share of another."""

    def claims(curves: Curves) -> Judged:
        return every(
            *(
                difference(curves, panel, (line, x), (whole, x), low=least, ratio=True)
                for x in curves.places(panel, line, whole)
            )
        )

    return claims


@where_measured
def times_larger(panel: str, larger: str, smaller: str, factor: float) -> Claims:
    """Return a check that a line is so many times another, whichever points are compared."""

    def claims(curves: Curves) -> Judged:
        tops, bottoms = curves.places(panel, larger), curves.places(panel, smaller)
        return every(
            *(
                difference(curves, panel, (larger, x), (smaller, y), low=factor, ratio=True)
                for x in tops
                for y in bottoms
            )
        )

    return claims


@where_measured
def above(
    panel: str,
    upper: str,
    lower: str,
    *,
    by: Margin = ANY,
    since: float = -math.inf,
    until: float = math.inf,
) -> Claims:
    """Return a check that one line is above another at every place, by more than a margin."""

    def claims(curves: Curves) -> Judged:
        places = between(curves.places(panel, upper, lower), since, until)
        return every(*(beyond(curves, panel, (upper, x), (lower, x), by) for x in places))

    return claims


@where_measured
def mostly_above(panel: str, upper: str, lower: str, *, by: Margin = ANY) -> Claims:
    """Return a check that one line is above another *almost always*: at nine places of ten."""

    def claims(curves: Curves) -> Judged:
        places = curves.places(panel, upper, lower)
        parts = [beyond(curves, panel, (upper, x), (lower, x), by) for x in places]
        return Joined(parts=parts, may_fail=min(math.ceil(len(parts) / 10), len(parts) - 1))

    return claims


@where_measured
def any_above(panel: str, upper: str, lower: str) -> Claims:
    """Return a check that one line is above another at some place."""

    def claims(curves: Curves) -> Judged:
        places = curves.places(panel, upper, lower)
        return some(*(beyond(curves, panel, (upper, x), (lower, x), ANY) for x in places))

    return claims


@where_measured
def comparable(
    panel: str,
    one: str,
    other: str,
    *,
    by: Margin,
    since: float = -math.inf,
    until: float = math.inf,
) -> Claims:
    """Return a check that two lines lie within a margin of each other at every place."""

    def claims(curves: Curves) -> Judged:
        places = between(curves.places(panel, one, other), since, until)
        return every(*(within(curves, panel, (one, x), (other, x), by) for x in places))

    return claims


def between(places: Iterable[float], since: float, until: float) -> list[float]:
    """Return the places from one to another."""
    found = [x for x in places if since <= x <= until]
    if not found:
        raise NotMeasuredError(f"no place from {since:g} to {until:g}")
    return found
