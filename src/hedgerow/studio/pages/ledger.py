"""Ledger: what every data set has spent and may spend, read and changed by commands alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import HedgerowError, InputError
from hedgerow.studio.runs import command_answer
from hedgerow.studio.shell import (
    Page,
    Sent,
    change,
    page_answer,
    plan_name,
    shown_plan,
    studio_of,
    view,
)

MOST_ENTRIES = 200


def ledger_words(request: Request) -> list[str]:
    """Return the option that names the plan's ledger, if it has one of its own."""
    if plan_name(request) is None:
        return []
    plan = shown_plan(request)
    given = plan.data.get("ledger")
    file = given.get("file") if isinstance(given, Mapping) else None
    if not isinstance(file, str):
        return []
    return ["--ledger", str(plan.path.parent / file)]


def _shown_words(request: Request) -> list[str]:
    """Return the same option as people would type it in the folder."""
    words = ledger_words(request)
    root = str(studio_of(request).folder.root) + "/"
    return [word.removeprefix(root) for word in words]


def _ask(request: Request, *words: str) -> dict[str, Any]:
    return command_answer(studio_of(request).folder, ["ledger", *words, *ledger_words(request)])


def amount(told: object) -> float:
    """Return an exact fraction as a number to draw with; what is none counts as 0."""
    try:
        return float(Fraction(str(told)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return 0.0


def shown_accounts(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the accounts of `ledger show --json`, those of people among them, to be drawn.

    Keys that this version does not know are kept in ``more``, so that nothing is hidden.
    """
    return [
        _account(kind, each)
        for kind, listed in told.items()
        if isinstance(listed, list)
        for each in listed
        if isinstance(each, Mapping)
    ]


_KNOWN = frozenset(
    ("dataset", "people", "name", "cap", "spent", "left", "delta-cap", "delta-spent")
) | {"delta-left", "also", "entries", "neighbours", "protects"}


def _account(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    name = next((str(told[key]) for key in ("dataset", "people", "name") if key in told), "")
    cap, spent = amount(told.get("cap")), amount(told.get("spent"))
    entries = told.get("entries")
    more = {
        str(key): value if isinstance(value, str | int | float) else json.dumps(value)
        for key, value in told.items()
        if key not in _KNOWN
    }
    return {
        "kind": kind,
        "name": name,
        "cap": str(told.get("cap", "")),
        "spent": str(told.get("spent", "")),
        "left": str(told.get("left", "")),
        "delta_cap": str(told.get("delta-cap", "0")),
        "delta_spent": str(told.get("delta-spent", "0")),
        "percent": round(100 * min(spent / cap, 1.0), 1) if cap else 100.0,
        "over": spent > cap,
        "also": [str(each) for each in told.get("also") or []],
        "entries": [
            {str(key): value for key, value in each.items()}
            for each in (entries if isinstance(entries, list) else [])[-MOST_ENTRIES:][::-1]
            if isinstance(each, Mapping)
        ],
        "n_entries": len(entries) if isinstance(entries, list) else 0,
        "neighbours": str(told.get("neighbours", "")),
        "more": more,
    }


def _values(request: Request) -> dict[str, Any]:
    try:
        accounts, fault = shown_accounts(_ask(request, "show")), None
    except HedgerowError as error:
        accounts, fault = [], error
    return {"accounts": accounts, "fault": fault, "option": _shown_words(request)}


def _show(request: Request) -> Response:
    """Show the page at once; it asks for the accounts when it is there."""
    return page_answer(request, "ledger.html.j2", option=_shown_words(request))


def _accounts(request: Request) -> Response:
    """Show the accounts."""
    return page_answer(request, "_accounts.html.j2", **_values(request))


def _cap(request: Request, form: Sent) -> Response:
    """Change a cap, with a reason."""
    name, epsilon, reason = form.need("dataset"), form.need("epsilon"), form.need("reason")
    if not reason.strip():
        raise InputError("the reason is empty", where="reason", do="Say why, and who agreed.")
    words = ["cap", name, epsilon.strip(), "--reason", reason]
    if form.get("new"):
        words.append("--new")
    # Names and reasons come from a form: none of them may be taken for an option.
    if any(word.startswith("-") for word in (name, epsilon.strip(), reason)):
        raise InputError(
            "a name, a cap and a reason do not begin with '-'", where="ledger", do="Write it anew."
        )
    _ask(request, *words)
    told = ["hedgerow", "ledger", *words, *_shown_words(request)]
    return page_answer(request, "_accounts.html.j2", **_values(request), did="cap", told=told)


def _verify(request: Request, form: Sent) -> Response:
    """Check the chain of the ledger."""
    found = _ask(request, "verify")
    told = ["hedgerow", "ledger", "verify", *_shown_words(request)]
    return page_answer(request, "_verified.html.j2", found=found, told=told)


def _export(request: Request) -> Response:
    """Return the whole ledger as a file."""
    found = json.dumps(_ask(request, "export"), indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": 'attachment; filename="ledger.json"'}
    return Response(found, media_type="application/json", headers=headers)


PAGE = Page(
    name="ledger",
    routes=(
        Route("/ledger", view(_show)),
        Route("/ledger/accounts", view(_accounts)),
        Route("/ledger/export.json", view(_export)),
        Route("/ledger/cap", change(_cap), methods=["POST"]),
        Route("/ledger/verify", change(_verify), methods=["POST"]),
    ),
)
