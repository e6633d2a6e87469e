"""Sentences on the signatures of a plan: who signed, when, and whether for this plan."""

from __future__ import annotations

from datetime import date
from typing import Literal


def signature_words(
    kind: Literal["confirmed", "approved"], *, by: str | None, on: date | None, bound: bool
) -> str:
    """Return who signed what, in a sentence.

    >>> signature_words("confirmed", by="A. Officer", on=date(2026, 11, 18), bound=True)
    'Confirmed by A. Officer on 2026-11-18 for this plan.'
    >>> signature_words("confirmed", by=None, on=None, bound=False)
    'Confirmed by hand, not tied to this plan.'
    """
    whom = "by hand" if by is None else f"by {by}"
    day = "" if on is None else f" on {on}"
    tied = " for this plan" if bound else ", not tied to this plan"
    return f"{kind.capitalize()} {whom}{day}{tied}."
