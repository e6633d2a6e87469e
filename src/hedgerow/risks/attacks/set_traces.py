"""Targets of baskets and of sequences compared with the released ones.

A sequence is compared by its items and by its pairs of consecutive items; both are numbered, so
that a sequence is a set like a basket. The similarity of two sets is the share of their items in
common (Jaccard).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import MissingExtraError
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.arrays import Flags
from hedgerow.progress import Done, unheard
from hedgerow.risks.attacks.sets import SetGame, kept_items, some_sets
from hedgerow.risks.attacks.table_traces import linked_by
from hedgerow.risks.attacks.traces import Scores, Traces

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PREDICATES = 4_000
"""Number of itemsets that are tried as descriptions of exactly one target."""

HIDDEN = "an item"
"""Name of what is inferred of a basket or a sequence: one hidden item."""

_BLOCK = 4_000_000
_SHARPNESS = 8.0


def set_traces(game: SetGame, *, done: Done = unheard) -> Traces:
    """Return scores and hits of all targets; the reference holds outsiders in no pair."""
    targets, known = _matrix(game.targets), _matrix(game.known)
    released, usual = _Sets(game.released), _Sets(game.reference, scale=game.scale)
    scores: dict[str, list[Scores]] = {"distance": [], "density": [], "cell": []}
    linking, inferring = _Linking(game), _Inferring(game)
    for block in _blocks(len(game.targets), max(len(game.released), game.released.n_items)):
        here, beside = released.near(targets[block]), usual.near(targets[block])
        scores["distance"].append(here[0] - beside[0])
        scores["density"].append(here[1] - beside[1])
        scores["cell"].append((here[2] - beside[2]) / np.sqrt(beside[2] + 1))
        linking.add(targets[block])
        inferring.add(known[block], block)
        done(block.stop / len(game.targets))
    return Traces(
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        linked=np.concatenate(linking.hits),
        inferred={HIDDEN: np.concatenate(inferring.hits)},
        guessed={HIDDEN: np.concatenate(inferring.usual_hits)},
    )


def _blocks(n_targets: int, n_rows: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(n_rows, 1))
    for start in range(0, n_targets, step):
        yield slice(start, min(start + step, n_targets))


def _matrix(sets: WeightedSets) -> csr_matrix:
    """Return sets as a sparse matrix of ones."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError as error:
        raise MissingExtraError("Attacking baskets and sequences", extra="evaluate") from error
    ones = np.ones(len(sets.items), dtype=np.float32)
    return csr_matrix((ones, sets.items, sets.offsets), shape=(len(sets), sets.n_items))


def _similar(some: csr_matrix, sets: csr_matrix) -> NDArray[np.float32]:
    """Return the Jaccard similarity of some sets to all others."""
    common = np.asarray((some @ sets.T).todense(), dtype=np.float32)
    sizes = _sizes(some)[:, None] + _sizes(sets)[None, :]
    either = sizes - common
    return np.asarray(np.divide(common, either, out=np.zeros_like(common), where=either > 0))


def _sizes(sets: csr_matrix) -> NDArray[np.float32]:
    return np.asarray(sets.sum(axis=1), dtype=np.float32).ravel()


class _Sets:
    """Sets with weights, and the similarity of targets to them."""

    def __init__(self, sets: WeightedSets, *, scale: float = 1.0) -> None:
        self.matrix = _matrix(sets)
        self.weights = sets.weights.astype(np.float64) * scale

    def near(self, some: csr_matrix) -> tuple[Scores, Scores, Scores]:
        """Return similarity to the nearest set, log density, and the weight of equal sets."""
        if not self.matrix.shape[0]:
            none = np.zeros(some.shape[0])
            return none, none, none
        alike = _similar(some, self.matrix)
        nearest = alike.max(axis=1).astype(np.float64)
        around = np.exp(_SHARPNESS * (alike - 1)) @ self.weights
        equal = (alike > 1 - 1e-6).astype(np.float32) @ self.weights
        return nearest, np.log(np.maximum(around, 1e-30)), np.asarray(equal, dtype=np.float64)


