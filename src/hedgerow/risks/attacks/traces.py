"""Scores and hits of attacks that compare targets with released rows, for every target."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Flags

Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Traces:
    """Scores and hits of every target (confidential), members first, then their outsiders.

    ``scores`` are larger if membership is likelier. ``linked`` marks targets whose two halves were
    linked; ``inferred`` those whose hidden value was guessed, by column, and ``guessed`` the same
    for guessing the most frequent released value.
    """

    scores: dict[str, Scores]
    linked: Flags | None = None
    inferred: dict[str, Flags] = field(default_factory=dict)
    guessed: dict[str, Flags] = field(default_factory=dict)
