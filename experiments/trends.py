"""Checks of trends: what rises, falls, lies above another line or hardly changes.

Means over few runs are not smooth, so checks of a trend take a ``slack`` in the units of the
panel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.checks import outcome_of, short, where_measured
from experiments.curves import Curves, NotMeasuredError
from experiments.figure import Check, Outcome


@where_measured
def rises(panel: str, *lines: str, slack: float = 0.0) -> Check:
    """Return a check that lines end higher than they begin and never fall by more than slack."""

    def check(curves: Curves) -> Outcome:
        return _trend(curves, panel, lines, slack, direction=1)

    return check


@where_measured
def falls(panel: str, *lines: str, slack: float = 0.0) -> Check:
    """Return a check that lines end lower than they begin and never rise by more than slack."""

    def check(curves: Curves) -> Outcome:
        return _trend(curves, panel, lines, slack, direction=-1)

    return check


def _trend(
    curves: Curves, panel: str, lines: Sequence[str], slack: float, *, direction: int
) -> Outcome:
    told, wrong = [], []
    for line in lines:
        y = curves.line(panel, line).y
        if len(y) < 2:
            raise NotMeasuredError(f"{panel}: {line} at two places")
        told.append(f"{line}: {short(y[0])} to {short(y[-1])}")
        against = float((-direction * np.diff(y)).max())
        if direction * (y[-1] - y[0]) <= 0:
            wrong.append(f"{line} ends {short(abs(y[-1] - y[0]))} {_side(y[-1] - y[0])}")
        elif against > slack:
            wrong.append(f"{line} turns back by {short(against)}")
    return outcome_of(not wrong, "; ".join(told), "; ".join(wrong))


@where_measured
def ordered(panel: str, *lines: str, slack: float = 0.0, at: float | None = None) -> Check:
    """Return a check that each line lies below the next, in the mean over shared places."""

    def check(curves: Curves) -> Outcome:
        if at is not None:
            means = [curves.at(panel, line, at) for line in lines]
        else:
            means = [float(y.mean()) for y in curves.together(panel, *lines)[1]]
        told = ", ".join(f"{line} {short(mean)}" for line, mean in zip(lines, means, strict=True))
        worst = float((-np.diff(means)).max())
        return outcome_of(worst <= slack, told, f"out of order by {short(worst)}")

    return check


@where_measured
def above(
    panel: str, upper: str, lower: str, *, slack: float = 0.0, until: float = np.inf
) -> Check:
    """Return a check that one line is nowhere below another, up to a place."""

    def check(curves: Curves) -> Outcome:
        x, (high, low) = curves.together(panel, upper, lower)
        inside = x <= until
        if not inside.any():
            raise NotMeasuredError(f"{panel}: {upper} up to {until:g}")
        gaps = (high - low)[inside]
        worst = int(gaps.argmin())
        told = f"{upper} − {lower}: {short(gaps.min())} to {short(gaps.max())}"
        wrong = f"{short(-gaps[worst])} below at {x[inside][worst]:g}"
        return outcome_of(bool(gaps[worst] >= -slack), told, wrong)

    return check


@where_measured
def lies_apart(panel: str, upper: str, lower: str) -> Check:
    """Return a check that one line is above another by more than rounding, everywhere."""

    def check(curves: Curves) -> Outcome:
        x, (high, low) = curves.together(panel, upper, lower)
        gaps = high - low
        lower_at = x[gaps <= 1e-9 * np.abs(high)]
        told = f"{upper} − {lower}: {short(gaps.min())} to {short(gaps.max())}"
        return outcome_of(
            not len(lower_at), told, f"not above at {len(lower_at)} of {len(x)} places"
        )

    return check


@where_measured
def any_above(panel: str, upper: str, lower: str) -> Check:
    """Return a check that one line is above another at some place."""

    def check(curves: Curves) -> Outcome:
        x, (high, low) = curves.together(panel, upper, lower)
        gaps = high - low
        best = int(gaps.argmax())
        told = f"{upper} − {lower} at most {short(gaps[best])}, at {x[best]:g}"
        return outcome_of(bool(gaps[best] > 0), told, "nowhere above")

    return check


@where_measured
def rises_then_falls(panel: str, line: str, *, by: float = 0.0) -> Check:
    """Return a check that the highest point of a line is inside, higher than both ends."""

    def check(curves: Curves) -> Outcome:
        curve = curves.line(panel, line)
        if len(curve.x) < 3:
            raise NotMeasuredError(f"{panel}: {line} at three places")
        top = int(curve.y.argmax())
        told = f"{line}: {short(curve.y[0])}, highest {short(curve.y[top])}, {short(curve.y[-1])}"
        ends = float(curve.y[top] - max(curve.y[0], curve.y[-1]))
        return outcome_of(
            ends > by, told, f"highest at {curve.x[top]:g}, {short(ends)} above the ends"
        )

    return check


@where_measured
def linear(panel: str, line: str, *, least: float = 0.95) -> Check:
    """Return a check that a line is straight: the share of its variance that a line explains."""

    def check(curves: Curves) -> Outcome:
        curve = curves.line(panel, line)
        if len(curve.x) < 3:
            raise NotMeasuredError(f"{panel}: {line} at three places")
        if not np.ptp(curve.y):
            return outcome_of(False, f"{line} always {short(curve.y[0])}", "it does not grow")
        found = float(np.corrcoef(curve.x, curve.y)[0, 1] ** 2)
        return outcome_of(found >= least, f"{line} R² = {found:.3f}", f"below {least:g}")

    return check


@where_measured
def steady(panel: str, *lines: str, ratio: float) -> Check:
    """Return a check that the largest value of a line is at most ``ratio`` times its least."""

    def check(curves: Curves) -> Outcome:
        told, wrong = [], []
        for line in lines:
            y = curves.line(panel, line).y
            found = float(y.max() / max(float(y.min()), 1e-300))
            told.append(f"{line}: {short(y.min())} to {short(y.max())}")
            if found > ratio:
                wrong.append(f"{line} varies {short(found)} times")
        return outcome_of(not wrong, "; ".join(told), "; ".join(wrong))

    return check


@where_measured
def range_ordered(panel: str, narrow: str, wide: str, *, absolute: bool = False) -> Check:
    """Return a check that one line varies less than another.

    What is compared is the largest over the least value or, if ``absolute``, the largest
    minus the least; both are told.
    """

    def check(curves: Curves) -> Outcome:
        found, told = [], []
        for line in (narrow, wide):
            y = curves.line(panel, line).y
            least, most = float(y.min()), float(y.max())
            times = most / max(least, 1e-300)
            found.append(most - least if absolute else times)
            told.append(f"{line} varies by {short(most - least)} ({short(times)} times)")
        return outcome_of(found[0] <= found[1], ", ".join(told), "the other way round")

    return check


def _side(difference: float) -> str:
    return "lower" if difference < 0 else "higher"
