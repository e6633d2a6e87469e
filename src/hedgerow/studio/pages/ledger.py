"""The page Ledger: budgets of all data sets, read and changed only by commands."""

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
    """Return the option for the plan's ledger, if the plan names a file."""
    if plan_name(request) is None:
        return []
    plan = shown_plan(request)
    section = plan.data.get("ledger")
    file = section.get("file") if isinstance(section, Mapping) else None
    if not isinstance(file, str):
        return []
    return ["--ledger", str(plan.path.parent / file)]


def _shown_words(request: Request) -> list[str]:
    """Return the same option as it would be typed in the folder."""
    words = ledger_words(request)
    root = str(studio_of(request).folder.root) + "/"
    return [word.removeprefix(root) for word in words]


def _ask(request: Request, *words: str) -> dict[str, Any]:
    return command_answer(studio_of(request).folder, ["ledger", *words, *ledger_words(request)])


def amount(text: object) -> float:
    """Return an exact fraction as a number for drawing, 0 for anything else."""
    try:
        return float(Fraction(str(text)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return 0.0


def shown_accounts(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the accounts of `ledger show --json` for drawing, including those of people.

    Keys that are unknown to this version are kept in ``more``, so that nothing is hidden.
    """
    return [
        _account(kind, each)
        for kind, listed in answer.items()
        if isinstance(listed, list)
        for each in listed
        if isinstance(each, Mapping)
    ]


_KNOWN = frozenset(
    ("dataset", "people", "name", "cap", "spent", "left", "delta-cap", "delta-spent")
) | {"delta-left", "also", "entries", "neighbours", "protects"}


def _account(kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    name = next((str(facts[key]) for key in ("dataset", "people", "name") if key in facts), "")
    cap, spent = amount(facts.get("cap")), amount(facts.get("spent"))
    entries = facts.get("entries")
    more = {
        str(key): value if isinstance(value, str | int | float) else json.dumps(value)
        for key, value in facts.items()
        if key not in _KNOWN
    }
    return {
        "kind": kind,
        "name": name,
        "cap": str(facts.get("cap", "")),
        "spent": str(facts.get("spent", "")),
        "left": str(facts.get("left", "")),
        "delta_cap": str(facts.get("delta-cap", "0")),
        "delta_spent": str(facts.get("delta-spent", "0")),
        "percent": round(100 * min(spent / cap, 1.0), 1) if cap else 100.0,
        "over": spent > cap,
        "also": [str(each) for each in facts.get("also") or []],
        "entries": [
            {str(key): value for key, value in each.items()}
            for each in (entries if isinstance(entries, list) else [])[-MOST_ENTRIES:][::-1]
            if isinstance(each, Mapping)
        ],
        "n_entries": len(entries) if isinstance(entries, list) else 0,
        "neighbours": str(facts.get("neighbours", "")),
        "more": more,
    }


def _values(request: Request) -> dict[str, Any]:
    try:
        accounts, fault = shown_accounts(_ask(request, "show")), None
    except HedgerowError as error:
        accounts, fault = [], error
    return {"accounts": accounts, "fault": fault, "option": _shown_words(request)}


def _show(request: Request) -> Response:
    """Show the page at once; the browser then requests the accounts."""
    return page_answer(request, "ledger.html.j2", option=_shown_words(request))


def _accounts(request: Request) -> Response:
    """Show the accounts."""
    return page_answer(request, "_accounts.html.j2", **_values(request))


def _cap(request: Request, form: Sent) -> Response:
    """Change a cap, with a reason."""
    name, epsilon, reason = form.need("dataset"), form.need("epsilon"), form.need("reason")
    if not reason.strip():
        raise InputError(
            "The reason is empty.", where="reason", do="Give a reason, and who agreed."
        )
    words = ["cap", name, epsilon.strip(), "--reason", reason]
    if form.get("new"):
        words.append("--new")
    # Texts from the form must not be read as options.
    if any(word.startswith("-") for word in (name, epsilon.strip(), reason)):
        raise InputError(
            "Names, caps and reasons must not begin with '-'.",
            where="ledger",
            do="Change the text.",
        )
    _ask(request, *words)
    typed = ["hedgerow", "ledger", *words, *_shown_words(request)]
    return page_answer(request, "_accounts.html.j2", **_values(request), did="cap", typed=typed)


def _verify(request: Request, form: Sent) -> Response:
    """Verify the chain of the ledger."""
    found = _ask(request, "verify")
    typed = ["hedgerow", "ledger", "verify", *_shown_words(request)]
    return page_answer(request, "_verified.html.j2", found=found, typed=typed)


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
