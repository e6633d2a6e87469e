"""Growing a tree, compiled: the best split of a node, its rows divided, until nothing is gained."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from experiments.c45.gains import SMALL, forget, of_categories, of_numbers, tally
from experiments.c45.learning import Learning, Rules
from hedgerow.model.compiling import compile_loop

NumberT = TypeVar("NumberT", np.int32, np.int64, np.float64)

LEAF = -1
"""The attribute of a node that does not branch, and the son of a branch without records."""

CLOSE_TO_AVERAGE = 1e-3
"""How far below the average the gain of a split may lie."""

TOO_MANY = 0.3
"""Categories for that part of the records are too many to speak of an average gain."""

SORTED_BELOW = 8
"""Codes are sorted where fewer than one in so many of an attribute's were met."""


ATTRIBUTE, THRESHOLD, FIRST, MANY, START, STOP = range(6)
"""Columns of :attr:`Nodes.table`."""

N_NODES, N_SONS, N_ROWS = range(3)
"""Places of :attr:`Nodes.used`."""


class Nodes(NamedTuple):
    """A tree as arrays: parents come before their sons.

    ``table`` has a row for every node: its attribute, the code up to which a number goes left,
    where its sons begin and how many there are (by code, in ``sons``), where its records begin
    and end (in ``rows``, with ``parts``). ``counts`` are class weights. ``used`` is how much
    of each is in use: nodes, sons, rows.
    """

    table: NDArray[np.int64]
    counts: NDArray[np.float64]
    sons: NDArray[np.int64]
    rows: NDArray[np.int32]
    parts: NDArray[np.float64]
    used: NDArray[np.int64]


@compile_loop
def grow(learning: Learning, rules: Rules) -> Nodes:
    """Return the whole tree, before anything is pruned."""
    nodes = _root(learning)
    longest = 1
    for a in range(len(learning.codes)):
        longest = max(longest, learning.starts[a + 1] - learning.starts[a])
    counts = np.zeros((longest, learning.n_classes))
    met = np.empty(longest, dtype=np.int64)
    at = 0
    while at < nodes.used[N_NODES]:
        start, stop = nodes.table[at, START], nodes.table[at, STOP]
        rows, parts = nodes.rows[start:stop], nodes.parts[start:stop]
        attribute, threshold = _best(learning, rules, nodes.counts[at], rows, parts, counts, met)
        if attribute >= 0:
            nodes.table[at, ATTRIBUTE] = attribute
            nodes.table[at, THRESHOLD] = threshold
            nodes = _with_sons(learning, nodes, at)
        at += 1
    return nodes


@compile_loop
def _root(learning: Learning) -> Nodes:
    n = len(learning.classes)
    nodes = Nodes(
        np.zeros((64, 6), dtype=np.int64),
        np.zeros((64, learning.n_classes)),
        np.zeros(256, dtype=np.int64),
        np.arange(n).astype(np.int32),
        learning.weights.copy(),
        np.zeros(3, dtype=np.int64),
    )
    nodes.used[N_ROWS] = n
    new_leaf(learning, nodes, 0, n)
    return nodes


@compile_loop
def new_leaf(learning: Learning, nodes: Nodes, start: int, stop: int) -> int:
    """Return a new node for some rows; there must be room."""
    at = nodes.used[N_NODES]
    nodes.used[N_NODES] += 1
    nodes.table[at, ATTRIBUTE], nodes.table[at, MANY] = LEAF, 0
    give_rows(learning, nodes, at, start, stop)
    return int(at)


@compile_loop
def give_rows(learning: Learning, nodes: Nodes, at: int, start: int, stop: int) -> None:
    """Let a node have some rows, and count their classes."""
    nodes.table[at, START], nodes.table[at, STOP] = start, stop
    count_classes(learning, nodes.rows[start:stop], nodes.parts[start:stop], nodes.counts[at])


