"""Addresses that all pages share: the glossary, and runs with their events."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from functools import cache
from importlib.resources import files

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from hedgerow.errors import HedgerowError
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import Sent, change, page_answer, refused, studio_of, view
from hedgerow.studio.texts import texts

EVERY = 0.2
"""Seconds between checks of a run's progress."""

_ROW = re.compile(r"^\| (?P<word>[^|]+?) \| (?P<meaning>[^|]+?) \|", re.MULTILINE)
_PARTS = ("## Differential privacy", "## Data and releases")


@cache
def glossary() -> dict[str, str]:
    """Return the terms of ``docs/glossary.md`` with their meanings.

    ``tools/glossary.py`` writes ``glossary.json`` from it, and a test compares the two.
    """
    text = files("hedgerow.studio").joinpath("glossary.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def words_in(text: str) -> dict[str, str]:
    """Return the terms of the first two tables of the glossary, with meanings as plain text."""
    found = {}
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        if part.startswith(_PARTS):
            for row in _ROW.finditer(part):
                if row["word"] not in ("word", "our word") and not row["word"].startswith("---"):
                    found[row["word"].partition(" (")[0]] = _plain(row["meaning"])
    return found


def _plain(text: str) -> str:
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text)


def _term(request: Request) -> Response:
    """Show the meaning of a term."""
    word = request.path_params["word"]
    meaning = glossary().get(word) or texts("common").help.unknown
    return page_answer(request, "_help.html.j2", word=word, meaning=meaning)


def _terms(request: Request) -> Response:
    """Show all terms; a script marks those on the page."""
    return page_answer(request, "_words.html.j2", words=glossary())


def _run(request: Request) -> Response:
    """Show a run as the part ``_run.html.j2``."""
    run = studio_of(request).runs.get(request.path_params["id"])
    return page_answer(request, "_run.html.j2", run=run)


def _cancel(request: Request, form: Sent) -> Response:
    """Cancel a run and show it."""
    runs = studio_of(request).runs
    runs.cancel(request.path_params["id"])
    return page_answer(request, "_run.html.j2", run=runs.get(request.path_params["id"]))


async def _events(request: Request) -> Response:
    """Send the progress of a run as server-sent events until it ends."""
    runs, name = studio_of(request).runs, request.path_params["id"]
    try:
        await run_in_threadpool(runs.get, name)
    except HedgerowError as error:
        return refused(request, error)

    async def stream() -> AsyncIterator[str]:
        last = ""
        while True:
            run = await run_in_threadpool(runs.get, name)
            event = _event(run)
            if event != last:
                yield event
                last = event
            if not run.is_running:
                return
            await anyio.sleep(EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")


def _event(run: CommandRun) -> str:
    data = json.dumps({"state": run.state, "step": run.step, "fraction": run.fraction})
    return f"event: {'progress' if run.is_running else 'over'}\ndata: {data}\n\n"


ROUTES = (
    Route("/help", view(_terms)),
    Route("/help/{word:path}", view(_term)),
    Route("/runs/{id}", view(_run)),
    Route("/runs/{id}/events", _events),
    Route("/runs/{id}/cancel", change(_cancel), methods=["POST"]),
)
