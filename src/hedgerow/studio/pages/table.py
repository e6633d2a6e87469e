"""The page table."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.studio.shell import Page, page_answer, view


def _show(request: Request) -> Response:
    """Show the page."""
    return page_answer(request, "table.html.j2")


PAGE = Page(name="table", routes=(Route("/table", view(_show)),))
