"""The last touch of every page: a list of its contents, and tables that keys can scroll.

Both follow from the page itself, so that no template can forget them. A page's own markup is
matched only: whatever a plan or a release says in it is escaped and has no tags.
"""

from __future__ import annotations

import re

_SECTION = re.compile(r'<section aria-labelledby="([a-z-]+)">\s*<h2 id="\1">(.*?)</h2>', re.DOTALL)
_SCROLLED = re.compile(r'<div class="(wide|scroll)">')

LEAST_LISTED = 4
"""Sections from which on a page has a list of its contents."""


def finished(html: str) -> str:
    r"""Return the page with its contents listed, and its wide tables within reach of keys.

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
