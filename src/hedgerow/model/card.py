"""A few facts as a small HTML table, for tools that show objects as HTML, such as Jupyter."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from hedgerow.errors import visible

LONGEST = 300
"""Largest number of characters of one fact; the rest is cut off."""


def card(title: str, facts: Iterable[tuple[str, object]], *, warning: str = "") -> str:
    """Return a title and facts as HTML; every text is escaped, cut and made visible.

    >>> card("A & B", [("epsilon", 1)])[-93:]
    '<tr><th scope="row" style="text-align:left">epsilon</th><td>1</td></tr></tbody></table></div>'
    """
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{_text(name)}</th>'
        f"<td>{_text(value)}</td></tr>"
        for name, value in facts
        if value is not None
    )
    red = f'<p style="color:#c62828"><strong>{_text(warning)}</strong></p>' if warning else ""
    return (
        f'<div class="hedgerow"><p><strong>{_text(title)}</strong></p>{red}'
        f"<table><tbody>{rows}</tbody></table></div>"
    )


def _text(value: object) -> str:
    text = visible(str(value))
    return escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
