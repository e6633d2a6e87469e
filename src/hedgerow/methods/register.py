"""Methods of somebody's own: registered by their settings, from then on like all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hedgerow.plan.model import Plan
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import MethodSettings


def register(settings: type[MethodSettings]) -> None:
    """Register a method, so that plans can name it.

    Parameters
    ----------
    settings : type of MethodSettings
        Model of the settings. Its ``build`` returns the method, and the default of ``method``
        is the name.

    Returns
    -------
    None
        From now on the method can be used like all others, by this process.

    Raises
    ------
    NotImplementedError
        When the method is used, if ``build`` is not defined.

    Notes
    -----
    Privacy: the guarantee of such a method is its author's. The contract tests and the audits
    under `tests` show how to test it.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Toy(MethodSettings):
    ...     method: str = Field("toy", description="the publishing method: toy")
    >>> with registered(Toy):  # register(Toy), for the time of the block
    ...     "toy" in METHODS
    True

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
