"""Broken twins of chain are told from it: raw lengths, raw contexts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_chain_battery import world

from hedgerow.auditing.sequences import sequence_pairs
from hedgerow.count.sequence_kernels import LengthCounts
from hedgerow.methods.chain import chain, forest
from hedgerow.methods.chain.chain import SequenceChain
from hedgerow.methods.chain.lengths import Lengths, length_bins
from hedgerow.privacy import mechanisms
from hedgerow.privacy.source import SeededSource
from support.broken_twins import outcome
from support.exact_transcripts import Leak, drawn
from support.sequences import flat
from support.taint import Tainted, Watched, WatchedLedger, watched

ONE = Fraction(1)
PAIRS = {pair.name: pair for pair in sequence_pairs(epsilon=ONE)}


def raw_lengths(self, longest):
    """The twin books its share, and then looks at the true histogram."""
    self.ledger.spend(self.budget.lengths, on="lengths")
    least = length_bins(longest)
    counts = self.engine.sum(LengthCounts(least=least))
    return Lengths(least=least, counts=counts, deviation=0.01)


def raw_contexts(grow):
    """The twin chooses contexts by the true counts of leaves, which it keeps."""

    def grown(*args, spending, **kwargs):
        kept = []

        def seen(counts, *, spending):
            kept.append(counts)
            return mechanisms.noisy_counts(counts, spending=spending)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(forest, "noisy_counts", seen)
            made = grow(*args, spending=spending, **kwargs)
        if kwargs["may_be_empty"]:
            return made
        raw = np.zeros(made.n_cells, dtype=np.int64)
        raw[made.is_leaf] = kept[0]
        return replace(made, noisy=raw)

    return grown


def twin(name, monkeypatch):
    if name == "raw lengths":
        monkeypatch.setattr(chain._Run, "lengths", raw_lengths)
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
            Watched(PAIRS["N"].engine(has_record=True)),
            epsilon=ONE,
            ledger=WatchedLedger(ONE),
            source=SeededSource(1),
        )


def test_a_twin_that_looks_at_raw_lengths_is_seen(monkeypatch):
    watched_run()
    twin("raw lengths", monkeypatch)
    with pytest.raises(Tainted):
        watched_run()


@pytest.mark.audit
def test_chain_is_not_refuted_where_a_record_decides_tests():
    found = outcome(SequenceChain(), PAIRS["N"], PAIRS["B"], runs=200, name="chain")
    assert found == "not refuted"
