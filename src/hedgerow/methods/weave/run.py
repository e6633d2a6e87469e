"""One run of weave: what it asks the records, in order, and what it makes of the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.candidates import (
    Candidate,
    CandidateTables,
    sensitivity,
    table_candidates,
)
from hedgerow.methods.weave.class_tree import LeafCounts, grown_tree, most_leaves
from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.codes import CodeCounts, CodeLevels
from hedgerow.methods.weave.fit import SWEEPS, Fit, Joint
from hedgerow.methods.weave.impossible import Barred
from hedgerow.methods.weave.one_way import OneWay, code_counts, one_way_counts
from hedgerow.methods.weave.orders import halves, margin, order_pairs, quartered, with_deviation
from hedgerow.methods.weave.pairs import AttributePair, PairCounts, PairLayout
from hedgerow.methods.weave.purpose import Purpose
from hedgerow.methods.weave.raking import Margin
from hedgerow.methods.weave.refinement import estimated, refined_axis
from hedgerow.methods.weave.shape import WeaveBudget
from hedgerow.methods.weave.weighing import compiled, weighed
from hedgerow.model.engine import Engine
from hedgerow.model.groups import LeafTable
from hedgerow.model.measured import Kind, MeasuredTable
from hedgerow.model.run import Run

FURTHER_ROUNDS = 6
"""Refits between further tables, at the most, where there are many attributes."""

MANY = 20
"""Minimum attributes for choosing several further tables against one fit."""


@dataclass(kw_only=True, eq=False, repr=False)
class WeaveRun:
    """The questions of one run, each booked before it is answered.

    ``axes`` are the cells of the predictors: public ones at first, then those that follow from
    noisy code counts.
    """

    run: Run[Engine]
    axes: tuple[CellAxis, ...]
    levels: tuple[CodeLevels | None, ...]
    n_classes: int
    purpose: Purpose
    budget: WeaveBudget
    rng: np.random.Generator
    barred: tuple[Barred, ...] = ()
    measured: list[MeasuredTable] = field(default_factory=list)
    leaf_table: LeafTable | None = None

    def fit(self) -> Fit:
        """Return the pool of records that follows all tables."""
        fit = self._paired(self._one_way())
        if self.budget.shape.leaves:
            self._leaves(fit)
        return fit

    def _paired(self, one_way: OneWay) -> Fit:
        """Return the pool that follows the 1-way and the 2-way marginals."""
        shape = self.budget.shape
        if not shape.tables:
            fit = Fit(one_way=one_way, axes=self.axes, rng=self.rng, share=1.0)
            fit.bar(self.barred)
            return fit
        self.run.progress("counting pairs", None)
        share = self.budget.table
        mergings = [
            Merging(axis, table.sum(axis=1))
            for axis, table in zip(self.axes, one_way.tables, strict=True)
        ]
        layout = CandidateTables(
            table_candidates(
                mergings,
                n_records=one_way.n_records,
                share=float(share),
                n_classes=self.n_classes,
                purpose=self.purpose,
            ),
            mergings,
            self.n_classes,
            compiled=compiled(one_way.n_records),
        )
        choice = TableChoice(
            weave=self, layout=layout, mergings=mergings, n_records=one_way.n_records
        )
        fit = Fit(one_way=one_way, axes=self.axes, rng=self.rng, share=float(share))
        joins = choice.joins(fit)
        self.run.progress("joining tables", None)
        fit.join(joins)
        fit.bar(self.barred)
        choice.further(fit)
        if shape.orders:
            choice.orders(fit)
        return fit

    def _leaves(self, fit: Fit) -> None:
        """Count the leaves of a tree that is grown on the pool, and fit them, too.

        Privacy: the tree is made of earlier answers and a record is in one leaf and class, so
        this costs the share of the leaf table.
        """
        self.run.progress("counting leaves", None)
        share = self.budget.leaves
        leaves = most_leaves(fit.one_way.n_records, float(share), self.n_classes)
        tree = grown_tree(fit.pool, self.axes, n_leaves=leaves)
        counts = self.run.engine.sum(LeafCounts(tree=tree, n_classes=self.n_classes))
        noisy = self.noisy(counts, share, "leaf table")
        by_leaf = noisy.reshape(-1, self.n_classes)
        sizes = [int(axis.edges[-1]) for axis in self.axes]
        records = np.maximum(by_leaf, 0).sum(axis=1).astype(np.float64)
        self.leaf_table = LeafTable(
            tree=tree.published(sizes, records), counts=by_leaf, share=share
        )
        edges = [
            axis.edges[column] for axis, column in zip(self.axes, fit.pool.columns, strict=True)
        ]
        keys = tree.leaves_of(np.stack(edges)) * self.n_classes + fit.pool.classes
        margin = Margin(
            keys=keys.astype(np.int32), counts=noisy.astype(np.float64), margin=0.5 / float(share)
        )
        fit.refit(SWEEPS, margin)

    def noisy(self, counts: NDArray[np.int64], share: Fraction, on: str) -> NDArray[np.int64]:
        """Return one table with noise.

        Privacy: a record is in one cell of a table, so the table costs ``share``.
        """
        return self.run.noisy(counts, share=share, on=on)

    def name(self, attribute: int) -> str:
        """Return the name of an attribute, for the ledger."""
        return self.run.engine.schema.attributes[attribute].name

    def note(
        self,
        kind: Kind,
        attributes: tuple[int, ...],
        groups: tuple[NDArray[np.int64], ...],
        noisy: NDArray[np.int64],
        share: Fraction,
    ) -> None:
        """Keep a noisy table for publication; ``groups`` are those of each attribute's cells."""
        codes = [
            g[self.axes[a].places].astype(np.int32) for a, g in zip(attributes, groups, strict=True)
        ]
        if self.run.engine.schema.class_attribute is not None and noisy.shape[-1] == self.n_classes:
            attributes = (*attributes, len(self.axes))
            codes.append(np.arange(self.n_classes, dtype=np.int32))
        shape = tuple(int(each.max()) + 1 for each in codes)
        self.measured.append(
            MeasuredTable(
                kind=kind,
                attributes=attributes,
                groups=tuple(codes),
                counts=noisy.reshape(shape),
                share=share,
            )
        )

    def _one_way(self) -> OneWay:
        """Count every predictor by class, in cells that follow from its code counts.

        Privacy: a record is in one cell of each table; their shares add up.
        """
        self.run.progress("counting attributes", None)
        codes = self._codes()
        shares = [self.budget.one_way(a) for a in range(len(self.axes))]
        self.axes = tuple(
            axis if a not in codes else self._refined(a, codes[a])
            for a, axis in enumerate(self.axes)
        )
        noisy = []
        counts = one_way_counts(self.run.engine, self.axes, self.n_classes)
        for a, (table, share) in enumerate(zip(counts, shares, strict=True)):
            noisy.append(self.noisy(table, share, f"1-way marginal: {self.name(a)}"))
            cells = np.arange(self.axes[a].n_cells)
            self.note("one-way", (a,), (cells,), noisy[-1], share)
        size = self.budget.n_records, self.budget.size
        return OneWay.of(self.axes, noisy, shares, codes, size)

    def _codes(self) -> dict[int, CodeCounts]:
        """Count all codes of long grids and large taxonomies, level by level.

        Privacy: the cells of a level are a partition of all codes that follows from the levels
        before, so a record is in one cell of each. Every level costs its share, whatever is
        divided, and they add up.
        """
        open_to = {a: each for a in self.budget.counted if (each := self.levels[a]) is not None}
        edges = {a: each.first for a, each in open_to.items()}
        found: dict[int, CodeCounts] = {}
        for level in range(max((each.n_levels for each in open_to.values()), default=0)):
            here = [a for a, each in open_to.items() if level < each.n_levels]
            for a in here if level else ():
                of = found[a]
                edges[a] = open_to[a].divided(of.edges, of.counts, of.scale, level)
            for a, counts in code_counts(self.run.engine, {a: edges[a] for a in here}).items():
                noisy = self._counted_codes(a, counts, edges[a], level)
                found[a] = (
                    found[a].refined(edges[a], noisy)
                    if level
                    else CodeCounts.of(edges[a], noisy, 1 / float(self.budget.codes(a)))
                )
        return found

    def _counted_codes(
        self, a: int, counts: NDArray[np.int64], edges: NDArray[np.int64], level: int
    ) -> NDArray[np.int64]:
        """Return the counts of one level with noise, and keep them for publication."""
        share = self.budget.codes(a)
        noisy = self.noisy(counts, share, f"all codes, level {level + 1}: {self.name(a)}")
        places = np.repeat(np.arange(len(counts), dtype=np.int32), np.diff(edges))
        self.measured.append(
            MeasuredTable(
                kind="codes", attributes=(a,), groups=(places,), counts=noisy, share=share
            )
        )
        return noisy

    def _refined(self, a: int, codes: CodeCounts) -> CellAxis:
        """Return the cells of an attribute that follow from its noisy code counts."""
        total = float(max(self.budget.n_records, 1))
        records = estimated(codes, self.axes[a], total)
        domain = self.run.engine.schema.attributes[a].domain
        scale = 1 / float(self.budget.one_way(a))
        return refined_axis(domain, self.axes[a], codes, records, scale=scale)


