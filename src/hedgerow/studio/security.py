"""Who may speak to the studio: one browser of this machine's user, and nobody through it.

Another web site, another program's page on this machine and a name that was rebound to 127.0.0.1
can all make a browser send requests here. What stops them, each tried by a test that fails without:

- **Host** is one of the two names of this start, a random one below ``.localhost`` or 127.0.0.1,
  and after the entry only the one that was entered by: a rebound name is another.
- **Entry** is by a random token, good once, that becomes a strict, http-only cookie of a random
  name. Cookies are shared by all ports of a host, so the host's name is random where it can be.
- **Origin** of every change is the studio's own.
- **Page token**: every change carries a header that only a page of the studio was given, good for
  the addresses of that page alone.
- **Content policy** ``default-src 'none'``, own scripts and styles only; nothing is kept
  (``no-store``), nothing may frame the studio, and no address leaves by a referrer.
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
"""Addresses below which the token of any page is good: runs are shown by several."""

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
"""On every answer, unless the answer says otherwise itself."""

SAFE = frozenset({"GET", "HEAD"})


def _token() -> str:
    return secrets.token_urlsafe(32)


@dataclass(kw_only=True)
class StartKeys:
    """The secrets of one start. Nothing of them is written down but the entry's own file."""

    port: int
    name: str = field(default_factory=lambda: f"hedgerow-{secrets.token_hex(8)}.localhost")
    cookie: str = field(default_factory=lambda: f"hedgerow-{secrets.token_hex(8)}")
    entry: str | None = field(default_factory=_token, repr=False)
    session: str = field(default_factory=_token, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    entered_by: str | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this machine: after the entry only what that called it."""
        if self.entered_by is not None:
            return (self.entered_by,)
        return (f"{self.name}:{self.port}", f"127.0.0.1:{self.port}")

    def address(self, host: str | None = None) -> str:
        """Return the address to enter by."""
        return f"http://{host or self.hosts[0]}{ENTRY}?token={self.entry}"

    def enter(self, token: str, host: str) -> bool:
        """Take the entry's token; it is good once."""
        if self.entry is None or not _same(token, self.entry):
            return False
        self.entry = None
        self.entered_by = host
        return True

    def page_token(self, page: str) -> str:
        """Return what the changes of one page that is being shown carry."""
        nonce = secrets.token_hex(8)
        return f"{nonce}.{self._sign(nonce, page)}"

    def signed_for(self, token: str, page: str) -> bool:
        """Whether a token was given to that page by this start."""
        nonce, _, signature = token.partition(".")
        return _same(signature, self._sign(nonce, page))

    def _sign(self, nonce: str, page: str) -> str:
        return hmac.new(self.key, f"{nonce}.{page}".encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Knock:
    """What the defences look at in a request."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def page(self) -> str:
        """The page whose address it is: the first part of the path."""
        return self.path.split("/", 2)[1] if self.path.startswith("/") else ""


@dataclass(frozen=True, kw_only=True)
class Defences:
    """The checks before any page is reached; each answers whether a request may go on."""

    keys: StartKeys
    pages: tuple[str, ...]

    def refusal(self, asked: Knock) -> str | None:
        """Return the name of the first check that a request fails, or nothing."""
        if not self.host(asked):
            return "host"
        if asked.path == ENTRY and asked.method in SAFE:
            return None
        if not self.cookie(asked):
            return "cookie"
        if not self.site(asked):
            return "site"
        if asked.method in SAFE:
            return None
        if not self.origin(asked):
            return "origin"
        return None if self.page_token(asked) else "page"

    def host(self, asked: Knock) -> bool:
        """Whether the request names this machine as this start does."""
        return asked.headers.get("host", "").lower() in self.keys.hosts

    def cookie(self, asked: Knock) -> bool:
        """Whether the browser is the one that entered."""
        try:
            found = SimpleCookie(asked.headers.get("cookie", "")).get(self.keys.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.keys.session)

    def site(self, asked: Knock) -> bool:
        """Whether the browser, where it says so, was sent by the studio or by its user."""
        return asked.headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def origin(self, asked: Knock) -> bool:
        """Whether a change comes from a page of this very address."""
        return asked.headers.get("origin") == f"http://{asked.headers.get('host', '').lower()}"

    def page_token(self, asked: Knock) -> bool:
        """Whether a change carries the token of the page whose address it is."""
        token = asked.headers.get(PAGE_TOKEN.lower(), "")
        allowed = self.pages if asked.page == SHARED else (asked.page,)
        return any(self.keys.signed_for(token, page) for page in allowed)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
