"""The risk-utility plane as a part of owner-only pages: starts its run and shows it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hedgerow.errors import InputError
from hedgerow.studio.planeview import HEIGHT, WIDTH, goal_in, plane_drawing, threshold_moved
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import Sent, page_answer, shown_plan, studio_of

PLANE = "plane"


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
