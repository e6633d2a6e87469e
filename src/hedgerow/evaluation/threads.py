"""Products of matrices on one core: where others work too, threads that wait cost the most."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def one_thread(*, of: str | None = "blas") -> AbstractContextManager[Any]:
    """Return what keeps linear algebra to one thread; nothing where that cannot be said.

    ``of`` names other libraries, as `threadpoolctl` does; None is all that are loaded.
    """
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api=of)
    return limits
