"""Baskets and sequences as sets of numbered features, and the hidden item of each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.weighted_sets import WeightedSets

MOST_SETS = 50_000
"""Maximum number of released sets that targets are compared with; more are sampled."""


def some_sets(sets: WeightedSets, which: NDArray[np.int64]) -> WeightedSets:
    """Return some of the sets, in the requested order."""
    sizes = np.diff(sets.offsets)[which]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(sets.offsets[which] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return replace(sets, offsets=offsets, items=sets.items[places], weights=sets.weights[which])


def kept_items(sets: WeightedSets, kept: NDArray[np.bool_]) -> WeightedSets:
    """Return the sets reduced to some of their items; empty sets are kept."""
    sizes = np.bincount(sets.owners[kept], minlength=len(sets))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(sets, offsets=offsets, items=sets.items[kept])


def capped(sets: WeightedSets, *, seed: int) -> WeightedSets:
    """Return the released sets, sampled if there are very many."""
    if len(sets) <= MOST_SETS:
        return sets
    rng = np.random.default_rng([seed, 2])
    return some_sets(sets, np.sort(rng.choice(len(sets), MOST_SETS, replace=False)))


def with_steps(sets: WeightedSets) -> WeightedSets:
    """Return sequences as sets of their items and of their steps from an item to the next.

    The step from ``a`` to ``b`` of ``n`` items has the number ``n + a n + b``.
    """
    n = sets.n_items
    items = sets.items.astype(np.int64)
    follows = sets.owners[1:] == sets.owners[:-1]
    steps = n + items[:-1][follows] * n + items[1:][follows]
    owner = np.concatenate([sets.owners, sets.owners[1:][follows]])
    keys = np.unique(np.stack([owner, np.concatenate([items, steps])]), axis=1)
    sizes = np.bincount(keys[0], minlength=len(sets))
    return WeightedSets(
        n_items=n + n * n,
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        items=keys[1],
        weights=sets.weights,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SetGame:
    """The released sets, the targets and the reference, all over the same features.

    ``known`` are the targets without the feature ``hidden`` (-1: nothing is hidden). With
    ``starts``, only features whose ``origins`` equal it may be guessed: the steps from the last
    known item of a sequence. Each reference set counts ``scale`` times.
    """

    released: WeightedSets
    targets: WeightedSets
    reference: WeightedSets
    known: WeightedSets
    hidden: NDArray[np.int64]
    scale: float
    seed: int
    origins: NDArray[np.int64] | None = None
    starts: NDArray[np.int64] | None = None


def basket_game(
    released: WeightedSets,
    targets: WeightedSets,
    reference: WeightedSets,
    *,
    scale: float,
    seed: int,
) -> SetGame:
    """Return the game of baskets; one random item of each target of two or more is hidden."""
    rank = np.random.default_rng([seed, 5]).permutation(released.n_items)
    sizes = np.diff(targets.offsets)
    order = np.lexsort((rank[targets.items], targets.owners))
    first = order[targets.offsets[:-1][sizes > 1]]
    hidden = np.full(len(targets), -1, dtype=np.int64)
    hidden[targets.owners[first]] = targets.items[first]
    kept = np.ones(len(targets.items), dtype=np.bool_)
    kept[first] = False
    return SetGame(
        released=released,
        targets=targets,
        reference=reference,
        known=kept_items(targets, kept),
        hidden=hidden,
        scale=scale,
        seed=seed,
    )


def sequence_game(
    released: WeightedSets,
    targets: WeightedSets,
    reference: WeightedSets,
    *,
    scale: float,
    seed: int,
) -> SetGame:
    """Return the game of sequences; the last item of each target of two or more is hidden."""
    n = released.n_items
    sizes = np.diff(targets.offsets)
    long = np.flatnonzero(sizes > 1)
    last = targets.offsets[1:][long] - 1
    items = targets.items.astype(np.int64)
    hidden, starts = (np.full(len(targets), -1, dtype=np.int64) for _ in range(2))
    starts[long] = items[last - 1]
    hidden[long] = n + items[last - 1] * n + items[last]
    kept = np.ones(len(items), dtype=np.bool_)
    kept[last] = False
    several = [released, targets, reference, kept_items(targets, kept)]
    stepped = [with_steps(each) for each in several]
    used = np.unique(np.concatenate([*(each.items for each in stepped), hidden[long]]))
    stepped = [
        replace(each, n_items=len(used), items=np.searchsorted(used, each.items))
        for each in stepped
    ]
    hidden[long] = np.searchsorted(used, hidden[long])
    return SetGame(
        released=stepped[0],
        targets=stepped[1],
        reference=stepped[2],
        known=stepped[3],
        hidden=hidden,
        scale=scale,
        seed=seed,
        origins=np.where(used >= n, used // n - 1, -2),
        starts=starts,
    )
