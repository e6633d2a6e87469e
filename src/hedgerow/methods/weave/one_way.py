"""The tables of single attributes by class: counted with noise, then made consistent.

Everything after the noise is post-processing: it reads noisy counts and public shares only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.joint import JointCounts
from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.codes import CodeCounts
from hedgerow.methods.weave.weighing import weighed
from hedgerow.model.arrays import Flags, Floats
from hedgerow.model.engine import Engine
from hedgerow.trees.shrinkage import CHANCE, Shrinkage, positive_part, positive_total, shrunk_counts

POWER = 0.45
"""1-way marginals share their budget as their numbers of cells to this power."""

CLEAR = 2.5
"""Standard deviations of noise above which a cell stands for itself; others are averaged."""

SOFT = 0.5
"""Scales of noise by which a class's deviation from the margin is drawn in."""

OUTER = 200.0
"""Scales of noise in all records from which no class adds to the cells beyond the clear ones; with
fewer, the additions are lowered in proportion. They tell classes apart, but move means."""

LEAST_LEFT = 0.01
"""Minimum part of the variance of noise that a shrunk margin is taken to have."""

SMALL, DROWNED = 0.03, 0.13
"""Scale of noise over all records: up to the first, deviations of classes stand for themselves;
from the second, they are shrunk by what noise alone would make of them."""


def one_way_weights(axes: tuple[CellAxis, ...]) -> tuple[int, ...]:
    """Return the whole-number weights by which 1-way marginals share their budget."""
    return tuple(max(round(1000 * axis.n_cells**POWER), 1) for axis in axes)


def one_way_counts(
    engine: Engine, axes: tuple[CellAxis, ...], n_classes: int
) -> list[NDArray[np.int64]]:
    """Return the true counts (cells, classes) of every predictor, in one pass (confidential)."""
    places = tuple((axis.places,) for axis in axes)
    class_attribute = engine.schema.class_attribute
    if class_attribute is None:
        kernel = JointCounts(places=places, tables=tuple(((a, 0),) for a in range(len(axes))))
    else:
        target = np.arange(class_attribute.domain.size, dtype=np.int32)
        kernel = JointCounts(
            places=(*places, (target,)),
            tables=tuple(((a, 0), (len(axes), 0)) for a in range(len(axes))),
        )
    return [part.reshape(-1, n_classes) for part in kernel.split(engine.sum(kernel))]


def code_counts(
    engine: Engine, edges: Mapping[int, NDArray[np.int64]]
) -> dict[int, NDArray[np.int64]]:
    """Return the true counts of the given cells of some attributes, in one pass (confidential)."""
    width = max(edges) + 1 if edges else 0
    places = tuple(
        (np.repeat(np.arange(len(each) - 1, dtype=np.int32), np.diff(each)),)
        for each in (edges.get(a, np.zeros(2, dtype=np.int64)) for a in range(width))
    )
    kernel = JointCounts(places=places, tables=tuple(((a, 0),) for a in edges))
    parts = kernel.split(engine.sum(kernel)) if edges else []
    return {a: part.ravel() for a, part in zip(edges, parts, strict=True)}


