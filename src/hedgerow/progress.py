"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Called with the name of a step and how much of it is done, where that is known."""


def no_progress(step: str, fraction: float | None) -> None:
    """Report nothing."""


Done = Callable[[float], None]
"""Called with how much of one step is done."""


def unheard(part: float) -> None:
    """Report nothing."""


def stretch(done: Done, at: int, of: int) -> Done:
    """Return what tells ``done`` how far a step is, the ``at``-th of ``of`` alike, from 0 on.

    >>> stretch(print, 1, 4)(0.5)
    0.375
    """
    return lambda part: done((at + part) / of)
