"""Help on glossary terms, without leaving the page."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.studio.shell import page_answer, view
from hedgerow.studio.texts import texts

_ROW = re.compile(r"^\| (?P<word>[^|]+?) \| (?P<meaning>[^|]+?) \|", re.MULTILINE)
_PARTS = ("## Differential privacy", "## Data and releases")


@cache
def glossary() -> dict[str, str]:
    """Return the terms of ``docs/glossary.md`` with their meanings.

    ``tools/glossary.py`` writes ``glossary.json`` from it, and a test compares the two.
    """
    text = files("hedgerow.studio").joinpath("glossary.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def words_in(text: str) -> dict[str, str]:
    """Return the terms of the first two tables of the glossary, with meanings as plain text."""
    found = {}
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        if part.startswith(_PARTS):
            for row in _ROW.finditer(part):
                if row["word"] not in ("word", "our word") and not row["word"].startswith("---"):
                    found[row["word"].partition(" (")[0]] = _plain(row["meaning"])
    return found


def _plain(text: str) -> str:
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text)


def _show(request: Request) -> Response:
    """Show the meaning of a term."""
    word = request.path_params["word"]
    meaning = glossary().get(word) or texts("common").help.unknown
    return page_answer(request, "_help.html.j2", word=word, meaning=meaning)


def _list(request: Request) -> Response:
    """Show all terms; a script marks those on the page."""
    return page_answer(request, "_words.html.j2", words=glossary())


ROUTES = (Route("/help", view(_list)), Route("/help/{word:path}", view(_show)))