@dataclass(kw_only=True, eq=False, repr=False)
class OneWay:
    """Estimates of the 1-way marginals by class, refined as further tables come in.

    ``tables[a]`` has one row per cell and one column per class, adding up to ``classes``;
    ``variances`` say how sure each entry is, and ``noise`` is the scale of each table's noise.
    ``codes`` are the noisy code counts of those attributes that have them.
    """

    tables: list[Floats]
    variances: list[Floats]
    classes: Floats
    noise: list[float]
    codes: Mapping[int, CodeCounts] = field(default_factory=dict)

    @property
    def n_records(self) -> float:
        """The estimated number of records."""
        return float(self.classes.sum())

    @classmethod
    def of(
        cls,
        axes: tuple[CellAxis, ...],
        noisy: list[NDArray[np.int64]],
        shares: list[Fraction],
        codes: Mapping[int, CodeCounts] | None = None,
        size: tuple[int, Fraction] | None = None,
    ) -> OneWay:
        """Return consistent tables from noisy ones and the shares that they were drawn with.

        ``size`` is a further noisy number of records and its share.
        """
        scales = [1 / float(share) for share in shares]
        classes = _class_totals(noisy, scales, size)
        codes = codes or {}
        found = [
            _consistent(axis, table.astype(np.float64), scale, classes, codes.get(a))
            for a, (axis, table, scale) in enumerate(zip(axes, noisy, scales, strict=True))
        ]
        tables = [table for table, _ in found]
        variances = [
            np.full(table.shape, 2 * scale**2 * left)
            for (table, left), scale in zip(found, scales, strict=True)
        ]
        return cls(tables=tables, variances=variances, classes=classes, noise=scales, codes=codes)

    def refine(self, attribute: int, groups: NDArray[np.int64], seen: Floats, noise: float) -> None:
        """Take in another estimate of a coarsened table: rows of ``seen`` are ``groups``.

        ``seen`` has a column per class, or one for all; ``noise`` is the variance of its cells.
        """
        table, variance = self.tables[attribute], self.variances[attribute]
        by_class = seen.shape[1] == table.shape[1]
        now, unsure = merged(table, groups), merged(variance, groups)
        wanted = self.classes
        if not by_class:
            now, unsure = now.sum(axis=1, keepdims=True), unsure.sum(axis=1, keepdims=True)
            wanted = self.classes.sum(keepdims=True)
        gain = unsure / (unsure + noise)
        new = np.maximum(now + gain * (seen - now), 1e-6)
        new *= wanted / new.sum(axis=0)
        factor = np.clip(new / np.maximum(now, 1e-6), 0.2, 5.0)
        table = table * factor[groups]
        self.tables[attribute] = table * (self.classes / np.maximum(table.sum(axis=0), 1e-12))
        self.variances[attribute] = variance * (1 - gain)[groups]


def merged(table: Floats, groups: NDArray[np.int64]) -> Floats:
    """Add up the rows of a table that belong to one group."""
    merged = np.zeros((int(groups.max()) + 1, table.shape[1]))
    np.add.at(merged, groups, table)
    return merged


def _class_totals(
    noisy: list[NDArray[np.int64]], scales: list[float], size: tuple[int, Fraction] | None
) -> Floats:
    """Return the class sizes estimated by all tables together, by inverse variance."""
    weights = np.array([1 / (len(t) * scale**2) for t, scale in zip(noisy, scales, strict=True)])
    sums = np.stack([table.sum(axis=0).astype(np.float64) for table in noisy])
    totals = (weights[:, None] * sums).sum(axis=0) / weights.sum()
    variance = 2 / float(weights.sum())
    total, unsure = float(totals.sum()), variance * len(totals)
    if size is not None:
        other = float(2 / size[1] ** 2)
        total = (total * other + size[0] * unsure) / (other + unsure)
        unsure = unsure * other / (other + unsure)
    total = max(positive_total(total, math.sqrt(unsure / 2)), 1.0)
    even = np.ones(len(totals))
    return np.maximum(shrunk_counts(totals, total, variance=variance, priors=(even,)), 1.0)


