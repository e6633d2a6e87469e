"""Information loss: the effect of generalisation alone, for any use of the data.

Every measure is 0, or minimal, for unchanged records. There are two kinds: of *records*, the
true records of a table in the published boxes, as the papers report them, and of *groups*, from
the published counts alone. For a truthful release of that table they are equal. Figures of
records are for the data owner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.placing import group_numbers, places
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.locate import box_of
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Penalties of a generalised table; smaller is better.

    ``discernibility`` is the sum of the squared sizes of boxes, ``ncp`` and ``lm`` are
    means over all cells from 0 (unchanged) to 1 (no information), and
    ``classification_metric`` is the share of records that are not in the majority class
    of their box (``None`` without a class). ``n_boxes`` is the number of boxes with records.
    """

    discernibility: float
    ncp: float
    lm: float
    classification_metric: float | None
    n_boxes: int


def losses_of_records(groups: Groups, table: EncodedTable) -> Losses:
    """Return the losses of a table's true records in the boxes of a placed release.

    [DiffMulti, Eqs. (4) and (7)] for discernibility and NCP.
    """
    box, place = _boxes_of(groups, table)
    classes = None if table.classes is None else table.classes.astype(np.int64)
    # Records of one box and class are equal here, so they are counted.
    number, first = row_numbers([box] if classes is None else [box, classes])
    return _losses(
        groups,
        table.schema,
        place[box[first]],
        classes=None if classes is None else classes[first],
        box=box[first],
        weights=np.bincount(number, minlength=len(first)).astype(np.float64),
    )


def _boxes_of(groups: Groups, table: EncodedTable) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the box number of each record, and the ranges of each box."""
    if not groups.is_cut and groups.tree is not None and groups.boxes is not None:
        return box_of(groups.tree, table.codes).astype(np.int64), np.stack(groups.boxes, axis=1)
    place = places(groups, table)
    box, first = row_numbers(list(place.T))
    return box, place[first]


def losses_of_groups(groups: Groups, schema: Schema, *, n_records: int | None = None) -> Losses:
    """Return the losses of a release by its own counts; it need not be placed.

    ``n_records`` is the size of the table, if known: records that a truthful release suppressed
    then count with the whole table in discernibility, and as cells without information in NCP
    and LM.
    """
    place = np.stack(groups.index, axis=1)
    classes = None if groups.classes is None else groups.classes.astype(np.int64)
    box = group_numbers(groups)
    weights = groups.counts.astype(np.float64)
    found = _losses(groups, schema, place, classes=classes, box=box, weights=weights)
    total = float(weights.sum())
    if n_records is None or n_records <= total:
        return found
    return _with_suppressed(found, total, n_records)


def discernibility(sizes: NDArray[np.number]) -> float:
    """Return the sum of the squared sizes: for each record, the size of its box.

    >>> discernibility(np.array([2, 3]))
    13.0
    """
    return float((sizes.astype(np.float64) ** 2).sum())


def ncp_of_ranges(ranges: Ranges, size: int) -> NDArray[np.float64]:
    """Return the normalised certainty penalty of each range: its part of the domain.

    0 for a single value [DiffMulti, Eq. (6)].
    """
    width = ranges.stop - ranges.first
    penalties: NDArray[np.float64] = np.where(width == 1, 0.0, width / size)
    return penalties


def lm_of_ranges(ranges: Ranges, size: int) -> NDArray[np.float64]:
    """Return the loss metric of each range: its other values as a part of all others.

    (width - 1) / (size - 1) [Iyengar02].
    """
    penalties: NDArray[np.float64] = (ranges.stop - ranges.first - 1) / max(size - 1, 1)
    return penalties


def classification_metric(
    boxes: NDArray[np.int64], classes: NDArray[np.int64], weights: NDArray[np.float64]
) -> float:
    """Return the share of records outside the majority class of their box [Iyengar02]."""
    if not len(boxes):
        return 0.0
    known = int(classes.max()) + 1
    size = (int(boxes.max()) + 1) * known
    by_class = np.bincount(boxes * known + classes, weights=weights, minlength=size)
    total = by_class.sum()
    right = by_class.reshape(-1, known).max(axis=1).sum()
    return float(1 - right / total) if total else 0.0


def _losses(
    groups: Groups,
    schema: Schema,
    place: NDArray[np.int32],
    *,
    box: NDArray[np.int64],
    classes: NDArray[np.int64] | None,
    weights: NDArray[np.float64],
) -> Losses:
    total = max(float(weights.sum()), 1.0)
    ncp, lm = [0.0], [0.0]
    for at, attribute in enumerate(schema.attributes):
        ranges, size = groups.ranges[at], attribute.domain.size
        share = np.bincount(place[:, at], weights=weights, minlength=len(ranges)) / total
        ncp.append(float(ncp_of_ranges(ranges, size) @ share))
        lm.append(float(lm_of_ranges(ranges, size) @ share))
    sizes = np.bincount(box, weights=weights)
    metric = None if classes is None else classification_metric(box, classes, weights)
    n = max(len(schema.attributes), 1)
    return Losses(
        discernibility=discernibility(sizes),
        ncp=sum(ncp) / n,
        lm=sum(lm) / n,
        classification_metric=metric,
        n_boxes=int(np.count_nonzero(sizes)),
    )


def _with_suppressed(found: Losses, total: float, n_records: int) -> Losses:
    """Return the losses with suppressed records as records without information."""
    suppressed = n_records - total
    metric = found.classification_metric

    def mean(published: float) -> float:
        return (published * total + suppressed) / n_records

    return Losses(
        discernibility=found.discernibility + suppressed * n_records,
        ncp=mean(found.ncp),
        lm=mean(found.lm),
        classification_metric=None if metric is None else mean(metric),
        n_boxes=found.n_boxes,
    )
