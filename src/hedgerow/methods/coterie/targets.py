"""Targets of the baskets: supports of items, pairs and triples, with weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.pairs import Pairs
from hedgerow.methods.coterie.sets import CountedSet
from hedgerow.model.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """Supports by rank, and the weight of each: the inverse of its variance.

    ``measured`` flags the pairs that were measured or stand out; the others are left as they
    come. ``triples`` are ranks, three to a row.
    """

    items: NDArray[np.int64]
    pairs: Floats
    pair_weights: Floats
    measured: NDArray[np.bool_]
    triples: NDArray[np.int64]
    triple_supports: Floats
    triple_weights: Floats

    def scaled(self, part: float) -> Targets:
        """Return what a part of the baskets is to agree with."""
        return replace(
            self,
            items=np.round(part * self.items).astype(np.int64),
            pairs=part * self.pairs,
            triple_supports=part * self.triple_supports,
        )


def combined(
    supports: Floats, spread: float, pairs: Pairs, counted: Iterable[CountedSet]
) -> Targets:
    """Return targets from all counts: means of those of one item, the newest of a pair."""
    items, item_weights = supports.copy(), np.full(len(supports), 1 / spread**2)
    targets, weights = pairs.targets.copy(), 1 / pairs.spread**2
    measured = pairs.stands_out.copy()
    triples: list[CountedSet] = []
    for each in counted:
        if len(each.items) == 1:
            (i,) = each.items
            total = item_weights[i] + each.weight
            items[i] = (items[i] * item_weights[i] + each.support * each.weight) / total
            item_weights[i] = total
        elif len(each.items) == 2:
            i, j = each.items
            targets[i, j] = targets[j, i] = max(each.support, 0.0)
            weights[i, j] = weights[j, i] = 1 / pairs.spread[i, j] ** 2 + each.weight
            measured[i, j] = measured[j, i] = True
        else:
            triples.append(each)
    np.fill_diagonal(weights, 0)
    return Targets(
        items=np.maximum(np.round(items), 0).astype(np.int64),
        pairs=np.minimum(targets, np.minimum.outer(items, items)),
        pair_weights=weights,
        measured=measured,
        triples=np.array([each.items for each in triples], dtype=np.int64).reshape(-1, 3),
        triple_supports=np.array([max(each.support, 0.0) for each in triples]),
        triple_weights=np.array([each.weight for each in triples]),
    )
