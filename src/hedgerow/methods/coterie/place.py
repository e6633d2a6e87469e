"""Frequent items placed into baskets, and swapped until pairs and triples are as measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.targets import Targets
from hedgerow.model.baskets import offsets_of

BLOCKS = 60
ROUGH_BLOCKS = 12
"""Blocks of swaps, and those of a first pass, from which only factors are taken."""

PER_BLOCK = 50_000
STOP = 20
"""Swapping ends where less than one try in so many succeeds."""

TRIES_A_PLACE = 20
"""How many swaps are tried in a block for every place of small data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedItems:
    """Baskets of frequent items, by rank: ``items[offsets[b]:offsets[b + 1]]``."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]


def placed(
    targets: Targets, lengths: NDArray[np.int64], lots: Lots, *, blocks: int = BLOCKS
) -> PlacedItems:
    """Return baskets of about these lengths that agree with the targets as far as they can.

    BasketLengths give way where the items need more or fewer places.
    """
    from hedgerow.methods.coterie import compiled

    n_top = len(targets.items)
    supports = np.minimum(targets.items, len(lengths))
    sizes = _adjusted(lengths, int(supports.sum()), n_top, lots)
    offsets = offsets_of(sizes)
    tokens = np.repeat(np.arange(n_top), supports)
    items = tokens[lots.order(len(tokens))][: offsets[-1]]
    state = np.array([lots.word()], dtype=np.uint64)
    compiled.part_twins(*compiled.unwrapped((items, offsets, state)))
    _swapped(items, offsets, targets, state, blocks)
    return PlacedItems(offsets=offsets, items=items)


def _adjusted(
    lengths: NDArray[np.int64], n_tokens: int, most: int, lots: Lots
) -> NDArray[np.int64]:
    """Return lengths that add up to the number of tokens, changed in proportion to length."""
    sizes = np.minimum(lengths, most)
    while (missing := n_tokens - int(sizes.sum())) != 0:
        if missing > 0:
            weights = np.where(sizes < most, sizes + 0.01 * (sizes == 0), 0.0)
        else:
            weights = np.where(sizes > int(np.any(sizes > 1)), sizes, 0.0).astype(np.float64)
        able = int(np.count_nonzero(weights))
        if not able:
            break
        chosen = lots.some(min(abs(missing), able // 4 + 1), weights)
        sizes[chosen] += 1 if missing > 0 else -1
    return sizes


def _swapped(
    items: NDArray[np.int64],
    offsets: NDArray[np.int64],
    targets: Targets,
    state: NDArray[np.uint64],
    blocks: int,
) -> None:
    """Swap items in place until no swap brings the baskets nearer to their targets."""
    from hedgerow.methods.coterie import compiled

    n_top = len(targets.items)
    if n_top < 2 or not len(items):
        return
    counts = np.zeros((n_top, n_top))
    triples = (
        targets.triples,
        *_triples_of_items(targets.triples, n_top),
        np.zeros(len(targets.triples)),
        targets.triple_supports,
        targets.triple_weights,
    )
    of_triples = compiled.unwrapped(triples)
    flat, starts, square = compiled.unwrapped((items, offsets, counts))
    compiled.count_combinations(flat, starts, square, of_triples)
    # Pairs that were not measured follow what placing gives, rather than a formula.
    wanted = np.where(targets.measured, targets.pairs, counts)
    held = np.argsort(items, kind="stable")
    slot_of = np.empty_like(held)
    slot_of[held] = np.arange(len(held))
    baskets = (
        items,
        offsets,
        np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)),
        offsets_of(np.bincount(items, minlength=n_top)),
        held,
        slot_of,
    )
    pairs = (counts, wanted, targets.pair_weights)
    compiled.swap_items(
        compiled.unwrapped(baskets),
        compiled.unwrapped(pairs),
        of_triples,
        blocks,
        min(PER_BLOCK, TRIES_A_PLACE * len(items)),
        STOP,
        compiled.unwrapped((state,))[0],
    )


def _triples_of_items(
    triples: NDArray[np.int64], n_top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the triples that hold each item, one after the other, and where each item's begin."""
    order = np.argsort(triples.ravel(), kind="stable")
    return order // 3, offsets_of(np.bincount(triples.ravel(), minlength=n_top))
