"""Start the command line: ``hedgerow``, or ``python -m hedgerow``.

Imports nothing of the package before an interrupt has a handler: loading takes about half a
second, in which Python would answer Ctrl-C with a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Any

INTERRUPTED = 130
"""Exit code of an interrupted program."""


def start() -> None:
    """Run the command line."""
    with suppress(ValueError):  # not the main thread: the caller handles signals
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
    from hedgerow.cli.main import main

    main()


def _leave(_number: int, _frame: Any) -> None:
    """End at once: before and after a command there is nothing to undo.

    An exception would end in whatever is being imported, and some libraries hide or print it.
    While a command runs, `hedgerow.cli.main` handles interrupts.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            if stream is sys.stderr:
                stream.write("interrupted\n")
            stream.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    start()
