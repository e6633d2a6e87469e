"""Roots at which sequences that leave the first tree continue, chosen from noisy counts.

The rest of a sequence is filed under its last two items if noisy counts say that many
sequences leave there, else under its last item, else under nothing. All of it follows from
published numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.chain.alphabet import BETWEEN, NONE, Alphabet
from hedgerow.methods.chain.forest import Forest, Stands, places_of_cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Contexts:
    """The roots of the second forest, and which one a sequence goes on from.

    ``of_two[last + 1, previous + 1]`` is the root after two items, ``of_one[kind, last + 1]``
    the one inside a group, where only one item is distinguished; 0 stands for an item that
    is not known.
    """

    roots: Stands
    of_two: NDArray[np.int32] = field(repr=False)
    of_one: NDArray[np.int32] = field(repr=False)

    def root_of(self, places: Stands) -> NDArray[np.int32]:
        """Return the root at which sequences go on from some places."""
        last, previous = places.last + 1, places.previous + 1
        after_two = self.of_two[last, previous]
        return np.where(places.kind == BETWEEN, after_two, self.of_one[places.kind, last])


def contexts_of(forest: Forest, *, least: int) -> Contexts:
    """Return the contexts whose noisy number of leaving sequences is ``least`` or more.

    Leaves that fall short with their last two items are added up by their last one. Every kind
    of place has a root of its own for all that is left over.
    """
    alphabet = forest.alphabet
    leaving = forest.open_leaves
    places = places_of_cells(forest).at(leaving)
    counts = forest.noisy[leaving]
    size = alphabet.n_items + 1
    pair = (places.last + 1).astype(np.int64) * size + places.previous + 1
    known = (places.kind == BETWEEN) & (places.last >= 0) & (places.previous >= 0)
    pairs = _reaching(pair, counts, known, least)
    left = ~(known & np.isin(pair, pairs))
    single = places.kind.astype(np.int64) * size + places.last + 1
    singles = _reaching(single, counts, left & (places.last >= 0), least)
    return _laid_out(alphabet, singles, pairs)


def _reaching(
    keys: NDArray[np.int64], counts: NDArray[np.int64], among: NDArray[np.bool_], least: int
) -> NDArray[np.int64]:
    """Return the keys, rising, whose counts among the flagged add up to ``least`` or more."""
    found, place = np.unique(keys[among], return_inverse=True)
    totals = np.zeros(len(found), dtype=np.int64)
    np.add.at(totals, place, counts[among])
    return found[totals >= least]


def _laid_out(alphabet: Alphabet, singles: NDArray[np.int64], pairs: NDArray[np.int64]) -> Contexts:
    size, n_kinds = alphabet.n_items + 1, alphabet.n_kinds
    kinds = np.arange(n_kinds, dtype=np.int32)
    kind_of_single, last_of_single = np.divmod(singles, size)
    last_of_pair, previous_of_pair = np.divmod(pairs, size)
    roots = Stands(
        kind=np.concatenate([kinds, kind_of_single, np.zeros_like(pairs)]).astype(np.int32),
        last=np.concatenate([np.full(n_kinds, NONE), last_of_single - 1, last_of_pair - 1]).astype(
            np.int32
        ),
        previous=np.concatenate(
            [np.full(n_kinds + len(singles), NONE), previous_of_pair - 1]
        ).astype(np.int32),
    )
    of_one = np.repeat(kinds[:, None], size, axis=1)
    of_one[kind_of_single, last_of_single] = n_kinds + np.arange(len(singles), dtype=np.int32)
    of_two = np.repeat(of_one[BETWEEN][:, None], size, axis=1)
    first_pair = n_kinds + len(singles)
    of_two[last_of_pair, previous_of_pair] = first_pair + np.arange(len(pairs), dtype=np.int32)
    return Contexts(roots=roots, of_two=of_two, of_one=of_one)
