"""The tables of single attributes by class: counted with noise, then made consistent.

Everything after the noise is post-processing: it reads noisy counts and public shares only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.joint import JointCounts
from hedgerow.methods.weave.axes import CellAxis
from hedgerow.methods.weave.weighing import weighed
from hedgerow.model.arrays import Floats
from hedgerow.model.engine import Engine

POWER = 0.45
"""1-way marginals share their budget as their numbers of cells to this power."""

CLEAR = 2.5
"""Standard deviations of noise above which a cell stands for itself; others are averaged."""

SOFT = 0.5
"""Scales of noise by which a class's deviation from the margin is drawn in."""


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


@dataclass(kw_only=True, eq=False, repr=False)
class OneWay:
    """Estimates of the 1-way marginals by class, refined as further tables come in.

    ``tables[a]`` has one row per cell and one column per class, adding up to ``classes``;
    ``variances`` say how sure each entry is, and ``noise`` is the scale of each table's noise.
    """

    tables: list[Floats]
    variances: list[Floats]
    classes: Floats
    noise: list[float]

    @property
    def n_records(self) -> float:
        """The estimated number of records."""
        return float(self.classes.sum())

    @classmethod
    def of(
        cls, axes: tuple[CellAxis, ...], noisy: list[NDArray[np.int64]], shares: list[Fraction]
    ) -> OneWay:
        """Return consistent tables from noisy ones and the shares that they were drawn with."""
        scales = [1 / float(share) for share in shares]
        classes = _class_totals(noisy, scales)
        tables = [
            _consistent(axis, table.astype(np.float64), scale, classes)
            for axis, table, scale in zip(axes, noisy, scales, strict=True)
        ]
        variances = [
            np.full(table.shape, 2 * scale**2) for table, scale in zip(tables, scales, strict=True)
        ]
        return cls(tables=tables, variances=variances, classes=classes, noise=scales)

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


def nearest_on_simplex(values: Floats, total: float) -> Floats:
    """Return the nearest non-negative values of a total above 0."""
    falling = np.sort(values)[::-1]
    surplus = np.cumsum(falling) - total
    ranks = np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling - surplus / ranks > 0)[-1])
    nearest: Floats = np.maximum(values - surplus[last] / (last + 1), 0.0)
    return nearest


def _class_totals(noisy: list[NDArray[np.int64]], scales: list[float]) -> Floats:
    """Return the class sizes that all tables together tell, by inverse variance."""
    weights = np.array([1 / (len(t) * scale**2) for t, scale in zip(noisy, scales, strict=True)])
    sums = np.stack([table.sum(axis=0).astype(np.float64) for table in noisy])
    totals: Floats = (weights[:, None] * sums).sum(axis=0) / weights.sum()
    return np.maximum(totals, 1.0)


def _consistent(axis: CellAxis, noisy: Floats, scale: float, classes: Floats) -> Floats:
    """Return the table with the given class sizes: the margin first, then what each class adds."""
    n_records = float(classes.sum())
    deviation = float(np.sqrt(2 * len(classes))) * scale
    margin = _margin(axis, noisy.sum(axis=1), n_records, deviation)
    columns = []
    for at, size in enumerate(classes.tolist()):
        prior = margin * size / n_records
        columns.append(nearest_on_simplex(prior + soft(noisy[:, at] - prior, SOFT * scale), size))
    return np.stack(columns, axis=1)


def _margin(axis: CellAxis, noisy: Floats, total: float, deviation: float) -> Floats:
    """Return the margin; cells not distinguishable from noise share what they have."""
    clear = noisy > CLEAR * deviation
    if axis.ordered:
        borders = clear[1:] | clear[:-1]
        runs = np.concatenate([[0], np.cumsum(borders)])
        widths = axis.widths.astype(np.float64)
    else:
        runs = np.where(clear, np.cumsum(clear), 0)
        runs = np.unique(runs, return_inverse=True)[1]
        widths = np.ones(len(noisy))
    n_runs = int(runs.max()) + 1
    sums = nearest_on_simplex(weighed(runs, noisy, n_runs), total)
    margin: Floats = sums[runs] * widths / weighed(runs, widths, n_runs)[runs]
    return margin


def soft(values: Floats, threshold: float) -> Floats:
    """Draw values in towards 0 by a threshold."""
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)
