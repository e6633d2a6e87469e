"""The gate in front of all pages: checks requests and adds security headers to answers."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.studio.security import ENTRY, HEADERS, CheckedRequest, Defences, StartKeys
from hedgerow.studio.texts import texts

MOST_BYTES = 8_000_000
"""Maximum size of a form: a taxonomy of about ten thousand items fits."""


class Gate:
    """Middleware that checks each request before anything else sees it."""

    def __init__(self, app: ASGIApp, *, defences: Defences) -> None:
        self.app = app
        self.defences = defences

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request = CheckedRequest(method=scope["method"], path=scope["path"], headers=headers)
        refused = self.defences.refusal(request)
        answer: ASGIApp = self.app
        if refused is not None:
            answer = _refusal(refused)
        elif request.path == ENTRY:
            answer = _entry(self.defences.keys, scope, headers["host"].lower())
        elif int(headers.get("content-length") or 0) > MOST_BYTES:
            answer = Response(status_code=413)
        with_headers = _with_headers(send)
        try:
            await answer(scope, _limited(receive), with_headers)
        except _TooLongError:
            await Response(status_code=413)(scope, receive, with_headers)


class _TooLongError(Exception):
    """A form exceeds the maximum size."""


def _limited(receive: Receive) -> Receive:
    """Return a receiver that stops at the maximum size, whatever length the request states."""
    n_read = 0

    async def received() -> Message:
        nonlocal n_read
        message = await receive()
        n_read += len(message.get("body", b""))
        if n_read > MOST_BYTES:
            raise _TooLongError
        return message

    return received


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent


def _refusal(name: str) -> Response:
    words = texts("common").refused
    return HTMLResponse(_bare(words.title, words[name]), status_code=403)


def _entry(keys: StartKeys, scope: Scope, host: str) -> Response:
    """Accept the entry token and answer with a page that leads to the studio.

    A redirect would not do: the browser comes from elsewhere and would not send a strict cookie to
    the target of a redirect.
    """
    tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
    if not keys.enter(tokens[0], host):
        return _refusal("entry")
    words = texts("common").entered
    answer = HTMLResponse(_bare(words.title, words.words, onward=True))
    answer.set_cookie(keys.cookie, keys.session, httponly=True, samesite="strict", path="/")
    return answer


def _bare(title: str, words: str, *, onward: bool = False) -> str:
    """Return a page that needs no other file; its texts come from the studio itself."""
    on = '<meta http-equiv="refresh" content="0; url=/">' if onward else ""
    link = f'<p><a href="/">{title}</a></p>' if onward else ""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{on}<title>{title}</title>'
        f"</head><body><main><h1>{title}</h1><p>{words}</p>{link}</main></body></html>"
    )
