"""Records sent down a whole tree at once, as in each pass on Spark."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.placed import PlacedInMemory, boxes_compiled
from hedgerow.model.arrays import Codes
from hedgerow.model.placed import Routing
from hedgerow.model.table import EncodedTable

_MOST_ROWS = 1 << 31


def walked(
    table: EncodedTable, tree: Sequence[Routing], attributes: Collection[int]
) -> PlacedInMemory:
    """Return the records in the boxes that a tree sends them to, with only the ``attributes``.

    The result is that of `PlacedInMemory.descend`, whose loops go through all records once for
    every attribute and level, and which moves the codes of all attributes.
    """
    if len(tree) < 2 or not boxes_compiled(len(table)) or len(table) >= _MOST_ROWS:
        placed = PlacedInMemory(table)
        placed.descend(tree)
        return placed
    from hedgerow.count.compiled import placed as compiled

    places = _boxes(table, tree)
    sizes = np.zeros(tree[-1].n_children, dtype=np.int64)
    compiled.child_sizes(places, sizes)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    compiled.row_places(places, starts[:-1].copy())

    def moved(codes: Codes) -> Codes:
        there = np.empty(starts[-1], dtype=codes.dtype)
        compiled.move_rows(codes, places, there)
        return there

    ordered = EncodedTable(
        schema=table.schema,
        codes=tuple(
            moved(codes) if attribute in attributes else np.zeros(starts[-1], dtype=codes.dtype)
            for attribute, codes in enumerate(table.codes)
        ),
        classes=None if table.classes is None else moved(table.classes),
    )
    return PlacedInMemory(ordered, starts=starts, compiled=True)


def _boxes(table: EncodedTable, tree: Sequence[Routing]) -> NDArray[np.int32]:
    """Return the box of each record, or -1 if it is finished."""
    from hedgerow.count.compiled.walked import walk_down

    splits = np.concatenate([routing.attribute for routing in tree])
    used = np.unique(splits[splits >= 0])
    rows = np.searchsorted(used, splits)
    kind = np.result_type(np.uint16, *(table.codes[attribute] for attribute in used))
    codes = np.empty((len(used), len(table)), dtype=kind)
    for row, attribute in enumerate(used):
        codes[row] = table.codes[attribute]
    sizes = [len(routing.attribute) for routing in tree]
    n_values = np.cumsum([0, *(len(routing.borders.values) for routing in tree)])
    starts = [r.borders.starts[:-1] + n for r, n in zip(tree, n_values[:-1], strict=True)]
    boxes = np.empty(len(table), dtype=np.int32)
    walk_down(
        codes,
        np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        np.where(splits >= 0, rows, -1).astype(np.int32),
        np.concatenate([routing.first_child for routing in tree]),
        np.concatenate([*starts, n_values[-1:]]),
        np.concatenate([routing.borders.values for routing in tree]),
        boxes,
    )
    return boxes
