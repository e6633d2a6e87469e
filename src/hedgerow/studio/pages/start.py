"""The page Start: contents of the folder, remaining budgets, and a demonstration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import HedgerowError, InputError
from hedgerow.studio.contents import plans_in, releases_in, tables_in
from hedgerow.studio.runs import command_answer
from hedgerow.studio.shell import Page, Sent, change, page_answer, studio_of, view

DEMO = "uci-adult"


def _show(request: Request) -> Response:
    folder = studio_of(request).folder
    return page_answer(
        request,
        "start.html.j2",
        tables=tables_in(folder),
        plans=plans_in(folder),
        releases=releases_in(folder),
        run=_demo_run(request),
        demo=DEMO,
        demo_there=(folder.root / DEMO).exists(),
    )


def _demo_run(request: Request) -> Any:
    runs = studio_of(request).runs.all("demo")
    return runs[0] if runs and (runs[0].state != "done") else None


def _demo(request: Request, form: Sent) -> Response:
    studio = studio_of(request)
    if (studio.folder.root / DEMO).exists():
        raise InputError(
            "The demonstration already exists.", where=DEMO, do="Open its plan on this page."
        )
    run = studio.runs.start(
        "demo", ["demo", "--out", DEMO], about={"next": f"/table?plan={DEMO}/plan.yaml"}
    )
    return page_answer(request, "_run.html.j2", run=run)


def _left(request: Request) -> Response:
    """Show the remaining budgets of the plans; separate commands read the ledgers."""
    folder = studio_of(request).folder
    wanted: dict[str | None, set[str]] = {}
    for listed in plans_in(folder):
        ledger = None if listed.plan is None else listed.plan.ledger
        if listed.plan is not None and ledger is not None:
            place = None if ledger.file is None else str(listed.plan.resolve(ledger.file))
            wanted.setdefault(place, set()).add(ledger.name)
    accounts = []
    for place, names in wanted.items():
        words = ["ledger", "show", *([] if place is None else ["--ledger", place])]
        try:
            datasets = command_answer(folder, words)["datasets"]
        except HedgerowError:
            continue
        accounts += [shown_account(each) for each in datasets if each["dataset"] in names]
    return page_answer(request, "_left.html.j2", accounts=accounts)


def shown_account(account: dict[str, Any]) -> dict[str, Any]:
    """Return an account with the spent share of its cap in per cent."""
    cap, spent = Fraction(str(account["cap"])), Fraction(str(account["spent"]))
    share = min(float(spent / cap), 1.0) if cap else 1.0
    return {**account, "percent": round(100 * share, 1)}


PAGE = Page(
    name="start",
    routes=(
        Route("/start", view(_show)),
        Route("/start/left", view(_left)),
        Route("/start/demo", change(_demo), methods=["POST"]),
    ),
)
