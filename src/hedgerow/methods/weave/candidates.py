"""The tables that weave may choose: pairs of attributes at several resolutions, by class or not.

Candidates follow from noisy 1-way marginals and public rules alone; a candidate's score compares
its true table with the public model's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.coarsening import FINEST, Merging
from hedgerow.methods.weave.pairs import AttributePair, PairLayout
from hedgerow.methods.weave.purpose import Purpose
from hedgerow.methods.weave.weighing import bare

_T = TypeVar("_T", np.int64, np.float64)

CAPS = (9, 16, 25, 42, 72, 120, 200, 330)
"""Most cells of a table, classes aside."""

PER_CELL = 3.0
"""Records per cell of a table, over the scale of its noise, at the least."""

UNIT = 1 << 10
"""Scores are whole numbers of 1 / UNIT records; the model is rounded to them first."""

LARGEST = float(1 << 40)
"""Records in a table of the model, at the most, so that scores fit 64-bit integers."""

WEIGHTS = {
    "general": (13, 10),
    "classification": (13, 13),
    "counting": (13, 6),
    "clustering": (13, 6),
}
"""Weights of the scores of tables without the class and of those by class, by purpose."""

NUMBERS = {"general": (1, 1), "classification": (1, 1), "counting": (1, 1), "clustering": (2, 1)}
"""Factors of those weights for pairs of numbers and for all other pairs, by purpose."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One table that may be counted: ``cells`` are its groups of both attributes' cells."""

    pair: AttributePair
    shape: tuple[int, int]
    by_class: bool
    weight: int


