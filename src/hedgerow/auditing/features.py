"""Features of a release that an attacker can observe, as named numbers.

The attacker knows everything except whether the one record is present, so features are about the
place of that record: the size of its group, the cuts of its box, the position of its row.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.auditing.neighbours import BasketPair, TablePair
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.privacy.budget import PathLedger

Features = dict[str, float]

MOST_OTHERS = 4
MOST_BORDERS = 6
MOST_LINES = 12
MOST_TABLES = 8
MOST_ITEMS = 8
MOST_SETS = 31


def table_features(released: Groups, pair: TablePair) -> Features:
    """Return the features of a table: rows, counts around the record, cuts, order."""
    found: Features = {"rows": len(released), "records": float(released.counts.sum())}
    inside = _inside(released, pair.record)
    box = released.counts[inside]
    found["the record's box"] = float(box.sum())
    if released.classes is not None:
        found["the record's group"] = group_of(released, pair.record)
    for place, other in enumerate(sorted(set(pair.rest))[: MOST_OTHERS // 2]):
        found[f"the box of other {place + 1}"] = float(
            released.counts[_inside(released, other)].sum()
        )
    rows = np.flatnonzero(inside)
    if len(rows):
        found["the record's row"] = float(rows[0])
    found["rows in order"] = float(_in_order(released))
    _note_differences(found, released, pair)
    _note_cuts(found, released, pair)
    _note_made(found, released, pair)
    return found


def _note_differences(found: Features, released: Groups, pair: TablePair) -> None:
    """Add differences between groups and the record's: noise that they share cancels out."""
    own = group_of(released, pair.record)
    others = sorted(set(pair.rest) - {pair.record})[:MOST_OTHERS]
    for place, other in enumerate(others):
        found[f"the record's group less that of other {place + 1}"] = own - group_of(
            released, other
        )
    if released.classes is None or pair.schema.class_attribute is None:
        return
    *codes, mine = pair.record
    for label in range(min(pair.schema.class_attribute.domain.size, MOST_OTHERS)):
        if label != mine:
            beside = group_of(released, (*codes, label))
            found[f"the record's group less class {label} of its box"] = own - beside


def group_of(released: Groups, record: tuple[int, ...]) -> float:
    """Return the count of the group of a record."""
    inside = _inside(released, record)
    if released.classes is not None:
        inside &= released.classes == record[len(released.ranges)]
    return float(released.counts[inside].sum())


def _inside(released: Groups, record: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which rows' boxes contain a record."""
    inside = np.ones(len(released), dtype=np.bool_)
    for ranges, index, code in zip(released.ranges, released.index, record, strict=False):
        inside &= ((ranges.first <= code) & (code < ranges.stop))[index]
    return inside


def _in_order(released: Groups) -> bool:
    """Return whether rows are sorted by their ranges and then by class, without duplicates."""
    columns = list(released.index)
    if released.classes is not None:
        columns.append(released.classes)
    if not columns or len(released) < 2:
        return True
    table = np.column_stack(columns).astype(np.int64)
    step = np.diff(table, axis=0)
    first = (step != 0).argmax(axis=1)
    return bool((step[np.arange(len(step)), first] >= 0).all())


def _note_cuts(found: Features, released: Groups, pair: TablePair) -> None:
    for a, (ranges, code) in enumerate(zip(released.ranges, pair.record, strict=False)):
        name = pair.schema.attributes[a].name
        found[f"ranges of {name}"] = len(ranges)
        if not len(ranges):
            continue
        found[f"{name} begins"] = float(ranges.first.min())
        found[f"{name} ends"] = float(ranges.stop.max())
        borders = np.unique(ranges.first)[1:]
        for border in borders[:MOST_BORDERS].tolist():
            found[f"{name} is cut at {border}"] = 1.0
        if len(borders):
            found[f"{name} is first cut at"] = float(borders[0])
        holding = (ranges.first <= code) & (code < ranges.stop)
        if holding.any():
            widths = (ranges.stop - ranges.first)[holding]
            found[f"width around the record in {name}"] = float(widths.min())


def _note_made(found: Features, released: Groups, pair: TablePair) -> None:
    tree = released.tree
    if tree is not None:
        found["nodes"] = len(tree)
        if len(tree) > 1:
            found["first split is of attribute"] = float(tree.attribute[1])
    if released.boxes is not None and released.boxes:
        found["boxes"] = len(released.boxes[0])
    if released.marginals is not None:
        for a, weights in enumerate(released.marginals):
            found[f"marginal {a}"] = float(weights[pair.record[a], 0])
    for number, table in enumerate(released.tables[:MOST_TABLES], start=1):
        places = zip(table.attributes, table.groups, strict=True)
        cell = tuple(int(groups[pair.record[at]]) for at, groups in places)
        found[f"the record's cell of table {number}"] = float(table.counts[cell])
    if released.origin is not None:
        found["share of counts"] = float(released.origin.share)
        found["threshold"] = float(released.origin.threshold or 0)


def basket_features(released: NoisyBaskets, pair: BasketPair) -> Features:
    """Return the features of baskets: their number, the record's own, those around it, order."""
    found: Features = {"baskets": len(released), "records": float(released.counts.sum())}
    rows = [
        tuple(released.items[start:stop].tolist())
        for start, stop in zip(
            released.offsets[:-1].tolist(), released.offsets[1:].tolist(), strict=True
        )
    ]
    counts = released.counts.tolist()
    holding, own = 0, tuple(sorted(pair.record))
    items = [0] * min(released.taxonomy.n_leaves, MOST_ITEMS)
    for place, (row, count) in enumerate(zip(rows, counts, strict=True)):
        holding += count if pair.record.issubset(row) else 0
        for item in row:
            if item < len(items):
                items[item] += count
        if len(row) <= 3 and place < MOST_SETS:
            found[f"basket {row}"] = float(count)
        if row == own:
            found["the record's row"] = float(place)
    for earlier, later in combinations(rows[:MOST_OTHERS], 2):
        found[f"{earlier} before {later}"] = 1.0
    found["baskets that hold the record's items"] = float(holding)
    found["rows in order"] = float(all(a < b for a, b in pairwise(rows)))
    found["items in the universe"] = released.taxonomy.n_leaves
    for item, count in enumerate(items):
        found[f"item {item}"] = float(count)
    return found


def ledger_features(ledger: PathLedger) -> Features:
    """Return the budget in the certificate: the number of bookings of each step."""
    found: Features = {"spent": float(ledger.worst_path())}
    for line in ledger.bookings[:MOST_LINES]:
        found[f"spent on {line.on} on level {line.level}"] = float(line.times)
        found[f"share of {line.on} on level {line.level}"] = float(line.share)
    return found
