"""Building blocks of all pages: views, changes, templates, refusals, the plan in the address."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from hedgerow.errors import HedgerowError, InputError, ReleaseError, visible
from hedgerow.studio.columns import yaml_line
from hedgerow.studio.folder import Folder
from hedgerow.studio.planfile import PlanFile, version_of
from hedgerow.studio.runs import Runs
from hedgerow.studio.security import PAGE_TOKEN, StartKeys
from hedgerow.studio.terms import term_button
from hedgerow.studio.texts import texts

FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Only styles inside the report are allowed: no script, form, address or origin."""

MOST_FRAMED = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Studio:
    """The objects of one start of the studio."""

    folder: Folder
    keys: StartKeys
    runs: Runs


@dataclass(frozen=True, kw_only=True)
class Page:
    """One of the nine pages: its name, which is also its address, and its routes.

    ``owner_only`` pages show confidential figures and say so at the top.
    """

    name: str
    routes: tuple[Route, ...]
    owner_only: bool = False


class Sent:
    """The values of a sent form by name; a name may occur several times."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = tuple(pairs)

    def get(self, name: str, default: str = "") -> str:
        """Return the last value of that name."""
        return next((value for key, value in reversed(self.pairs) if key == name), default)

    def all(self, name: str) -> list[str]:
        """Return all values of that name, in order."""
        return [value for key, value in self.pairs if key == name]

    def need(self, name: str) -> str:
        """Return the value of that name, which must be present."""
        if not any(key == name for key, _ in self.pairs):
            raise InputError("The form is incomplete.", where=name, do="Load the page again.")
        return self.get(name)


Handler = Callable[[Request], Response]
Changer = Callable[[Request, Sent], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def studio_of(request: Request) -> Studio:
    """Return the objects of this start of the studio."""
    studio: Studio = request.app.state.studio
    return studio


def view(handler: Handler) -> Endpoint:
    """Return the endpoint of a GET request, whose ``handler`` runs in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            return await run_in_threadpool(handler, request)
        except HedgerowError as error:
            return refused(request, error)

    return endpoint


def change(handler: Changer) -> Endpoint:
    """Return the endpoint of a POST request, whose ``handler`` gets the form."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        try:
            pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=200_000)
            return await run_in_threadpool(handler, request, Sent(pairs))
        except UnicodeDecodeError:
            return Response(status_code=400)
        except HedgerowError as error:
            return refused(request, error)

    return endpoint


def is_part(request: Request) -> bool:
    """Return true if htmx requests a part of a page."""
    return request.headers.get("hx-request") == "true"


def page_answer(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Return a page, or a part of one if the template's name begins with ``_``.

    Besides ``values``, a template has ``page`` (its name), ``t`` and ``c`` (texts), ``plan`` (its
    name or ``None``), ``token``, ``link`` and the navigation.
    """
    page = page_name(request)
    studio = studio_of(request)
    plan = values.pop("plan", None) or plan_name(request)
    filled = (
        environment()
        .get_template(template)
        .render(
            page=page,
            t=texts(page) if page in request.app.state.names else texts("common"),
            c=texts("common"),
            plan=plan,
            folder=studio.folder.root.name,
            token=studio.keys.page_token(page),
            token_header=PAGE_TOKEN,
            navigation=request.app.state.navigation,
            has_taxonomies="taxonomies" in request.app.state.names,
            has_release="release" in request.app.state.names,
            link=lambda name, **query: address(name, plan=plan, **query),
            **values,
        )
    )
    return HTMLResponse(filled, status_code=status, headers=dict(headers or {}))


def page_name(request: Request) -> str:
    """Return the name of the requested page; ``/`` is the page Start."""
    return request.url.path.split("/", 2)[1] or "start"


def address(name: str, **query: str | None) -> str:
    """Return the address of a page with the parts of the query that are not ``None``."""
    present = {key: value for key, value in query.items() if value is not None}
    return f"/{name}" + (f"?{urlencode(present)}" if present else "")


def refused(request: Request, error: HedgerowError) -> HTMLResponse:
    """Return an error as a page, or as the notice of a page."""
    if is_part(request):
        headers = {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"}
        return page_answer(request, "_refused.html.j2", status=422, headers=headers, error=error)
    return page_answer(request, "refused.html.j2", status=422, error=error)


def framed_report(path: Path) -> HTMLResponse:
    """Return a page written by hedgerow, for ``<iframe sandbox src=...>``."""
    try:
        if path.stat().st_size > MOST_FRAMED:
            raise OSError(0, "the file is too large")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "the file is not text").lower()
        raise ReleaseError(
            f"The page cannot be shown: {reason}.", where=path.name, do="Open it in the browser."
        ) from None
    headers = {"Content-Security-Policy": FRAME_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(text, headers=headers)


def plan_name(request: Request) -> str | None:
    """Return the name of the plan in the address."""
    return request.query_params.get("plan") or None


def shown_plan(request: Request) -> PlanFile:
    """Return the plan file of the address."""
    name = plan_name(request)
    if name is None:
        raise InputError(
            "No plan is chosen.", do="Choose one on the page Start, or create one from a table."
        )
    return PlanFile.read(studio_of(request).folder, name)


@cache
def environment() -> Environment:
    """Return the template environment, which escapes values and shows invisible characters."""
    found = Environment(
        loader=PackageLoader("hedgerow.studio", "templates"),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["term_button"] = term_button
    found.filters["whole"] = lambda number: f"{number:,}"
    found.filters["command"] = command_text
    found.filters["one_line"] = yaml_line
    found.filters["hash"] = lambda text: version_of(text)[:8]
    return found


def command_text(words: Sequence[str]) -> str:
    """Return a command as it is typed in a shell.

    >>> command_text(["hedgerow", "check", "my plan.yaml"])
    "hedgerow check 'my plan.yaml'"
    """
    return shlex.join(words)
