"""Checks of what a paper states, over the curves that were measured.

Each function returns a check: given curves, it says whether the statement holds and what
was found, with the difference where it does not. Here are checks of how high lines are;
those of how they go are in :mod:`~experiments.trends`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import numpy as np

from experiments.curves import Curves, NotMeasuredError
from experiments.figure import Check, Outcome

Make = TypeVar("Make", bound=Callable[..., Check])


def where_measured(make: Make) -> Make:
    """Let a check answer *not measured* where its points are missing."""

    @wraps(make)
    def making(*arguments: object, **named: object) -> Check:
        check = make(*arguments, **named)

        def asked(curves: Curves) -> Outcome:
            try:
                return check(curves)
            except NotMeasuredError as missing:
                return Outcome(agrees=None, found=f"not measured ({missing})")

        asked.panel = arguments[0]  # type: ignore[attr-defined]  # for all_of
        return asked

    return making  # type: ignore[return-value]


def all_of(*checks: Check) -> Check:
    """Return a check that holds where all of some do; what is not measured is left out.

    What was found is told by panel, where there are several.
    """
    panels = [getattr(each, "panel", "") for each in checks]
    several = len(set(panels)) > 1

    def check(curves: Curves) -> Outcome:
        outcomes = [each(curves) for each in checks]
        if several:
            outcomes = [
                replace(outcome, found=f"{panel}: {outcome.found}")
                for panel, outcome in zip(panels, outcomes, strict=True)
            ]
        told = [outcome for outcome in outcomes if outcome.agrees is not None]
        if not told:
            return outcomes[0]
        wrong = [outcome for outcome in told if not outcome.agrees]
        # Where some fail, only those are told.
        words = "; ".join(each.found for each in wrong or told)
        missing = len(outcomes) - len(told)
        if missing:
            words += f" ({missing} of {len(outcomes)} parts not measured)"
        return Outcome(agrees=not wrong, found=words)

    return check


@where_measured
def near(panel: str, line: str, x: float, printed: float, *, within: float) -> Check:
    """Return a check that a line passes a printed number at ``x``, within a tolerance."""

    def check(curves: Curves) -> Outcome:
        found = curves.at(panel, line, x)
        return _beside(line, found, printed, within)

    return check


@where_measured
def difference_near(
    panel: str, upper: str, lower: str, x: float, printed: float, *, within: float
) -> Check:
    """Return a check of the difference of two lines at ``x``."""

    def check(curves: Curves) -> Outcome:
        found = curves.at(panel, upper, x) - curves.at(panel, lower, x)
        line = f"{upper} − {lower}"
        return _beside(line, found, printed, within)

    return check


@where_measured
def difference_between(
    panel: str, upper: str, lower: str, low: float, high: float, *, slack: float = 0.0
) -> Check:
    """Return a check that the difference of two lines spans no more than a printed range."""

    def check(curves: Curves) -> Outcome:
        _, (above, below) = curves.together(panel, upper, lower)
        least, most = float((above - below).min()), float((above - below).max())
        outside = max(low - slack - least, most - high - slack, 0.0)
        told = f"{short(least)} to {short(most)}, printed {low:g} to {high:g}"
        return outcome_of(outside == 0, told, f"{short(outside)} outside")

    return check


@where_measured
def most_near(panel: str, line: str, printed: float, *, within: float) -> Check:
    """Return a check of the highest point of a line."""

    def check(curves: Curves) -> Outcome:
        found = float(curves.line(panel, line).y.max())
        return _beside(line, found, printed, within)

    return check


@where_measured
def stays_above(panel: str, line: str, bound: float, *, slack: float = 0.0) -> Check:
    """Return a check that no point of a line lies below a bound."""

    def check(curves: Curves) -> Outcome:
        found = float(curves.line(panel, line).y.min())
        return _against(line, found, bound - slack, np.inf, f"at least {bound:g}")

    return check


@where_measured
def stays_below(
    panel: str, lines: str | Sequence[str], bound: float, *, at: float | None = None
) -> Check:
    """Return a check that no point of some lines, or theirs at one place, exceeds a bound."""
    named = [lines] if isinstance(lines, str) else list(lines)

    def check(curves: Curves) -> Outcome:
        if at is not None:
            found = max(curves.at(panel, line, at) for line in named)
        else:
            found = max(float(curves.line(panel, line).y.max()) for line in named)
        return _against(", ".join(named), found, -np.inf, bound, f"at most {bound:g}")

    return check


@where_measured
def share_of(panel: str, line: str, whole: str, *, least: float) -> Check:
    """Return a check that a line is everywhere at least some share of another."""

    def check(curves: Curves) -> Outcome:
        x, (some, every) = curves.together(panel, line, whole)
        shares = some / every
        worst = int(shares.argmin())
        told = f"{shares.min():.0%} to {shares.max():.0%} of {whole}"
        return outcome_of(bool(shares[worst] >= least), told, f"least at {x[worst]:g}")

    return check


@where_measured
def times_larger(panel: str, larger: str, smaller: str, factor: float) -> Check:
    """Return a check of the ratio of two lines: the least of one over the most of the other."""

    def check(curves: Curves) -> Outcome:
        top, bottom = curves.line(panel, larger).y, curves.line(panel, smaller).y
        least, most = float(top.min() / bottom.max()), float(top.max() / bottom.min())
        told = f"{short(least)} to {short(most)} times"
        return outcome_of(least >= factor, told, f"only {short(least)} times in the closest pair")

    return check


def _against(line: str, found: float, low: float, high: float, words: str) -> Outcome:
    off = max(low - found, found - high, 0.0)
    side = "below" if found < low else "above"
    return outcome_of(off == 0, f"{line} {short(found)}, {words}", f"{short(off)} {side}")


def _beside(line: str, found: float, printed: float, within: float) -> Outcome:
    off = abs(found - printed)
    side = "below" if found < printed else "above"
    told = f"{line} {short(found)}, printed {printed:g}"
    return outcome_of(off <= within, told, f"{short(off)} {side}, {within:g} tolerated")


def outcome_of(agrees: bool, told: str, wrong: str) -> Outcome:
    """Return what was found, and what is wrong with it where it does not agree."""
    return Outcome(agrees=agrees, found=told if agrees else f"{told} ({wrong})")


def short(value: float) -> str:
    """Return a number with three digits or so."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:.2g}"
