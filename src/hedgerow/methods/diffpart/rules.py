"""The public rules of DiffPart's two variants: which node, what share, which threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffpart.factors import count_factor
from hedgerow.methods.diffpart.level import CountKind, Expansion, PartitionLevel, PartShape
from hedgerow.methods.diffpart.masks import MaskBlocks, all_masks, masks_by_size
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.privacy.budget import Shares
from hedgerow.privacy.source import RandomSource, below

UNITS = 1000
"""Improved shares are whole thousandths of epsilon, so that few of them differ."""

GROWTH = Fraction(3, 2)
"""Ratio of the budget of the next operation's tests to that of this one's."""

RARER = 4
"""Factor by which the allowed false positives fall with every further child."""

FALSE_ITEMSETS = Fraction(1)
"""Itemsets without records that a leaf count may publish of a partition, on average.

A partition that has records has at least one true itemset: as many may be false.
"""


def highest_places(
    level: PartitionLevel, tree: SplitTree
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of each cut's highest nodes, and where each cut's places begin."""
    highest = np.repeat(level.highest(tree), np.diff(level.starts))
    places = np.flatnonzero(tree.height[level.members] == highest)
    return places, np.searchsorted(places, level.starts)


@dataclass(frozen=True, kw_only=True)
class PrintedRules:
    """As printed: alpha and thresholds of [DiffPart, Alg. 1 and Procedure 1].

    A ``c1`` of ``None`` is chosen for every partition, by the most itemsets that a node has,
    ``n_masks``, and the noisy count with which the partition passed its test.
    """

    epsilon: Fraction
    c1: Fraction | None
    c2: Fraction
    n_masks: int = 1

    def choose(
        self, level: PartitionLevel, tree: SplitTree, source: RandomSource
    ) -> NDArray[np.int64]:
        """Return a random one of each cut's highest nodes [DiffPart, Procedure 1, line 2]."""
        places, starts = highest_places(level, tree)
        chosen: NDArray[np.int64] = places[starts[:-1] + below(np.diff(starts), source=source)]
        return chosen

    def test_shares(self, level: PartitionLevel, tree: SplitTree, left: Shares) -> Shares:
        """Return alpha = B~ / |internal nodes of the cut| [DiffPart, Procedure 1, lines 8-9].

        What is left includes the half of epsilon that is reserved for leaf partitions.
        """
        internal = level.sums(tree.internal)
        return shares_by(left, internal, lambda rest, n: (rest - self.epsilon / 2) / n)

    def shapes(self, expansion: Expansion) -> NDArray[np.int64]:
        """Return the number of children, twice, the height of the cut, and the size's bits.

        The bits are those of the noisy count that the partition has passed with, which is
        paid for; 0 where it has none or C1 is given.
        """
        n_children = expansion.tree.n_children[expansion.node]
        height = expansion.level.highest(expansion.tree)
        bits = np.frexp(np.maximum(expansion.level.noisy, 0).astype(np.float64))[1]
        bits *= self.c1 is None
        return np.column_stack([n_children, n_children, height, bits]).astype(np.int64)

    def blocks(self, shape: PartShape) -> MaskBlocks:
        """Return all combinations in one block."""
        return all_masks(shape[0])

    def threshold(self, kind: CountKind, share: Fraction, shape: PartShape, *, block: int) -> int:
        """Return sqrt(2) C2 height / alpha, or sqrt(2) C1 / share, rounded up, at least 1.

        [DiffPart, Procedure 1, line 7; Alg. 1, line 13]
        """
        if kind == "counts":
            return self.count_threshold(share, bits=shape[3])
        return max(1, ceil_sqrt(2 * (self.c2 * shape[2] / share) ** 2))

    def count_threshold(self, share: Fraction, *, bits: int = 0) -> int:
        """Return the smallest noisy count of a leaf partition that is published."""
        return max(1, ceil_sqrt(2 * (self.count_factor(share, bits=bits) / share) ** 2))

    def count_factor(self, share: Fraction, *, bits: int = 0) -> Fraction:
        """Return C1: as given, or by rule, in [1, C2]; without ``bits`` of a size the least."""
        if self.c1 is not None:
            return self.c1
        most = 2.0 ** (bits - 1) * float(share) if bits else math.inf
        return min(count_factor(self.n_masks, most), self.c2)


