"""The application: the gate, the pages and the static files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hedgerow.studio.folder import Folder
from hedgerow.studio.pages import ORDER, PAGES
from hedgerow.studio.runs import Runs
from hedgerow.studio.security import Defences, Gate, StartKeys
from hedgerow.studio.shared import ROUTES as SHARED
from hedgerow.studio.shell import Studio, page_answer


def studio_app(folder: Folder, keys: StartKeys) -> Starlette:
    """Return the studio for a folder; the gate refuses requests of strangers."""
    pages = {page.name: page for page in PAGES}
    listed = [pages[name] for name in ORDER if name in pages]
    static = Path(str(files("hedgerow.studio").joinpath("static")))
    home = pages["start"].routes[0].endpoint
    app = Starlette(
        routes=[
            Route("/", home),
            *(route for page in listed for route in page.routes),
            *SHARED,
            Route("/favicon.ico", FileResponse(static / "mark.svg")),
            Mount("/static", StaticFiles(directory=static)),
        ],
        middleware=[
            Middleware(Gate, defences=Defences(keys=keys, pages=tuple(p.name for p in listed)))
        ],
        exception_handlers={404: _not_found},
    )
    app.state.studio = Studio(folder=folder, keys=keys, runs=Runs(folder))
    app.state.names = frozenset(pages)
    app.state.navigation = [(page.name, page.owner_only) for page in listed]
    return app


async def _not_found(request: Request, _error: Exception) -> Response:
    request.scope["path"] = "/start"
    return page_answer(request, "missing.html.j2", status=404)
