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

ENOUGH = 0.2
ROUGHLY_ENOUGH = 1.0
"""Swapping ends where squares are that part of the noise's variance, in the mean of what is off."""

PER_BLOCK = 50_000
STOP = 20
"""Swapping ends where less than one try in so many succeeds."""

BITS = 64
"""Items whose presence in a basket one word tells."""

TRIES_A_PLACE = 20
"""How many swaps are tried in a block for every place of small data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedItems:
    """Baskets of frequent items, by rank: ``items[offsets[b]:offsets[b + 1]]``."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int64]


def placed(
    targets: Targets, lengths: NDArray[np.int64], lots: Lots, *, rough: bool = False
) -> PlacedItems:
    """Return baskets of about these lengths that agree with the targets as far as noise warrants.

    Lengths give way where the items need more or fewer places.
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
    _swapped(items, offsets, targets, state, rough=rough)
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
    *,
    rough: bool,
) -> None:
    """Swap items in place until few swaps bring the baskets nearer to their targets."""
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
    members = np.zeros((len(offsets) - 1, n_top // BITS + 1), dtype=np.uint64)
    flat, starts, bits, square = compiled.unwrapped((items, offsets, members, counts))
    compiled.note_members(flat, starts, bits)
    compiled.count_combinations(flat, starts, bits, square, of_triples)
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
        members,
    )
    pairs = (counts, wanted, targets.pair_weights)
    compiled.swap_items(
        compiled.unwrapped(baskets),
        compiled.unwrapped(pairs),
        of_triples,
        ROUGH_BLOCKS if rough else BLOCKS,
        min(PER_BLOCK, TRIES_A_PLACE * len(items)),
        STOP,
        ROUGHLY_ENOUGH if rough else ENOUGH,
        compiled.unwrapped((state,))[0],
    )


def _triples_of_items(
    triples: NDArray[np.int64], n_top: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the triples of each item, one after the other, what is beside it, where each begin.

    >>> [each.tolist() for each in _triples_of_items(np.array([[0, 1, 3]]), 4)]
    [[0, 0, 0], [[1, 3], [3, 0], [0, 1]], [0, 1, 2, 2, 3]]
    """
    order = np.argsort(triples.ravel(), kind="stable")
    which, place = np.divmod(order, 3)
    beside = np.stack([triples[which, (place + 1) % 3], triples[which, (place + 2) % 3]], axis=1)
    return which, beside, offsets_of(np.bincount(triples.ravel(), minlength=n_top))
