"""The page Compare: releases with their data, and trial plans on data that are not confidential."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.comparison.compare import COLUMNS, PAIRS_FILE
from hedgerow.draw.heat import CELL, heat_maps
from hedgerow.errors import InputError
from hedgerow.release.write import CERTIFICATE
from hedgerow.report.headlines import per_cent
from hedgerow.studio.planeview import last_plane, plane_values, show_plane, start_plane
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
from hedgerow.studio.texts import texts

COMPARISON = "compare"
_ERRORS = ("two-way-neutral", "count-error", "tree", "boosting")


def _show(request: Request) -> Response:
    """Show the releases and plans that can be compared, and the last comparison."""
    studio = studio_of(request)
    plan = None if plan_name(request) is None else shown_plan(request)
    runs = studio.runs.all(COMPARISON)
    wanted = request.query_params.get("run")
    run = next((each for each in runs if each.id == wanted), runs[0] if runs else None)
    plane = None if plan is None else last_plane(request, plan.name)
    data = None if plan is None else plan.data.get("data")
    return page_answer(
        request,
        "compare.html.j2",
        releases=studio.folder.folders_with(CERTIFICATE),
        plans=studio.folder.files(".yaml", ".yml")[:100],
        data=data if isinstance(data, str) else "",
        can_explain=plan is not None and isinstance(plan.data.get("disclose"), Mapping),
        compared=run,
        earlier=[each for each in runs[:12] if run is None or each.id != run.id],
        run=plane,
        plane=plane,
        **plane_values(request, plane),
        **_result(request, run),
    )


def _result(request: Request, run: CommandRun | None) -> dict[str, Any]:
    """Return the figures of a comparison, with one heat map."""
    if run is None or run.is_running or "releases" not in run.answer:
        return {"figures": None}
    pairs, plot = _pairs(request, run), _plot(run.answer["releases"])
    return {
        "figures": run.answer,
        "columns": COLUMNS,
        "cells": [_cells(each) for each in run.answer["releases"]],
        "plot": plot,
        "top": plot_top(plot),
        "pairs": pairs,
        "heat": None if pairs is None else _heat(request, pairs),
        "cell": CELL,
    }


def _cells(figures: Mapping[str, Any]) -> list[str]:
    learnt = figures.get("learnt", {})
    return [
        f"{figures['name']} ({figures['method']})",
        str(figures["epsilon"] or "–"),
        f"{figures['rows']:,}",
        per_cent(figures.get("one-way-neutral")),
        _worst_column(figures),
        per_cent(figures.get("two-way-neutral")),
        per_cent(figures["two-way"]),
        per_cent(figures["count-error"]),
        per_cent(learnt.get("tree")),
        per_cent(learnt.get("boosting")),
        "ε" if figures["epsilon"] is not None else per_cent(figures["risk"]),
    ]


def _worst_column(figures: Mapping[str, Any]) -> str:
    """Return the column with the largest error, which earlier versions do not name."""
    if figures.get("worst-column") is None:
        return "–"
    return f"{figures['worst-column']}: {per_cent(figures['worst-error'])}"


def _plot(releases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return bars of errors in per cent, one group for each figure."""
    groups = []
    for key in _ERRORS:
        values = []
        for each in releases:
            learnt = each.get("learnt", {}).get(key)
            value = each.get(key) if key.endswith(("error", "neutral")) else None
            values.append(1 - learnt if learnt is not None else value)
        if any(value is not None for value in values):
            bars = [
                {"percent": round(100 * min(max(value or 0.0, 0.0), 1.0), 1), "known": value}
                for value in values
            ]
            groups.append({"key": key, "bars": bars})
    return groups


def plot_top(plot: list[dict[str, Any]]) -> int:
    """Return the upper end of the axis of the bars, in per cent."""
    most = max((bar["percent"] for group in plot for bar in group["bars"]), default=0.0)
    return next(top for top in (4, 8, 12, 20, 40, 60, 80, 100) if most <= top)


def _pairs(request: Request, run: CommandRun) -> dict[str, Any] | None:
    place = studio_of(request).folder.inside(run.about["out"]) / PAIRS_FILE
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("pairs") else None


def _heat(request: Request, pairs: Mapping[str, Any]) -> Any:
    names = [column["name"] for column in pairs["columns"]]
    down = request.query_params.get("down", names[0])
    across = request.query_params.get("across", names[1])
    if down not in names or across not in names:
        raise InputError(
            "These columns are not compared.", where="columns", do="Choose two others."
        )
    if down == across:
        across = next(name for name in names if name != down)
    words = texts("compare").heat
    pair = (names.index(down), names.index(across))
    return heat_maps(pairs, pair, original=words.original, differs=words.differs)


def _heated(request: Request) -> Response:
    """Show the heat map of two columns."""
    run = studio_of(request).runs.get(request.query_params.get("run", ""))
    if run.kind != COMPARISON:
        raise InputError("The run is not a comparison.", where="run", do="Load the page again.")
    pairs = _pairs(request, run)
    if pairs is None:
        raise InputError("The comparison has no 2-way marginals.", do="Compare again.")
    return page_answer(request, "_heat.html.j2", heat=_heat(request, pairs), cell=CELL)


def _start(request: Request, form: Sent) -> Response:
    """Start a comparison in a separate process."""
    studio, kind = studio_of(request), form.need("kind")
    chosen = form.all("chosen")
    if not chosen:
        raise InputError(
            "Nothing is chosen.", where="compare", do="Choose at least one release or plan."
        )
    for name in chosen:
        studio.folder.inside(name)
    out = f"comparison-{secrets.token_hex(4)}"
    words = ["compare", *chosen, "--write-pairs", "--out", out]
    if kind == "releases":
        words += ["--data", _place(request, form.need("data"))]
        if plan_name(request) is not None:
            words += ["--plan", shown_plan(request).name]
    elif kind == "simulate":
        words.append("--simulate")
        if form.get("records").strip():
            words += ["--records", form.get("records").strip()]
    elif kind == "public":
        words += ["--public", form.need("public")]
    else:
        raise InputError(
            "The kind of comparison is not valid.", where="kind", do="Load the page again."
        )
    if any(word.startswith("-") for word in (*chosen, form.get("data"), form.get("public"))):
        raise InputError("A name begins with '-'.", where="compare", do="Rename the file first.")
    run = studio.runs.start(COMPARISON, words, about={"out": out, "kind": kind})
    place = address("compare", plan=plan_name(request), run=run.id)
    return Response(status_code=204, headers={"HX-Redirect": place})


def _place(request: Request, data: str) -> str:
    """Return a path relative to the folder; the plan's own data path is relative to the plan."""
    if plan_name(request) is None or ":" in data or data.startswith("/"):
        return data
    plan = shown_plan(request)
    return str(PurePosixPath(plan.name).parent / data) if plan.data.get("data") == data else data


PAGE = Page(
    name="compare",
    owner_only=True,
    routes=(
        Route("/compare", view(_show)),
        Route("/compare/heat", view(_heated)),
        Route("/compare/plane", view(show_plane)),
        Route("/compare/start", change(_start), methods=["POST"]),
        Route("/compare/explain", change(start_plane), methods=["POST"]),
    ),
)
