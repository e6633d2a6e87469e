"""The addresses of runs, shared by all pages: state, events and cancellation."""

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
"""Seconds between checks of a run's progress."""


def _show(request: Request) -> Response:
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
    Route("/runs/{id}", view(_show)),
    Route("/runs/{id}/events", _events),
    Route("/runs/{id}/cancel", change(_cancel), methods=["POST"]),
)
