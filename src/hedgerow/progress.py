"""Progress of long work, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Callback for the name of a step and the part of it that is done, if known."""


def no_progress(step: str, fraction: float | None) -> None:
    """Report nothing."""


Done = Callable[[float], None]
"""Callback for the part of one step that is done."""


def unheard(part: float) -> None:
    """Report nothing."""


def stretch(done: Done, at: int, of: int) -> Done:
    """Return a callback that maps progress of the part ``at`` of ``of`` equal parts to the whole.

    >>> stretch(print, 1, 4)(0.5)
    0.375
    """
    return lambda part: done((at + part) / of)