def resolutions(first: Merging, second: Merging, caps: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the distinct sizes of the 2-way marginals that have at most ``caps`` cells."""
    found: dict[tuple[int, int], None] = {}
    for cap in caps:
        side = max(int(cap**0.5), 2)
        a = first.n_groups(side)
        b = second.n_groups(max(cap // a, 2))
        a = first.n_groups(max(cap // b, 2))
        found[a, second.n_groups(max(cap // a, 2))] = None
    return list(found)


def table_candidates(
    mergings: list[Merging], *, n_records: float, share: float, n_classes: int, purpose: Purpose
) -> list[Candidate]:
    """Return all candidates, pair by pair, the coarsest first and without the class first.

    The largest tables have ``PER_CELL`` times the scale of their noise in records per cell.
    """
    most = max(n_records * share / PER_CELL, CAPS[0])
    caps = tuple(cap for cap in CAPS if cap <= most)
    plain, by_class = WEIGHTS[purpose]
    found = []
    for a, b in combinations(range(len(mergings)), 2):
        ordered = mergings[a].ordered and mergings[b].ordered
        times = NUMBERS[purpose][0 if ordered else 1]
        for at, shape in enumerate(resolutions(mergings[a], mergings[b], caps)):
            small = shape[0] * shape[1] * n_classes <= caps[-1]
            found.append(Candidate(pair=(a, b), shape=shape, by_class=False, weight=plain * times))
            if n_classes > 1 and (small or at == 0):
                found.append(
                    Candidate(pair=(a, b), shape=shape, by_class=True, weight=by_class * times)
                )
    return found


class CandidateTables:
    """Cells of all candidates, in one flat array.

    ``compiled`` asks for the compiled loop; a public number says when that pays.
    """

    def __init__(
        self,
        candidates: list[Candidate],
        mergings: list[Merging],
        n_classes: int,
        *,
        compiled: bool = False,
    ) -> None:
        self.candidates = candidates
        self._mergings = mergings
        self._n_classes = n_classes
        self._compiled = compiled
        sizes = [
            each.shape[0] * each.shape[1] * (n_classes if each.by_class else 1)
            for each in candidates
        ]
        self.starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.weights = np.array([each.weight for each in candidates], dtype=np.int64)
        self._sorted: dict[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def table(self, flat: NDArray[np.int64], at: int) -> NDArray[np.int64]:
        """Return one candidate's table (first, second, classes or 1) out of a flat array."""
        shape = self.candidates[at].shape
        part = flat[int(self.starts[at]) : int(self.starts[at + 1])]
        return part.reshape(*shape, -1)

    def flat(self, tables: dict[AttributePair, NDArray[_T]]) -> NDArray[_T]:
        """Return all candidates' cells, from every pair's finest table (first, second, class)."""
        if self._compiled:
            return self._merged(np.concatenate([table.ravel() for table in tables.values()]))
        if all(table.dtype == np.float64 for table in tables.values()):
            return np.concatenate(
                [self._added(tables[each.pair], each) for each in self.candidates]
            )
        parts = []
        last = None
        for each in self.candidates:
            key = each.pair, each.shape
            if key != last:
                last = key
                coarse = self._coarse(tables[each.pair], each)
            parts.append((coarse if each.by_class else coarse.sum(axis=2)).ravel())
        return np.concatenate(parts)

    def _merged(self, finest: NDArray[_T]) -> NDArray[_T]:
        """Return all candidates' cells by the compiled loop, from the flat tables of all pairs."""
        from hedgerow.count.compiled.pairs import merge_tables

        sums = np.zeros_like(finest, shape=int(self.starts[-1]))
        begins, groups, first, second, shapes, strides = self._plan
        starts = bare(self.starts)
        merge_tables(
            bare(finest), begins, groups, first, second, shapes, strides, starts, bare(sums)
        )
        return sums

    @cached_property
    def _plan(self) -> tuple[NDArray[np.int64], ...]:
        """Arrays for the compiled loop: begins, groups, first, second, shapes, strides."""
        sizes = tuple(each.n_groups(FINEST) for each in self._mergings)
        layout = PairLayout(sizes=sizes, n_classes=self._n_classes)
        begins = dict(zip(layout.pairs, layout.starts.tolist(), strict=False))
        sized = [
            pair for each in self.candidates for pair in zip(each.pair, each.shape, strict=True)
        ]
        groups = {(a, n): self._of_finest(a, n) for a, n in dict.fromkeys(sized)}
        ends = np.cumsum([len(each) for each in groups.values()]).tolist()
        places = dict(zip(groups, [0, *ends], strict=False))
        rows = []
        for each in self.candidates:
            (a, b), (n_a, n_b) = each.pair, each.shape
            n_c = self._n_classes if each.by_class else 1
            shape = (sizes[a], sizes[b], self._n_classes)
            strides = (n_b * n_c, n_c, int(each.by_class))
            rows.append((begins[a, b], places[a, n_a], places[b, n_b], *shape, *strides))
        plan = bare(np.array(rows, dtype=np.int64))
        first, second = plan[:, 1].copy(), plan[:, 2].copy()
        shapes, steps = plan[:, 3:6].copy(), plan[:, 6:].copy()
        flat = bare(np.concatenate(list(groups.values())))
        return plan[:, 0].copy(), flat, first, second, shapes, steps

    def _of_finest(self, a: int, n_groups: int) -> NDArray[np.int64]:
        """Return the coarse group of each of an attribute's finest groups."""
        merging = self._mergings[a]
        coarse = np.zeros(merging.n_groups(FINEST), dtype=np.int64)
        coarse[merging.groups(FINEST)] = merging.groups(n_groups)
        return coarse

    def _coarse(self, table: NDArray[_T], each: Candidate) -> NDArray[_T]:
        (a, b), (n_a, n_b) = each.pair, each.shape
        order, starts = self._runs(a, n_a)
        rows = np.add.reduceat(table[order], starts, axis=0)
        order, starts = self._runs(b, n_b)
        coarse: NDArray[_T] = np.add.reduceat(rows[:, order], starts, axis=1)
        return coarse

    def _added(self, table: NDArray[_T], each: Candidate) -> NDArray[_T]:
        """Return a coarser table, added up in the order in which the compiled loop adds.

        Sums of floating-point numbers depend on their order.
        """
        (a, b), (n_a, n_b) = each.pair, each.shape
        n_c, by = (table.shape[2], 1) if each.by_class else (1, 0)
        rows, columns = self._of_finest(a, n_a), self._of_finest(b, n_b)
        cells = (rows[:, None] * n_b + columns)[:, :, None] * n_c + by * np.arange(table.shape[2])
        sums = np.bincount(cells.ravel(), weights=table.ravel(), minlength=n_a * n_b * n_c)
        return sums.astype(table.dtype)

    def _runs(self, a: int, n_groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the finest groups ordered by coarse group, and where each of these begins."""
        if (a, n_groups) not in self._sorted:
            coarse = self._of_finest(a, n_groups)
            order = np.argsort(coarse, kind="stable")
            starts = np.searchsorted(coarse[order], np.arange(n_groups))
            self._sorted[a, n_groups] = order, starts
        return self._sorted[a, n_groups]

    def scores(
        self, counts: NDArray[np.int64], model: NDArray[np.float64], *, noise: float
    ) -> NDArray[np.int64]:
        """Return the score of every candidate, in units, times its weight (confidential)."""
        return score_units(counts, model, self.starts[:-1], noise=noise) * self.weights


def score_units(
    counts: NDArray[np.int64],
    model: NDArray[np.float64],
    starts: NDArray[np.int64],
    *,
    noise: float,
) -> NDArray[np.int64]:
    """Return how far tables are from the public model, beyond what noise could hide.

    For each table the sum over its cells of max(|n - m| - h, 0), with the model's count m and
    the threshold h = max(noise / 2, sqrt(m)), in units.

    Privacy: m and h are functions of earlier outputs, rounded to whole units before any count
    is looked at. One record moves one n of a table by 1 and u -> max(|u - m| - h, 0) is
    1-Lipschitz, so a score moves by at most ``UNIT``: no rounding follows. Not monotone. A model
    of more than ``LARGEST`` records, which only noise can ask for, is scaled down: with its
    weight, a score is below 2^62 for all counts below 2^42.

    >>> counts, model = np.array([9, 1, 5]), np.array([4.0, 4.0, 4.0])
    >>> score_units(counts, model, np.array([0, 2]), noise=2.0) / UNIT
    array([4., 0.])
    """
    expected = np.clip(model, 0.0, LARGEST)
    expected *= min(1.0, LARGEST / max(float(np.add.reduceat(expected, starts).max()), 1.0))
    threshold = np.minimum(np.maximum(noise / 2, np.sqrt(expected)), LARGEST)
    m = np.rint(expected * UNIT).astype(np.int64)
    h = np.rint(threshold * UNIT).astype(np.int64)
    away: NDArray[np.int64] = np.maximum(np.abs(counts * UNIT - m) - h, 0)
    return np.add.reduceat(away, starts)


def sensitivity(candidates: list[Candidate]) -> int:
    """Return how far one record can move a weighted score, in units."""
    return UNIT * max(each.weight for each in candidates)
