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
