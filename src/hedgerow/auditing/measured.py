"""Audits of coterie above 18 items and of chain, through their noisy measurements.

Their records are sampled from several noisy vectors, each with a part of epsilon, and no single
number of a release shows more than a little of one of them. The vectors are paid for with all of
epsilon, so the audit may use them: it adds up how much more likely the noisy answers are with the
record than without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.auditing.features import Features, ledger_features
from hedgerow.auditing.neighbours import BasketPair
from hedgerow.auditing.sequences import SequencePair, one_leaf_pair
from hedgerow.auditing.subject import Claim, RunColumns, columns_of
from hedgerow.count.sequence_kernels import PrefixCounts
from hedgerow.errors import InternalError
from hedgerow.methods.chain.budget import ChainBudget
from hedgerow.methods.chain.chain import MeasuredSequences, SequenceChain
from hedgerow.methods.chain.forest import Forest
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.shares import Measuring
from hedgerow.model.engine import BasketEngine, FeatureKernel
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free

ITEMS, LIKE_IT = 110, 400
"""Number of items of coterie's pair, above 100, and of baskets like the record, which are few.

Items then have more than half of epsilon, and the record's two items share it.
"""

ALL = "answers of all vectors"
OFTEN = 8
"""Factor on the number of runs, because measuring takes a small part of a release's time."""


@dataclass(frozen=True, kw_only=True)
class NotedMeasuring(Measuring):
    """Measures one of two neighbours, and notes how each answer distinguishes them.

    A note is the logarithm of how much more likely noise of the booked rate makes the answer
    with the record than without it.
    """

    without: BasketEngine
    with_record: BasketEngine
    notes: Features = field(default_factory=dict)

    def histogram(self, kernel: FeatureKernel, *, on: str) -> NDArray[np.int64]:
        """Return noisy counts in the same way as :class:`Measuring`."""
        noisy = super().histogram(kernel, on=on)
        self._note(kernel, noisy, on, cap=1)
        return noisy

    def capped(self, kernel: FeatureKernel, *, on: str, cap: int) -> NDArray[np.int64]:
        """Return noisy counts in the same way as :class:`Measuring`."""
        noisy = super().capped(kernel, on=on, cap=cap)
        self._note(kernel, noisy.ravel(), on, cap=cap)
        return noisy

    def _note(self, kernel: FeatureKernel, noisy: NDArray[np.int64], on: str, *, cap: int) -> None:
        with_it, without = (each.features(kernel) for each in (self.with_record, self.without))
        nearer = int((np.abs(noisy - without) - np.abs(noisy - with_it)).sum())
        note = nearer * self.share(on) / cap
        self.notes[f"answers of {on}"] = note
        self.notes[ALL] = self.notes.get(ALL, 0.0) + note


def measured_pair() -> BasketPair:
    """Return a pair whose record affects every vector that coterie measures."""
    return BasketPair(
        name="V",
        about=f"{LIKE_IT} equal baskets of two items or one less, {ITEMS} items",
        taxonomy=context_free([f"i{code}" for code in range(ITEMS)], fan_out=ITEMS),
        rest=(frozenset({0, 1}),) * (LIKE_IT - 1),
        record=frozenset({0, 1}),
    )


@dataclass(frozen=True, kw_only=True)
class MeasuredBaskets:
    """coterie in a large universe, audited through its noisy vectors."""

    name: str
    claim: Claim
    method: Coterie
    pair: BasketPair = field(default_factory=measured_pair)

    @property
    def pairs(self) -> Sequence[str]:
        """Name of its single pair."""
        return (self.pair.name,)

    def times(self, pair: str) -> int:
        """Return how many measurements replace one release."""
        return OFTEN

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return the notes of ``runs`` measurements."""
        without, with_record = (self.pair.engine(has_record=has) for has in (False, True))
        source = SeededSource(seed)

        def once() -> Features:
            engine = with_record if has_record else without
            run = Run.start(engine, epsilon=self.claim.epsilon, source=source)
            measuring = NotedMeasuring(
                run=run,
                key=Lots(source=source).word(),
                without=without,
                with_record=with_record,
            )
            self.method.measure(measuring)
            _check_settled(run.ledger, self.name)
            return measuring.notes | ledger_features(run.ledger)

        return columns_of([once() for _ in range(runs)])


@dataclass(frozen=True, kw_only=True)
class CountedSequences:
    """chain, audited through the noisy counts of the leaves of its forests."""

    name: str
    claim: Claim
    method: SequenceChain
    pair: SequencePair = field(default_factory=one_leaf_pair)

    @property
    def pairs(self) -> Sequence[str]:
        """Name of its single pair."""
        return (self.pair.name,)

    def times(self, pair: str) -> int:
        """Return how many measurements replace one release."""
        return OFTEN

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return the notes of ``runs`` measurements."""
        without, with_record = (self.pair.engine(has_record=has) for has in (False, True))
        engine, source = with_record if has_record else without, SeededSource(seed)
        epsilon = self.claim.epsilon
        budget = ChainBudget(epsilon=epsilon)

        def once() -> Features:
            run = Run.start(engine, epsilon=epsilon, source=source)
            found = self.method.measure(run)
            _check_settled(run.ledger, self.name)
            first = budget.first_counts * _nearer(found.first, found, with_record, without)
            further = budget.further_counts * _nearer(found.further, found, with_record, without)
            notes = {"answers of prefixes": first, "answers of what follows": further}
            notes[ALL] = first + further
            return {name: float(note) for name, note in notes.items()} | ledger_features(run.ledger)

        return columns_of([once() for _ in range(runs)])


def _nearer(
    forest: Forest, found: MeasuredSequences, with_record: BasketEngine, without: BasketEngine
) -> int:
    """Return how much nearer noisy counts of leaves are to those with the record, in L1."""
    with_it, without_it = (_leaf_counts(forest, found, each) for each in (with_record, without))
    noisy = forest.noisy[forest.is_leaf]
    return int((np.abs(noisy - without_it) - np.abs(noisy - with_it)).sum())


def _leaf_counts(
    forest: Forest, found: MeasuredSequences, engine: BasketEngine
) -> NDArray[np.int64]:
    """Return the true counts of the leaves of either forest, level by level."""
    is_further = forest is found.further
    counts = [
        engine.sum(
            PrefixCounts(
                steps=forest.alphabet.steps,
                tree=found.first.tree,
                roots=found.roots if is_further else None,
                further=forest.tree if is_further else None,
                first=first,
                n_counted=stop - first,
            )
        )
        for first, stop in pairwise(forest.levels)
    ]
    return np.concatenate(counts)[forest.is_leaf]


def _check_settled(ledger: PathLedger, name: str) -> None:
    if not ledger.settled():
        raise InternalError(f"{name} did not spend exactly its epsilon.")
