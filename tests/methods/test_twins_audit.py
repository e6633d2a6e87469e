"""Twins of the mechanisms and of the bookkeeping: float noise, too little of it, no booking."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.errors import InternalError
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import multi_score
from hedgerow.model.run import Run
from hedgerow.privacy import laplace, mechanisms
from hedgerow.privacy.mechanisms import Spending
from hedgerow.privacy.source import SeededSource
from support.broken_twins import ONE, TABLES, outcome, outcome_at_once


def float_laplace(*, has_record, runs, seed):
    """[T11] Laplace noise by the inverse of its distribution, in doubles."""
    u = np.random.default_rng(seed).random(runs) - 0.5
    y = (0.0 if has_record else 1.0) - 2 * np.sign(u) * np.log1p(-2 * np.abs(u))
    low = np.ldexp(np.abs(y), 53)
    return {"y": y, "is finer than 2^-53": (low != np.floor(low)).astype(float)}


def whole_laplace(*, has_record, runs, seed):
    noise = laplace.discrete_laplace(runs, epsilon=ONE / 2, source=SeededSource(seed))
    return {"y": noise + (0.0 if has_record else 1.0)}


@pytest.mark.audit
def test_t11_a_twin_with_noise_in_floating_point_is_refuted():
    assert outcome_at_once(float_laplace, runs=20_000) == "refuted"
    assert outcome_at_once(whole_laplace, epsilon=ONE / 2, runs=20_000) == "not refuted"


def float_split(*, has_record, runs, seed):
    """[T12] A split point between two records, a + (b - a) U in doubles."""
    stop = 40.0 if has_record else 100.0
    split = 20.0 + (stop - 20.0) * np.random.default_rng(seed).random(runs)
    k = np.rint(np.ldexp((split - 20.0) / 80.0, 53))
    near = np.stack([20.0 + 80.0 * np.ldexp(k + step, -53) for step in (-1, 0, 1)])
    return {"split": split, "is a split of [20, 100)": (near == split).any(axis=0).astype(float)}


@pytest.mark.audit
def test_t12_a_twin_that_splits_in_floating_point_is_refuted():
    assert outcome_at_once(float_split, runs=5_000) == "refuted"


class DepthByRecords:
    """[T14] As many levels as the number of records has bits."""

    def publish(self, run):
        depth = int(np.log2(max(len(run.engine.table), 2)))
        score = multi_score("discernibility", faithful=False)
        method = DiffMulti(
            specialisations=4, score=score, fair=True, depth=depth - 8, faithful=False
        )
        return method.publish(run)


@pytest.mark.audit
def test_t14_a_twin_whose_depth_follows_the_number_of_records_is_refuted():
    assert outcome(DepthByRecords(), TABLES["T14"], runs=100) == "refuted"


@pytest.mark.audit
def test_a_twin_of_the_noise_with_half_its_scale_is_refuted(monkeypatch):
    def quieter(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=2 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quieter)
    found = hedgerow.audit(["noise", "empties"], runs=1000, seed=3).verdicts
    assert [verdict.outcome for verdict in found[:1]] == ["refuted"]
    assert found[0].certified > 1.7


class PaysOnce:
    """Buys its counts twice over and books them once."""

    method = BasicTable(cells=None)

    def publish(self, run):
        run.ledger.spend_rest(on="counts")
        unbooked = Run.start(run.engine, epsilon=2 * run.epsilon, source=run.source)
        return self.method.publish(unbooked)


@pytest.mark.audit
def test_a_twin_that_spends_more_than_it_books_is_refuted():
    assert outcome(BasicTable(cells=None), TABLES["T0"]) == "not refuted"
    assert outcome(PaysOnce(), TABLES["T0"]) == "refuted"


PLAN = {
    "attributes": {"age": {"numeric": [0, 9]}},
    "protects": "records",
    "confirmed": True,
    "ledger": {"dataset": "made up", "cap": 1},
    "publish": {"method": "basic-table", "epsilon": 1},
}


def test_a_twin_that_skips_booking_publishes_nothing(monkeypatch):
    monkeypatch.setattr(Spending, "book", lambda self: self.epsilon)
    with pytest.raises(InternalError, match="did not spend exactly its epsilon"):
        hedgerow.publish(PLAN, data=pl.DataFrame({"age": [1, 2, 3]}), seed=1)


def test_a_twin_that_skips_booking_fails_its_audit(monkeypatch):
    monkeypatch.setattr(Spending, "book", lambda self: self.epsilon)
    with pytest.raises(InternalError, match="did not spend exactly its epsilon"):
        outcome(BasicTable(cells=None), TABLES["T1"])
