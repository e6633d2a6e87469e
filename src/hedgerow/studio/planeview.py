"""The risk-utility plane with movable thresholds, a part of owner-only pages.

A run of `explain` computes the frontiers.

Confidential; only for pages that say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from hedgerow.draw.plane import PlaneMark, PlaneScales, figure_text
from hedgerow.errors import InputError
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import Sent, page_answer, shown_plan, studio_of

WIDTH, HEIGHT = 640, 420
LEFT, BELOW = 74, 52
PLANE = "plane"
"""Kind of the runs that compute frontiers."""

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
class PlaneDrawing:
    """The plane in the coordinates of the page; ``threshold_y`` is the line of the threshold."""

    curve: str
    cloud: tuple[PlaneMark, ...]
    before: PlaneMark
    after: PlaneMark
    anonymous: tuple[PlaneMark, ...]
    x_ticks: tuple[PlaneMark, ...]
    y_ticks: tuple[PlaneMark, ...]
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
    scales = plane_scales(most_utility, most_risk)
    some = _some(len(moved.risks), 250)
    return PlaneDrawing(
        curve=scales.path((each.utility, each.risk) for each in curve),
        cloud=tuple(
            scales.mark(min(float(moved.utilities[at]), most_utility), float(moved.risks[at]))
            for at in some
        ),
        before=scales.mark(moved.utility_before, moved.risk_before, figure_text(moved.risk_before)),
        after=scales.mark(moved.utility, moved.risk, figure_text(moved.risk)),
        anonymous=tuple(
            scales.mark(each["utility"], each["risk"], f"k = {each['k']}") for each in anonymous
        ),
        x_ticks=scales.x_ticks((0.0, 0.25, 0.5, 0.75, 1.0)),
        y_ticks=scales.y_ticks((0.0, 0.05, 0.25, 0.5, 1.0)),
        threshold_y=scales.y(moved.value) if moved.goal == "risk" else None,
    )


def plane_scales(most_utility: float, most_risk: float) -> PlaneScales:
    """Return the scales of the studio's planes: square roots of risks, because most are low."""
    return PlaneScales(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        below=BELOW,
        most_utility=most_utility,
        most_risk=most_risk,
        risk_scale="square-root",
    )


def _some(n: int, most: int) -> Sequence[int]:
    if n <= most:
        return range(n)
    found: list[int] = np.linspace(0, n - 1, most).round().astype(int).tolist()
    return found


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


def start_plane(request: Request, form: Sent) -> Response:
    """Compute the frontiers of the plan's records in a separate process."""
    plan = shown_plan(request)
    studio = studio_of(request)
    run = studio.runs.start(
        PLANE, ["explain", plan.name], about={"plan": plan.name, "version": plan.version}
    )
    return page_answer(request, "_planerun.html.j2", run=run, **plane_values(request, run))


def show_plane(request: Request) -> Response:
    """Show the plane of a run at the thresholds of the address."""
    run = studio_of(request).runs.get(request.query_params.get("run", ""))
    if run.kind != PLANE:
        raise InputError(
            "The run has no risk-utility plane.", where="run", do="Load the page again."
        )
    template = "_plane.html.j2" if "goal" in request.query_params else "_planerun.html.j2"
    return page_answer(request, template, run=run, **plane_values(request, run))


def plane_values(request: Request, run: CommandRun | None) -> dict[str, Any]:
    """Return the values of the part; nothing is drawn while the run is active."""
    if run is None or run.is_running or "frontiers" not in run.answer:
        return {"moved": None}
    goal, value, power = goal_in(request.query_params)
    moved = threshold_moved(run.answer, goal, value, power=power)
    return {
        "moved": moved,
        "drawing": plane_drawing(run.answer, moved),
        "answer": run.answer,
        "plane_width": WIDTH,
        "plane_height": HEIGHT,
        "query": dict(request.query_params),
        "has_aggregate": "tkde" in run.answer["frontiers"][0],
    }


def last_plane(request: Request, plan: str) -> CommandRun | None:
    """Return the last plane of a plan."""
    found = studio_of(request).runs.all(PLANE, plan=plan)
    return found[0] if found else None
