"""Pages of the documentation as plain HTML: reading order, text and navigation.

The reading order is that of the numbered lists on the pages themselves, from ``docs/index.md`` on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path
from posixpath import relpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_LISTED = re.compile(r"^\d+\. \[([^\]]+)\]\(([\w./-]+\.md)\)", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_LOCAL = re.compile(r"^(?![a-z]+:)(.*?)\.md(#.*)?$")


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A page, its label in the navigation, and the pages on its numbered lists."""

    name: str
    label: str
    pages: tuple[Chapter, ...] = field(default=())

    def walk(self) -> Iterator[Chapter]:
        """Yield this page and all pages below it, in reading order."""
        yield self
        for page in self.pages:
            yield from page.walk()


def listed_pages(text: str) -> list[tuple[str, str]]:
    r"""Return the labels and the names of the pages on the numbered lists of a page.

    >>> listed_pages("1. [Install](install.md): first\n2. [Plans](plan.md)\n\nSee [more](x.md).")
    [('Install', 'install.md'), ('Plans', 'plan.md')]
    """
    return _LISTED.findall(text)


def read_contents(folder: Path, name: str, *, label: str = "Start") -> Chapter:
    """Return a page of ``folder`` and all pages listed below it; every page has one place."""
    text = (folder / name).read_text(encoding="utf-8")
    below = [(words, (Path(name).parent / other).as_posix()) for words, other in listed_pages(text)]
    pages = tuple(
        read_contents(folder, other, label=words)
        for words, other in below
        if (folder / other).is_file()
    )
    return Chapter(name=name, label=label, pages=pages)


def title(text: str, *, name: str) -> str:
    """Return the first heading of a page, without marks of emphasis or code.

    >>> title("# What did it keep? `hedgerow evaluate`", name="evaluate.md")
    'What did it keep? hedgerow evaluate'
    """
    found = _TITLE.search(text)
    return re.sub(r"[`*]", "", found[1]).strip() if found else name


def slug(heading: str, counts: dict[str, int]) -> str:
    """Return the anchor of a heading as code hosts form it, numbered if it occurs again.

    >>> counts = {}
    >>> slug("What is *not* promised?", counts), slug("What is not promised", counts)
    ('what-is-not-promised', 'what-is-not-promised-1')
    """
    anchor = _NOT_IN_SLUG.sub("", heading.lower().strip()).replace(" ", "-")
    count = counts.get(anchor, 0)
    counts[anchor] = count + 1
    return f"{anchor}-{count}" if count else anchor


def html_name(link: str) -> str:
    """Return a local link to a Markdown page as a link to its HTML; other links are unchanged.

    >>> html_name("../plan.md#covers"), html_name("https://example.org/a.md"), html_name("a.csv")
    ('../plan.html#covers', 'https://example.org/a.md', 'a.csv')
    """
    found = _LOCAL.match(link)
    return f"{found[1]}.html{found[2] or ''}" if found else link


def body(text: str) -> str:
    """Return the text of a page as HTML, with anchors, and scrollable tables and code blocks."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    _add_anchors(tokens)
    for token in tokens:
        for inline in token.children or ():
            if inline.type == "link_open":
                inline.attrSet("href", html_name(str(inline.attrGet("href"))))
    html = str(parser.renderer.render(tokens, parser.options, {}))
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table">'
    html = html.replace("<table>", f"{wide}<table>").replace("</table>", "</table></div>")
    return html.replace("<pre>", '<pre tabindex="0">')


def _add_anchors(tokens: Sequence[Token]) -> None:
    counts: dict[str, int] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            words = "".join(each.content for each in inside.children or ())
            token.attrSet("id", slug(words, counts))


def page_html(contents: Chapter, name: str, text: str) -> str:
    """Return a complete page of the handbook."""
    style, start = _path_from(name, "handbook.css"), _path_from(name, contents.name)
    return f"""<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title(text, name=name))} · hedgerow</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><a href="{start}">hedgerow</a></header>
<div class="columns">
<nav aria-label="Pages">
{_navigation(contents, name)}
</nav>
<main id="content">
{body(text)}
</main>
</div>
</body>
</html>
"""


def _navigation(contents: Chapter, name: str) -> str:
    """Return the list of all pages, with the part that holds the page ``name`` open."""
    parts = []
    for top in contents.pages:
        if not top.pages:
            parts.append(f"<p>{_link(top, name)}</p>")
            continue
        listed = "".join(f"<li>{_link(page, name)}</li>" for page in top.walk())
        is_open = " open" if any(page.name == name for page in top.walk()) else ""
        parts.append(f"<details{is_open}><summary>{escape(top.label)}</summary>")
        parts.append(f"<ul>{listed}</ul></details>")
    return "\n".join(parts)


def _link(page: Chapter, name: str) -> str:
    current = ' aria-current="page"' if page.name == name else ""
    return f'<a href="{_path_from(name, page.name)}"{current}>{escape(page.label)}</a>'


def _path_from(name: str, other: str) -> str:
    """Return the relative path from one page to another file, both named from the top folder."""
    return html_name(relpath(other, name.rpartition("/")[0] or "."))