def _consistent(
    axis: CellAxis, noisy: Floats, scale: float, classes: Floats, codes: CodeCounts | None
) -> tuple[Floats, float]:
    """Return the table with the given class sizes, and which part of its variance is left.

    The margin comes first, then what each class adds. What is shrunk has less variance than its
    noise: later tables change it less.
    """
    n_records = float(classes.sum())
    found = _Margin.of(axis, noisy, scale, n_records, codes)
    margin = found.counts
    if len(classes) == 1:
        return margin[:, None], found.left
    away = noisy - margin[:, None] * (classes / n_records)
    away = soft(away, SOFT * scale) * _kept_by_class(away, scale, n_records)
    columns = []
    for at, size in enumerate(classes.tolist()):
        prior = margin * size / n_records
        columns.append(positive_part(prior + away[:, at], size))
    table = np.stack(columns, axis=1)
    if found.kept < 1:
        held = np.maximum(table.sum(axis=1), 1e-9)
        table = _with_classes(table * (margin / held)[:, None] ** (1 - found.kept), classes)
    if codes is not None and axis.ordered:
        inner = _without_outer(table, margin, found.clear, classes)
        table = table + min(n_records / (OUTER * scale), 1.0) * (inner - table)
    return table, found.left


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Margin:
    """Estimated counts of an attribute's cells, without the class.

    ``clear`` cells are distinguishable from noise, ``kept`` is what shrinkage keeps of the
    noisy deviation from even counts, and ``left`` the part of the variance of noise that remains.
    """

    counts: Floats
    clear: Flags
    kept: float
    left: float

    @classmethod
    def of(
        cls, axis: CellAxis, noisy: Floats, scale: float, total: float, codes: CodeCounts | None
    ) -> _Margin:
        """Return the margin of a noisy table.

        It has been counted by codes, too: both counts are combined by inverse variance.
        """
        counts = noisy.sum(axis=1)
        variances = np.full(len(counts), 2 * noisy.shape[1] * scale**2)
        if codes is not None:
            seen, unsure = codes.sums(axis)
            counts = seen + unsure / (unsure + variances) * (counts - seen)
            variances = variances * unsure / (unsure + variances)
        clear = counts > CLEAR * np.sqrt(variances)
        smooth = _smoothed(axis, counts, clear, total)
        variance, widths = float(variances.mean()), axis.widths.astype(np.float64)
        priors = [each * (total / each.sum()) for each in (widths, np.ones(len(widths)))]
        chance = CHANCE * _drowned(scale, total)
        found = [Shrinkage.of(counts - prior, variance, chance=chance) for prior in priors]
        best = min(range(len(found)), key=lambda at: found[at].risk)
        kept = found[best].kept
        left = found[best].risk / (variance * len(counts))
        return cls(
            counts=priors[best] + kept * (smooth - priors[best]),
            clear=clear,
            kept=kept,
            left=min(max(left, LEAST_LEFT), 1.0),
        )


def _with_classes(table: Floats, classes: Floats) -> Floats:
    """Return the table with its columns scaled to the class sizes."""
    return np.asarray(table * (classes / np.maximum(table.sum(axis=0), 1e-9)))


def _kept_by_class(away: Floats, scale: float, n_records: float) -> float:
    """Return what is kept of the deviations of classes from the margin.

    Where noise is large against all records, they are shrunk as noise alone would make them;
    where it is small, each stands for itself. In between, both are blended.
    """
    return 1 - _drowned(scale, n_records) * (1 - Shrinkage.of(away, 2 * scale**2).kept)


def _drowned(scale: float, n_records: float) -> float:
    """Return how far noise of this scale drowns a table with this total, from 0 to 1."""
    return float(np.clip((scale / n_records - SMALL) / (DROWNED - SMALL), 0.0, 1.0))


def _without_outer(table: Floats, margin: Floats, clear: Flags, classes: Floats) -> Floats:
    """Return the table whose classes add nothing to the margin beyond its clear cells.

    Few records far out would move means.
    """
    if not clear.any():
        return table
    first, last = np.flatnonzero(clear)[[0, -1]]
    outer = np.ones(len(clear), dtype=np.bool_)
    outer[first : last + 1] = False
    sums = np.maximum(table.sum(axis=1), 1e-9)
    factor = np.where(outer, np.minimum(margin / sums, 1.0), 1.0)
    return _with_classes(table * factor[:, None], classes)


def _smoothed(axis: CellAxis, counts: Floats, clear: Flags, total: float) -> Floats:
    """Return non-negative counts; cells not distinguishable from noise share what they have."""
    if axis.ordered:
        borders = clear[1:] | clear[:-1]
        runs = np.concatenate([[0], np.cumsum(borders)])
        shares = axis.widths.astype(np.float64)
    else:
        runs = np.where(clear, np.cumsum(clear), 0)
        runs = np.unique(runs, return_inverse=True)[1]
        shares = np.ones(len(counts))
    n_runs = int(runs.max()) + 1
    sums = positive_part(weighed(runs, counts, n_runs), total)
    smooth: Floats = sums[runs] * shares / weighed(runs, shares, n_runs)[runs]
    return smooth


def soft(values: Floats, threshold: float) -> Floats:
    """Draw values in towards 0 by a threshold."""
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)
