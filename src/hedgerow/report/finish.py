"""Final step of every page: a table of contents, and wide tables that keys can scroll.

Both are derived from the finished HTML, so no template can forget them. Only markup of the
templates matches, because texts of plans and releases are escaped and contain no tags.
"""

from __future__ import annotations

import re

_SECTION = re.compile(r'<section aria-labelledby="([a-z-]+)">\s*<h2 id="\1">(.*?)</h2>', re.DOTALL)
_SCROLLED = re.compile(r'<div class="(wide|scroll)">')

LEAST_LISTED = 4
"""Minimum number of sections of a page with a table of contents."""


def finished(html: str) -> str:
    r"""Return the page with a table of contents and with wide tables reachable by keyboard.

    >>> page = '<main><section aria-labelledby="a">\n<h2 id="a">A</h2><div class="wide"></div>'
    >>> finished(page).partition('<div ')[2]
    'class="wide" role="group" tabindex="0" aria-labelledby="a"></div>'
    """
    sections = list(_SECTION.finditer(html))
    if not sections:
        return html
    starts = [found.start() for found in sections]
    pieces = [html[: starts[0]], _contents(sections)]
    for found, stop in zip(sections, [*starts[1:], len(html)], strict=True):
        named = rf'<div class="\1" role="group" tabindex="0" aria-labelledby="{found[1]}">'
        pieces.append(_SCROLLED.sub(named, html[found.start() : stop]))
    return "".join(pieces)


def _contents(sections: list[re.Match[str]]) -> str:
    if len(sections) < LEAST_LISTED:
        return ""
    lines = "".join(f'<li><a href="#{found[1]}">{found[2]}</a></li>\n' for found in sections)
    return f'<nav class="contents" aria-label="Contents of this page"><ol>\n{lines}</ol></nav>\n\n'
