"""The page publish."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.studio.shell import Page, page_answer, view


def _show(request: Request) -> Response:
    """Show the page."""
    return page_answer(request, "publish.html.j2")


PAGE = Page(name="publish", routes=(Route("/publish", view(_show)),))
