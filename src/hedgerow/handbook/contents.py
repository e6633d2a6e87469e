"""The order in which the handbook's pages are read, from the lists on the pages themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FIRST = "index.md"
_LISTED = re.compile(r"^\d+\. \[([^\]]+)\]\(([\w./-]+\.md)\)", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A page, the words that lead to it, and the pages that its numbered lists lead to."""

    name: str
    label: str
    title: str
    pages: tuple[Chapter, ...] = field(default=())

    def walk(self) -> Iterator[Chapter]:
        """Give this page and all below it, in reading order."""
        yield self
        for page in self.pages:
            yield from page.walk()


def listed_pages(text: str) -> list[tuple[str, str]]:
    r"""Return the words and the pages that the numbered lists of a page lead to.

    >>> listed_pages("1. [Install](install.md): first\n2. [Plans](plan.md)\n\nSee [more](x.md).")
    [('Install', 'install.md'), ('Plans', 'plan.md')]
    """
    return _LISTED.findall(text)


def title(text: str, *, name: str) -> str:
    """Return the first heading of a page, without marks of emphasis or code.

    >>> title("# What did it keep? `hedgerow evaluate`", name="evaluate.md")
    'What did it keep? hedgerow evaluate'
    """
    found = _TITLE.search(text)
    return re.sub(r"[`*]", "", found[1]).strip() if found else name


def read_contents(folder: Path, name: str = FIRST, *, label: str = "Start") -> Chapter:
    """Return a page of ``folder`` with all that it leads to; a page is listed in one place."""
    text = (folder / name).read_text(encoding="utf-8")
    below = [(words, (Path(name).parent / other).as_posix()) for words, other in listed_pages(text)]
    pages = tuple(
        read_contents(folder, other, label=words)
        for words, other in below
        if (folder / other).is_file()
    )
    return Chapter(name=name, label=label, title=title(text, name=name), pages=pages)
