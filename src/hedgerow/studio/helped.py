"""Help on every term: what the glossary says of it, without leaving the page."""

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
    """Return the words of ``docs/glossary.md`` and what they mean.

    ``glossary.json`` is made from it by ``tools/glossary.py``, and a test compares the two.
    """
    text = files("hedgerow.studio").joinpath("glossary.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def words_in(text: str) -> dict[str, str]:
    """Return the words of the glossary's first two tables, with their meanings as plain text."""
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
    """Show what a word means."""
    word = request.path_params["word"]
    meaning = glossary().get(word) or texts("common").help.unknown
    return page_answer(request, "_help.html.j2", word=word, meaning=meaning)


def _list(request: Request) -> Response:
    """Show all words; the page that asks says which of them are on it."""
    return page_answer(request, "_words.html.j2", words=glossary())


ROUTES = (Route("/help", view(_list)), Route("/help/{word:path}", view(_show)))
