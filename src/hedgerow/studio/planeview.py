"""The risk-utility plane with movable thresholds, from the frontiers that `explain` computes.

Confidential; only for pages that say so.
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
    """Effect of a threshold: mean risk and utility, and those of the records not withheld."""

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
        """The remaining mean risk, in per cent of the original."""
        return 100 * self.risk / self.risk_before if self.risk_before else 0.0

    @property
    def utility_left(self) -> float:
        """The remaining mean utility, in per cent of the original."""
        return 100 * self.utility / self.utility_before if self.utility_before else 0.0


@dataclass(frozen=True, kw_only=True)
class PlaneDot:
    """A point of a drawing, with its text."""

    x: float
    y: float
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class PlaneDrawing:
    """The plane in the coordinates of the page; ``threshold_y`` is the line of the threshold."""

    curve: str
    cloud: tuple[PlaneDot, ...]
    before: PlaneDot
    after: PlaneDot
    anonymous: tuple[PlaneDot, ...]
    x_ticks: tuple[PlaneDot, ...]
    y_ticks: tuple[PlaneDot, ...]
    threshold_y: float | None


def threshold_moved(
    answer: Mapping[str, Any], goal: Goal, value: float, *, power: float = 1.0
) -> Moved:
    """Return the effect of a threshold: a share of utility, a risk, or a weight of low risk."""
    risks, utilities = [], []
    for each in answer["frontiers"]:
        risk, utility = _chosen(each, goal, value, power)
        risks.append(risk)
        utilities.append(utility)
    shown = ~np.isnan(np.array(risks))
    before = [(each["before"]["risk"], each["before"]["utility"]) for each in answer["frontiers"]]
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
                "Risk model 3 has no aggregate.", where="goal", do="Choose another goal."
            )
        hidden, utility = np.array(steps["hidden"]), np.array(steps["utility"])
        at = int(np.argmax(value * hidden + utility**power))
        return float(steps["risk"][at]), float(utility[at])
    risk, utility = np.array(each["aruba"]["risk"]), np.array(each["aruba"]["utility"])
    if goal == "utility":  # sorted by falling utility and risk
        least = value * each["before"]["utility"]
        at = max(int(np.count_nonzero(utility >= least - 1e-9)) - 1, 0)
        return float(risk[at]), float(utility[at])
    safe = np.flatnonzero(risk <= value * (1 + 1e-9))
    if not len(safe):
        return float("nan"), float("nan")
    return float(risk[safe[0]]), float(utility[safe[0]])


def plane_drawing(answer: Mapping[str, Any], moved: Moved) -> PlaneDrawing:
    """Return the drawing: the frontier of means, single records, and k-anonymous tables."""
    shares = np.linspace(0, 1, 21)
    curve = [threshold_moved(answer, "utility", float(share)) for share in shares]
    anonymous = answer.get("anonymous", [])
    most_risk = max([moved.risk_before, *(each["risk"] for each in anonymous), 1e-12])
    most_risk = max(most_risk, *(each.risk for each in curve))
    most_utility = max([moved.utility_before, 1e-12, *(each["utility"] for each in anonymous)])
    cloud_risk = np.minimum(moved.risks, most_risk)

    def dot(utility: float, risk: float, text: str = "") -> PlaneDot:
        # A square-root scale, because most records have a low risk.
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


def goal_in(form: Mapping[str, str]) -> tuple[Goal, float, float]:
    """Return the goal of a form, its threshold and the power of utility."""
    goal = form.get("goal", "utility")
    numbers = [
        _threshold(form.get(name, default))
        for name, default in (("share", "50"), ("risk", "-1"), ("lambda", "4"), ("kappa", "1"))
    ]
    share, risk, weight, power = numbers
    if goal == "risk":
        # The slider has powers of ten.
        return "risk", float(10 ** min(max(risk, -4.0), 1.0)), power
    if goal == "aggregate":
        return "aggregate", min(max(weight, 0.0), 1e6), 0.0 if power == 0 else max(power, 1.0)
    return "utility", min(max(share / 100, 0.0), 1.0), power


def _threshold(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise InputError("A threshold is not a number.", where="threshold", do="Give a number.")
    return value
