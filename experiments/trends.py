"""Checks of how lines go: what rises, falls, hardly changes, or is ordered.

A trend is shown by its ends, and refuted by any step that goes the other way beyond doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from experiments.checks import Claims, beyond, place, where_measured, within
from experiments.curves import Curves, NotMeasuredError
from experiments.rule import ANY, Claim, Judged, Margin, every, none_against, some
from hedgerow.model.arrays import Floats

RESAMPLES = 2_000
STRAIGHT = 0.95
"""*Linear*: a straight line explains so much of the variance of the means."""


@where_measured
def rises(panel: str, *lines: str, by: Margin = ANY) -> Claims:
    """Return a check that lines end higher than they begin, and turn back nowhere."""

    def claims(curves: Curves) -> Judged:
        return every(*(_trend(curves, panel, line, by, up=True) for line in lines))

    return claims


@where_measured
def falls(panel: str, *lines: str, by: Margin = ANY) -> Claims:
    """Return a check that lines end lower than they begin, and turn back nowhere."""

    def claims(curves: Curves) -> Judged:
        return every(*(_trend(curves, panel, line, by, up=False) for line in lines))

    return claims


def _trend(curves: Curves, panel: str, line: str, by: Margin, *, up: bool) -> Judged:
    places = _places(curves, panel, line, 2)
    if not up:
        places = places[::-1]
    steps = pairwise(places)
    whole = beyond(curves, panel, (line, places[-1]), (line, places[0]), by)
    if len(places) == 2:
        return whole
    return every(
        whole,
        none_against(*(beyond(curves, panel, (line, y), (line, x), ANY) for x, y in steps)),
    )


def _places(curves: Curves, panel: str, line: str, least: int) -> list[float]:
    found = curves.places(panel, line)
    if len(found) < least:
        raise NotMeasuredError(f"{panel}: {line} at {least} places")
    return found


@where_measured
def ordered(panel: str, *lines: str, at: float | None = None, by: Margin = ANY) -> Claims:
    """Return a check that each line lies below the next, in the mean over shared places.

    As a trend: the last beyond the first, and none below the one before it.
    """

    def claims(curves: Curves) -> Judged:
        places = curves.places(panel, *lines) if at is None else [at]
        values, exact = curves.paired(panel, *((line, x) for line in lines for x in places))
        n = len(places)
        means = [np.mean(values[i * n : (i + 1) * n], axis=0) for i in range(len(lines))]
        where = "" if at is None else f" at {place(at)}"

        def above(i: int, j: int, margin: Margin) -> Claim:
            gap = np.log(means[j] / means[i]) if margin.ratio else means[j] - means[i]
            low = float(np.log(margin.size)) if margin.ratio else margin.size
            sign = "/" if margin.ratio else "−"
            label = f"{lines[j]} {sign} {lines[i]}{where}:"
            return Claim(label=label, values=gap, low=low, exact=exact, logs=margin.ratio)

        last = len(lines) - 1
        whole = above(0, last, by)
        if last == 1:
            return whole
        return every(whole, none_against(*(above(i, i + 1, ANY) for i in range(last))))

    return claims


@where_measured
def rises_then_falls(panel: str, line: str) -> Claims:
    """Return a check that some place inside is higher than both ends."""

    def claims(curves: Curves) -> Judged:
        places = _places(curves, panel, line, 3)
        first, last = places[0], places[-1]
        return some(
            *(
                every(
                    beyond(curves, panel, (line, x), (line, first), ANY),
                    beyond(curves, panel, (line, x), (line, last), ANY),
                )
                for x in places[1:-1]
            )
        )

    return claims


@where_measured
def linear(panel: str, line: str) -> Claims:
    """Return a check that a line grows along a straight one (R² of its means, runs resampled)."""

    def claims(curves: Curves) -> Judged:
        places = _places(curves, panel, line, 3)
        values, exact = curves.paired(panel, *((line, x) for x in places))
        table = np.stack(values)
        rng = np.random.default_rng(RESAMPLES)
        chosen = rng.integers(0, table.shape[1], (RESAMPLES, table.shape[1]))
        draws = _straightness(np.array(places), table[:, chosen].mean(axis=2))
        found = _straightness(np.array(places), table.mean(axis=1, keepdims=True))
        # One value a run, so that it is known how many there were.
        straight = Claim(
            label=f"{line} R²:",
            values=np.full(table.shape[1], found[0]) + 1e-12 * np.arange(table.shape[1]),
            low=STRAIGHT,
            exact=exact,
            draws=draws,
        )
        return every(straight, beyond(curves, panel, (line, places[-1]), (line, places[0]), ANY))

    return claims


def _straightness(x: Floats, y: Floats) -> Floats:
    """Return the share of variance that a straight line explains, for each column."""
    a, b = x - x.mean(), y - y.mean(axis=0)
    squares = (b**2).sum(axis=0) * (a**2).sum()
    found: Floats = (a @ b) ** 2 / np.maximum(squares, 1e-300)
    return found


@where_measured
def steady(panel: str, *lines: str, by: Margin) -> Claims:
    """Return a check that no two places of a line are further apart than a margin: *stable*."""

    def claims(curves: Curves) -> Judged:
        return every(
            *(
                within(curves, panel, (line, y), (line, x), by)
                for line in lines
                for i, x in enumerate(_places(curves, panel, line, 2))
                for y in _places(curves, panel, line, 2)[i + 1 :]
            )
        )

    return claims


@where_measured
def changes_less(panel: str, little: str, much: str) -> Claims:
    """Return a check that one line changes less than another, from end to end.

    *More stable*, *more sensitive*: the difference between the ends, in units of the panel.
    """

    def claims(curves: Curves) -> Judged:
        ends = [(line, x) for line in (little, much) for x in _ends(curves, panel, line)]
        (a, b, c, d), exact = curves.paired(panel, *ends)
        label = f"change of {much} − of {little}:"
        gap = _size(c - d) - _size(a - b)
        empty = not any(each.any() for each in (a, b, c, d))
        return Claim(label=label, values=gap, low=0.0, exact=exact, empty=empty)

    return claims


def _ends(curves: Curves, panel: str, line: str) -> Sequence[float]:
    places = _places(curves, panel, line, 2)
    return places[0], places[-1]


def _size(change: Floats) -> Floats:
    """Return how large a change is, in the direction that it has on average."""
    return change * (1.0 if change.mean() >= 0 else -1.0)
