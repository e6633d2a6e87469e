"""Workers between tasks: garbage collection skips what is loaded, and they end quietly."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress

_MANY = 50  # minimum number of new modules; a worker loads that many only a few times

_n_settled = 0


def settle() -> None:
    """Exclude the modules that are loaded now from garbage collection.

    Spark's workers collect garbage after each task, which visits everything that Arrow, Numba and
    the rest have loaded: 45 ms (``gc.collect()``, timed in a worker), as long as counting a
    million records.
    """
    global _n_settled
    if len(sys.modules) - _n_settled >= _MANY:
        gc.collect()
        gc.freeze()
        _n_settled = len(sys.modules)
        _end_quietly()


def _end_quietly() -> None:
    """Let a worker whose socket is closed end at its next write, as is usual on Unix.

    A session that stops closes the sockets of idle workers, which would otherwise print a
    traceback with their location. On a port the first such write is lost instead.
    """
    if os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "").lower() == "true":
        with suppress(ValueError):  # only the main thread may set this
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
