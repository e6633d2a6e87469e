"""A release's report as the document of a sandboxed frame, with a policy of its own."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import HTMLResponse

from hedgerow.errors import ReleaseError

FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Styles inside the report, and nothing else: no script, no form, no address, no origin."""

MOST_BYTES = 20_000_000


def framed_report(path: Path) -> HTMLResponse:
    """Return a page that hedgerow wrote; show it in ``<iframe sandbox src=...>``."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise OSError(0, "it is too large to be shown")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise ReleaseError(why, where=path.name, do="Open it in the browser.") from None
    headers = {"Content-Security-Policy": FRAME_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(text, headers=headers)
