"""Workers between tasks: what they have loaded is left alone, and they end without a word."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress

_MANY = 50  # modules that are worth it; a worker does not load so many more than a few times

_n_settled = 0


def settle() -> None:
    """Let the garbage collector pass over the modules that are loaded now.

    Spark's workers collect garbage after each task, which goes through all that Arrow, Numba and
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
    """Let a worker whose socket is gone end at its next word, as Unix has it.

    A session that stops closes the sockets of idle workers, which then tell nobody that nobody
    listens, and print where they were. On a port the first such word is lost instead.
    """
    if os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "").lower() == "true":
        with suppress(ValueError):  # only the main thread may say so
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
