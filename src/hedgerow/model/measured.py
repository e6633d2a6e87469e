"""Tables that a method counted with noise and publishes beside its records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.taxonomy.domain import Domain

Kind = Literal["codes", "one-way", "join", "further", "order"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredTable:
    """Noisy counts of the cells of a small table; all of it publishable.

    ``attributes`` numbers its columns as the schema does, the class last. ``groups[i]`` is the
    group of each code of column ``i``; ``counts`` has an axis per column. ``share`` is the epsilon
    of every cell, so 1 / share is the scale of its noise.
    """

    kind: Kind
    attributes: tuple[int, ...]
    groups: tuple[NDArray[np.int32], ...]
    counts: NDArray[np.int64]
    share: Fraction


def group_labels(domain: Domain, groups: NDArray[np.int32]) -> list[str]:
    """Return the label of each group of codes: a range's own, or a list of all values.

    >>> from hedgerow.taxonomy.domain import NumericDomain
    >>> group_labels(NumericDomain.even(low=0, high=3, step=1), np.array([0, 0, 1, 1]))
    ['[0, 2)', '[2, 3]']
    """
    labels = []
    for group in range(int(groups.max()) + 1):
        codes = np.flatnonzero(groups == group)
        first, stop = int(codes[0]), int(codes[-1]) + 1
        if stop - first == len(codes):
            labels.append(domain.label(first, stop))
        else:
            labels.append("|".join(domain.label(code, code + 1) for code in codes.tolist()))
    return labels
