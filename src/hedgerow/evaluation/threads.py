"""Matrix products on one core: on a busy machine, waiting threads cost the most."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


def one_thread(*, of: str | None = "blas") -> AbstractContextManager[object]:
    """Return a context that limits linear algebra to one thread, if `threadpoolctl` is installed.

    ``of`` names other libraries, as `threadpoolctl` does; None: all loaded ones.
    """
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api=of)
    return limits
