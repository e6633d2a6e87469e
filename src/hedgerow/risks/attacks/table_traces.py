"""Targets of a table compared with the rows of its release, in one pass over the columns.

Membership scores are calibrated by the reference: a value that is frequent in the population is
near many released rows whether or not the target is a member.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Flags
from hedgerow.progress import Done, stretch, unheard
from hedgerow.risks.attacks.rows import CodeTable, Distances, ReleasedRows
from hedgerow.risks.attacks.traces import Scores, Traces

SHARPNESS = 4.0
"""Power of e by which the weight of a row falls for every column of distance 1."""

TOLERANCE = 0.05
"""Share of a number's domain within which it counts as inferred."""

_EQUAL = 1e-5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableAims:
    """Columns that attacks use: two halves of the columns to link, and columns to infer."""

    halves: tuple[list[int], list[int]]
    sensitive: tuple[int, ...] = ()
    seed: int = 0

    @classmethod
    def of(cls, n_columns: int, *, sensitive: tuple[int, ...], seed: int) -> TableAims:
        """Divide the columns into two halves at random."""
        order = np.random.default_rng([seed, 3]).permutation(n_columns).tolist()
        middle = (n_columns + 1) // 2
        halves = (sorted(order[:middle]), sorted(order[middle:]))
        return cls(halves=halves, sensitive=sensitive, seed=seed)


def table_traces(
    rows: ReleasedRows,
    targets: CodeTable,
    reference: ReleasedRows,
    aims: TableAims,
    *,
    done: Done = unheard,
) -> Traces:
    """Return scores and hits of all targets; the reference holds outsiders in no pair."""
    expected = _held(rows, reference, done=stretch(done, 0, 10))
    usual = _Nearness(reference)
    near = _Nearness(rows)
    scores: dict[str, list[Scores]] = {"distance": [], "density": [], "cell": []}
    linking = _Linking(rows, aims)
    inferring = [_Inferring(rows, column, aims.seed) for column in aims.sensitive]
    standing_out = (rows.counts - expected) / np.sqrt(expected + 1)
    for block in rows.blocks(len(targets)):
        codes = targets[block]
        one, other = (rows.distances(codes, half) for half in aims.halves)
        linking.add(one, other)
        whole = one + other
        del one, other
        beside = usual.of(reference.distances(codes, range(rows.n_columns)))
        here = near.of(whole)
        scores["distance"].append(beside[0] - here[0])
        scores["density"].append(here[1] - beside[1])
        scores["cell"].append((whole < _EQUAL).astype(np.float32) @ standing_out)
        for each in inferring:
            each.add(codes, whole)
        done(0.1 + 0.9 * block.stop / len(targets))
    return Traces(
        scores={name: np.concatenate(parts) for name, parts in scores.items()},
        linked=np.concatenate(linking.hits) if all(aims.halves) else None,
        inferred={rows.names[each.column]: np.concatenate(each.hits) for each in inferring},
        guessed={rows.names[each.column]: np.concatenate(each.usual_hits) for each in inferring},
    )


def _held(rows: ReleasedRows, reference: ReleasedRows, *, done: Done) -> NDArray[np.float64]:
    """Return how many records of the reference each row would contain."""
    held = np.zeros(len(rows))
    for block in rows.blocks(len(reference)):
        away = rows.distances(reference.first[block], range(rows.n_columns))
        held += reference.counts[block] @ (away < _EQUAL)
        done(block.stop / len(reference))
    return held


