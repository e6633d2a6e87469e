"""Reports for sandboxed frames, with a content policy of their own."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import HTMLResponse

from hedgerow.errors import ReleaseError

FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Only styles inside the report are allowed: no script, form, address or origin."""

MOST_BYTES = 20_000_000


def framed_report(path: Path) -> HTMLResponse:
    """Return a page written by hedgerow, for ``<iframe sandbox src=...>``."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise OSError(0, "the file is too large")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "the file is not text").lower()
        raise ReleaseError(
            f"The page cannot be shown: {reason}.", where=path.name, do="Open it in the browser."
        ) from None
    headers = {"Content-Security-Policy": FRAME_POLICY, "X-Frame-Options": "SAMEORIGIN"}
    return HTMLResponse(text, headers=headers)