@dataclass(kw_only=True, eq=False, repr=False)
class TableChoice:
    """Private choices among candidates, and the tables that were chosen.

    ``n_records`` is the noisy number of records: it says which loop counts, the sums are the same.
    """

    weave: WeaveRun
    layout: CandidateTables
    mergings: list[Merging]
    n_records: float
    finest: dict[AttributePair, NDArray[np.int64]] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    sensitivity: Fraction = field(init=False)

    def __post_init__(self) -> None:
        self.finest = self._counted()
        self.counts = self.layout.flat(self.finest)
        self.sensitivity = Fraction(sensitivity(self.layout.candidates))

    def joins(self, fit: Fit) -> list[Joint]:
        """Choose and count the joins: pairs that connect what is not connected yet.

        Privacy: every choice and every table reads all records, and they add up.
        """
        shape = self.weave.budget.shape
        scores = self._scores(fit.independent(self.pairs, self.mergings))
        component = list(range(len(self.mergings)))
        chosen = []
        for step in range(shape.joins):
            open_to = [
                at
                for at, each in enumerate(self.layout.candidates)
                if component[each.pair[0]] != component[each.pair[1]]
            ]
            at = self._chosen(scores, open_to, f"choice of join {step + 1}")
            a, b = self.layout.candidates[at].pair
            component = [component[a] if c == component[b] else c for c in component]
            chosen.append(at)
        return [self._counted_with_noise(at, "join") for at in chosen]

    def further(self, fit: Fit) -> None:
        """Choose, count and fit the further tables, against what the fit says so far.

        Privacy: as for joins; the fit is made of earlier answers.
        """
        left = self.weave.budget.shape.further
        batch = -(-left // FURTHER_ROUNDS) if len(self.mergings) >= MANY else 1
        done: set[AttributePair] = set()
        while left:
            self.weave.run.progress("choosing further tables", None)
            scores = self._scores(fit.pair_tables(self.pairs, self.mergings))
            new = []
            for _ in range(min(batch, left)):
                open_to = [
                    at for at, each in enumerate(self.layout.candidates) if each.pair not in done
                ]
                step = self.weave.budget.shape.further - left + 1
                at = self._chosen(scores, open_to, f"choice of further table {step}")
                done.add(self.layout.candidates[at].pair)
                new.append(self._counted_with_noise(at, "further"))
                left -= 1
            fit.add(new, last=not left)

    def orders(self, fit: Fit) -> None:
        """Count and fit the 2 x 2 marginals of all pairs of numbers.

        Privacy: pairs are public and cuts follow from noisy tables. A record is in one cell of
        each table, and the shares of all of them add up.
        """
        self.weave.run.progress("counting 2 x 2 marginals", None)
        share = self.weave.budget.order
        masses = [table.sum(axis=1) for table in fit.one_way.tables]
        tables = []
        for a, b in order_pairs(self.weave.axes):
            of = self.mergings[a], self.mergings[b]
            upper = halves(of[0], masses[a]), halves(of[1], masses[b])
            names = [self.weave.name(at) for at in (a, b)]
            true = quartered(self.finest[a, b], of, upper)
            noisy = self.weave.noisy(true, share, f"2 x 2 marginal: {names[0]} and {names[1]}")
            self.weave.note("order", (a, b), upper, noisy, share)
            sides = weighed(upper[0], masses[a], 2), weighed(upper[1], masses[b], 2)
            tables.append(Joint(pair=(a, b), groups=upper, counts=with_deviation(noisy, *sides)))
        fit.order(tables, margin(1 / float(share)))

    @property
    def pairs(self) -> PairLayout:
        """Layout of the finest tables of all pairs."""
        sizes = tuple(each.n_groups(FINEST) for each in self.mergings)
        return PairLayout(sizes=sizes, n_classes=self.weave.n_classes)

    def _counted(self) -> dict[AttributePair, NDArray[np.int64]]:
        """Return the true finest tables of all pairs (confidential)."""
        kernel = PairCounts(
            layout=self.pairs,
            places=tuple(
                each.groups(FINEST)[axis.places].astype(np.int16)
                for each, axis in zip(self.mergings, self.weave.axes, strict=True)
            ),
            compiled=compiled(self.n_records),
        )
        return self.pairs.split(self.weave.run.engine.sum(kernel))

    def _scores(self, model: dict[AttributePair, NDArray[np.float64]]) -> NDArray[np.int64]:
        noise = 1 / float(self.weave.budget.table)
        return self.layout.scores(self.counts, self.layout.flat(model), noise=noise)

    def _chosen(self, scores: NDArray[np.int64], open_to: list[int], on: str) -> int:
        """Return one candidate of those that are open, by permute-and-flip.

        Privacy: which are open follows from earlier answers; costs the share of a choice.
        """
        chosen = self.weave.run.choose(
            scores[np.array(open_to, dtype=np.int64)],
            share=self.weave.budget.choice,
            on=on,
            sensitivity=self.sensitivity,
            monotone=False,
        )
        return open_to[int(chosen[0])]

    def _counted_with_noise(self, at: int, kind: Kind) -> Joint:
        each = self.layout.candidates[at]
        share = self.weave.budget.table
        names = [self.weave.name(a) for a in each.pair]
        on = f"{'join' if kind == 'join' else 'further table'}: {names[0]} and {names[1]}"
        noisy = self.weave.noisy(self.layout.table(self.counts, at), share, on)
        groups = self._groups(each)
        self.weave.note(kind, each.pair, groups, noisy, share)
        return Joint(pair=each.pair, groups=groups, counts=noisy.astype(np.float64))

    def _groups(self, each: Candidate) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        (a, b), (n_a, n_b) = each.pair, each.shape
        return self.mergings[a].groups(n_a), self.mergings[b].groups(n_b)