class _Nearness:
    """Distance of the nearest row, and density of rows around a record."""

    def __init__(self, rows: ReleasedRows) -> None:
        weights = np.log(np.maximum(rows.counts, 1e-12)) - rows.log_volumes
        self.largest = float(weights.max(initial=0.0))
        self.weights = np.exp(weights - self.largest).astype(np.float32)
        self.n_columns = max(rows.n_columns, 1)

    def of(self, distances: Distances) -> tuple[Scores, Scores]:
        """Return the distance of the nearest row, and the logarithm of the density."""
        if not distances.shape[1]:
            ends = np.full(len(distances), float(self.n_columns))
            return ends, -SHARPNESS * ends
        nearest = distances.min(axis=1).astype(np.float64)
        around = np.exp(-SHARPNESS * distances) @ self.weights
        return nearest, np.log(np.maximum(around, 1e-30)).astype(np.float64) + self.largest


class _Linking:
    """Links of two halves of a record: some released record is nearest to both."""

    def __init__(self, rows: ReleasedRows, aims: TableAims) -> None:
        self.rng = np.random.default_rng([aims.seed, 4])
        self.counts = rows.counts
        self.hits: list[Flags] = []

    def add(self, one: Distances, other: Distances) -> None:
        self.hits.append(
            linked_by(_nearest(one) & _nearest(other), self.counts, self.rng.random(len(one)))
        )


def _nearest(distances: Distances) -> Flags:
    """Return which rows are nearest to each record, with ties."""
    if not distances.shape[1]:
        return np.zeros(distances.shape, dtype=np.bool_)
    return np.asarray(distances <= distances.min(axis=1, keepdims=True) + _EQUAL)


def linked_by(shared: Flags, counts: NDArray[np.float64], chance: NDArray[np.float64]) -> Flags:
    """Return whose halves are linked, given the rows that are nearest to both halves.

    Two rows of c records in total are the same record with probability 1 / c.
    """
    standing = shared @ counts
    return np.asarray((standing > 0) & (chance * np.maximum(standing, 1) < 1))


class _Inferring:
    """Guesses of one column by the released rows that are nearest in all others."""

    def __init__(self, rows: ReleasedRows, column: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 5, column])
        self.rows, self.column = rows, column
        self.is_number = bool(rows.steps[column] > 0)
        self.size = int(rows.sizes[column])
        first, stop = rows.first[:, column], rows.stop[:, column]
        self.values = (first + stop - 1) / 2 if self.is_number else rng.integers(first, stop)
        self.tie = rng.random(self.size) * _EQUAL
        self.usual = self._usual()
        self.hits: list[Flags] = []
        self.usual_hits: list[Flags] = []

    def _usual(self) -> float:
        """Return the most frequent value of this column in the release."""
        if not len(self.rows):
            return 0.0
        if self.is_number:
            order = np.argsort(self.values, kind="stable")
            upto = np.cumsum(self.rows.counts[order])
            return float(self.values[order][np.searchsorted(upto, upto[-1] / 2)])
        votes = np.bincount(self.values, weights=self.rows.counts, minlength=self.size)
        return float((votes + self.tie).argmax())

    def add(self, codes: CodeTable, whole: Distances) -> None:
        true = codes[:, self.column]
        if not len(self.rows):
            self._score(true, np.zeros(len(true)))
            return
        away = whole - self.rows.gap(true, self.column)
        near = away <= away.min(axis=1, keepdims=True) + _EQUAL
        if self.is_number:
            weights = near @ self.rows.counts
            guess = (near @ (self.rows.counts * self.values)) / np.maximum(weights, 1e-300)
        else:
            guess = self._voted(near)
        self._score(true, guess)

    def _voted(self, near: Flags) -> NDArray[np.float64]:
        target, row = np.nonzero(near)
        cell = target * self.size + self.values[row]
        votes = np.bincount(
            cell, weights=self.rows.counts[row], minlength=len(near) * self.size
        ).reshape(len(near), self.size)
        return np.asarray((votes + self.tie).argmax(axis=1), dtype=np.float64)

    def _score(self, true: NDArray[np.int32], guess: NDArray[np.float64]) -> None:
        most = TOLERANCE * (self.size - 1) if self.is_number else 0.0
        self.hits.append(np.abs(guess - true) <= most)
        self.usual_hits.append(np.abs(self.usual - true) <= most)
