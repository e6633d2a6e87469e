"""Twins of DiffGen with its known flaws: the audit refutes each.

That DiffGen itself is not refuted, with any score, is what `hedgerow audit diffgen` finds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.model.run import Run
from hedgerow.privacy import laplace, mechanisms
from hedgerow.trees import counts as counting
from hedgerow.trees.scores import SCORES
from support.broken_twins import TABLES, outcome
from support.tables import grid, schema_of, table_of

pytestmark = pytest.mark.audit

LEAVES = DiffGen(specialisations=None, score=SCORES["max"], faithful=False)
PRINTED = DiffGen(specialisations=2, score=SCORES["max"], faithful=True)


@pytest.fixture
def sparse_counts(monkeypatch):
    """Even small cuts take the way of large ones: empty groups sampled, not enumerated."""
    monkeypatch.setattr(counting, "DENSE_GROUPS", 0)


def test_sampling_empty_groups_refutes_nothing(sparse_counts):
    assert outcome(LEAVES, TABLES["T1"], TABLES["M"], runs=1000) == "not refuted"


def test_a_twin_that_lists_occupied_groups_only_is_refuted(monkeypatch):
    nothing = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(mechanisms, "passing_empties", lambda n, **_: (nothing, nothing))
    assert outcome(PRINTED, TABLES["T1"]) == "refuted"


def test_a_twin_with_half_the_noise_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=2 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    assert outcome(LEAVES, TABLES["T0"], runs=500) == "refuted"


def test_a_twin_that_always_takes_the_best_candidate_is_refuted(monkeypatch):
    def best(scores, **_):
        return np.array([int(np.argmax(scores))])

    monkeypatch.setattr(mechanisms, "choose", best)
    method = DiffGen(specialisations=1, score=SCORES["max"], faithful=False)
    pair = replace(TABLES["M"], rest=((0, 0, 0), (1, 1, 1)), record=(0, 1, 1))
    assert outcome(method, pair) == "refuted"


AUTO = DiffGen(specialisations="auto", score=SCORES["max"], faithful=False)
EDGE = replace(TABLES["M"], rest=((0, 0, 0), (1, 1, 1)) * 26 + ((1, 0, 0),), record=(0, 1, 1))
"""53 records are worth one specialisation at epsilon = 1, and one more makes it two."""


def test_an_adaptive_number_of_specialisations_refutes_nothing():
    assert outcome(AUTO, EDGE) == "not refuted"


def test_a_twin_whose_specialisations_follow_from_the_true_number_of_records_is_refuted(
    monkeypatch,
):
    noisy_total = Run.noisy_total

    def true_size(self, counts, *, share, on):
        noisy = noisy_total(self, counts, share=share, on=on)
        return int(counts.sum()) if on == "number of records" else noisy

    monkeypatch.setattr(Run, "noisy_total", true_size)
    assert outcome(AUTO, EDGE) == "refuted"


class DomainOfTheData:
    """[T9] The numbers begin and end where the records do."""

    def publish(self, run):
        codes = run.engine.table.codes[0].astype(np.int64)
        low = int(codes.min(initial=0))
        width = int(codes.max(initial=0)) - low + 1
        rows = list(zip((codes - low).tolist(), run.engine.table.classes.tolist(), strict=True))
        narrow = MemoryEngine(table=table_of(schema_of(grid(width)), rows))
        return replace(PRINTED, specialisations=1).publish(replace(run, engine=narrow))


def test_t9_a_twin_whose_domain_comes_from_the_data_is_refuted():
    assert outcome(DomainOfTheData(), TABLES["T9"]) == "refuted"


class BestOfFive:
    """[T10] The settings are tried on the raw data, and the best release is kept."""

    def publish(self, run):
        tries = [
            LEAVES.publish(Run.start(run.engine, epsilon=run.epsilon, source=run.source))
            for _ in range(5)
        ]
        run.ledger.spend_rest(on="counts")
        return min(tries, key=lambda made: abs(int(made.counts.sum()) - len(run.engine.table)))


def test_t10_a_twin_that_keeps_the_best_of_five_releases_is_refuted():
    assert outcome(BestOfFive(), TABLES["T0"], runs=100) == "refuted"
