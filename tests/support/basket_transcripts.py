"""What neighbouring baskets ask the mechanisms of a method, and how far that tells them apart."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hedgerow.model import run as model_run
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.privacy import mechanisms
from support.basket_sets import published, universe

LONG = EncodedBaskets.from_sets(universe(30, fan_out=3), [set(range(30)), {1}])


class Transcript:
    """Mechanisms that answer alike whatever the data, and note what each was asked.

    Noise of rate e on counts that differ by d in all makes two data sets e * d apart at
    the most; with the same answers given, both runs take the same way. The sum over all
    calls is what the neighbours' releases differ by, in the exponent, at the worst.
    """

    def __init__(self):
        self.asked = []

    def counts(self, counts, *, spending, per_record=1):
        self.asked.append((spending.book() / per_record, dict(enumerate(counts.tolist()))))
        return self._rng(len(counts)).integers(-40, 400, len(counts))

    def reaching(self, block, epsilon, source):
        counts = dict(zip(block.keys.tolist(), block.counts.tolist(), strict=True))
        self.asked.append((epsilon, counts))
        rng = self._rng(block.n_groups)
        # Few pass, so that chains stay few as well; every level has some that do.
        keys = np.unique(rng.integers(0, block.n_groups, 2))
        return keys, block.threshold + rng.integers(0, 50, len(keys))

    def _rng(self, n):
        return np.random.default_rng([len(self.asked), n])


def loss_between(method, first, second, *, epsilon):
    """Return the privacy loss of the neighbours along one transcript, and what was booked."""
    asked = []
    for baskets in (first, second):
        transcript = Transcript()
        with pytest.MonkeyPatch.context() as patch:
            twin = model_run.noisy_counts is not mechanisms.noisy_counts  # and hands on
            module = mechanisms if twin else model_run
            patch.setattr(module, "noisy_counts", transcript.counts)
            patch.setattr(mechanisms, "_reaching", transcript.reaching)
            _, ledger = published(method, baskets, epsilon=epsilon)
        assert ledger.worst_path() <= epsilon
        asked.append(transcript.asked)
    assert [rate for rate, _ in asked[0]] == [rate for rate, _ in asked[1]]
    loss = Fraction(0)
    for (rate, one), (_, other) in zip(*asked, strict=True):
        loss += rate * sum(abs(one.get(k, 0) - other.get(k, 0)) for k in one.keys() | other)
    return loss


def without(baskets, dropped):
    sets = [baskets.items[a:b].tolist() for a, b in pairwise(baskets.offsets.tolist())]
    return EncodedBaskets.from_sets(baskets.taxonomy, sets[:dropped] + sets[dropped + 1 :])
