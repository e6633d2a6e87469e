"""Tables that a method counted with noise and publishes beside its records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["one-way", "join", "further", "leaves"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """Noisy counts of the cells of a small table; all of it publishable.

    ``attributes`` numbers its columns as the schema uses them, the class last. ``groups[i]``
    is the group of each code of column ``i``; ``counts`` has an axis per column. ``share`` is
    the epsilon that every cell was drawn with, so 1 / share is the scale of its noise.
    """

    kind: Kind
    attributes: tuple[int, ...]
    groups: tuple[NDArray[np.int32], ...]
    counts: NDArray[np.int64]
    share: Fraction
