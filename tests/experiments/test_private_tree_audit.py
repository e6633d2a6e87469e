"""Statistical audits of DiffP-C4.5: run many times on neighbours that are built to hurt.

Broken twins show that the audit can fail.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from experiments import private_tree as module
from experiments.private_tree import private_tree
from hedgerow.privacy import laplace, mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from support.auditing import certified
from support.tables import grid, schema_of, table_of, values

pytestmark = pytest.mark.audit

EPSILON = Fraction(1)
RUNS = 1000

SCHEMA = schema_of(values(4, 2), grid(6))
RECORD = (3, 4, 1)
PAIRS = {
    "one record or none": ([RECORD], []),
    "a few, and one more": ([(0, 0, 0), (1, 5, 0), RECORD, RECORD], [(0, 0, 0), (1, 5, 0), RECORD]),
    "a majority tips": ([(0, 1, 0)] * 2 + [RECORD] * 2, [(0, 1, 0)] * 2 + [RECORD]),
}


@pytest.fixture(autouse=True)
def _grow_on_small_tables(monkeypatch):
    """The stopping rule is made for large tables: let these few records grow a tree."""
    monkeypatch.setattr(module, "_most_children", lambda _: 0.05)


def events(tree):
    """Name what an attacker may look at: the tree, and what it answers."""
    yield ("splits", tuple(tree.tree.attribute.tolist()))
    yield ("tree", tuple(tree.tree.attribute.tolist()), tuple(tree.tree.first.tolist()))
    yield ("boxes", len(tree.answers))
    yield ("first split", int(tree.tree.attribute[1]) if len(tree.tree) > 1 else -1)
    here = int(tree.predict(table_of(SCHEMA, [RECORD]))[0])
    yield ("answer", here)
    yield ("answer and boxes", here, len(tree.answers))


def frequencies(rows, *, score, depth, seed, prune=True):
    table = table_of(SCHEMA, rows)
    source = SeededSource(seed)
    counts = Counter()
    for _ in range(RUNS):
        tree = private_tree(
            table,
            epsilon=EPSILON,
            ledger=PathLedger(EPSILON),
            source=source,
            depth=depth,
            score=score,
            prune=prune,
        )
        counts.update(set(events(tree)))
    return counts


def proved(rows, neighbour_rows, *, score="max", depth=1, prune=True):
    """Return the largest epsilon that runs on two neighbours prove."""
    first = frequencies(rows, score=score, depth=depth, seed=1, prune=prune)
    second = frequencies(neighbour_rows, score=score, depth=depth, seed=2, prune=prune)
    return certified(first, second, RUNS)


@pytest.mark.parametrize(
    ("score", "depth", "pair"),
    [
        *(("max", 1, pair) for pair in PAIRS),
        ("max", 2, "a few, and one more"),
        ("gini", 1, "one record or none"),
        ("infogain", 1, "a majority tips"),
    ],
)
def test_no_event_refutes_the_claim(score, depth, pair):
    assert proved(*PAIRS[pair], score=score, depth=depth) <= EPSILON


def test_a_twin_with_too_little_noise_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=16 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    assert proved(*PAIRS["one record or none"], depth=0, prune=False) > EPSILON


def test_a_twin_that_always_takes_the_best_split_is_refuted(monkeypatch):
    def best(scores, *, starts, **_):
        stops = np.append(starts[1:], len(scores))
        return np.array(
            [a + int(np.argmax(scores[a:b])) for a, b in zip(starts, stops, strict=True)]
        )

    monkeypatch.setattr(mechanisms, "choose", best)
    monkeypatch.setattr(module, "_most_children", lambda _: -1000.0)
    rows = [(0, 0, 0), (0, 5, 1)]
    assert proved(rows, rows[:1]) > EPSILON
