"""Words of the glossary inside the studio's texts: ``[[cap]]``, or ``[[budget|privacy]]``.

Each becomes a button that opens what the glossary says, by mouse, keyboard and screen reader.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from hedgerow.errors import visible

_TERM = re.compile(r"\[\[(?P<word>[^]|]+)(?:\|(?P<label>[^]]+))?\]\]")


class TermText(Markup):
    """A text with buttons in it; what is put into its places is escaped and made visible."""

    def format(self, *values: Any, **named: Any) -> TermText:
        """Return the text with its places filled."""
        filled = super().format(
            *map(_seen, values), **{key: _seen(value) for key, value in named.items()}
        )
        return TermText(filled)


def _seen(value: Any) -> Any:
    return visible(value) if type(value) is str else value


def term_button(word: str, label: str | None = None) -> Markup:
    """Return a word that the glossary explains; ``label`` is how the sentence says it."""
    return Markup(
        '<button type="button" class="term" popovertarget="help" hx-get="/help/{}"'
        ' hx-target="#help-text" hx-swap="innerHTML">{}</button>'
    ).format(quote(word), label or word)


def with_terms(text: str) -> str:
    """Return a text with its words of the glossary as buttons, or the text itself.

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
    """Return the words of the glossary that a text names."""
    return [found["word"] for found in _TERM.finditer(text)]
