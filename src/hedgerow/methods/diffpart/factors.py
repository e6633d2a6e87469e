"""The factors of DiffPart's thresholds, from the taxonomy alone."""

from __future__ import annotations

import math
from fractions import Fraction

from hedgerow.methods.diffpart.tree import SplitTree


def passing_by_noise(c2: Fraction, tree: SplitTree) -> float:
    """Return how many sub-partitions of an empty partition pass on average, at height 1.

    About M / 2 exp(-sqrt(2) C2) of M = 2^l - 1, whatever the budget: P(noise >= T) of
    docs/privacy.md, "Empty groups", with the printed threshold for T.
    """
    n_masks = (1 << int(tree.n_children.max())) - 1
    return n_masks / 2 * math.exp(-math.sqrt(2) * float(c2))


def least_factor(tree: SplitTree) -> Fraction:
    """Return the least C2 of at least 1, in tenths, at which at most one passes by noise."""
    n_masks = (1 << int(tree.n_children.max())) - 1
    exact = math.log(max(n_masks / 2, 1)) / math.sqrt(2)
    return max(Fraction(1), Fraction(math.ceil(10 * exact), 10))
