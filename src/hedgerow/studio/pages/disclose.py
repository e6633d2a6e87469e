"""The page Disclose: weights, dictionary and thresholds, and the choice for single records."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import InputError
from hedgerow.studio.disclosing import (
    DISCLOSERS,
    MEASURES,
    section_from,
    section_of,
    shown_weights,
    weighed_columns,
)
from hedgerow.studio.latticeview import HASSE_WIDTH, hasse_of, record_plane
from hedgerow.studio.planeview import (
    HEIGHT,
    WIDTH,
    last_plane,
    plane_values,
    show_plane,
    start_plane,
)
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import (
    Page,
    Sent,
    address,
    change,
    page_answer,
    plan_name,
    shown_plan,
    studio_of,
    view,
)
from hedgerow.studio.yamledit import Put

RECORD, DISCLOSURE = "record", "disclose"


def _show(request: Request) -> Response:
    """Show the settings, the plane, one record, and runs."""
    if plan_name(request) is None:
        return page_answer(request, "disclose.html.j2", section=None)
    plan, runs = shown_plan(request), studio_of(request).runs
    section = section_of(plan.data)
    plane = last_plane(request, plan.name)
    records, disclosed = runs.all(RECORD, plan=plan.name), runs.all(DISCLOSURE, plan=plan.name)
    risk = section.get("risk")
    utility = section.get("utility")
    return page_answer(
        request,
        "disclose.html.j2",
        section=section,
        risk=risk if isinstance(risk, dict) else {},
        utility=utility if isinstance(utility, dict) else {},
        version=plan.version,
        weights=shown_weights(section, weighed_columns(plan.data)),
        methods=DISCLOSERS,
        measures=MEASURES,
        plane=plane,
        stale=plane is not None and plane.about.get("version") != plan.version,
        run=plane,
        record=records[0] if records else None,
        disclosed=disclosed[0] if disclosed else None,
        part="plane",
        **plane_values(request, plane),
        **_record_values(records[0] if records else None),
    )


def _record_values(run: CommandRun | None) -> dict[str, Any]:
    if run is None or run.is_running or "points" not in run.answer:
        return {"lattice": None}
    return {
        "lattice": run.answer,
        "hasse": hasse_of(run.answer),
        "record_drawing": record_plane(run.answer),
        "hasse_width": HASSE_WIDTH,
        "drawn_width": WIDTH,
        "drawn_height": HEIGHT,
    }


def _save(request: Request, form: Sent) -> Response:
    """Save the plan's section on disclosure."""
    plan = shown_plan(request)
    section = section_from(form, section_of(plan.data))
    plan.save([Put(path=("disclose",), value=section)], version=form.need("version"))
    place = address("disclose", plan=plan.name)
    return Response(status_code=204, headers={"HX-Redirect": place})


def _record(request: Request, form: Sent) -> Response:
    """Explain the generalisation of one record in a separate process."""
    plan, number = shown_plan(request), form.need("number").strip()
    if not number.isdecimal() or not 0 < int(number) < 10**12:
        raise InputError("Not a row number.", where="record", do="Give an integer of at least 1.")
    words = ["explain", plan.name, "--row", number]
    about = {"plan": plan.name, "version": plan.version, "record": number}
    run = studio_of(request).runs.start(RECORD, words, about=about)
    return page_answer(request, "_record.html.j2", record=run, **_record_values(run))


def _recorded(request: Request) -> Response:
    """Show the explanation of a record."""
    run = studio_of(request).runs.get(request.query_params.get("run", ""))
    if run.kind != RECORD:
        raise InputError("The run explains no record.", where="run", do="Load the page again.")
    return page_answer(request, "_record.html.j2", record=run, **_record_values(run))


def _disclose(request: Request, form: Sent) -> Response:
    """Start a disclosure in a separate process."""
    plan, out = shown_plan(request), form.need("out").strip()
    place = studio_of(request).folder.inside(out)
    if place.exists():
        raise InputError("The folder already exists.", where="out", do="Give another name.")
    words = ["disclose", plan.name, "--out", out]
    if form.get("accept-risk"):
        words.append("--accept-risk")
    about = {"plan": plan.name, "next": address("release", plan=plan.name, release=out)}
    run = studio_of(request).runs.start(DISCLOSURE, words, about=about)
    return page_answer(request, "_run.html.j2", run=run)


PAGE = Page(
    name="disclose",
    owner_only=True,
    routes=(
        Route("/disclose", view(_show)),
        Route("/disclose/plane", view(show_plane)),
        Route("/disclose/recorded", view(_recorded)),
        Route("/disclose/explain", change(start_plane), methods=["POST"]),
        Route("/disclose/save", change(_save), methods=["POST"]),
        Route("/disclose/record", change(_record), methods=["POST"]),
        Route("/disclose/run", change(_disclose), methods=["POST"]),
    ),
)
