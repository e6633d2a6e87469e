"""Statistical audits of the private baselines: many runs on neighbours that are built to hurt.

Broken twins show that each audit can fail.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.baselines.dpcube import partition as dpcube_partition
from hedgerow.baselines.dpcube.dpcube import TwoPhaseCube
from hedgerow.baselines.privbayes import privbayes
from hedgerow.baselines.privbayes.privbayes import BayesianNetwork
from hedgerow.baselines.rps.rps import RecursiveMedians
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model import run
from hedgerow.model.locate import box_of
from hedgerow.model.run import Run
from hedgerow.privacy import laplace, mechanisms
from hedgerow.privacy.source import SeededSource
from hedgerow.trees import counts as group_counts
from support.auditing import certified
from support.tables import grid, schema_of, table_of, values

pytestmark = pytest.mark.audit

EPSILON = Fraction(1)
RUNS = 700

SCHEMA = schema_of(values(4, 2), grid(6))
RECORD = (0, 4, 1)
PAIRS = {
    "one record or none": ([RECORD], []),
    "a neighbour, or not": ([(0, 5, 0), RECORD], [(0, 5, 0)]),
    "alike, and one that is not": ([(0, 0, 0)] * 4 + [RECORD], [(0, 0, 0)] * 4),
}
METHODS = {
    "basic-table": BasicTable(cells=None),
    "rps": RecursiveMedians(height=2),
    "dpcube": TwoPhaseCube(cells=48),
    "privbayes": BayesianNetwork(degree=2),
}


@pytest.fixture(autouse=True)
def _let_few_records_decide(monkeypatch):
    """The public rules are made for large tables: let these few records split and have parents."""
    monkeypatch.setattr(privbayes, "useful_cells", lambda *_: 12)
    split_from(20.0, monkeypatch)


def split_from(gain, monkeypatch):
    """Let DPCube split a box from this gain on."""
    monkeypatch.setattr(
        dpcube_partition, "gain_of_noise", lambda n_splits, **_: np.full(len(n_splits), gain)
    )


@pytest.fixture
def networks(monkeypatch):
    """The networks of PrivBayes: chosen privately, so an attacker may know them."""
    seen = []
    original = privbayes.noisy_conditionals

    def noticed(engine, encoding, network, **rest):
        seen.append(network)
        return original(engine, encoding, network, **rest)

    monkeypatch.setattr(privbayes, "noisy_conditionals", noticed)
    return seen


def events(groups):
    """Name what an attacker may look at: the boxes, and how large the record's group is."""
    total = int(groups.counts.sum())
    size = int(groups.counts[holding(groups)].sum())
    for least in (1, 2, 4, 8):
        if total >= least:
            yield ("records at least", least)
        if size >= least:
            yield ("size at least", least)
    yield ("groups", len(groups))
    if groups.tree is not None:
        yield ("splits", tuple(groups.tree.attribute.tolist()))
        yield ("first split", tuple(groups.tree.stop[1:2].tolist()))


def holding(groups):
    """Return which groups are the record's own."""
    here = groups.classes == RECORD[-1]
    if groups.tree is not None:
        box = int(box_of(groups.tree, [np.array([code]) for code in RECORD[:-1]])[0])
        for index, places in zip(groups.index, groups.boxes, strict=True):
            here &= index == places[box]
        return here
    for ranges, index, code in zip(groups.ranges, groups.index, RECORD, strict=False):
        here &= (ranges.first[index] <= code) & (code < ranges.stop[index])
    return here


def frequencies(rows, method, networks, *, seed):
    engine = MemoryEngine(table=table_of(SCHEMA, rows))
    source = SeededSource(seed)
    found = Counter()
    for _ in range(RUNS):
        networks.clear()
        groups = method.publish(Run.start(engine, epsilon=EPSILON, source=source))
        found.update({*events(groups), *(("network", each) for each in networks)})
    return found


def proved(name, pair, networks):
    rows, neighbour_rows = PAIRS[pair]
    method = METHODS[name]
    first = frequencies(rows, method, networks, seed=1)
    return certified(first, frequencies(neighbour_rows, method, networks, seed=2), RUNS)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", METHODS)
def test_no_event_refutes_the_claim_of_a_baseline(name, pair, networks):
    assert proved(name, pair, networks) <= EPSILON


@pytest.mark.parametrize(
    ("name", "times"), [("basic-table", 8), ("rps", 8), ("dpcube", 8), ("privbayes", 60)]
)
def test_a_baseline_with_too_little_noise_is_refuted(name, times, networks, monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=times * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    pair = "alike, and one that is not" if name == "privbayes" else "one record or none"
    assert proved(name, pair, networks) > EPSILON


def test_a_table_that_leaves_out_empty_cells_is_refuted(networks, monkeypatch):
    monkeypatch.setattr(group_counts, "DENSE_GROUPS", 0)
    assert proved("basic-table", "one record or none", networks) <= EPSILON
    nothing = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(mechanisms, "passing_empties", lambda *_, **__: (nothing, nothing))
    assert proved("basic-table", "one record or none", networks) > EPSILON


def best(scores, *, starts, **_):
    ends = [*starts[1:], len(scores)]
    return np.array([s + int(np.argmax(scores[s:e])) for s, e in zip(starts, ends, strict=True)])


def test_true_medians_are_refuted(networks, monkeypatch):
    monkeypatch.setattr(mechanisms, "choose", best)
    assert proved("rps", "a neighbour, or not", networks) > EPSILON


def test_a_network_of_the_best_pairs_is_refuted(networks, monkeypatch):
    monkeypatch.setattr(mechanisms, "choose", best)
    assert proved("privbayes", "alike, and one that is not", networks) > EPSILON


def test_a_partition_of_true_cells_is_refuted(networks, monkeypatch):
    def exact(counts, *, spending, per_record=1):
        spending.book()
        return counts

    split_from(0.05, monkeypatch)
    monkeypatch.setattr(run, "noisy_counts", exact)
    assert proved("dpcube", "one record or none", networks) > EPSILON
