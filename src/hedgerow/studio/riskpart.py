"""The risk of the raw table as a part of the page Table: starts its run and shows the figures.

The figures are confidential. They name columns, never a value of a record.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from hedgerow.errors import InputError
from hedgerow.report.headlines import per_cent
from hedgerow.report.risk import risk_headline
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import Sent, framed_report, page_answer, shown_plan, studio_of

RISK = "risk"
SETS_PER_SIZE = 2
"""Sets of columns that are shown for each number of columns."""


@dataclass(frozen=True, kw_only=True)
class RiskySet:
    """A set of columns on which records are unique; ``percent`` is the length of its bar."""

    columns: str
    unique: int
    share: str
    percent: float


def start_risk(request: Request, form: Sent) -> Response:
    """Measure the risk of the plan's table in a separate process."""
    file, studio = shown_plan(request), studio_of(request)
    out = f"risk-{secrets.token_hex(4)}"
    about = {"plan": file.name, "version": file.version, "out": out}
    words = ["risk", f"--plan={file.name}", f"--out={out}"]
    run = studio.runs.start(RISK, words, about=about)
    return page_answer(request, "_risk.html.j2", **risk_values(file, run))


def show_risk(request: Request) -> Response:
    """Show the last measurement of the plan's table."""
    file = shown_plan(request)
    return page_answer(request, "_risk.html.j2", **risk_values(file, last_risk(request, file)))


def whole_risk(request: Request) -> Response:
    """Return the page of a measurement."""
    studio = studio_of(request)
    run = studio.runs.get(request.query_params.get("run", ""))
    if run.kind != RISK:
        raise InputError("The run is not a measurement of risk.", do="Load the page again.")
    return framed_report(studio.folder.inside(run.about["out"]) / "risk.html")


def last_risk(request: Request, file: PlanFile) -> CommandRun | None:
    """Return the last measurement of a plan's table."""
    found = studio_of(request).runs.all(RISK, plan=file.name)
    return found[0] if found else None


def risk_values(file: PlanFile, run: CommandRun | None) -> dict[str, Any]:
    """Return the values of the part; there are no figures while the run is active."""
    facts = None if run is None or run.is_running or "sets" not in run.answer else run.answer
    shown = {
        "run": run,
        "figures": facts,
        "headline": None if facts is None else risk_headline(facts),
        "sets": () if facts is None else risky_sets(facts),
        "unique_share": None if facts is None else per_cent(facts["unique"]["share"]),
        "stale": run is not None and run.about.get("version") != file.version,
        "command": ["hedgerow", "risk", "--plan", file.name],
    }
    return {"risk": shown}


def risky_sets(facts: Mapping[str, Any]) -> tuple[RiskySet, ...]:
    """Return the sets of one, two and three columns that single out the most records."""
    shown: list[Mapping[str, Any]] = []
    for size in (1, 2, 3):
        of_size = [each for each in facts["sets"]["worst"] if len(each["columns"]) == size]
        shown += sorted(of_size, key=lambda each: -each["unique"])[:SETS_PER_SIZE]
    return tuple(
        RiskySet(
            columns=", ".join(each["columns"]),
            unique=each["unique"],
            share=per_cent(each["share"]),
            percent=round(100 * each["share"], 1),
        )
        for each in shown
        if each["unique"]
    )