class _Linking:
    """Links of two halves of a set: some released set is nearest to both."""

    def __init__(self, game: SetGame) -> None:
        self.rng = np.random.default_rng([game.seed, 4])
        n_items = game.released.n_items
        first = self.rng.permutation(n_items) < n_items // 2
        self.halves = (np.flatnonzero(first), np.flatnonzero(~first))
        matrix = _matrix(game.released)
        self.parts = [matrix[:, half] for half in self.halves]
        self.counts = game.released.weights.astype(np.float64)
        self.hits: list[Flags] = []

    def add(self, some: csr_matrix) -> None:
        chance = self.rng.random(some.shape[0])
        shared = np.ones((some.shape[0], len(self.counts)), dtype=np.bool_)
        for half, part in zip(self.halves, self.parts, strict=True):
            alike = _similar(some[:, half], part)
            # A half without any released item links nobody.
            best = np.maximum(alike.max(axis=1, keepdims=True, initial=0.0), 1e-3)
            shared &= alike >= best - 1e-6
        self.hits.append(linked_by(shared, self.counts, chance))


class _Inferring:
    """Guesses of one hidden item by the released sets that are nearest to all others."""

    def __init__(self, game: SetGame) -> None:
        self.game, self.matrix = game, _matrix(game.released)
        self.weights = game.released.weights.astype(np.float64)
        self.support = np.asarray(self.matrix.T @ self.weights).ravel()
        self.hits: list[Flags] = []
        self.usual_hits: list[Flags] = []

    def add(self, known: csr_matrix, block: slice) -> None:
        if not len(self.weights):
            nobody = np.zeros(known.shape[0], dtype=np.bool_)
            self.hits.append(nobody)
            self.usual_hits.append(nobody)
            return
        alike = _similar(known, self.matrix)
        near = (alike >= alike.max(axis=1, keepdims=True) - 1e-6) * self.weights
        self.hits.append(self._hit(np.asarray(near @ self.matrix), known, block))
        usual = np.broadcast_to(self.support, (known.shape[0], len(self.support)))
        self.usual_hits.append(self._hit(usual, known, block))

    def _hit(self, votes: NDArray[np.float64], known: csr_matrix, block: slice) -> Flags:
        """Return whether the open feature with the most votes is the hidden one."""
        left = np.array(votes, dtype=np.float64)
        if self.game.starts is None or self.game.origins is None:
            left[known.nonzero()] = -1
        else:
            left[self.game.origins[None, :] != self.game.starts[block][:, None]] = -1
        guess = left.argmax(axis=1)
        return np.asarray((guess == self.game.hidden[block]) & (left.max(axis=1) > 0))


def sets_singled_out(game: SetGame) -> Flags:
    """Return which targets are the only ones with some itemset that is rare in the release."""
    hit = np.zeros(len(game.targets), dtype=np.bool_)
    if not len(game.released):
        return hit
    predicates = _matrix(_predicates(game.released, seed=game.seed))
    sizes = _sizes(predicates)
    released, targets = _matrix(game.released), _matrix(game.targets)
    weights = game.released.weights.astype(np.float64)
    least = max(1.0, float(weights.min()))
    for block in _blocks(predicates.shape[0], max(len(game.released), len(game.targets))):
        some, size = predicates[block], sizes[block][:, None]
        rare = (np.asarray((some @ released.T).todense()) >= size) @ weights <= least
        held = np.asarray((some @ targets.T).todense()) >= size
        alone = rare & (held.sum(axis=1) == 1)
        hit |= held[alone].any(axis=0)
    return hit


def _predicates(released: WeightedSets, *, seed: int) -> WeightedSets:
    """Return itemsets of released sets: some of one to three of their items, some of all."""
    rng = np.random.default_rng([seed, 8])
    chosen = rng.integers(0, len(released), PREDICATES)
    sets = some_sets(released, chosen)
    most = rng.choice(np.array([1, 2, 3, 1 << 30]), PREDICATES)
    order = np.lexsort((rng.random(len(sets.items)), sets.owners))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - sets.offsets[sets.owners[order]]
    whole = replace(sets, weights=np.ones(len(sets), dtype=np.int64))
    return kept_items(whole, rank < most[sets.owners])
