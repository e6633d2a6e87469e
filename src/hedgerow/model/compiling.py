"""Loops compiled by Numba, cached on disk if possible.

Numba keeps its results beside the source, or in the user's cache. In a container neither may be
writable: then the cache is a private folder among the temporary files, and if that is not possible,
every process compiles anew. A run must never fail because of a cache.

Import this module lazily: loading Numba takes a while.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

LoopT = TypeVar("LoopT", bound="Callable[..., Any]")


def compile_loop(function: LoopT) -> LoopT:
    """Compile a loop that runs without the interpreter's lock; cache it on disk if possible."""
    return cast("LoopT", _cached(function) or _compiled(function, cache=False))


def _compiled(function: LoopT, *, cache: bool) -> Any:
    return numba.njit(cache=cache, nogil=True, boundscheck=False)(function)


def _cached(function: LoopT) -> Any:
    """Return the loop with a cache, or ``None`` if there is no place for one."""
    with suppress(RuntimeError, OSError):  # neither the package nor the home is writable
        return _tolerant(_compiled(function, cache=True))
    folder = private_cache()
    if folder is None:
        return None
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # read once, when the loop is decorated
    try:
        return _tolerant(_compiled(function, cache=True))
    except (RuntimeError, OSError):
        return None
    finally:
        config.CACHE_DIR = before


def private_cache() -> Path | None:
    """Return a folder among the temporary files that only this user may enter.

    Its files are loaded as code, so a folder of another user, or one that others may write to, is
    not used: then there is none.
    """
    if not hasattr(os, "geteuid"):
        return None
    with suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"hedgerow-compiled-{os.geteuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if own and not found.st_mode & 0o077:
            return folder
    return None


def _tolerant(loop: Any) -> Any:
    """Treat a cache that cannot be read or written (a full disk, a damaged file) as empty."""
    cache = loop._cache
    load, save = cache.load_overload, cache.save_overload

    def loaded(signature: Any, context: Any) -> Any:
        with suppress(Exception):
            return load(signature, context)
        return None

    def saved(signature: Any, compiled: Any) -> None:
        with suppress(Exception):
            save(signature, compiled)

    cache.load_overload, cache.save_overload = loaded, saved
    return loop
