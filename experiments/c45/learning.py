"""What a tree learns from: columns of codes with weights, and settings of the learner.

Rows are compressed before anything is compiled: a code is a place among the values that occur,
numbers in their order. A row's *weight* is how many records it stands for; a record with a
missing value is later divided among branches, so that a row in a node has a part as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MISSING = -1
"""The code of a value that is not known."""

UNSEEN = -2
"""The code, when a tree is asked, of a category that no training row has."""


class Learning(NamedTuple):
    """Training rows in the form that compiled loops take.

    ``codes`` is attribute by row. ``starts`` are the places in ``values`` at which the values
    of an attribute begin; a category's value is its own number. ``declared`` is how many
    categories an attribute could have, 0 for a number; ``n_records`` is the weight of all rows.
    """

    codes: NDArray[np.int32]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    declared: NDArray[np.int64]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_records: float
    n_classes: int


class Rules(NamedTuple):
    """How a tree is grown.

    ``least`` is the weight that two branches at least must have. ``by_ratio`` chooses by gain
    ratio among splits of average gain or better, otherwise by gain alone; ``corrected``
    charges numbers for the choice of their threshold (the MDL correction of release 8).
    """

    least: float
    by_ratio: bool
    corrected: bool
