"""A pool of synthetic records whose columns follow the tables: post-processing, free.

Every class begins with independent columns of exactly the 1-way marginals' counts. A join
takes two components, sets of columns that are already joined, and permutes the records of
one of them so that a pair of attributes follows its noisy table. No record gets a weight, so
pairs that determine each other survive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.one_way import OneWay
from hedgerow.methods.weave.rounding import fitted_to_margins, rows_shared_out, shared_out
from hedgerow.model.arrays import Floats

MOST_POOLED = 4_000_000
"""Values in the pool, records times attributes, at the most ..."""

FEWEST = 150_000
"""... but never fewer records than this."""

PER_RECORD = 16
"""Records of the pool for each record to be drawn, where that is not too many."""

_Cells = NDArray[np.int32]
_T = TypeVar("_T", bound=np.generic)


@dataclass(kw_only=True, eq=False, repr=False)
class Pool:
    """Records by column, class after class: ``bounds[c]`` is where those of class c begin.

    ``component[a]`` names the columns that attribute ``a`` is joined with.
    """

    columns: list[_Cells]
    bounds: NDArray[np.int64]
    weights: Floats
    component: list[int] = field(default_factory=list)
    _kept: dict[object, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, one_way: OneWay, rng: np.random.Generator) -> Pool:
        """Return independent columns with the 1-way marginals' counts in every class."""
        sizes = pool_sizes(one_way.classes, len(one_way.tables))
        columns = []
        for table in one_way.tables:
            parts = []
            for at, size in enumerate(sizes.tolist()):
                copies = shared_out(table[:, at] + 1e-12, size, rng)
                cells = np.repeat(np.arange(len(copies), dtype=np.int32), copies)
                parts.append(rng.permutation(cells))
            columns.append(np.concatenate(parts))
        weights = np.repeat(one_way.classes / sizes, sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        component = list(range(len(columns)))
        return cls(columns=columns, bounds=bounds, weights=weights, component=component)

    @property
    def classes(self) -> _Cells:
        """The class of every record."""
        sizes = np.diff(self.bounds)
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def thinned(self, step: int) -> Pool:
        """Return every ``step``-th record, weighted to stand for all; the pool itself for 1."""
        if step == 1:
            return self
        weights = self.weights[::step]
        return Pool(
            columns=[column[::step].copy() for column in self.columns],
            bounds=-(-self.bounds // step),
            weights=weights * (self.weights.sum() / max(float(weights.sum()), 1e-300)),
            component=self.component,
        )

    def kept(self, name: object, compute: Callable[[], NDArray[_T]]) -> NDArray[_T]:
        """Return the array stored under this name, computing it once; columns must not change."""
        if name not in self._kept:
            self._kept[name] = compute()
        return self._kept[name]

    def by_class(self, attribute: int) -> _Cells:
        """Return each record's cell of an attribute and class, the class varying fastest."""
        n_classes = np.int32(len(self.bounds) - 1)
        return self.kept(attribute, lambda: self.columns[attribute] * n_classes + self.classes)

    def join(
        self,
        first: int,
        second: int,
        keys: tuple[NDArray[np.int64], NDArray[np.int64]],
        wanted: Floats,
        rng: np.random.Generator,
    ) -> None:
        """Permute the smaller of both components so that the pair follows ``wanted``.

        ``keys`` are the groups of both attributes' cells, ``wanted`` has a table per class in
        its last axis.
        """
        if self._width(second) > self._width(first):
            first, second, keys, wanted = second, first, keys[::-1], wanted.swapaxes(0, 1)
        ours, theirs = self.component[first], self.component[second]
        # Groups are few: sorting 16-bit numbers takes time in proportion to their number.
        places = [each.astype(np.int16) for each in keys]
        moving = [a for a, name in enumerate(self.component) if name == theirs]
        for at in range(wanted.shape[2]):
            rows = slice(int(self.bounds[at]), int(self.bounds[at + 1]))
            source = _matched(
                places[0][self.columns[first][rows]],
                places[1][self.columns[second][rows]],
                wanted[:, :, at],
                rng,
            )
            for a in moving:
                self.columns[a][rows] = self.columns[a][rows][source]
        self.component = [ours if name == theirs else name for name in self.component]

    def _width(self, attribute: int) -> int:
        """Return how many columns are joined with an attribute, itself included."""
        return self.component.count(self.component[attribute])


def pool_sizes(classes: Floats, n_attributes: int) -> NDArray[np.int64]:
    """Return how many records of each class the pool holds: at least one."""
    most = max(MOST_POOLED / n_attributes, FEWEST)
    many = min(PER_RECORD, most / float(classes.sum()))
    return np.maximum(np.rint(classes * many), 1).astype(np.int64)


def _matched(
    ours: NDArray[np.int16], theirs: NDArray[np.int16], wanted: Floats, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return for each record whose values of the other component it takes.

    The table of both keys follows ``wanted`` as closely as their counts allow. Records of the
    other component are taken one after another; where rounding asks for more of a key than
    there are, its first ones are taken again.
    """
    n_a, n_b = wanted.shape
    have_a, have_b = np.bincount(ours, minlength=n_a), np.bincount(theirs, minlength=n_b)
    table = fitted_to_margins(wanted + 1e-6, have_a.astype(np.float64), have_b.astype(np.float64))
    table[:, have_b == 0] = 0.0
    whole = rows_shared_out(table, have_a, rng)
    whole[:, have_b == 0] = 0
    # Where each cell's records begin, in the run of its key.
    begins = np.cumsum(whole, axis=0) - whole
    counts = whole.ravel()
    offsets = np.cumsum(counts) - counts
    at = np.arange(int(counts.sum())) + np.repeat(begins.ravel() - offsets, counts)
    run = np.cumsum(have_b) - have_b
    keys = np.tile(np.arange(n_b), n_a)
    if (begins + whole > have_b).any():
        at %= np.repeat(np.maximum(have_b, 1)[keys], counts)
    taken = _sorted_by(theirs)[at + np.repeat(run[keys], counts)]
    # Ours in random order inside a key, so that nothing else is sorted by theirs. Theirs are in
    # random order already: rows of a pool come in any order with equal chances, and still do.
    order = rng.permutation(len(ours))
    source = np.empty(len(ours), dtype=np.int64)
    source[order[_sorted_by(ours[order])]] = taken
    return source


def _sorted_by(keys: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return the records ordered by key, in their own order inside a key."""
    return np.argsort(keys, kind="stable")
