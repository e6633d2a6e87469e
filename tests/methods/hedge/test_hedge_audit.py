"""hedge on trees that grow on a few records, and twins that the audit refutes.

`hedgerow audit hedge` runs it with its public rules, which are made for large tables. Here
its trees have two levels, one that boxes choose together and one of their own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model import run
from hedgerow.privacy import laplace, mechanisms
from hedgerow.trees.box_scores import BOX_SCORES
from support.broken_twins import TABLES, outcome

pytestmark = pytest.mark.audit

GINI = Hedge(score=BOX_SCORES["gini"])


@pytest.fixture(autouse=True)
def _grow_on_small_tables(monkeypatch):
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


@pytest.mark.parametrize("score", sorted(BOX_SCORES))
def test_no_event_refutes_the_claim(score):
    pairs = [TABLES[name] for name in ("T1", "T4", "M", "R1")]
    assert outcome(Hedge(score=BOX_SCORES[score]), *pairs, runs=800) == "not refuted"


def test_a_twin_with_too_little_noise_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=8 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    assert outcome(GINI, TABLES["T1"]) == "refuted"


def test_a_twin_whose_leaves_share_their_noise_is_refuted(monkeypatch):
    """Every count is right by itself, and every difference between two leaves is exact."""

    def shared(counts, *, nodes, on, ledger, source):
        shares = ledger.spend_rest(on=on, nodes=nodes)
        noise = laplace.discrete_laplace(counts.shape[1], epsilon=min(shares), source=source)
        return counts + noise, shares

    shape = hedge_budget.HedgeShape(shared=2, own=0, most_boxes=50)  # the one of 1,024 records
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(run, "noisy_rest", shared)
    assert outcome(GINI, TABLES["T14"]) == "refuted"


def test_a_twin_that_always_takes_the_best_way_is_refuted(monkeypatch):
    def best(scores, *, starts, **_):
        ends = [*starts[1:], len(scores)]
        return np.array(
            [s + int(np.argmax(scores[s:e])) for s, e in zip(starts, ends, strict=True)]
        )

    monkeypatch.setattr(mechanisms, "choose", best)
    pair = replace(TABLES["M"], rest=((0, 0, 0),), record=(0, 1, 1))
    assert outcome(GINI, pair) == "refuted"


def test_a_twin_that_stops_on_true_sizes_is_refuted(monkeypatch):
    def exact(counts, *, spending, per_record=1):
        epsilon = spending.book() / per_record
        if spending.on.startswith("box sizes"):
            return counts
        noise = laplace.discrete_laplace(len(counts), epsilon=epsilon, source=spending.source)
        return counts + noise

    monkeypatch.setattr(run, "noisy_counts", exact)
    assert outcome(GINI, TABLES["T1"]) == "refuted"
