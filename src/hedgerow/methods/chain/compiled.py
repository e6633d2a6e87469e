"""The compiled drawing of sequences, cached on disk. Import lazily: loading Numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.compiling import compile_loop


@compile_loop
def unit_draw(base: np.uint64, step: np.uint64) -> float:
    """Return a number from 0 to below 1, as :func:`hedgerow.methods.chain.generate.unit_draws`."""
    x = base + step * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return np.float64(x >> np.uint64(11)) * 2.0**-53


@compile_loop
def draw_tails(
    tree: NDArray[np.int32],
    kinds: NDArray[np.int32],
    running: NDArray[np.float64],
    end: NDArray[np.float64],
    item_of: NDArray[np.int32],
    kind_of: NDArray[np.int32],
    of_two: NDArray[np.int32],
    of_one: NDArray[np.int32],
    roots: NDArray[np.int32],
    lasts: NDArray[np.int32],
    previouses: NDArray[np.int32],
    begun: NDArray[np.int64],
    least: NDArray[np.int64],
    factors: NDArray[np.float64],
    chances: NDArray[np.float64],
    longest: int,
    key: np.uint64,
    lengths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
) -> None:
    """Draw how sequences go on, as :mod:`hedgerow.methods.chain.generate` does.

    Writes how many items follow; where ``items`` has room, the items, too.
    """
    width = running.shape[1] + 1
    listed = len(items) > 0
    n_bins = len(least)
    for s in range(len(roots)):
        node = np.int64(roots[s])
        last, previous = np.int64(lasts[s]), np.int64(previouses[s])
        length = begun[s]
        at = 0
        while at + 1 < n_bins and least[at + 1] <= length:
            at += 1
        base = key + np.uint64(s) * np.uint64(0x9E3779B97F4A7C15)
        step = np.uint64(0)
        n = 0
        while length < longest:
            chance = end[node]
            if 0.0 <= chance < 1.0:
                chance = max(chance * factors[at], chances[at])
            if unit_draw(base, np.uint64(2) * step) < chance:
                break
            draw = unit_draw(base, np.uint64(2) * step + np.uint64(1))
            wanted = draw * running[node, width - 2]
            slot = 0
            while slot < width - 2 and running[node, slot] <= wanted:
                slot += 1
            kind = np.int64(kinds[node])
            item = np.int64(item_of[kind, slot])
            kind = np.int64(kind_of[kind, slot])
            if item >= 0:
                previous = last
                last = item
                length += 1
                if at + 1 < n_bins and least[at + 1] <= length:
                    at += 1
                if listed:
                    items[offsets[s] + n] = item
                n += 1
            after = np.int64(tree[node * width + slot])
            if after >= 0:
                node = after
            elif kind == 0:
                node = np.int64(of_two[last + 1, previous + 1])
            else:
                node = np.int64(of_one[kind, last + 1])
            step += np.uint64(1)
        lengths[s] = n
