"""Methods of somebody's own: registered by their settings, from then on like all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.plan.model import Plan
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import MethodSettings


def register(settings: type[MethodSettings]) -> None:
    """Let plans name a method by its settings, whose ``build`` gives the method.

    The guarantee of such a method is its author's: the battery and the audits under `tests`
    say what to try it with.
    """
    METHODS.add(settings)
    Plan.model_rebuild(force=True)


@contextmanager
def registered(settings: type[MethodSettings]) -> Iterator[None]:
    """Let plans name a method for a while."""
    register(settings)
    try:
        yield
    finally:
        METHODS.remove(settings.name())
        Plan.model_rebuild(force=True)
