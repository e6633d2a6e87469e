"""The factors of DiffPart's thresholds, from the taxonomy alone."""

from __future__ import annotations

import math
from fractions import Fraction

from hedgerow.methods.diffpart.tree import SplitTree


def most_masks(tree: SplitTree) -> int:
    """Return M, the sub-partitions of the node that has the most: 2^l - 1 for l children."""
    return (1 << int(tree.n_children.max())) - 1


def passing_by_noise(c2: Fraction, tree: SplitTree) -> float:
    """Return how many sub-partitions of an empty partition pass on average, at height 1.

    About M / 2 exp(-sqrt(2) C2) of M = 2^l - 1, whatever the budget: P(noise >= T) of
    docs/privacy.md, "Empty groups", with the printed threshold for T.
    """
    return most_masks(tree) / 2 * math.exp(-math.sqrt(2) * float(c2))


def pruning_factor(tree: SplitTree) -> Fraction:
    """Return the least C2 of at least 1, in tenths, at which at most one passes by noise.

    A false partition is split again, and its false sub-partitions after it: with more than
    one on average they would multiply from level to level.
    """
    exact = math.log(max(most_masks(tree) / 2, 1)) / math.sqrt(2)
    return max(Fraction(1), Fraction(math.ceil(10 * exact), 10))


def count_factor(n_masks: int, most: float = math.inf) -> Fraction:
    """Return C1 for a partition of which ``most`` itemsets can reach a threshold; in tenths.

    A false itemset has no offspring and costs its own count alone, so C1 may be smaller
    than C2. Of M = 2^l - 1 itemsets let k occur, each with a count of the threshold x /
    share. k / 2 of them are lost, and (M - k) / 2 exp(-x) others are published: as many
    where x = ln((M - k) / k). What k is nobody may look up. It is at least 1, at most M / 2
    where a threshold is of use, and at most n share, as a partition of n records has no
    more itemsets of 1 / share records. Half way between the x of both ends the odds of
    false and lost itemsets are as close to even as they can be for the worst k
    (docs/papers/diffpart.md, "The factors").

    >>> [float(count_factor(2**l - 1)) for l in (4, 6, 10, 16)]
    [1.0, 1.5, 2.5, 4.0]
    >>> float(count_factor(2**16 - 1, 1000))
    5.4
    """
    most = min(max(most, 1.0), n_masks // 2 if n_masks > 1 else 1.0)
    ends = math.log(max(n_masks - 1, 1)), math.log(max(n_masks - most, most) / most)
    return max(Fraction(1), Fraction(math.ceil(10 * sum(ends) / (2 * math.sqrt(2))), 10))
