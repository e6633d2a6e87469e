"""The fit of a pool of weighted records to all noisy tables: post-processing, free."""

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

SWEEPS = 4
"""Sweeps over all tables in the last fit, and ..."""

FIRST_SWEEPS = 1
"""... in those between further tables."""

BLENDINGS = 4
"""Times that the factors of a join are brought to its groups' counts."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Joint:
    """A noisy 2-way marginal: ``groups`` are those of their cells, classes last."""

    pair: AttributePair
    groups: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _RakedTable:
    """A table to rake into, within a margin, and how its factors are carried over to cells."""

    joint: Joint
    blends: Blends
    margin: float


@dataclass(kw_only=True, eq=False, repr=False)
class Fit:
    """1-way marginals, joins and further tables, and the pool that follows them.

    ``share`` is the epsilon of every 2-way marginal. Until the last table is in, only
    a part of a large pool is fitted: the one that candidates are compared with.
    """

    one_way: OneWay
    axes: tuple[CellAxis, ...]
    rng: np.random.Generator
    share: float
    _raked: list[_RakedTable] = field(default_factory=list)
    _pool: Pool | None = None
    _part: Pool | None = None

    @property
    def pool(self) -> Pool:
        """The records; independent columns until something is joined."""
        if self._pool is None:
            self._pool = Pool.of(self.one_way, self.rng)
        return self._pool

    @property
    def part(self) -> Pool:
        """Every k-th record of a large pool; all of a small one."""
        if self._part is None:
            self._part = self.pool.thinned(-(-len(self.pool.weights) // MOST_COMPARED))
        return self._part

    @property
    def noise(self) -> float:
        """The scale of noise of a 2-way marginal."""
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
        """Return every pair's table under the weights of the part of the pool."""
        part = self.part
        cells = part.kept("groups", lambda: _finest(part, mergings))
        by_class = part.kept("by class", lambda: with_class(cells, part.classes, layout))
        return layout.split(weighed_pairs(cells, by_class, part.weights, layout))

    def join(self, joins: list[Joint]) -> None:
        """Let the 1-way marginals learn from the joins, and join the pool by them."""
        for each in joins:
            self._learn(each)
        for each in joins:
            blends = self._blends(each)
            places = blends[0].place, blends[1].place
            self.pool.join(*each.pair, places, self._wanted(each, blends), self.rng)
        self._raked = [self._to_rake(each) for each in joins]

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
            self._raked.insert(0, self._to_rake(each))
        if last:
            self.refit(SWEEPS)
        else:
            self._rake(self.part, FIRST_SWEEPS)

    def order(self, tables: list[Joint], margin: float) -> None:
        """Fit the weights to 2 x 2 marginals as well, where no other table has their pair."""
        known = {each.joint.pair for each in self._raked}
        for each in tables:
            if each.pair not in known:
                self._raked.insert(
                    0, _RakedTable(joint=each, blends=self._blends(each), margin=margin)
                )
        self.refit(SWEEPS)

    def refit(self, sweeps: int, *extra: Margin) -> None:
        """Fit the weights to all tables, the 1-way marginals last in every sweep."""
        self._rake(self.pool, sweeps, *extra)

    def _rake(self, pool: Pool, sweeps: int, *extra: Margin) -> None:
        singles = [
            Margin(keys=pool.by_class(a), counts=table.ravel(), margin=0.0)
            for a, table in enumerate(self.one_way.tables)
        ]
        raked = [self._margin(each, pool) for each in self._raked]
        pool.weights = rake(pool.weights, [*raked, *singles, *extra], sweeps=sweeps)

    def _to_rake(self, each: Joint) -> _RakedTable:
        return _RakedTable(joint=each, blends=self._blends(each), margin=MARGIN * self.noise)

    def _learn(self, each: Joint) -> None:
        """Refine the 1-way marginals of a table's attributes by its margins."""
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
        target = np.maximum(known + soft(each.counts - known, JOIN_SOFT * self.noise), 0.0)
        target = target + 1e-3 * known
        factors = target / np.maximum(known, 1e-9)
        for _ in range(BLENDINGS):
            wanted = prior * by_places(factors, blends)
            reached = self._by_groups(wanted, blends, by_class=by_class)
            factors = factors * np.clip(target / np.maximum(reached, 1e-9), 0.2, 5.0)
        return wanted

    def _by_groups(self, table: Floats, blends: Blends, *, by_class: bool) -> Floats:
        sums = by_groups(table, blends)
        return sums if by_class else sums.sum(axis=2, keepdims=True)

    def _margin(self, each: _RakedTable, pool: Pool) -> Margin:
        return Margin(
            keys=pool.kept(each, lambda: _cells_of(each, pool)),
            counts=each.joint.counts,
            margin=each.margin,
            blends=each.blends,
        )


def _cells_of(each: _RakedTable, pool: Pool) -> NDArray[np.int32]:
    """Return the place of each record of a pool in a table."""
    n_c = each.joint.counts.shape[2]
    first, second = (
        blend.place.astype(np.int32)[pool.columns[at]]
        for at, blend in zip(each.joint.pair, each.blends, strict=True)
    )
    keys: NDArray[np.int32] = first * np.int32(each.blends[1].n_places) + second
    if n_c > 1:
        keys = keys * np.int32(n_c) + pool.classes
    return keys


def _finest(pool: Pool, mergings: list[Merging]) -> NDArray[np.int16]:
    """Return the finest groups of the records of a pool, a row for each column."""
    groups = [merging.groups(FINEST).astype(np.int16) for merging in mergings]
    return np.stack([g[column] for g, column in zip(groups, pool.columns, strict=True)])
