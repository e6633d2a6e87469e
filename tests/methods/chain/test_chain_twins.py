"""Broken twins of chain are told from it: raw lengths and contexts, little noise, raw tests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_chain_battery import world

from hedgerow.auditing.measured import ALL, CountedSequences
from hedgerow.auditing.run import audit_subject
from hedgerow.auditing.sequences import sequence_pairs
from hedgerow.auditing.subject import Claim, MethodSubject
from hedgerow.count.sequence_kernels import LengthCounts
from hedgerow.methods.chain import chain, forest
from hedgerow.methods.chain.budget import ON_FIRST_COUNTS, ON_FURTHER_COUNTS
from hedgerow.methods.chain.chain import SequenceChain
from hedgerow.methods.chain.lengths import Lengths, length_bins
from hedgerow.model import run as model_run
from hedgerow.model.run import Run
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from support.broken_twins import outcome
from support.exact_transcripts import Leak, drawn
from support.sequences import flat
from support.taint import Tainted, Watched, WatchedLedger, watched

ONE = Fraction(1)
PAIRS = {pair.name: pair for pair in sequence_pairs(epsilon=ONE)}


def raw_lengths(self, longest):
    """The twin books its share, and then looks at the true histogram."""
    self.run.ledger.spend(self.budget.lengths, on="lengths")
    least = length_bins(longest)
    counts = self.run.engine.sum(LengthCounts(least=least))
    return Lengths(least=least, counts=counts, deviation=0.01)


def raw_contexts(grow):
    """The twin chooses contexts by the true counts of leaves, which it keeps."""

    def grown(*args, **kwargs):
        kept = []
        noisy = Run.noisy

        def seen(self, counts, **asked):
            kept.append(counts)
            return noisy(self, counts, **asked)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Run, "noisy", seen)
            made = grow(*args, **kwargs)
        if kwargs["may_be_empty"]:
            return made
        raw = np.zeros(made.n_cells, dtype=np.int64)
        raw[made.is_leaf] = kept[0]
        return replace(made, noisy=raw)

    return grown


def twin(name, monkeypatch):
    if name == "raw lengths":
        monkeypatch.setattr(chain._Measuring, "lengths", raw_lengths)
    else:
        monkeypatch.setattr(chain, "grow_forest", raw_contexts(chain.grow_forest))


RECORDS = [(0, 1, 2), (1,), (0, 0, 0, 0, 0, 0, 0)]


def many_transcripts():
    for seed in range(40):
        pick = drawn(np.random.default_rng(seed))
        world(flat(3), RECORDS * 20, 2, epsilon=ONE).log_ratio(pick, seed=1)


@pytest.mark.parametrize("name", ["raw lengths", "raw contexts"])
def test_a_twin_that_looks_at_raw_numbers_leaks(name, monkeypatch):
    """The same answers of all mechanisms lead elsewhere on the neighbour."""
    twin(name, monkeypatch)
    with pytest.raises(Leak):
        many_transcripts()


def watched_run():
    with watched():
        SequenceChain().publish(
            Run(
                engine=Watched(PAIRS["N"].engine(has_record=True)),
                epsilon=ONE,
                ledger=WatchedLedger(ONE),
                source=SeededSource(1),
            )
        )


def test_a_twin_that_looks_at_raw_lengths_is_seen(monkeypatch):
    watched_run()
    twin("raw lengths", monkeypatch)
    with pytest.raises(Tainted):
        watched_run()


LEAVES = (ON_FIRST_COUNTS, ON_FURTHER_COUNTS)


def little_noise(counts, *, spending, per_record):
    """The twin books its share, and adds a tenth of the noise that it pays for."""
    if spending.on not in LEAVES:
        return mechanisms.noisy_counts(counts, spending=spending, per_record=per_record)
    spending.ledger.spend(spending.epsilon, on=spending.on)
    ledger = PathLedger(10 * spending.epsilon)
    less = replace(spending, epsilon=10 * spending.epsilon, ledger=ledger)
    return mechanisms.noisy_counts(counts, spending=less)


def raw_tests(counts, *, tested, tests):
    """The twin follows prefixes by their true counts."""
    return tested & (counts > len(PAIRS["B"].rest))


def certified(pair, *, runs):
    subject = MethodSubject(
        name="chain", claim=Claim(epsilon=ONE), method=SequenceChain(), over=(PAIRS[pair],)
    )
    return audit_subject(subject, runs=runs, seed=11)


@pytest.mark.audit
@pytest.mark.parametrize(
    ("room", "part", "twin", "pair", "runs"),
    [
        (model_run, "noisy_counts", little_noise, "L", 100),
        (forest, "pass_tests", raw_tests, "B", 100),
    ],
)
def test_a_twin_with_too_little_noise_is_refuted(room, part, twin, pair, runs, monkeypatch):
    monkeypatch.setattr(room, part, twin)
    assert certified(pair, runs=runs).outcome == "refuted"


@pytest.mark.audit
def test_some_of_what_a_leaf_costs_is_certified():
    """Of epsilon, .4 is for the counts of leaves: no audit of one leaf can certify more."""
    verdict = certified("L", runs=500)
    assert verdict.outcome == "not refuted"
    assert 0 < verdict.certified <= 0.4


@pytest.mark.audit
def test_chain_is_not_refuted_where_a_record_decides_tests():
    found = outcome(SequenceChain(), PAIRS["N"], PAIRS["B"], runs=200, name="chain")
    assert found == "not refuted"


MEASURED = CountedSequences(name="chain", claim=Claim(epsilon=ONE), method=SequenceChain())


def test_notes_of_answers_stay_within_the_shares_of_counts():
    notes = MEASURED.sample("L", has_record=True, runs=12, seed=3)
    assert np.abs(notes["answers of prefixes"]).max() == pytest.approx(0.4)
    assert np.abs(notes["answers of what follows"]).max() == pytest.approx(0.322)
    assert np.abs(notes[ALL]).max() <= 0.722 + 1e-9


@pytest.mark.audit
def test_a_third_of_epsilon_is_certified_by_the_counts_of_both_forests():
    verdict = audit_subject(MEASURED, runs=1000, seed=21)
    assert 0.34 <= verdict.certified <= 0.722


def twice_the_rate(counts, *, spending, per_record):
    """The twin books its share, and adds half of the noise that it pays for."""
    if spending.on not in LEAVES:
        return mechanisms.noisy_counts(counts, spending=spending, per_record=per_record)
    spending.book()
    ledger = PathLedger(2 * spending.epsilon)
    more = replace(spending, epsilon=2 * spending.epsilon, ledger=ledger)
    return mechanisms.noisy_counts(counts, spending=more)


@pytest.mark.audit
def test_a_twin_that_counts_at_twice_the_rate_is_refuted(monkeypatch):
    monkeypatch.setattr(model_run, "noisy_counts", twice_the_rate)
    assert audit_subject(MEASURED, runs=1000, seed=21).outcome == "refuted"
