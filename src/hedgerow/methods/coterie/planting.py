"""Which sets of frequent items are put together before the others are dealt by lot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.targets import Targets
from hedgerow.model.arrays import Floats

ROUNDS = 4
"""Rounds of estimating what lots will add to the planted sets."""

AT_MOST = 0.95
"""The part of an item's tokens that is planted, at most."""


LEAST = 1e-3
SHY = 0.02
"""Minimum probability that an item is admitted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ByLot:
    """Expected co-occurrences by lot, beside planted ones: pairs (square) and triples."""

    pairs: Floats
    triples: Floats

    def scaled(self, times: float) -> ByLot:
        """Return the same for ``times`` as many baskets."""
        return ByLot(pairs=times * self.pairs, triples=times * self.triples)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plants:
    """Numbers of planted pairs (above the diagonal) and of planted listed triples.

    ``welcome`` is how likely an item is let in beside another: less than 1 where lots would bring
    both together too often. ``again`` is how likely a set comes to a basket that has an item of it.
    """

    pairs: Floats
    triples: Floats
    welcome: Floats
    again: Floats

    def listed(self, targets: Targets) -> tuple[NDArray[np.int64], Floats]:
        """Return sets, three ranks to a row (the last -1 where there are two), and their number."""
        rows, columns = np.nonzero(self.pairs)
        pairs = np.stack([rows, columns, np.full(len(rows), -1)], axis=1)
        numbers = np.concatenate([self.triples, self.pairs[rows, columns]])
        return np.concatenate([targets.triples, pairs]), numbers


def plants_for(targets: Targets, by_lot: ByLot) -> Plants:
    """Return how often measured pairs and triples are more than lots will bring together."""
    triples = np.maximum(targets.triple_supports - by_lot.triples, 0)
    wanted = targets.pairs - _pairs_of(triples, targets)
    more = np.maximum(wanted - by_lot.pairs, 0)
    welcome = np.clip(wanted / np.maximum(by_lot.pairs, LEAST), SHY, 1)
    welcome = np.where(targets.measured, welcome, 1.0)
    pairs = np.where(np.triu(targets.measured, 1), more, 0.0)
    return Plants(
        pairs=pairs,
        triples=triples,
        welcome=np.asarray(np.minimum(welcome, welcome.T)),
        again=_again(pairs, triples, targets),
    )


def expected_by_lot(targets: Targets, lengths: NDArray[np.int64]) -> ByLot:
    """Return what a formula gives for lots.

    They bring two items together as often as places of baskets do, and a third item to a pair
    as often as baskets of pairs have places left.
    """
    supports, sizes = targets.items.astype(np.float64), lengths.astype(np.float64)
    first = max(float(sizes.sum()), 1.0)
    second = max(float((sizes * (sizes - 1)).sum()), 1.0)
    third = float((sizes * (sizes - 1) * (sizes - 2)).sum())
    alone = np.outer(supports, supports) * second / first**2
    beside = supports * third / (first * second)
    i, j, k = targets.triples.T
    by_lot = ByLot(pairs=alone, triples=alone[i, j] * beside[k])
    for _ in range(ROUNDS):
        plants = plants_for(targets, by_lot)
        planted = float(plants.pairs.sum() + 3 * plants.triples.sum())
        part = max(0.0, 1 - 2 * planted / second)
        left = plants.pairs + part * np.triu(alone, 1)
        joined = left[i, j] * beside[k] + left[i, k] * beside[j] + left[j, k] * beside[i]
        joined -= 2 * part * alone[i, j] * beside[k]
        by_lot = ByLot(pairs=part * alone, triples=joined)
    return by_lot


def observed_by_lot(
    targets: Targets, plants: Plants, counts: Floats, held: Floats, expected: ByLot
) -> ByLot:
    """Return what lots gave in baskets dealt with some plants, as far as that is not chance."""
    pairs = counts - plants.pairs - plants.pairs.T
    pairs -= _pairs_of(plants.triples, targets) + _pairs_of(plants.triples, targets).T
    pairs /= plants.welcome
    return ByLot(
        pairs=_shrunk(np.maximum(pairs, 0), expected.pairs, counts / plants.welcome**2),
        triples=_shrunk(np.maximum(held - plants.triples, 0), expected.triples, held),
    )


def _shrunk(found: Floats, expected: Floats, variance: Floats) -> Floats:
    """Return what was found, nearer to what was expected where they differ by chance."""
    off = found - expected
    return np.asarray(expected + off**3 / np.maximum(off**2 + variance, 1.0))


def _pairs_of(triples: Floats, targets: Targets) -> Floats:
    """Return how often the pairs of triples are together by them, above the diagonal."""
    pairs = np.zeros_like(targets.pairs)
    i, j, k = targets.triples.T
    for a, b in ((i, j), (i, k), (j, k)):
        np.add.at(pairs, (a, b), triples)
    return pairs


def _again(pairs: Floats, triples: Floats, targets: Targets) -> Floats:
    """Return how likely an item's sets share a token of it: where it has too few for all."""
    needed = pairs.sum(axis=0) + pairs.sum(axis=1)
    np.add.at(needed, targets.triples, triples[:, None])
    return np.asarray(np.maximum(0.0, 1 - AT_MOST * targets.items / np.maximum(needed, 1.0)))
