"""Glossary terms in the texts of the studio: ``[[cap]]``, or ``[[budget|privacy]]``.

Each becomes a button that shows the glossary entry, by mouse, keyboard and screen reader.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from hedgerow.errors import visible

_TERM = re.compile(r"\[\[(?P<word>[^]|]+)(?:\|(?P<label>[^]]+))?\]\]")


class TermText(Markup):
    """A text with buttons; values that are inserted are escaped and made visible."""

    def format(self, *values: Any, **named: Any) -> TermText:
        """Return the text with values inserted."""
        filled = super().format(
            *map(_seen, values), **{key: _seen(value) for key, value in named.items()}
        )
        return TermText(filled)


def _seen(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def term_button(word: str, label: str | None = None) -> Markup:
    """Return a button for a glossary term; ``label`` is its form in the sentence."""
    return Markup(
        '<button type="button" class="term" popovertarget="help" hx-get="/help/{}"'
        ' hx-target="#help-text" hx-swap="innerHTML">{}</button>'
    ).format(quote(word), label or word)


def with_terms(text: str) -> str:
    """Return a text with buttons for its glossary terms, or the text itself if it has none.

    >>> with_terms("no such word"), "<button" in with_terms("the [[cap]] of it")
    ('no such word', True)
    """
    if "[[" not in text:
        return text
    parts, at = [], 0
    for found in _TERM.finditer(text):
        parts += [escape(text[at : found.start()]), term_button(found["word"], found["label"])]
        at = found.end()
    return TermText(Markup("").join([*parts, escape(text[at:])]))


def terms_in(text: str) -> list[str]:
    """Return the glossary terms in a text."""
    return [found["word"] for found in _TERM.finditer(text)]
