"""Valid labels, and their form in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from hedgerow.errors import TaxonomyError

ROOT = "*"
"""Label of a root without a name."""

MOST_LEVELS = 100
"""Largest number of levels of a taxonomy below its root."""

_SHOWN = 60
# Control characters, line and paragraph separators, and halves of surrogate pairs: none of them can
# be written to every format and read back.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


NOT_SHOWN = "(not shown)"
"""Placeholder of a text that may not be a label, because the file may hold something else."""

_QUOTES = ContextVar("quotes", default=True)


@contextmanager
def quoting_nothing() -> Iterator[None]:
    """Read a taxonomy that a plan names: messages quote nothing, and no cause is attached.

    The path may lead to the data, or to any file that the reader may read.
    """
    token = _QUOTES.set(False)
    try:
        yield
    except TaxonomyError as error:
        error.__cause__ = None
        error.__suppress_context__ = True
        raise
    finally:
        _QUOTES.reset(token)


def displayed(label: str) -> str:
    """Return the label for messages: quoted, printable, and cut if it is long.

    >>> displayed("Never-married")
    "'Never-married'"
    """
    if not _QUOTES.get():
        return NOT_SHOWN
    return repr(label if len(label) <= _SHOWN else label[: _SHOWN - 1] + "…")


def brief(value: object) -> str:
    """Return anything in place of a label or a setting, for messages."""
    if not _QUOTES.get():
        return NOT_SHOWN
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def fault_of(label: str) -> str | None:
    """Return what is wrong with a label by itself, or ``None``.

    >>> fault_of(" Private")
    'has blanks around it'
    """
    if not label:
        return "is empty"
    if label != label.strip():
        return "has blanks around it"
    if _UNWRITABLE.search(label):
        return "holds a line break or a control character"
    return None


def check_labels(labels: Sequence[str]) -> None:
    """Refuse labels that are unusable by themselves, or that occur twice."""
    for label in labels:
        fault = fault_of(label)
        if fault:
            raise TaxonomyError(
                f"The label {displayed(label)} {fault}.",
                value=label,
                do="Give every node a name without line breaks and without blanks around it.",
            )
    if len(set(labels)) < len(labels):
        twice = first_repeated(labels)
        raise TaxonomyError(
            f"The label {displayed(twice)} occurs twice.",
            value=twice,
            do="Give every node, group and value alike, a label of its own.",
        )


def first_repeated(labels: Iterable[str]) -> str:
    """Return the first repeated label, or an empty string."""
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return ""


def too_deep(label: str, *, where: str | None = None, line: int | None = None) -> TaxonomyError:
    """Return the error for a node below the last allowed level."""
    return TaxonomyError(
        f"{displayed(label)} is more than {MOST_LEVELS} levels below the root.",
        where=where,
        line=line,
        value=label,
        do=f"A taxonomy has at most {MOST_LEVELS} levels: leave some of the groups out.",
    )
