"""Check for a compiler of loops: Numba, an optional part of hedgerow (``fast``).

Without it tables are counted by NumPy, with the same results; large ones take several times as
long. Features without such a form require it by `need_compiler`, before anything is booked.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from hedgerow.errors import MissingExtraError

EXTRA = "fast"

SLOW_FROM = 200_000
"""Number of records, by the plan, from which users without a compiler get a notice."""

SLOW = (
    "Counting a table of this size takes several times as long without compiled loops. Install"
    f" them with: pip install 'hedgerow[{EXTRA}]'"
)


def has_compiler() -> bool:
    """Return whether loops can be compiled, without loading anything."""
    try:
        return find_spec("numba") is not None
    except ValueError:  # it was made unavailable
        return False


def pays(size: int, least: int, *, loops: str) -> bool:
    """Return whether compiled loops pay: the data are large enough, or the loops are loaded.

    ``loops`` is their module below ``hedgerow``. Without a compiler they never pay.
    """
    return is_loaded(loops) if size < least else has_compiler()


def is_loaded(loops: str) -> bool:
    """Return whether the compiled loops of a module below ``hedgerow`` are loaded."""
    return f"hedgerow.{loops}" in sys.modules


def need_compiler(feature: str, *, extra: str = EXTRA) -> None:
    """Refuse a feature that needs compiled loops if there is no compiler."""
    if not has_compiler():
        raise MissingExtraError(feature, extra=extra)
