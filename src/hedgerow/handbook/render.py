"""One page of the handbook: Markdown comes in, HTML with plain links and pictures leaves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from posixpath import relpath
from typing import TYPE_CHECKING

from hedgerow.handbook.contents import Chapter

if TYPE_CHECKING:
    from markdown_it.token import Token

_SLUG = re.compile(r"[^\w\- ]")
_LOCAL = re.compile(r"^(?![a-z]+:)(.*?)\.md(#.*)?$")


def slug(heading: str, taken: dict[str, int]) -> str:
    """Return the anchor that a code host gives a heading, one more for each that is like it.

    >>> seen = {}
    >>> slug("What is *not* promised?", seen), slug("What is not promised", seen)
    ('what-is-not-promised', 'what-is-not-promised-1')
    """
    made = _SLUG.sub("", heading.lower().strip()).replace(" ", "-")
    again = taken.get(made, 0)
    taken[made] = again + 1
    return f"{made}-{again}" if again else made


def html_name(link: str) -> str:
    """Return a link to a page of Markdown as one to what it becomes; all others as they are.

    >>> html_name("../plan.md#covers"), html_name("https://example.org/a.md"), html_name("a.csv")
    ('../plan.html#covers', 'https://example.org/a.md', 'a.csv')
    """
    found = _LOCAL.match(link)
    return f"{found[1]}.html{found[2] or ''}" if found else link


def body(text: str) -> str:
    """Return a page's text as HTML: headings have anchors, and what is wide can be scrolled."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    _anchor(tokens)
    for token in tokens:
        for inline in token.children or ():
            if inline.type == "link_open":
                inline.attrSet("href", html_name(str(inline.attrGet("href"))))
    made = str(parser.renderer.render(tokens, parser.options, {}))
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table">'
    made = made.replace("<table>", f"{wide}<table>").replace("</table>", "</table></div>")
    return made.replace("<pre>", '<pre tabindex="0">')


def _anchor(tokens: Sequence[Token]) -> None:
    taken: dict[str, int] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            words = "".join(each.content for each in inside.children or ())
            token.attrSet("id", slug(words, taken))


def navigation(contents: Chapter, name: str) -> str:
    """Return the list of all pages, as seen from the page ``name``; its own part is open."""
    parts = []
    for top in contents.pages:
        if not top.pages:
            parts.append(f"<p>{_link(top, name)}</p>")
            continue
        here = any(page.name == name for page in top.walk())
        listed = "".join(f"<li>{_link(page, name)}</li>" for page in top.walk())
        opened = " open" if here else ""
        parts.append(f"<details{opened}><summary>{escape(top.label)}</summary>")
        parts.append(f"<ul>{listed}</ul></details>")
    return "\n".join(parts)


def _link(page: Chapter, name: str) -> str:
    current = ' aria-current="page"' if page.name == name else ""
    return f'<a href="{_from(name, page.name)}"{current}>{escape(page.label)}</a>'


def _from(name: str, other: str) -> str:
    """Return the way from one page to another file, both named from the handbook's folder."""
    return html_name(relpath(other, name.rpartition("/")[0] or "."))


def page_html(contents: Chapter, name: str, text: str, *, title: str) -> str:
    """Return a whole page of the handbook."""
    style, start = _from(name, "handbook.css"), _from(name, contents.name)
    return f"""<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · hedgerow</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header><a href="{start}">hedgerow</a></header>
<div class="columns">
<nav aria-label="Pages">
{navigation(contents, name)}
</nav>
<main id="content">
{body(text)}
</main>
</div>
</body>
</html>
"""
