"""Scores of specialisations, as integers with a proved sensitivity.

A score depends on the class counts of a candidate's children. Scores are integers, in
units that the score declares, so that the private choice among them is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
"""Class counts of shape (candidates, children, classes)."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score, with the largest change by adding or removing one record.

    ``sensitivity`` is in the score's own units. ``monotone`` means that adding a record
    changes every candidate's score by a value in [0, sensitivity]: the choice may then
    run at twice the rate for the same privacy (Lemma L1).
    """

    name: str
    sensitivity: Fraction
    monotone: bool
    of: Callable[[Counts], NDArray[np.int64]]


def max_class(counts: Counts) -> NDArray[np.int64]:
    """Return the records that a majority vote in each child gets right.

    ``Max(D, v)`` [DiffGen, Eq. (4)].

    Privacy: a record is in one child and one class, so adding it raises the maximum of
    that child by 0 or 1 and no other: sensitivity 1, monotone.

    >>> max_class(np.array([[[3, 1], [0, 4]]]))
    array([7])
    """
    best: NDArray[np.int64] = counts.max(axis=-1).sum(axis=-1)
    return best


INFORMATION_UNIT = Fraction(1, 1 << 30)
"""The unit of information gain: 2^-30 bit."""


def _entropy(counts: Counts) -> NDArray[np.float64]:
    totals = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(totals, 1)
    return -_summed(share * np.log2(np.where(share > 0, share, 1.0)))


def _summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up values along the last axis, in pairs, as NumPy does for adjacent numbers.

    The slack of scores covers an error of at most 45 units in the last place.
    """
    sums: NDArray[np.float64] = np.ascontiguousarray(values).sum(axis=-1)
    return sums


def information_gain(counts: Counts) -> NDArray[np.int64]:
    """Return the mutual information of child and class, in units of 2^-30 bit.

    ``InfoGain(D, v)`` [DiffGen, Eq. (3)].

    Departs: the paper bounds the sensitivity by log2 of the number of classes. It is
    exactly 1 bit for any number of classes: one more record in n changes a mutual
    information by at most h(1/(n+1)) <= 1 upwards (mixture argument) and by less than 1
    downwards. Two units are added for rounding to whole units.

    >>> information_gain(np.array([[[4, 0], [0, 4]]])) * INFORMATION_UNIT
    array([Fraction(1, 1)], dtype=object)
    """
    parent = counts.sum(axis=-2)
    sizes = counts.sum(axis=-1)
    within = _summed(sizes * _entropy(counts)) / np.maximum(sizes.sum(axis=-1), 1)
    bits = _entropy(parent) - within
    units: NDArray[np.int64] = np.rint(bits / float(INFORMATION_UNIT)).astype(np.int64)
    return units


GINI_UNIT = Fraction(1, 1 << 10)
"""The unit of the Gini count: 2^-10 records."""


def gini_count(counts: Counts) -> NDArray[np.int64]:
    """Return the expected number of correct random guesses in each child, in 2^-10 records.

    The sum over children c of sum_y n_cy^2 / n_c: guess a record's class by drawing from
    its child. It ranks good splits if Max cannot because no majority changes.

    Privacy: adding a record of class y to a child of n records with G = sum n_i^2 / n
    changes its term by (2 n_y + 1 - G) / (n + 1). That is at most 1, as G >= n_y^2 / n
    and the bound grows with n_y <= n; and more than -1, as G <= n. So the sensitivity is
    1 record, not monotone; two units are added for rounding to whole units.

    >>> gini_count(np.array([[[3, 1], [0, 4]]])) * GINI_UNIT
    array([Fraction(13, 2)], dtype=object)
    """
    sizes = counts.sum(axis=-1)
    squares = _summed(counts.astype(np.float64) ** 2)
    right = _summed(squares / np.maximum(sizes, 1))
    units: NDArray[np.int64] = np.rint(right / float(GINI_UNIT)).astype(np.int64)
    return units


MAX = Score(name="max", sensitivity=Fraction(1), monotone=True, of=max_class)
INFOGAIN = Score(
    name="infogain",
    sensitivity=1 / INFORMATION_UNIT + 2,
    monotone=False,
    of=information_gain,
)
GINI = Score(name="gini", sensitivity=1 / GINI_UNIT + 2, monotone=False, of=gini_count)
SCORES = {score.name: score for score in (GINI, INFOGAIN, MAX)}
