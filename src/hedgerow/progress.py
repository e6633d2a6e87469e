"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Called with the name of a step and how much of it is done, where that is known."""


def no_progress(step: str, fraction: float | None) -> None:
    """Report nothing."""
