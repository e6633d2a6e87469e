"""The risk-utility plane with thresholds that move: from the frontiers that `explain` told.

Everything here is confidential, and for pages that say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError

WIDTH, HEIGHT = 640, 420
LEFT, BELOW = 74, 52
Goal: TypeAlias = Literal["utility", "risk", "aggregate"]
_Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Where a threshold puts every record: means, and those who reach it."""

    goal: Goal
    value: float
    power: float
    risk: float
    utility: float
    risk_before: float
    utility_before: float
    n_withheld: int
    risks: _Numbers
    utilities: _Numbers

    @property
    def risk_left(self) -> float:
        """The part of the mean risk that is left, in per cent."""
        return 100 * self.risk / self.risk_before if self.risk_before else 0.0

    @property
    def utility_left(self) -> float:
        """The part of the mean utility that is left, in per cent."""
        return 100 * self.utility / self.utility_before if self.utility_before else 0.0


@dataclass(frozen=True, kw_only=True)
class PlaneDot:
    """A point of a drawing, with what it says."""

    x: float
    y: float
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class PlaneDrawing:
    """The plane in the coordinates of the page; lines are where the threshold lies."""

    curve: str
    cloud: tuple[PlaneDot, ...]
    before: PlaneDot
    after: PlaneDot
    anonymous: tuple[PlaneDot, ...]
    x_ticks: tuple[PlaneDot, ...]
    y_ticks: tuple[PlaneDot, ...]
    threshold_y: float | None


def threshold_moved(
    told: Mapping[str, Any], goal: Goal, value: float, *, power: float = 1.0
) -> Moved:
    """Return what a threshold leaves: a share of utility, a risk, or the weight of low risk."""
    risks, utilities = [], []
    for each in told["frontiers"]:
        risk, utility = _chosen(each, goal, value, power)
        risks.append(risk)
        utilities.append(utility)
    shown = ~np.isnan(np.array(risks))
    before = [(each["before"]["risk"], each["before"]["utility"]) for each in told["frontiers"]]
    found_risk, found_utility = np.array(risks)[shown], np.array(utilities)[shown]
    return Moved(
        goal=goal,
        value=value,
        power=power,
        risk=float(found_risk.mean()) if len(found_risk) else 0.0,
        utility=float(found_utility.mean()) if len(found_utility) else 0.0,
        risk_before=float(np.mean([risk for risk, _ in before])),
        utility_before=float(np.mean([utility for _, utility in before])),
        n_withheld=int(np.count_nonzero(~shown)),
        risks=found_risk,
        utilities=found_utility,
    )


def _chosen(each: Mapping[str, Any], goal: Goal, value: float, power: float) -> tuple[float, float]:
    if goal == "aggregate":
        steps = each.get("tkde")
        if steps is None:
            raise InputError(
                "risk model 3 has no aggregate", where="goal", do="Choose another goal."
            )
        hidden, utility = np.array(steps["hidden"]), np.array(steps["utility"])
        at = int(np.argmax(value * hidden + utility**power))
        return float(steps["risk"][at]), float(utility[at])
    risk, utility = np.array(each["aruba"]["risk"]), np.array(each["aruba"]["utility"])
    if goal == "utility":  # from the most useful form on, risk falls
        least = value * each["before"]["utility"]
        at = max(int(np.count_nonzero(utility >= least - 1e-9)) - 1, 0)
        return float(risk[at]), float(utility[at])
    safe = np.flatnonzero(risk <= value * (1 + 1e-9))
    if not len(safe):
        return float("nan"), float("nan")
    return float(risk[safe[0]]), float(utility[safe[0]])


def plane_drawing(told: Mapping[str, Any], moved: Moved) -> PlaneDrawing:
    """Return the drawing: the frontier of means, every record, and where k-anonymity lies."""
    shares = np.linspace(0, 1, 21)
    curve = [threshold_moved(told, "utility", float(share)) for share in shares]
    anonymous = told.get("anonymous", [])
    most_risk = max([moved.risk_before, *(each["risk"] for each in anonymous), 1e-12])
    most_risk = max(most_risk, *(each.risk for each in curve))
    most_utility = max([moved.utility_before, 1e-12, *(each["utility"] for each in anonymous)])
    cloud_risk = np.minimum(moved.risks, most_risk)

    def dot(utility: float, risk: float, text: str = "") -> PlaneDot:
        # Risks are drawn by their square roots: most records have little.
        part = float(np.sqrt(max(risk, 0.0) / most_risk))
        return PlaneDot(
            x=round(LEFT + (WIDTH - LEFT - 16) * utility / most_utility, 1),
            y=round((HEIGHT - BELOW) - (HEIGHT - BELOW - 16) * min(part, 1.0), 1),
            text=text,
        )

    points = [dot(each.utility, each.risk) for each in curve]
    some = _some(len(moved.risks), 250)
    return PlaneDrawing(
        curve="M" + "L".join(f"{point.x} {point.y}" for point in points),
        cloud=tuple(
            dot(min(float(moved.utilities[at]), most_utility), float(cloud_risk[at])) for at in some
        ),
        before=dot(moved.utility_before, moved.risk_before, _figure(moved.risk_before)),
        after=dot(moved.utility, moved.risk, _figure(moved.risk)),
        anonymous=tuple(
            dot(each["utility"], each["risk"], f"k = {each['k']}") for each in anonymous
        ),
        x_ticks=tuple(
            dot(most_utility * part, 0.0, _figure(most_utility * part))
            for part in (0.0, 0.25, 0.5, 0.75, 1.0)
        ),
        y_ticks=tuple(
            dot(0.0, most_risk * part, _figure(most_risk * part))
            for part in (0.0, 0.05, 0.25, 0.5, 1.0)
        ),
        threshold_y=dot(0, min(moved.value, most_risk)).y if moved.goal == "risk" else None,
    )


def _some(n: int, most: int) -> Sequence[int]:
    if n <= most:
        return range(n)
    found: list[int] = np.linspace(0, n - 1, most).round().astype(int).tolist()
    return found


def _figure(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}"


def goal_in(given: Mapping[str, str]) -> tuple[Goal, float, float]:
    """Return the goal that a form asks for, its threshold and the power of utility."""
    goal = given.get("goal", "utility")
    try:
        share = float(given.get("share", "50"))
        risk = float(given.get("risk", "-1"))
        weight, power = float(given.get("lambda", "4")), float(given.get("kappa", "1"))
    except ValueError:
        raise InputError(
            "a threshold is no number", where="threshold", do="Give a number."
        ) from None
    if not all(np.isfinite([share, risk, weight, power])):
        raise InputError("a threshold is no number", where="threshold", do="Give a number.")
    if goal == "risk":
        # The slider goes by powers of ten, from a thousandth to one.
        return "risk", float(10 ** min(max(risk, -4.0), 1.0)), power
    if goal == "aggregate":
        return "aggregate", min(max(weight, 0.0), 1e6), 0.0 if power == 0 else max(power, 1.0)
    return "utility", min(max(share / 100, 0.0), 1.0), power
