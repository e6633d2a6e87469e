"""All texts that pages show, with one file per page.

Errors are the exception: as everywhere in the package, their sentences are written where they are
raised, next to the condition, because the command line and the log show them, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from hedgerow.studio.terms import with_terms


class PageTexts:
    """Texts by name, such as ``t.some.key``; a missing text raises an error."""

    def __init__(self, content: dict[str, Any], where: str) -> None:
        self._content = content
        self._where = where

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, name: str) -> Any:
        """Return the text or the table of texts of that name."""
        try:
            found = self._content[name]
        except KeyError:
            raise AttributeError(f"{self._where} has no text {name!r}") from None
        if isinstance(found, str):
            return with_terms(found)
        return PageTexts(found, f"{self._where}.{name}") if isinstance(found, dict) else found

    def __contains__(self, name: object) -> bool:
        return name in self._content

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)


@cache
def texts(page: str) -> PageTexts:
    """Return the texts of a page, or those of all pages for ``common``."""
    content = files(__name__).joinpath(f"{page}.toml").read_text(encoding="utf-8")
    return PageTexts(tomllib.loads(content), page)
