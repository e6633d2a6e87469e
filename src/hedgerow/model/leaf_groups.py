"""The boxes of a leaf table as groups, to recode other rows and to draw pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.model.groups import CountOrigin, Groups, LeafTable
from hedgerow.model.locate import box_ranges


def leaf_groups(leaves: LeafTable, sizes: Sequence[int], *, has_class: bool) -> Groups:
    """Return the groups of a leaf table; noisy counts of 0 and below are left out.

    ``sizes`` are the sizes of the attributes' domains. Boxes keep the numbers of the tree.
    """
    ranges, index = box_ranges(leaves.tree, sizes)
    order = np.lexsort(tuple(reversed(index)))
    at, label = np.nonzero(leaves.counts[order] > 0)
    box = order[at]
    return Groups(
        ranges=ranges,
        index=tuple(column[box] for column in index),
        classes=label.astype(np.int32) if has_class else None,
        counts=leaves.counts[box, label],
        is_cut=False,
        origin=CountOrigin(share=leaves.share, threshold=1, lowered_by=None),
        tree=leaves.tree,
        boxes=index,
    )
