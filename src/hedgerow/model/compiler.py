"""Whether there is a compiler for loops: Numba, an optional part of hedgerow (``fast``).

Tables are counted without it, by NumPy, with the same results; large ones take several times
as long. What has no such form asks for it by `need_compiler`, before anything is booked.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from hedgerow.errors import MissingExtraError

EXTRA = "fast"

SLOW_FROM = 200_000
"""Records, by the plan's own number, from which who has no compiler is told of it."""

SLOW = (
    "Counting a table of this size takes several times as long without compiled loops; install"
    f" them with: pip install 'hedgerow[{EXTRA}]'"
)


def has_compiler() -> bool:
    """Whether loops can be compiled; nothing is loaded to tell."""
    try:
        return find_spec("numba") is not None
    except ValueError:  # it was taken out of reach
        return False


def pays(size: int, least: int, *, loops: str) -> bool:
    """Whether compiled loops pay for so much data: it is large enough, or they are loaded already.

    ``loops`` is their module below ``hedgerow``. Without a compiler they never do.
    """
    return is_loaded(loops) if size < least else has_compiler()


def is_loaded(loops: str) -> bool:
    """Whether the compiled loops of a module below ``hedgerow`` are loaded."""
    return f"hedgerow.{loops}" in sys.modules


def need_compiler(feature: str, *, extra: str = EXTRA) -> None:
    """Refuse a feature whose loops over records must be compiled where they cannot be."""
    if not has_compiler():
        raise MissingExtraError(feature, extra=extra)