@compile_loop
def count_classes(
    learning: Learning,
    rows: NDArray[np.int32],
    parts: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Write the weight of each class among some rows."""
    for c in range(len(counts)):
        counts[c] = 0.0
    for i in range(len(rows)):
        counts[learning.classes[rows[i]]] += parts[i]


@compile_loop
def _best(
    learning: Learning,
    rules: Rules,
    classes: NDArray[np.float64],
    rows: NDArray[np.int32],
    parts: NDArray[np.float64],
    counts: NDArray[np.float64],
    met: NDArray[np.int64],
) -> tuple[int, int]:
    """Return attribute and threshold of the split to make, the attribute -1 for none."""
    total, most = 0.0, 0.0
    for count in classes:
        total += count
        most = max(most, count)
    if 2 * rules.least - total > SMALL or total - most < SMALL:
        return LEAF, 0
    n_attributes = len(learning.codes)
    gains, ratios = np.zeros(n_attributes), np.zeros(n_attributes)
    thresholds = np.zeros(n_attributes, dtype=np.int64)
    for a in range(n_attributes):
        n_met, records = tally(learning, a, rows, parts, counts, met)
        codes = met[:n_met]
        if learning.declared[a] > 0:
            gains[a], ratios[a] = of_categories(counts, codes, total, rules)
        elif n_met > 1:
            first, stop = learning.starts[a], learning.starts[a + 1]
            codes = in_order(codes, counts, stop - first)
            gains[a], ratios[a], thresholds[a] = of_numbers(
                counts, codes, learning.values[first:stop], records, total, rules
            )
        forget(counts, codes)
    chosen = _by_ratio(learning, gains, ratios) if rules.by_ratio else _by_gain(gains)
    return chosen, int(thresholds[max(chosen, 0)])


@compile_loop
def in_order(
    met: NDArray[np.int64], counts: NDArray[np.float64], n_codes: int
) -> NDArray[np.int64]:
    """Return the codes that were met in rising order."""
    if len(met) * SORTED_BELOW < n_codes:
        return np.sort(met)
    found, n = np.empty(len(met), dtype=np.int64), 0
    for code in range(n_codes):
        if counts[code].sum() != 0.0:
            found[n] = code
            n += 1
    return found[:n]


@compile_loop
def _by_gain(gains: NDArray[np.float64]) -> int:
    best = int(gains.argmax())
    return best if gains[best] > SMALL else LEAF


@compile_loop
def _by_ratio(learning: Learning, gains: NDArray[np.float64], ratios: NDArray[np.float64]) -> int:
    """Return the best ratio among splits of average gain [C4.5, release 8]."""
    many = TOO_MANY * learning.n_records
    all_large = True
    for a in range(len(gains)):
        if learning.declared[a] < many - SMALL:  # a number declares none
            all_large = False
    total, n = 0.0, 0
    for a in range(len(gains)):
        if gains[a] > 0 and (all_large or learning.declared[a] < many - SMALL):
            total += gains[a]
            n += 1
    if not n:
        return LEAF
    best, found = 0.0, LEAF
    for a in range(len(gains)):
        if gains[a] > 0 and gains[a] >= total / n - CLOSE_TO_AVERAGE and ratios[a] - best > SMALL:
            best, found = ratios[a], a
    return found


@compile_loop
def divide(
    learning: Learning, nodes: Nodes, at: int, start: int, stop: int
) -> tuple[Nodes, NDArray[np.int64]]:
    """Divide rows by the split of a node, behind all rows in use; return where branches begin.

    The last bound is where the last branch ends. A row without a value goes to every branch,
    in parts as those with one.
    """
    attribute, threshold = nodes.table[at, ATTRIBUTE], nodes.table[at, THRESHOLD]
    n = branches_of(learning, attribute)
    shares, sizes = np.zeros(n), np.zeros(n, dtype=np.int64)
    _weigh(learning, nodes, at, start, stop, shares, sizes)
    bounds = np.empty(n + 1, dtype=np.int64)
    bounds[0] = nodes.used[N_ROWS]
    for b in range(n):
        bounds[b + 1] = bounds[b] + sizes[b]
    nodes = with_room(nodes, n, bounds[n] - bounds[0])
    place = bounds.copy()
    for i in range(start, stop):
        row, part = nodes.rows[i], nodes.parts[i]
        branch = branch_of(learning, attribute, threshold, row)
        if branch >= 0:
            nodes.rows[place[branch]], nodes.parts[place[branch]] = row, part
            place[branch] += 1
            continue
        for b in range(n):
            if shares[b] > SMALL:
                nodes.rows[place[b]], nodes.parts[place[b]] = row, part * shares[b]
                place[b] += 1
    nodes.used[N_ROWS] = bounds[n]
    return nodes, bounds


@compile_loop
def branches_of(learning: Learning, attribute: int) -> int:
    """Return how many branches a split on an attribute has."""
    if learning.declared[attribute] > 0:
        return int(learning.starts[attribute + 1] - learning.starts[attribute])
    return 2


@compile_loop
def branch_of(learning: Learning, attribute: int, threshold: int, row: int) -> int:
    """Return the branch that a row takes, -1 where its value is missing."""
    code = learning.codes[attribute, row]
    if code < 0 or learning.declared[attribute] > 0:
        return int(code)
    return 0 if code <= threshold else 1


@compile_loop
def _weigh(
    learning: Learning,
    nodes: Nodes,
    at: int,
    start: int,
    stop: int,
    shares: NDArray[np.float64],
    sizes: NDArray[np.int64],
) -> None:
    """Write each branch's share of the weight, and how many rows it will have."""
    attribute, threshold = nodes.table[at, ATTRIBUTE], nodes.table[at, THRESHOLD]
    known, n_missing = 0.0, 0
    for i in range(start, stop):
        branch = branch_of(learning, attribute, threshold, nodes.rows[i])
        if branch < 0:
            n_missing += 1
        else:
            shares[branch] += nodes.parts[i]
            sizes[branch] += 1
            known += nodes.parts[i]
    for b in range(len(shares)):
        shares[b] = shares[b] / known if known > SMALL else 1.0 / len(shares)
        if shares[b] > SMALL:
            sizes[b] += n_missing


@compile_loop
def _with_sons(learning: Learning, nodes: Nodes, at: int) -> Nodes:
    """Return the nodes with the sons of one that has been given its split."""
    nodes, bounds = divide(learning, nodes, at, nodes.table[at, START], nodes.table[at, STOP])
    n = len(bounds) - 1
    first = nodes.used[N_SONS]
    nodes.table[at, FIRST], nodes.table[at, MANY] = first, n
    nodes.used[N_SONS] += n
    for b in range(n):
        full = bounds[b] < bounds[b + 1]
        nodes.sons[first + b] = (
            new_leaf(learning, nodes, bounds[b], bounds[b + 1]) if full else LEAF
        )
    return nodes


@compile_loop
def with_room(nodes: Nodes, more: int, rows: int) -> Nodes:
    """Return the nodes with room for so many more nodes and sons, and for more rows."""
    n_nodes, n_sons, n_rows = nodes.used[0] + more, nodes.used[1] + more, nodes.used[2] + rows
    return Nodes(
        taller(nodes.table, n_nodes) if n_nodes > len(nodes.table) else nodes.table,
        taller(nodes.counts, n_nodes) if n_nodes > len(nodes.counts) else nodes.counts,
        longer(nodes.sons, n_sons) if n_sons > len(nodes.sons) else nodes.sons,
        longer(nodes.rows, n_rows) if n_rows > len(nodes.rows) else nodes.rows,
        longer(nodes.parts, n_rows) if n_rows > len(nodes.parts) else nodes.parts,
        nodes.used,
    )


@compile_loop
def longer(given: NDArray[NumberT], n: int) -> NDArray[NumberT]:
    """Return a copy of an array with room for n and as many more."""
    made = np.empty(2 * n, dtype=given.dtype)
    for i in range(len(given)):
        made[i] = given[i]
    return made


@compile_loop
def taller(given: NDArray[NumberT], n: int) -> NDArray[NumberT]:
    """Return a copy of a table with room for n rows and as many more."""
    made = np.empty((2 * n, given.shape[1]), dtype=given.dtype)
    for i in range(len(given)):
        for j in range(given.shape[1]):
            made[i, j] = given[i, j]
    return made
