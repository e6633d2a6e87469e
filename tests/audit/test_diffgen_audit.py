"""Statistical audits: DiffGen run many times on neighbours that are built to hurt.

Broken twins show that the audit can fail.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from auditing import certified
from hedgerow.count.memory import MemoryEngine
from hedgerow.partition import counts as counting
from hedgerow.partition.diffgen import DiffGen
from hedgerow.partition.scores import SCORES
from hedgerow.privacy import laplace, mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from tables import grid, schema_of, table_of, values

pytestmark = pytest.mark.audit

EPSILON = Fraction(1)
RUNS = 2500

SCHEMA = schema_of(values(4, 2), grid(6))
RECORD = (3, 4, 1)
PAIRS = {
    "one record or none": ([RECORD], []),
    "a few, and one more": (
        [(0, 0, 0), (1, 5, 0), (3, 4, 1), RECORD],
        [(0, 0, 0), (1, 5, 0), (3, 4, 1)],
    ),
    "a majority tips": ([(0, 1, 0)] * 2 + [RECORD] * 2, [(0, 1, 0)] * 2 + [RECORD]),
}


def events(groups):
    """Name what an attacker may look at: the cut, and how large the record's group is."""
    cut = tuple((len(ranges), *ranges.first.tolist()) for ranges in groups.ranges)
    yield ("cut", cut)
    yield ("sizes", tuple(len(ranges) for ranges in groups.ranges))
    places = [
        ranges.partition_of(attribute.domain.size)[code]
        for ranges, attribute, code in zip(
            groups.ranges, SCHEMA.attributes, RECORD[:-1], strict=True
        )
    ]
    here = groups.classes == RECORD[-1]
    for index, place in zip(groups.index, places, strict=True):
        here &= index == place
    size = int(groups.counts[here].sum())
    for least in (1, 2, 3, 5, 8):
        if size >= least:
            yield ("size at least", least)
    yield ("total above", int(groups.counts.sum()) // 4)


def frequencies(rows, method, *, seed):
    engine = MemoryEngine(table=table_of(SCHEMA, rows))
    source = SeededSource(seed)
    counts = Counter()
    for _ in range(RUNS):
        groups = method.publish(engine, epsilon=EPSILON, ledger=PathLedger(EPSILON), source=source)
        counts.update(set(events(groups)))
    return counts


def proved(method, rows, neighbour_rows):
    """Return the largest epsilon that runs of a method on two neighbours prove."""
    first = frequencies(rows, method, seed=1)
    second = frequencies(neighbour_rows, method, seed=2)
    return certified(first, second, RUNS)


METHODS = [
    pytest.param(
        DiffGen(specialisations=h, score=score, faithful=faithful),
        id=f"{score.name}, h = {h}, {'faithful' if faithful else 'improved'}",
    )
    for faithful in (False, True)
    for score in SCORES.values()
    for h in (2,)
] + [
    pytest.param(
        DiffGen(specialisations=None, score=SCORES["max"], faithful=False), id="to the leaves"
    )
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("method", METHODS)
def test_no_event_refutes_the_claim(method, pair):
    assert proved(method, *PAIRS[pair]) <= EPSILON


@pytest.fixture
def sparse_counts(monkeypatch):
    """Even small cuts take the way of large ones: empty groups sampled, not enumerated."""
    monkeypatch.setattr(counting, "DENSE_GROUPS", 0)


@pytest.mark.parametrize("pair", PAIRS)
def test_sampling_empty_groups_refutes_nothing(sparse_counts, pair):
    method = DiffGen(specialisations=2, score=SCORES["gini"], faithful=False)
    assert proved(method, *PAIRS[pair]) <= EPSILON


def test_a_twin_that_lists_occupied_groups_only_is_refuted(sparse_counts, monkeypatch):
    nothing = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(mechanisms, "passing_empties", lambda n, **_: (nothing, nothing))
    method = DiffGen(specialisations=2, score=SCORES["gini"], faithful=True)
    assert proved(method, *PAIRS["one record or none"]) > EPSILON


def test_a_twin_with_too_little_noise_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=4 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    method = DiffGen(specialisations=2, score=SCORES["gini"], faithful=False)
    assert proved(method, *PAIRS["one record or none"]) > EPSILON


def test_a_twin_that_always_takes_the_best_candidate_is_refuted(monkeypatch):
    def best(scores, **_):
        return np.array([int(np.argmax(scores))])

    monkeypatch.setattr(mechanisms, "choose", best)
    method = DiffGen(specialisations=1, score=SCORES["max"], faithful=False)
    assert proved(method, [(0, 0, 0), (0, 5, 1)], [(0, 0, 0)]) > EPSILON