@dataclass(frozen=True, kw_only=True)
class PublicRules:
    """Improved: thresholds from a target of false positives, shares from what is expected."""

    epsilon: Fraction
    false_positives: Fraction
    max_length: int

    def choose(
        self, level: PartitionLevel, tree: SplitTree, source: RandomSource
    ) -> NDArray[np.int64]:
        """Return the first of each cut's highest nodes."""
        places, starts = highest_places(level, tree)
        return places[starts[:-1]]

    def test_shares(self, level: PartitionLevel, tree: SplitTree, left: Shares) -> Shares:
        """Return the first of growing shares, one for each operation that is expected.

        A cut whose nodes always give one child needs as many operations as its heights add
        up to. More of them shrink the later shares and overdraw nothing.

        Departs: [DiffPart, Thm 4.1] spends on the worst case, all children of every node.
        """
        operations = level.sums(tree.height.astype(np.int64))
        unit = self.epsilon / UNITS

        def first_share(rest: Fraction, n: int) -> Fraction:
            part = (GROWTH - 1) / (GROWTH ** min(n, 60) - 1)
            units = int(rest * part / unit)
            return units * unit if units else rest / UNITS

        return shares_by(left, operations, first_share)

    def shapes(self, expansion: Expansion) -> NDArray[np.int64]:
        """Return the number of children, and how many a record of greatest length can have."""
        n_children = expansion.tree.n_children[expansion.node]
        room = self.max_length - np.diff(expansion.level.starts) + 1
        return np.column_stack([n_children, np.clip(room, 1, n_children)]).astype(np.int64)

    def blocks(self, shape: PartShape) -> MaskBlocks:
        """Return the combinations that a record has room for, by size."""
        return masks_by_size(shape[0], shape[1])

    def threshold(self, kind: CountKind, share: Fraction, shape: PartShape, *, block: int) -> int:
        """Return the count that noise alone reaches as often as is allowed, at least 1.

        Of the false positives that a partition is allowed on average, each size of
        combination gets a part that falls with the size: (1 / share) ln(M / (2 kappa)), M
        combinations of the size and kappa its part. A false partition is split again, a
        false itemset is not: of itemsets more are allowed.
        """
        size = block + 1
        parts = [RARER**-s for s in range(1, shape[1] + 1)]
        allowed = self.false_positives
        if kind == "counts":
            allowed = max(allowed, FALSE_ITEMSETS)
        kappa = float(allowed) * RARER**-size / sum(parts)
        odds = math.comb(shape[0], size) / (2 * kappa)
        return max(1, math.ceil(math.log(max(odds, 1.0)) / float(share)))


def shares_by(
    left: Shares, numbers: NDArray[np.int64], share: Callable[[Fraction, int], Fraction]
) -> Shares:
    """Return ``share(left, number)`` for every partition, computed once per distinct pair."""
    rows, which = np.unique(np.column_stack([left.which, numbers]), axis=0, return_inverse=True)
    place: dict[Fraction, int] = {}
    places = np.full(len(rows), -1, dtype=np.int64)
    for row, (at, number) in enumerate(rows.tolist()):
        if at >= 0:
            places[row] = place.setdefault(share(left.values[at], number), len(place))
    return Shares(values=tuple(place), which=places[which])


def ceil_sqrt(square: Fraction) -> int:
    """Return the smallest whole number whose square is at least ``square``.

    >>> ceil_sqrt(Fraction(2)), ceil_sqrt(Fraction(4)), ceil_sqrt(Fraction(0))
    (2, 2, 0)
    """
    root = math.isqrt(math.ceil(square))
    return root if root * root >= square else root + 1
