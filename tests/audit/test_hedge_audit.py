"""Statistical audits of hedge: run many times on neighbours that are built to hurt.

Broken twins show that the audit can fail.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from auditing import certified
from hedgerow.count.memory import MemoryEngine
from hedgerow.partition import hedge, hedge_budget
from hedgerow.partition.box_scores import BOX_SCORES
from hedgerow.partition.hedge import Hedge
from hedgerow.partition.locate import box_of
from hedgerow.privacy import laplace, mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from tables import grid, schema_of, table_of, values

pytestmark = pytest.mark.audit

EPSILON = Fraction(1)
RUNS = 1500

SCHEMA = schema_of(values(4, 2), grid(6))
RECORD = (3, 4, 1)
PAIRS = {
    "one record or none": ([RECORD], []),
    "a few, and one more": ([(0, 0, 0), (1, 5, 0), RECORD, RECORD], [(0, 0, 0), (1, 5, 0), RECORD]),
    "a majority tips": ([(0, 1, 0)] * 2 + [RECORD] * 2, [(0, 1, 0)] * 2 + [RECORD]),
}


@pytest.fixture(autouse=True)
def _grow_on_small_tables(monkeypatch):
    """The public rules are made for large tables: let these few records grow a tree."""
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


def events(groups):
    """Name what an attacker may look at: the tree, and how large the record's group is."""
    yield ("splits", tuple(groups.tree.attribute.tolist()))
    yield ("boxes", len(groups.boxes[0]))
    box = int(box_of(groups.tree, [np.array([code]) for code in RECORD[:-1]])[0])
    here = groups.classes == RECORD[-1]
    for index, places in zip(groups.index, groups.boxes, strict=True):
        here &= index == places[box]
    size = int(groups.counts[here].sum())
    for least in (1, 2, 4, 8):
        if size >= least:
            yield ("size at least", least)
    for attribute, code in enumerate(RECORD[:-1]):
        if groups.marginals[attribute][code, 0] > 1:
            yield ("marginal above one", attribute)


def frequencies(rows, method, *, seed):
    engine = MemoryEngine(table=table_of(SCHEMA, rows))
    source = SeededSource(seed)
    counts = Counter()
    for _ in range(RUNS):
        groups = method.publish(engine, epsilon=EPSILON, ledger=PathLedger(EPSILON), source=source)
        counts.update(set(events(groups)))
    return counts


def proved(rows, neighbour_rows, score="gini"):
    method = Hedge(score=BOX_SCORES[score])
    first = frequencies(rows, method, seed=1)
    return certified(first, frequencies(neighbour_rows, method, seed=2), RUNS)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("score", sorted(BOX_SCORES))
def test_no_event_refutes_the_claim(score, pair):
    assert proved(*PAIRS[pair], score) <= EPSILON


def test_a_twin_with_too_little_noise_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=8 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    assert proved(*PAIRS["one record or none"]) > EPSILON


def test_a_twin_that_always_takes_the_best_way_is_refuted(monkeypatch):
    def best(scores, *, starts, **_):
        ends = [*starts[1:], len(scores)]
        return np.array(
            [s + int(np.argmax(scores[s:e])) for s, e in zip(starts, ends, strict=True)]
        )

    monkeypatch.setattr(mechanisms, "choose", best)
    assert proved([(0, 0, 0), (0, 5, 1)], [(0, 0, 0)]) > EPSILON


def test_a_twin_that_stops_on_true_sizes_is_refuted(monkeypatch):
    def exact(counts, *, purchase):
        purchase.book()
        return (
            counts
            if purchase.on.startswith("box sizes")
            else (
                counts
                + laplace.discrete_laplace(
                    len(counts), epsilon=purchase.epsilon, source=purchase.source
                )
            )
        )

    monkeypatch.setattr(hedge, "noisy_counts", exact)
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)
    assert proved(*PAIRS["one record or none"]) > EPSILON
