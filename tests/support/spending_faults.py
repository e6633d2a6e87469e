"""What goes wrong in the rows of test_nothing_spent.py, in a process of their own."""

from __future__ import annotations

import errno
import os
import resource
import sys
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import numba

from hedgerow.count.memory import placed, table
from hedgerow.ledger.ledger import Ledger
from hedgerow.release import release, write


def refusing(error: BaseException) -> Callable[..., Any]:
    """Return what fails whenever it is called."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    return refuse


def breaks(place: Any, name: str, error: BaseException) -> Callable[[], None]:
    """Return a fault: something that fails."""
    return lambda: setattr(place, name, refusing(error))


def full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --- compiled loops


def compiled() -> None:
    """Take the loops of large tables; they are loaded and compiled anew."""
    placed.COMPILED_FROM = table.COMPILED_FROM = 0
    for name in [name for name in sys.modules if name.startswith("hedgerow.count.compiled.")]:
        del sys.modules[name]
    sys.modules.pop("hedgerow.model.compiling", None)


def no_compiler() -> None:
    compiled()
    numba.njit = refusing(RuntimeError("no compiler"))


def no_cache_folder() -> None:
    from numba.core import caching

    compiled()
    caching.CacheImpl._locator_classes = []


def cache_cannot_be_written() -> None:
    from numba.core import caching

    compiled()
    caching.IndexDataCacheFile.save = refusing(full())
    caching.IndexDataCacheFile.load = refusing(EOFError())


def no_threads() -> None:
    compiled()
    futures.ThreadPoolExecutor.submit = refusing(RuntimeError("can't start new thread"))


# --- libraries and limits


def cannot_load(name: str) -> Callable[[], None]:
    def missing() -> None:
        for loaded in [each for each in sys.modules if each.split(".")[0] == name]:
            del sys.modules[loaded]
        sys.modules[name] = None

    return missing


def no_parquet() -> None:
    import pyarrow

    pyarrow.__dict__.pop("parquet", None)
    sys.modules["pyarrow.parquet"] = None


def little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))


# --- where the answer goes


def stdout_is_a_closed_pipe() -> None:
    read, write_end = os.pipe()
    os.close(read)
    os.dup2(write_end, 1)


def stdout_is_full() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def stdout_is_a_full_pipe() -> None:
    _, write_end = os.pipe()
    os.set_blocking(write_end, False)
    while True:
        try:
            os.write(write_end, b"x" * 65536)
        except BlockingIOError:
            break
    os.dup2(write_end, 1)


def no_stdout() -> None:
    os.close(1)
    sys.stdout = None


def no_stderr() -> None:
    os.close(2)
    sys.stderr = None


def no_streams() -> None:
    os.close(0)
    no_stdout()
    no_stderr()


def both_are_full() -> None:
    stdout_is_full()
    os.dup2(1, 2)


def stdout_is_ascii() -> None:
    sys.stdout.reconfigure(encoding="ascii", errors="strict")


# --- the ledger's last word


def last_word_fails() -> None:
    Ledger.released = refusing(full())


def renames(error: OSError) -> Callable[[], None]:
    return breaks(Path, "rename", error)


SPENDING_FAULTS: dict[str, Callable[[], None]] = {
    "compiled": compiled,
    "no compiler": no_compiler,
    "no cache folder": no_cache_folder,
    "a cache that cannot be written": cache_cannot_be_written,
    "no threads": no_threads,
    "no polars": cannot_load("polars"),
    "no parquet": no_parquet,
    "no random bytes": breaks(os, "urandom", NotImplementedError()),
    "little room": little_room,
    "no report": breaks(release, "render_report", ValueError("no")),
    "no recoding": breaks(release.Recoding, "to_json", ValueError("no")),
    "no records": breaks(release, "write_records", full()),
    "no marginals": breaks(release, "marginals_text", ZeroDivisionError()),
    "no memory to write": breaks(release, "to_csv", MemoryError()),
    "no text": breaks(write, "write_text", full()),
    "no flush": breaks(write, "_flush", OSError(errno.EIO, "I/O")),
    "no rename": renames(OSError(errno.EPERM, os.strerror(errno.EPERM))),
    "no rename here": renames(OSError(errno.EXDEV, os.strerror(errno.EXDEV))),
    "no last word": last_word_fails,
    "stdout is a closed pipe": stdout_is_a_closed_pipe,
    "stdout is full": stdout_is_full,
    "stdout is a full pipe": stdout_is_a_full_pipe,
    "stdout and stderr are full": both_are_full,
    "stdout is ASCII": stdout_is_ascii,
    "no stdout": no_stdout,
    "no stderr": no_stderr,
    "no streams at all": no_streams,
}
