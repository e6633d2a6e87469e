"""The complete records of UCI Adult, encoded, as the papers' figures use them."""

from __future__ import annotations

from hedgerow.encode.table import EncodedTable
from hedgerow.papers import tables
from hedgerow.papers.figure import Scene
from hedgerow.papers.tables import rows

__all__ = ["adult", "rows"]


def adult() -> EncodedTable:
    """Return the encoded table, complete records only."""
    return tables.adult(Scene(folder=None, quick=False))
