"""Levels of a tree counted one record at a time, to compare engines with."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hedgerow.model.placed import Borders, LevelBins, Routing


def naive_bins(rows, table, attribute, lists, n_classes):
    """Count one record at a time: rows are lists of record numbers, one per box."""
    counts = []
    for members, borders in zip(rows, lists, strict=True):
        box = np.zeros((len(borders) + 1, n_classes), dtype=np.int64)
        for record in members:
            code = int(table.codes[attribute][record])
            box[sum(border <= code for border in borders), table.classes[record]] += 1
        counts += box.tolist()
    return counts


@st.composite
def border_lists(draw, n_boxes, size):
    one = st.lists(st.integers(1, max(size - 1, 1)), unique=True, max_size=4).map(sorted)
    return draw(st.lists(one, min_size=n_boxes, max_size=n_boxes))


def compare_with_a_naive_tree(placed, table, data):
    """Count and route three levels at random, against one record at a time."""
    n_classes = table.schema.class_attribute.domain.size
    sizes = [attribute.domain.size for attribute in table.schema.attributes]
    rows = [list(range(len(table)))]
    for _ in range(3):
        asked = {a: data.draw(border_lists(len(rows), size)) for a, size in enumerate(sizes)}
        counts = placed.sum(LevelBins(borders={a: Borders.of(x) for a, x in asked.items()}))
        for a, lists in asked.items():
            assert counts[a].tolist() == naive_bins(rows, table, a, lists, n_classes)
        expected = [
            np.bincount(table.classes[members], minlength=n_classes).tolist() for members in rows
        ]
        assert placed.classes().tolist() == expected
        chosen = data.draw(
            st.lists(st.integers(-1, len(sizes) - 1), min_size=len(rows), max_size=len(rows))
        )
        lists = [asked[a][b] if a >= 0 else [] for b, a in enumerate(chosen)]
        n_children = [0 if a < 0 else len(x) + 1 for a, x in zip(chosen, lists, strict=True)]
        placed.route(
            Routing(
                attribute=np.array(chosen, dtype=np.int32),
                borders=Borders.of(lists),
                first_child=np.cumsum([0, *n_children[:-1]]),
                n_children=sum(n_children),
            )
        )
        children = []
        for members, a, borders in zip(rows, chosen, lists, strict=True):
            if a >= 0:
                bins = [[] for _ in range(len(borders) + 1)]
                for record in members:
                    bins[sum(x <= table.codes[a][record] for x in borders)].append(record)
                children += bins
        rows = children
        if not rows:
            break
