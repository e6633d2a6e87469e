"""DiffMulti's numbers from public settings: |g|, the shares, and how far h reaches."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.method import Step
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import RandomSource
from hedgerow.taxonomy.domain import CategoricalDomain, Domain

NUMERIC_HEIGHT = 7
"""The height that the paper assumes of a numeric attribute [DiffMulti, Sec. 5]."""

DEPTH = 16
"""Specialisations on a path, at the most, unless the plan or the paper says otherwise."""

CHOICES = Fraction(1, 5)
SIZES = Fraction(3, 10)
"""Shares of epsilon for the choices and for the child counts of a path; improved variant.

These and the depth were chosen on a simulated table (`benchmarks/diffmulti_choice.py`).
"""


def longest_path(schema: Schema) -> int:
    """Return |g|: heights of the taxonomies, and 7 for a numeric attribute.

    [DiffMulti, Alg. 1, line 4; Secs. 4.6 and 5]. The alternative of Sec. 4.6, log2 of the
    number of records, reads the data and is not private.
    """
    return max(1, sum(_height(attribute.domain) for attribute in schema.attributes))


def _height(domain: Domain) -> int:
    if isinstance(domain, CategoricalDomain):
        return int(domain.taxonomy.height[0])
    return NUMERIC_HEIGHT


def most_specialisations(schema: Schema) -> int:
    """Return the largest number of specialisations there can be [DiffMulti, Eqs. (13), (14)].

    Every value of the first attributes opens all inner nodes of the next. A numeric
    attribute counts as a binary tree over its cells.
    """
    leaves = [attribute.domain.size for attribute in schema.attributes]
    inner = [_inner(attribute.domain) for attribute in schema.attributes]
    return sum(prod(leaves[:i]) * nodes for i, nodes in enumerate(inner))


def _inner(domain: Domain) -> int:
    if isinstance(domain, CategoricalDomain):
        return domain.taxonomy.n_nodes - domain.taxonomy.n_leaves
    return domain.size - 1


@dataclass(frozen=True, kw_only=True)
class DiffMultiBudget:
    """The shares of one path: of a choice, a split point, a box's child counts, the leaf."""

    epsilon: Fraction
    depth: int
    n_first_splits: int
    choice: Fraction
    split: Fraction
    sizes: Fraction

    @classmethod
    def printed(cls, epsilon: Fraction, schema: Schema) -> DiffMultiBudget:
        """Return epsilon' = epsilon / (2 (|A_num| + 3|g|)) for every step [line 5]."""
        depth = longest_path(schema)
        n_numeric = sum(a.domain.kind == "numeric" for a in schema.attributes)
        share = epsilon / (2 * (n_numeric + 3 * depth))
        return cls(
            epsilon=epsilon,
            depth=depth,
            n_first_splits=n_numeric,
            choice=share,
            split=share,
            sizes=share,
        )

    @classmethod
    def improved(
        cls, epsilon: Fraction, schema: Schema, *, depth: int | None, fair: bool
    ) -> DiffMultiBudget:
        """Return one choice and the child counts for each of a few levels, rest to leaves."""
        levels = min(depth or DEPTH, longest_path(schema))
        return cls(
            epsilon=epsilon,
            depth=levels,
            n_first_splits=0,
            choice=epsilon * CHOICES / levels,
            split=Fraction(0),
            sizes=epsilon * SIZES / levels if fair else Fraction(0),
        )

    @property
    def leaf(self) -> Fraction:
        """Budget left for a leaf on the longest path; others have more."""
        level = self.choice + self.split + self.sizes
        return self.epsilon - self.depth * level - self.n_first_splits * self.split

    def steps(self) -> tuple[Step, ...]:
        """Return the shares of the longest path; they add up to epsilon."""
        planned = [
            Step(on="first split points", share=self.split, times=self.n_first_splits),
            Step(on="choices", share=self.choice, times=self.depth),
            Step(on="child counts", share=self.sizes, times=self.depth),
            Step(on="split points", share=self.split, times=self.depth),
            Step(on="counts", share=self.leaf, times=1),
        ]
        return tuple(step for step in planned if step.share * step.times)


def fair_shares(
    left: NDArray[np.int64],
    noisy: NDArray[np.int64],
    starts: NDArray[np.int64],
    *,
    source: RandomSource,
) -> NDArray[np.int64]:
    """Return each child's number of specialisations, in proportion to noisy counts.

    [DiffMulti, Eq. (10)]: of ``left[p]`` - 1 that parent ``p`` has left, a child gets its
    part rounded down; what rounding leaves over is dealt out at random (Sec. 4.2) to
    children whose part was rounded.

    Departs: the paper tests true counts for zero and divides by the parent's true count.
    Here every child has a noisy count, negative ones count as 0, and their sum divides;
    where all are 0 no child gets any.

    Privacy: sees noisy counts only.

    >>> from hedgerow.privacy.source import SystemSource
    >>> starts = np.array([0, 2])
    >>> fair_shares(np.array([21]), np.array([8, 2]), starts, source=SystemSource())
    array([16,  4])
    """
    owner = np.repeat(np.arange(len(left)), np.diff(starts))
    positive = np.maximum(noisy, 0)
    divisor = np.maximum(np.add.reduceat(positive, starts[:-1]), 1)[owner]
    parts = positive * (left - 1)[owner]
    shares = parts // divisor
    lost = np.add.reduceat(parts % divisor, starts[:-1]) // divisor[starts[:-1]]
    return shares + _dealt(lost, parts % divisor > 0, starts, source=source)


def even_shares(
    left: NDArray[np.int64], starts: NDArray[np.int64], *, source: RandomSource
) -> NDArray[np.int64]:
    """Return each child's number of specialisations, all alike [DiffMulti, Ex. 4.2].

    >>> from hedgerow.privacy.source import SystemSource
    >>> even_shares(np.array([21]), np.array([0, 2]), source=SystemSource())
    array([10, 10])
    """
    ones = np.ones(int(starts[-1]), dtype=np.int64)
    return fair_shares(left, ones, starts, source=source)


def _dealt(
    lost: NDArray[np.int64],
    takes: NDArray[np.bool_],
    starts: NDArray[np.int64],
    *,
    source: RandomSource,
) -> NDArray[np.int64]:
    """Deal ``lost[p]`` ones to different children of ``p`` that take one, at random."""
    owner = np.repeat(np.arange(len(lost)), np.diff(starts))
    words = source.words(len(takes)) >> np.uint64(1)
    words = np.where(takes, words, words | np.uint64(1 << 63))
    order = np.lexsort((words, owner))
    rank = np.empty(len(takes), dtype=np.int64)
    rank[order] = np.arange(len(takes)) - starts[:-1][owner[order]]
    return ((rank < lost[owner]) & takes).astype(np.int64)
