"""The addresses of runs, which all pages share: how far one is, its events, and an end to it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from hedgerow.errors import HedgerowError
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import Sent, change, page_answer, refused, studio_of, view

EVERY = 0.2
"""Seconds between looks at a run's progress."""


def _show(request: Request) -> Response:
    """Show a run as the part ``_run.html.j2``."""
    run = studio_of(request).runs.get(request.path_params["id"])
    return page_answer(request, "_run.html.j2", run=run)


def _cancel(request: Request, form: Sent) -> Response:
    """End a run, and show it."""
    runs = studio_of(request).runs
    runs.cancel(request.path_params["id"])
    return page_answer(request, "_run.html.j2", run=runs.get(request.path_params["id"]))


async def _events(request: Request) -> Response:
    """Tell how far a run is, as server-sent events, until it is over."""
    runs, name = studio_of(request).runs, request.path_params["id"]
    try:
        await run_in_threadpool(runs.get, name)
    except HedgerowError as error:
        return refused(request, error)

    async def stream() -> AsyncIterator[str]:
        last = ""
        while True:
            run = await run_in_threadpool(runs.get, name)
            told = _event(run)
            if told != last:
                yield told
                last = told
            if not run.is_running:
                return
            await anyio.sleep(EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")


def _event(run: CommandRun) -> str:
    told = json.dumps({"state": run.state, "step": run.step, "fraction": run.fraction})
    return f"event: {'progress' if run.is_running else 'over'}\ndata: {told}\n\n"


ROUTES = (
    Route("/runs/{id}", view(_show)),
    Route("/runs/{id}/events", _events),
    Route("/runs/{id}/cancel", change(_cancel), methods=["POST"]),
)
