"""Boxes of records in a release, and records drawn from its boxes.

In a *cut* every attribute has one set of ranges, and a *tree* assigns each record to a box: both
are *placed*, so other rows can be generalised as the release was. All others are *loose*:
synthetic records, points, or boxes that do not divide the domain; records are drawn from them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ReleaseError
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.model.groups import Groups
from hedgerow.model.leaf_groups import leaf_groups
from hedgerow.model.locate import box_of
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SeededSource
from hedgerow.release.records import uniform_codes, weighted_codes

MOST_DRAWN = 200_000
"""Maximum number of records drawn from a release; more would not change the figures."""


def is_placed(groups: Groups) -> bool:
    """Return True if every record of the domain has one box in the release."""
    return groups.is_cut or (groups.tree is not None and groups.boxes is not None)


def boxes_of(groups: Groups, schema: Schema) -> Groups | None:
    """Return the groups whose boxes recode records: the release's own, or its leaf table's.

    ``None`` if a release has neither.
    """
    if is_placed(groups):
        return groups
    if groups.leaves is None:
        return None
    sizes = [attribute.domain.size for attribute in schema.attributes]
    return leaf_groups(groups.leaves, sizes, has_class=schema.class_attribute is not None)


def is_pointlike(groups: Groups) -> bool:
    """Return True if every range of the release is a single code, as in synthetic records."""
    return groups.are_points


def places(groups: Groups, table: EncodedTable) -> NDArray[np.int32]:
    """Return the range of each record in the release, by record and attribute.

    Privacy: none; the result is as confidential as the table.
    """
    if groups.is_cut:
        sizes = [attribute.domain.size for attribute in table.schema.attributes]
        columns = [
            ranges.partition_of(size)[codes]
            for ranges, size, codes in zip(groups.ranges, sizes, table.codes, strict=True)
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), np.int32)
    if groups.tree is None or groups.boxes is None:
        raise ReleaseError(
            "This release has no tree that assigns records to boxes.",
            where="evaluation",
            do="Evaluate a release of another method, such as diffgen or hedge.",
        )
    box = box_of(groups.tree, table.codes)
    return np.stack([of_boxes[box] for of_boxes in groups.boxes], axis=1)


def box_numbers(groups: Groups, table: EncodedTable) -> NDArray[np.int64]:
    """Return a number per record, equal for records that share a box of a placed release."""
    if groups.tree is not None and groups.boxes is not None:
        return box_of(groups.tree, table.codes).astype(np.int64)
    return row_numbers(list(places(groups, table).T))[0]


def group_numbers(groups: Groups) -> NDArray[np.int64]:
    """Return a number per group, equal for groups of one box, whatever their class."""
    return row_numbers(groups.index)[0]


def drawn(groups: Groups, schema: Schema, *, seed: int = 0, most: int = MOST_DRAWN) -> EncodedTable:
    """Return records drawn from a release, as in its `records.csv`.

    Every group gives as many records as its count; if these are more than ``most``, a sample of
    ``most`` is drawn. Points are repeated, not drawn.
    """
    counts = _at_most(groups.counts, most, seed)
    group = np.repeat(np.arange(len(groups)), counts)
    source = SeededSource(seed)
    classes = None if groups.classes is None else groups.classes[group]
    columns: list[NDArray[np.int64]] = []
    for at, (ranges, index) in enumerate(zip(groups.ranges, groups.index, strict=True)):
        first, stop = ranges.first[index[group]], ranges.stop[index[group]]
        if groups.marginals is None:
            columns.append(uniform_codes(first, stop, source=source))
        else:
            weights = groups.marginals[at]
            columns.append(weighted_codes(first, stop, weights, classes=classes, source=source))
    return EncodedTable.from_codes(schema, columns, classes)


def _at_most(counts: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64]:
    total = int(counts.sum())
    if total <= most:
        return counts
    return np.random.default_rng(seed).multinomial(most, counts / total).astype(np.int64)


def rows_of(table: EncodedTable, which: NDArray[np.integer]) -> EncodedTable:
    """Return the chosen records of a table, in their order."""
    return EncodedTable(
        schema=table.schema,
        codes=tuple(codes[which] for codes in table.codes),
        classes=None if table.classes is None else table.classes[which],
    )
