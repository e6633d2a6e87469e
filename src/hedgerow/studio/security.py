"""Access control: only one browser of the computer's user may send requests to the studio.

Other web sites, pages of other local programs and names rebound to 127.0.0.1 can make a browser
send requests here. Each of these defences has a test that fails without it:

- **Host** is one of the two names of this start: a random one below ``.localhost`` or 127.0.0.1;
  after the entry only the name that was used. A rebound name differs.
- **Entry** needs a random token that is valid once and becomes a strict, http-only cookie with a
  random name. Cookies are shared by all ports of a host, so the host name is random if possible.
- **Origin** of every change is the studio.
- **Page token**: every change has a header that only pages of the studio receive, valid for the
  addresses of that page only.
- **Content policy** ``default-src 'none'`` with own scripts and styles only; nothing is cached
  (``no-store``), the studio cannot be framed, and no address leaves in a referrer.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.studio.texts import texts

PAGE_TOKEN = "X-Hedgerow-Page"  # noqa: S105  # the name of a header
ENTRY = "/enter"
SHARED = "runs"
"""Path for which the token of any page is valid, because several pages show runs."""

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
"""Headers of every answer that does not set them itself."""

MOST_BYTES = 8_000_000
"""Maximum size of a form: a taxonomy of about ten thousand items fits."""

SAFE = frozenset({"GET", "HEAD"})


def _token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(kw_only=True)
class StartKeys:
    """The secrets of one start; only the entry address is written to a file."""

    port: int
    name: str = field(default_factory=lambda: f"hedgerow-{secrets.token_hex(8)}.localhost")
    cookie: str = field(default_factory=lambda: f"hedgerow-{secrets.token_hex(8)}")
    entry: str | None = field(default_factory=_token, repr=False)
    session: str = field(default_factory=_token, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    entered_by: str | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names that a request may use; after the entry only the one used there."""
        if self.entered_by is not None:
            return (self.entered_by,)
        return (f"{self.name}:{self.port}", f"127.0.0.1:{self.port}")

    def address(self, host: str | None = None) -> str:
        """Return the entry address."""
        return f"http://{host or self.hosts[0]}{ENTRY}?token={self.entry}"

    def enter(self, token: str, host: str) -> bool:
        """Return true for the entry token, which is valid once."""
        if self.entry is None or not _same(token, self.entry):
            return False
        self.entry = None
        self.entered_by = host
        return True

    def page_token(self, page: str) -> str:
        """Return a token for the changes of one page."""
        nonce = secrets.token_hex(8)
        return f"{nonce}.{self._sign(nonce, page)}"

    def signed_for(self, token: str, page: str) -> bool:
        """Return true if this start issued the token for that page."""
        nonce, _, signature = token.partition(".")
        return _same(signature, self._sign(nonce, page))

    def _sign(self, nonce: str, page: str) -> str:
        return hmac.new(self.key, f"{nonce}.{page}".encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, kw_only=True)
class CheckedRequest:
    """The parts of a request that the defences check."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def page(self) -> str:
        """The name of the page: the first part of the path."""
        return self.path.split("/", 2)[1] if self.path.startswith("/") else ""


@dataclass(frozen=True, kw_only=True)
class Defences:
    """The checks of each request; each returns true if the request passes."""

    keys: StartKeys
    pages: tuple[str, ...]

    def refusal(self, request: CheckedRequest) -> str | None:
        """Return the name of the first check that a request fails, or ``None``."""
        if not self.host(request):
            return "host"
        if request.path == ENTRY and request.method in SAFE:
            return None
        if not self.cookie(request):
            return "cookie"
        if not self.site(request):
            return "site"
        if request.method in SAFE:
            return None
        if not self.origin(request):
            return "origin"
        return None if self.page_token(request) else "page"

    def host(self, request: CheckedRequest) -> bool:
        """Return true if the request uses a host name of this start."""
        return request.headers.get("host", "").lower() in self.keys.hosts

    def cookie(self, request: CheckedRequest) -> bool:
        """Return true if the browser is the one that entered."""
        try:
            found = SimpleCookie(request.headers.get("cookie", "")).get(self.keys.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.keys.session)

    def site(self, request: CheckedRequest) -> bool:
        """Return true unless the browser reports that another site caused the request."""
        return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def origin(self, request: CheckedRequest) -> bool:
        """Return true if a change comes from a page of the same address."""
        return request.headers.get("origin") == f"http://{request.headers.get('host', '').lower()}"

    def page_token(self, request: CheckedRequest) -> bool:
        """Return true if a change has the token of its page."""
        token = request.headers.get(PAGE_TOKEN.lower(), "")
        allowed = self.pages if request.page == SHARED else (request.page,)
        return any(self.keys.signed_for(token, page) for page in allowed)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


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
