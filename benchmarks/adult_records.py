"""The complete records of UCI Adult, encoded, as the papers' figures use them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the experiments

from experiments import tables
from experiments.figure import Scene
from experiments.tables import rows
from hedgerow.model.table import EncodedTable

__all__ = ["adult", "rows"]


def adult() -> EncodedTable:
    """Return the encoded table, complete records only."""
    return tables.adult(Scene(folder=None, quick=False))
