"""View of a release of a table: marginals, and marked parts of a map.

All figures come from published groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.axis import PictureAxis, by_splits, cell_totals
from hedgerow.draw.bars import Bar, bars_of
from hedgerow.draw.pictures import shortened
from hedgerow.errors import InputError
from hedgerow.model.groups import Groups
from hedgerow.model.labels import leaf_labels
from hedgerow.model.schema import Schema

MOST_BARS = 24


@dataclass(frozen=True, kw_only=True)
class Marginal:
    """The cells of one attribute with their records: all in order, or the largest of many."""

    name: str
    kind: str
    bars: tuple[Bar, ...]
    n_omitted: int


@dataclass(frozen=True, kw_only=True)
class Brushed:
    """Published counts in a marked part of a map."""

    across: str
    down: str
    n_records: int
    percent: float
    classes: tuple[Bar, ...]
    marginals: tuple[Marginal, ...]


def kept_attributes(schema: Schema, groups: Groups) -> list[int]:
    """Return the attributes in which groups differ, those that split the most records first."""
    found = by_splits(groups)
    rest = [at for at in range(len(schema.attributes)) if len(groups.ranges[at]) > 1]
    return [*found, *(at for at in rest if at not in found)]


def marginals_of(
    schema: Schema, groups: Groups, places: Sequence[int], *, most: int = MOST_BARS
) -> tuple[Marginal, ...]:
    """Return the distribution of records over some attributes."""
    return tuple(_marginal(schema, groups, at, most) for at in places)


def _marginal(schema: Schema, groups: Groups, at: int, most: int) -> Marginal:
    attribute = schema.attributes[at]
    named = attribute.domain.kind == "categorical"
    cells = attribute.domain.size if named else most
    axis = PictureAxis.of(attribute, groups.ranges[at], most=cells)
    totals = cell_totals(groups, at, axis)
    order = np.arange(len(totals))
    if len(totals) > most:
        order = np.argsort(-totals, kind="stable")[:most]
    labels = [shortened(axis.label(cell), 40) for cell in order.tolist()]
    bars = bars_of(labels, totals[order].tolist())
    return Marginal(
        name=shortened(attribute.name, 40),
        kind=attribute.domain.kind,
        bars=bars,
        n_omitted=len(totals) - len(bars),
    )


def brushed(
    schema: Schema, groups: Groups, pair: tuple[int, int], cells: tuple[int, int, int, int]
) -> Brushed:
    """Return the counts in a rectangle of cells: first and last across, then down."""
    spans = []
    for at, (first, last) in zip(pair, (cells[:2], cells[2:]), strict=True):
        axis = PictureAxis.of(schema.attributes[at], groups.ranges[at])
        if not 0 <= first <= last < len(axis):
            raise InputError(
                "The selection is outside the map.", where="cells", do="Mark it again."
            )
        spans.append((int(axis.borders[first]), int(axis.borders[last + 1])))
    parts = np.ones(len(groups))
    for at, span in zip(pair, spans, strict=True):
        parts *= _inside(groups, at, span)
    total = float(groups.counts.sum()) or 1.0
    chosen = replace(groups, counts=cast("NDArray[np.int64]", groups.counts * parts))
    others = [at for at in kept_attributes(schema, groups) if at not in pair][:4]
    marked = float(chosen.counts.sum())
    return Brushed(
        across=schema.attributes[pair[0]].domain.label(*spans[0]),
        down=schema.attributes[pair[1]].domain.label(*spans[1]),
        n_records=round(marked),
        percent=round(100 * marked / total, 1),
        classes=_classes(schema, chosen),
        marginals=marginals_of(schema, chosen, others, most=10),
    )


def _inside(groups: Groups, at: int, span: tuple[int, int]) -> NDArray[np.float64]:
    """Return the share of each group in a span of codes, with records spread evenly."""
    ranges = groups.ranges[at]
    common = np.minimum(ranges.stop, span[1]) - np.maximum(ranges.first, span[0])
    parts = np.maximum(common, 0) / (ranges.stop - ranges.first)
    found: NDArray[np.float64] = parts[groups.index[at]]
    return found


def _classes(schema: Schema, groups: Groups) -> tuple[Bar, ...]:
    target = schema.class_attribute
    if target is None or groups.classes is None:
        return ()
    totals = np.bincount(groups.classes, weights=groups.counts, minlength=target.domain.size)
    labels = leaf_labels(target.domain)
    order = np.argsort(-totals, kind="stable")[:10].tolist()
    return bars_of([shortened(labels[at], 40) for at in order], totals[order].tolist())


def some_records(groups: Groups, n_records: int, seed: int) -> Groups:
    """Return groups with ``n_records`` records, sampled in proportion to the published counts."""
    total = int(groups.counts.sum())
    if total <= n_records:
        return groups
    rng = np.random.default_rng(seed)
    chosen = rng.choice(total, n_records, replace=False)
    of_group = np.searchsorted(np.cumsum(groups.counts), chosen, side="right")
    counts = np.bincount(of_group, minlength=len(groups)).astype(np.int64)
    return replace(groups, counts=counts)
