"""Cells that follow from an attribute's noisy code counts: post-processing.

The cells of a number are its even ones, frequent codes by themselves, and heavy cells divided by
records. Those of a large taxonomy are its nodes, with frequent values by themselves. All further
tables use these cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.weave.axes import CellAxis, common_depths
from hedgerow.methods.weave.codes import CodeCounts
from hedgerow.methods.weave.pieces import averaged
from hedgerow.model.arrays import Floats
from hedgerow.taxonomy.domain import CategoricalDomain, Domain
from hedgerow.trees.shrinkage import Shrinkage, cutting_risk, positive_part

HEAVY = 12
"""Except for frequent codes, no cell has much more than this part of the other records."""

FREQUENT = 1 / 32
"""Part of all records above which a code of a number is a cell of its own."""

FREQUENT_VALUE = 1 / 100
"""The same for a value of a taxonomy."""

LEAST = 3.0
"""Minimum records of such a cell, in scales of the noise of the marginal by class."""

MOST_ADDED = max(2 * round(1 / FREQUENT) + 2 * HEAVY, 2 * round(1 / FREQUENT_VALUE))
"""Maximum cells that an attribute gains."""


def estimated(found: CodeCounts, axis: CellAxis, total: float) -> Floats:
    """Return estimated records of the finest cells, with the given total."""
    if axis.ordered:
        return _estimated_number(found, total)
    return _estimated_values(found, axis, total)


def refined_axis(
    domain: Domain, axis: CellAxis, found: CodeCounts, records: Floats, *, scale: float
) -> CellAxis:
    """Return the cells of all further tables.

    ``records`` are estimates of the finest cells, ``scale`` that of the noise of the marginal by
    class, which is drawn next.
    """
    part = FREQUENT if axis.ordered else FREQUENT_VALUE
    least = max(part * float(records.sum()), LEAST * scale)
    frequent = np.flatnonzero((records >= least) & (found.widths == 1))
    codes = found.edges[frequent]
    edges = np.unique(np.concatenate([axis.edges, codes, codes + 1]))
    if isinstance(domain, CategoricalDomain):
        depths = common_depths(domain.taxonomy, edges[:-1])
        return CellAxis(edges=edges, ordered=False, depths=depths)
    rest = records.copy()
    rest[frequent] = 0.0
    most = max(float(rest.sum()) / HEAVY, LEAST * scale)
    edges = np.unique(np.concatenate([edges, *_divisions(found.edges, rest, edges, most)]))
    return CellAxis(edges=edges, ordered=True, depths=None)


def _divisions(
    finest: NDArray[np.int64], rest: Floats, edges: NDArray[np.int64], most: float
) -> list[NDArray[np.int64]]:
    """Return edges that divide cells of more than ``most`` records evenly by records."""
    found = []
    bounds = np.searchsorted(finest, edges)
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        held = float(rest[low:high].sum())
        parts = min(round(held / most), high - low)
        if parts > 1:
            wanted = held * np.arange(1, parts) / parts
            cuts = low + 1 + np.searchsorted(np.cumsum(rest[low:high]), wanted)
            found.append(finest[np.minimum(cuts, high - 1)])
    return found


def _estimated_number(found: CodeCounts, total: float) -> Floats:
    widths = found.widths
    precisions = widths**2 * (2 * found.scale**2) / found.variances
    densities = averaged(found.counts / widths, widths, precisions, scale=found.scale, total=total)
    records = np.maximum(densities, 0.0) * widths
    if records.sum() <= total:
        return _scaled(records, widths, total)
    return _lowered(densities, widths, total)


def _scaled(records: Floats, widths: Floats, total: float) -> Floats:
    held = float(records.sum())
    shares: Floats = records / held if held > 0 else widths / widths.sum()
    return shares * total


def _lowered(densities: Floats, widths: Floats, total: float) -> Floats:
    """Return records of densities lowered alike and cut at zero, so that they have a total."""
    order = np.argsort(-densities, kind="stable")
    falling, wide = densities[order], np.cumsum(widths[order])
    shifts = (np.cumsum((densities * widths)[order]) - total) / wide
    last = int(np.flatnonzero(falling > shifts)[-1])
    return np.asarray(np.maximum(densities - shifts[last], 0.0) * widths)


def _estimated_values(found: CodeCounts, axis: CellAxis, total: float) -> Floats:
    """Return estimated records by value.

    Values that are distinguishable from noise are taken as they are. The others are drawn in
    towards even parts of their cell, or lowered alike and cut at zero, whichever has less
    estimated risk.
    """
    deviation = found.variances**0.5 / 2**0.5
    clear = found.counts > deviation * np.log(max(len(found.counts), 2))
    records = np.where(clear, found.counts, 0.0)
    left = total - float(records.sum())
    if left <= 0 or clear.all():
        return positive_part(records, total)
    at, rest, widths = found.places(axis)[~clear], found.counts[~clear], found.widths[~clear]
    density = np.bincount(at, rest, axis.n_cells) / np.maximum(
        np.bincount(at, widths, axis.n_cells), 1
    )
    even = density[at] * widths
    variance = float(found.variances[~clear].mean())
    shrinkage = Shrinkage.of(rest - even, variance)
    cut = positive_part(rest, left)
    drawn_in = positive_part(even + shrinkage.kept * (rest - even), left)
    less = cutting_risk(rest, cut, variance) < shrinkage.risk
    records[~clear] = cut if less and shrinkage.kept > 0 else drawn_in
    return records
