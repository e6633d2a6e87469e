"""Sequences drawn from what was published: the first tree's leaves, and ways down the second.

Randomness here costs nothing and hides nothing: a key from the run's source and a hash of it
with a sequence's number and step, so that a draw depends on no other one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.chain.alphabet import Alphabet
from hedgerow.methods.chain.contexts import Contexts
from hedgerow.methods.chain.forest import Forest, Stands
from hedgerow.model.arrays import Floats
from hedgerow.model.baskets import offsets_of

_SEQUENCE = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD1B54A32D192ED03)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_PART = 2.0**-53

INSIDE = -1.0
"""The chance to end of a place inside an item: there is none."""


def unit_draws(key: int, sequences: NDArray[np.uint64], step: int) -> Floats:
    """Return a number from 0 to below 1 for each sequence at a step, the same whenever asked."""
    with np.errstate(over="ignore"):
        x = np.uint64(key) + sequences * _SEQUENCE + np.uint64(step) * _STEP
        x = (x ^ (x >> np.uint64(30))) * _FIRST
        x = (x ^ (x >> np.uint64(27))) * _SECOND
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(11)).astype(np.float64) * _PART


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways:
    """All that the second forest says of how sequences go on.

    ``running[node]`` are the children's counts added up from the left, without the end;
    ``end[node]`` is the chance to end there, -1 inside an item.
    """

    alphabet: Alphabet
    contexts: Contexts
    tree: NDArray[np.int32] = field(repr=False)
    kinds: NDArray[np.int32] = field(repr=False)
    running: Floats = field(repr=False)
    end: Floats = field(repr=False)

    @classmethod
    def of(cls, forest: Forest, contexts: Contexts, counts: Floats) -> Ways:
        """Return the ways down a forest whose counts add up."""
        width = forest.alphabet.width
        rows = counts.reshape(-1, width)
        running = np.cumsum(rows[:, :-1], axis=1)
        ending = rows[:, -1]
        total = running[:, -1] + ending
        end = np.where(total > 0, ending / np.where(total > 0, total, 1.0), 1.0)
        between = forest.alphabet.there[forest.nodes.kind, forest.alphabet.end]
        end = np.where(between, np.where(running[:, -1] > 0, end, 1.0), INSIDE)
        return cls(
            alphabet=forest.alphabet,
            contexts=contexts,
            tree=forest.tree,
            kinds=forest.nodes.kind,
            running=np.ascontiguousarray(running),
            end=end,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Leaving:
    """Sequences that left the first tree: where each goes on, and how many items it has."""

    places: Stands
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ending:
    """Ends of sequences: factors and minimum of the probability to end, by bins of lengths."""

    least: NDArray[np.int64]
    factors: Floats
    chances: Floats
    longest: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Tails:
    """Items of each sequence after it leaves the first tree."""

    lengths: NDArray[np.int64]
    items: NDArray[np.int32]


def drawn_tails(
    ways: Ways, leaving: Leaving, ending: Ending, *, key: int, compiled: bool, listed: bool = True
) -> Tails:
    """Return how sequences go on; without ``listed`` only how long what follows is."""
    if compiled:
        return _compiled_tails(ways, leaving, ending, key, listed=listed)
    return _Drawing(ways, leaving, ending, key).tails()


def _compiled_tails(
    ways: Ways, leaving: Leaving, ending: Ending, key: int, *, listed: bool
) -> Tails:
    from hedgerow.methods.chain import compiled

    alphabet, places = ways.alphabet, leaving.places
    lengths = np.zeros(len(leaving), dtype=np.int64)
    roots = ways.contexts.root_of(places)
    arguments = (
        ways.tree,
        ways.kinds,
        ways.running,
        ways.end,
        alphabet.item_of,
        alphabet.kind_of,
        ways.contexts.of_two,
        ways.contexts.of_one,
        roots,
        places.last,
        places.previous,
        leaving.lengths,
        ending.least,
        ending.factors,
        ending.chances,
        ending.longest,
        np.uint64(key),
    )
    nothing = np.zeros(0, dtype=np.int32)
    compiled.draw_tails(*arguments, lengths, offsets_of(lengths), nothing)
    if not listed:
        return Tails(lengths=lengths, items=nothing)
    offsets = offsets_of(lengths)
    items = np.empty(int(offsets[-1]), dtype=np.int32)
    compiled.draw_tails(*arguments, lengths, offsets, items)
    return Tails(lengths=lengths, items=items)


class _Drawing:
    """All sequences at once, a step at a time."""

    def __init__(self, ways: Ways, leaving: Leaving, ending: Ending, key: int) -> None:
        self.ways = ways
        self.ending = ending
        self.key = key
        self.n = len(leaving)
        self.active = np.arange(self.n, dtype=np.int64)
        self.node = ways.contexts.root_of(leaving.places).astype(np.int64)
        self.last = leaving.places.last.copy()
        self.previous = leaving.places.previous.copy()
        self.length = leaving.lengths.copy()
        self.found: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []

    def tails(self) -> Tails:
        """Draw until every sequence has ended."""
        self._keep(self.length < self.ending.longest)
        step = 0
        while len(self.active):
            sequences = self.active.astype(np.uint64)
            ends = unit_draws(self.key, sequences, 2 * step) < self._end_chance()
            self._keep(~ends)
            self._advance(unit_draws(self.key, sequences[~ends], 2 * step + 1))
            step += 1
        return self._listed()

    def _end_chance(self) -> Floats:
        bins = np.searchsorted(self.ending.least, self.length, side="right") - 1
        chance = self.ways.end[self.node]
        moved = np.maximum(chance * self.ending.factors[bins], self.ending.chances[bins])
        return np.where(chance >= 1.0, 1.0, np.where(chance < 0.0, 0.0, moved))

    def _advance(self, draws: Floats) -> None:
        ways, alphabet = self.ways, self.ways.alphabet
        running = ways.running[self.node]
        wanted = draws * running[:, -1]
        slot = (running <= wanted[:, None]).sum(axis=1)
        slot = np.minimum(slot, running.shape[1] - 1)
        kind = ways.kinds[self.node]
        item, next_kind = alphabet.item_of[kind, slot], alphabet.kind_of[kind, slot]
        done = item >= 0
        self.previous = np.where(done, self.last, self.previous)
        self.last = np.where(done, item, self.last)
        self.length = self.length + done
        self.found.append((self.active[done], item[done]))
        after = ways.tree[self.node * alphabet.width + slot].astype(np.int64)
        places = Stands(kind=next_kind, last=self.last, previous=self.previous)
        self.node = np.where(after >= 0, after, ways.contexts.root_of(places))
        self._keep(~(done & (self.length >= self.ending.longest)))

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.active, self.node, self.length = self.active[kept], self.node[kept], self.length[kept]
        self.last, self.previous = self.last[kept], self.previous[kept]

    def _listed(self) -> Tails:
        if not self.found:
            return Tails(
                lengths=np.zeros(self.n, dtype=np.int64), items=np.zeros(0, dtype=np.int32)
            )
        owners, items = map(np.concatenate, zip(*self.found, strict=True))
        order = np.argsort(owners, kind="stable")
        lengths = np.bincount(owners, minlength=self.n).astype(np.int64)
        return Tails(lengths=lengths, items=items[order])
