"""The plane with moving thresholds as a part of owner-only pages: runs it, and shows it."""

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
    """Ask for the frontiers of the plan's records, in a process of its own."""
    plan = shown_plan(request)
    studio = studio_of(request)
    run = studio.runs.start(
        PLANE, ["explain", plan.name], about={"plan": plan.name, "version": plan.version}
    )
    return page_answer(request, "_planerun.html.j2", run=run, **plane_values(request, run))


def show_plane(request: Request) -> Response:
    """Show the plane of a run, at the thresholds that the address has."""
    run = studio_of(request).runs.get(request.query_params.get("run", ""))
    if run.kind != PLANE:
        raise InputError("there is no such plane", do="Load the page again.")
    template = "_plane.html.j2" if "goal" in request.query_params else "_planerun.html.j2"
    return page_answer(request, template, run=run, **plane_values(request, run))


def plane_values(request: Request, run: CommandRun | None) -> dict[str, Any]:
    """Return what the part needs; nothing is drawn until the run is over."""
    if run is None or run.is_running or "frontiers" not in run.answer:
        return {"moved": None}
    goal, value, power = goal_in(request.query_params)
    moved = threshold_moved(run.answer, goal, value, power=power)
    return {
        "moved": moved,
        "drawing": plane_drawing(run.answer, moved),
        "told": run.answer,
        "plane_width": WIDTH,
        "plane_height": HEIGHT,
        "asked": dict(request.query_params),
        "has_aggregate": "tkde" in run.answer["frontiers"][0],
    }


def last_plane(request: Request, plan: str) -> CommandRun | None:
    """Return the last plane of a plan."""
    found = studio_of(request).runs.all(PLANE, plan=plan)
    return found[0] if found else None
