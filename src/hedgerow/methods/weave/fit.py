"""What all noisy tables together say, as a pool of weighted records: post-processing, free."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.blending import Blend, Blends, by_groups, by_places
from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.impossible import Barred
from hedgerow.methods.weave.one_way import OneWay, merged, soft
from hedgerow.methods.weave.pairs import AttributePair, PairLayout, with_class
from hedgerow.methods.weave.pool import Pool
from hedgerow.methods.weave.raking import Margin, rake
from hedgerow.methods.weave.weighing import weighed_pairs
from hedgerow.model.arrays import Floats

PairTables = dict[AttributePair, Floats]
"""The tables (first, second, class) of pairs of attributes."""

JOIN_SOFT = 0.6
"""Scales of noise by which a join's deviation from independence is drawn in."""

MARGIN = 0.8
"""Scales of noise that a raked table may stay away from its noisy counts."""

MOST_COMPARED = 100_000
"""Records of the pool that candidates are compared with, about, at the most."""

SWEEPS = 8
"""Sweeps over all tables in the last fit, and ..."""

FIRST_SWEEPS = 2
"""... in those between further tables."""

BLENDINGS = 4
"""Times that the factors of a join are brought to its groups' counts."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Joint:
    """A noisy table of two attributes: ``groups`` are those of their cells, classes last."""

    pair: AttributePair
    groups: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: Floats


@dataclass(kw_only=True, eq=False, repr=False)
class Fit:
    """One-way tables, joins and further tables, and the pool that follows them.

    ``share`` is the epsilon of every table of two attributes.
    """

    one_way: OneWay
    axes: tuple[CellAxis, ...]
    rng: np.random.Generator
    share: float
    margins: list[Margin] = field(default_factory=list)
    _pool: Pool | None = None

    @property
    def pool(self) -> Pool:
        """The records; independent columns until something is joined."""
        if self._pool is None:
            self._pool = Pool.of(self.one_way, self.rng)
        return self._pool

    @property
    def noise(self) -> float:
        """The scale of noise of a table of two attributes."""
        return 1 / self.share

    def independent(self, layout: PairLayout, mergings: list[Merging]) -> PairTables:
        """Return every pair's table as if attributes were independent given the class."""
        coarse = [
            merged(table, merging.groups(FINEST))
            for table, merging in zip(self.one_way.tables, mergings, strict=True)
        ]
        scaled = [table / self.one_way.classes for table in coarse]
        return {(a, b): coarse[a][:, None, :] * scaled[b][None, :, :] for a, b in layout.pairs}

    def pair_tables(self, layout: PairLayout, mergings: list[Merging]) -> PairTables:
        """Return every pair's table under the pool's weights, from a part of a large pool."""
        pool = self.pool
        step = -(-len(pool.weights) // MOST_COMPARED)
        cells = np.stack(
            [
                merging.groups(FINEST).astype(np.int16)[column[::step]]
                for merging, column in zip(mergings, pool.columns, strict=True)
            ],
            axis=1,
        )
        weights = pool.weights[::step] * (pool.weights.sum() / pool.weights[::step].sum())
        by_class = with_class(cells, pool.classes[::step], layout.n_classes)
        return layout.split(weighed_pairs(cells, by_class, weights, layout))

    def join(self, joins: list[Joint]) -> None:
        """Let the one-way tables learn from the joins, and join the pool by them."""
        for each in joins:
            self._learn(each)
        for each in joins:
            blends = self._blends(each)
            places = blends[0].place, blends[1].place
            self.pool.join(*each.pair, places, self._wanted(each, blends), self.rng)
        self.margins = [self._margin(each) for each in joins]

    def bar(self, barred: tuple[Barred, ...]) -> None:
        """Let no record with a combination that cannot occur be drawn, and fit the others."""
        if not barred:
            return
        pool = self.pool
        codes = [axis.edges[column] for axis, column in zip(self.axes, pool.columns, strict=True)]
        for each in barred:
            pool.weights[each.holds([*codes, pool.classes.astype(np.int64)])] = 0.0
        self.refit(SWEEPS)

    def add(self, tables: list[Joint], *, last: bool) -> None:
        """Take in further tables and fit the weights to all tables."""
        for each in tables:
            self._learn(each)
            self.margins.insert(0, self._margin(each))
        self.refit(SWEEPS if last else FIRST_SWEEPS)

    def refit(self, sweeps: int, *extra: Margin) -> None:
        """Fit the weights to all tables, the one-way tables last in every sweep."""
        pool = self.pool
        n_classes, classes = len(self.one_way.classes), pool.classes
        singles = [
            Margin(
                keys=column * np.int32(n_classes) + classes,
                counts=self.one_way.tables[a].ravel(),
                margin=0.0,
            )
            for a, column in enumerate(pool.columns)
        ]
        pool.weights = rake(pool.weights, [*self.margins, *singles, *extra], sweeps=sweeps)

    def _learn(self, each: Joint) -> None:
        """Refine the one-way tables of a table's attributes by its margins."""
        noise = 2 * self.noise**2
        (a, b), (of_a, of_b) = each.pair, each.groups
        n_a, n_b, _ = each.counts.shape
        self.one_way.refine(a, of_a, each.counts.sum(axis=1), noise * n_b)
        self.one_way.refine(b, of_b, each.counts.sum(axis=0), noise * n_a)

    def _blends(self, each: Joint) -> Blends:
        """Return how factors of a table's groups are carried over to cells."""
        first, second = (
            Blend.of(self.axes[a], groups, self.one_way.tables[a].sum(axis=1))
            for a, groups in zip(each.pair, each.groups, strict=True)
        )
        return first, second

    def _wanted(self, each: Joint, blends: Blends) -> Floats:
        """Return the table by class that a join is to follow: prior and what stands out."""
        first, second = (
            merged(self.one_way.tables[a], blend.place)
            for a, blend in zip(each.pair, blends, strict=True)
        )
        prior = first[:, None, :] * (second / self.one_way.classes)[None, :, :]
        by_class = each.counts.shape[2] == prior.shape[2]
        known = self._by_groups(prior, blends, by_class=by_class)
        told = np.maximum(known + soft(each.counts - known, JOIN_SOFT * self.noise), 0.0)
        told = told + 1e-3 * known
        factors = told / np.maximum(known, 1e-9)
        for _ in range(BLENDINGS):
            wanted = prior * by_places(factors, blends)
            reached = self._by_groups(wanted, blends, by_class=by_class)
            factors = factors * np.clip(told / np.maximum(reached, 1e-9), 0.2, 5.0)
        return wanted

    def _by_groups(self, table: Floats, blends: Blends, *, by_class: bool) -> Floats:
        sums = by_groups(table, blends)
        return sums if by_class else sums.sum(axis=2, keepdims=True)

    def _margin(self, each: Joint) -> Margin:
        (a, b), n_c = each.pair, each.counts.shape[2]
        blends = self._blends(each)
        pool = self.pool
        first, second = (
            blend.place[pool.columns[at]] for at, blend in zip((a, b), blends, strict=True)
        )
        keys = first * blends[1].n_places + second
        if n_c > 1:
            keys = keys * n_c + pool.classes
        return Margin(
            keys=keys.astype(np.int32),
            counts=each.counts,
            margin=MARGIN * self.noise,
            blends=blends,
        )
