"""Twins of coterie with a flaw each: a cap that is none, lots that look around, a raw factor."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.measured import MeasuredBaskets
from hedgerow.auditing.neighbours import BasketPair
from hedgerow.auditing.run import audit_subject
from hedgerow.auditing.subject import Claim
from hedgerow.count import feature_kernels
from hedgerow.count.compiled import features
from hedgerow.count.feature_kernels import CappedItems, LengthBins
from hedgerow.count.folding import fold
from hedgerow.methods.coterie import items as coterie_items
from hedgerow.methods.coterie import shares
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.model import run as model_run
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource
from support.basket_sets import listed, published, universe
from support.basket_transcripts import LONG, Transcript, loss_between, without
from support.broken_twins import BASKETS, ONE, outcome, outcome_at_once

METHOD = Coterie(frequent=20)
MANY = EncodedBaskets.from_sets(
    universe(30, fan_out=3), [set(range(i % 5, 30)) for i in range(12)] + [{1}, {2, 3}]
)
"""Records above any cap, some of them equal."""

FIRST = 0
"""The record that is gone through first."""


def unenforced(count, found, cap, weight, coins, lot, sums):
    """All features count, however many there are."""
    for t in range(count):
        sums[(0 if count <= cap else len(sums) // 2) + found[t]] += weight


def summed_with(add):
    """Return `sum_items` with another way to add a record."""

    def sum_items(offsets, items, weights, hashes, cap, key, sums):
        for r in range(len(weights)):
            row = items[offsets[r] : offsets[r + 1]].astype(np.int64)
            coins = features.mixed_word(key, hashes[r])
            add(len(row), row, cap, int(weights[r]), coins, np.empty_like(row), sums)

    return sum_items


@pytest.mark.parametrize("baskets", [LONG, MANY])
def test_a_long_record_costs_no_more_than_others(baskets):
    for dropped in (0, len(baskets) - 1):
        loss = loss_between(METHOD, baskets, without(baskets, dropped), epsilon=ONE)
        assert 0 < loss <= 1


def test_a_twin_that_does_not_enforce_the_cap_is_refuted(monkeypatch):
    monkeypatch.setattr(features, "sum_items", summed_with(unenforced))
    assert loss_between(METHOD, LONG, without(LONG, 0), epsilon=ONE) > 1


def test_a_twin_whose_lots_look_at_other_records_is_refuted(monkeypatch):
    """Coins from one stream, record after record: who is missing moves the coins of all behind."""

    class Stream:
        def __init__(self):
            self.rng = np.random.default_rng(1)

        def __call__(self, count, found, cap, weight, coins, lot, sums):
            if count <= cap:
                sums[found[:count]] += weight
                return
            for _ in range(weight):
                kept = self.rng.permutation(found[:count])[:cap]
                sums[len(sums) // 2 + kept] += 1

    def one_stream(*args):
        summed_with(Stream())(*args)

    monkeypatch.setattr(features, "sum_items", one_stream)
    assert loss_between(METHOD, MANY, without(MANY, FIRST), epsilon=ONE) > 1


def released_given(baskets, answers=Transcript):
    """What is published where all mechanisms answer alike, whatever the data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_run, "noisy_counts", answers().counts)
        return listed(published(METHOD, baskets)[0])


def test_the_same_answers_of_all_mechanisms_give_the_same_release():
    assert released_given(LONG) == released_given(without(LONG, 0)) == released_given(MANY)


def test_a_twin_whose_factor_comes_from_the_raw_histogram_is_refuted(monkeypatch):
    whole = coterie_items.best_cap
    raw = {}

    def peeking(kernel, folded):
        raw["lengths"] = _count(kernel, folded)
        return raw["lengths"]

    def with_raw(held, records, **rest):
        told = whole(held, records, **rest)
        above = held > told.most
        lengths = raw["lengths"]
        factor = (lengths * held)[above].sum() / max(1, told.most * lengths[above].sum())
        return coterie_items.Cap(most=told.most, factor=float(factor), above=told.above)

    _count = LengthBins.count
    monkeypatch.setattr(feature_kernels.LengthBins, "count", peeking)
    monkeypatch.setattr(coterie_items, "best_cap", with_raw)
    long, longer = set(range(11)), set(range(27))
    mixed = EncodedBaskets.from_sets(universe(30), [longer, long, long, longer])
    assert released_given(mixed) != released_given(without(mixed, 0))


# Statistics.


def capped_sums(cap, *, enforced):
    """Return runs of a capped measurement at epsilon 1 of one long record, or none."""

    def columns(*, has_record, runs, seed):
        record = [set(range(12))] if has_record else []
        baskets = EncodedBaskets.from_sets(universe(12), record)
        kernel = CappedItems(n_items=12, cap=cap if enforced else 12, key=3)
        vector = kernel.count(fold(baskets.offsets, baskets.items))
        noise = discrete_laplace(
            runs * len(vector), epsilon=Fraction(1, cap), source=SeededSource(seed)
        ).reshape(runs, -1)
        noisy = vector + noise
        return {"all": noisy.sum(axis=1).astype(float), "first": noisy[:, 0].astype(float)}

    return columns


@pytest.mark.audit
def test_capped_counts_of_one_long_record_are_not_refuted():
    assert outcome_at_once(capped_sums(2, enforced=True), runs=40_000) == "not refuted"


@pytest.mark.audit
def test_a_cap_in_words_only_is_refuted():
    assert outcome_at_once(capped_sums(1, enforced=False), runs=40_000) == "refuted"


LONG_PAIR = BasketPair(
    name="L",
    about="two long baskets or one",
    taxonomy=universe(12),
    rest=(frozenset(range(12)),),
    record=frozenset(range(12)),
)


@pytest.mark.audit
def test_no_event_refutes_the_claim():
    method = Coterie(frequent=5)
    assert outcome(method, BASKETS["N"], LONG_PAIR, runs=300, name="coterie") == "not refuted"


@pytest.mark.audit
def test_a_twin_that_books_and_adds_no_noise_is_refuted(monkeypatch):
    def bare(counts, *, spending, per_record=1):
        spending.book()
        return counts.copy()

    monkeypatch.setattr(model_run, "noisy_counts", bare)
    twin = Coterie(frequent=5)
    assert outcome(twin, LONG_PAIR, runs=300) == "refuted"


MEASURED = MeasuredBaskets(name="coterie, measured", claim=Claim(epsilon=ONE), method=Coterie())


def test_notes_of_answers_never_exceed_epsilon_and_feel_every_vector():
    notes = MEASURED.sample("V", has_record=True, runs=12, seed=3)
    for part, share in {**shares.FEW_PARTS, "all vectors": ONE}.items():
        assert 0 < np.abs(notes[f"answers of {part}"]).max() <= float(share) + 1e-9


@pytest.mark.audit
def test_a_third_of_epsilon_is_certified_by_what_is_measured_of_many_items():
    verdict = audit_subject(MEASURED, runs=1200, seed=21)
    assert 0.34 <= verdict.certified <= 1


@pytest.mark.audit
def test_a_twin_that_measures_at_twice_the_rate_is_refuted(monkeypatch):
    def twice(counts, *, spending, per_record=1):
        spending.book()
        ledger = PathLedger(2 * spending.epsilon)
        more = replace(spending, epsilon=2 * spending.epsilon, ledger=ledger)
        return mechanisms.noisy_counts(counts, spending=more, per_record=per_record)

    monkeypatch.setattr(model_run, "noisy_counts", twice)
    assert audit_subject(MEASURED, runs=1200, seed=21).outcome == "refuted"
