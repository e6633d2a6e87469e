"""chain: sequences by two trees of prefixes, and a private histogram of their lengths.

The first tree holds prefixes that many sequences begin with. What is left of a sequence that
leaves it goes down a second forest, rooted at the last items before. Sequences are then drawn
from both, and end where the histogram of lengths says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.baskets import steps_compiled
from hedgerow.count.sequence_kernels import LengthCounts, PrefixCounts
from hedgerow.errors import SettingError
from hedgerow.methods.chain.alphabet import Alphabet
from hedgerow.methods.chain.budget import (
    DEEPEST,
    ON_FIRST_COUNTS,
    ON_FIRST_TESTS,
    ON_FURTHER_COUNTS,
    ON_FURTHER_TESTS,
    ON_LENGTHS,
    ChainBudget,
)
from hedgerow.methods.chain.contexts import Contexts, contexts_of
from hedgerow.methods.chain.estimate import NoisySums, consistent_counts, pooled, whole
from hedgerow.methods.chain.forest import Forest, Stands, grow_forest, places_of_cells
from hedgerow.methods.chain.generate import Ways
from hedgerow.methods.chain.lengths import Lengths, length_bins
from hedgerow.methods.chain.listing import First, listed_sequences
from hedgerow.model.engine import BasketEngine
from hedgerow.model.groups import CountOrigin
from hedgerow.model.method import About, Outline
from hedgerow.model.precision import deviation
from hedgerow.model.run import Run
from hedgerow.model.sequences import NoisySequences
from hedgerow.privacy.path_tests import rule_for
from hedgerow.taxonomy.tree import Taxonomy

MAX_LENGTH = 3000

FEW_PREFIXES = 100
"""Prefixes of one length below which combinations are hardly kept."""

LEAST_EPSILON = Fraction(1, 1000)
"""Below, tests would ask for more records than there are people."""


@dataclass(frozen=True, kw_only=True)
class SequenceChain:
    """Publish sequences of up to ``max_length`` items.

    Privacy: neighbours differ in one whole sequence. Tests of its one path in either forest, the
    counts of the one leaf that it reaches in each, and its one bin of lengths cost their shares,
    which add up to epsilon (sequential composition); where it goes on in the second forest
    follows from the sequence and from what was published before.
    """

    max_length: int = MAX_LENGTH

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise SettingError.out_of_range(
                "max-length", self.max_length, "a whole number, 1 or more"
            )

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="chain",
            details={
                "tests": "the bias of a prefix grows with its length, so that all tests of one"
                " sequence together cost little more than one of them",
                "drawn": "sequences beyond counted prefixes are drawn from counts of what follows"
                " their last two items",
            },
        )

    def validate(self, taxonomy: Taxonomy, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        if epsilon < LEAST_EPSILON:
            raise SettingError.out_of_range("epsilon", epsilon, f"{LEAST_EPSILON} or more")

    def outline(self, taxonomy: Taxonomy, epsilon: Fraction) -> Outline:
        """Return what a run will spend, and how frequent a prefix must be, without any data."""
        budget, alphabet = ChainBudget(epsilon=epsilon), Alphabet.of(taxonomy)
        rule = rule_for(budget.first_tests, fan_out=alphabet.fan_out)
        least, more = budget.first_threshold + rule.delta, rule.delta
        error = deviation(budget.first_counts)
        return Outline(
            steps=budget.steps(),
            counts=budget.first_counts,
            n_groups=alphabet.width,
            notes=(
                f"A prefix is followed further where about {least:,} sequences or more begin with"
                f" it, and {more:,} more for every further item; rarer ones are drawn from what"
                " follows their last items.",
                f"The count of a prefix that is not followed further is off by about {error:.3g};"
                " that of a longer one by more, as it is a sum of such counts.",
            ),
        )

    def outline_of(self, taxonomy: Taxonomy, epsilon: Fraction, n_records: int) -> Outline:
        """Return the outline with what about that many sequences let through at the most."""
        planned = self.outline(taxonomy, epsilon)
        budget, alphabet = ChainBudget(epsilon=epsilon), Alphabet.of(taxonomy)
        rule = rule_for(budget.first_tests, fan_out=alphabet.fan_out)
        most = n_records // (budget.first_threshold + rule.delta)
        note = f"Of {n_records:,} sequences at most {most:,} prefixes of one item can be that many."
        if most < FEW_PREFIXES:
            note += " Little beyond how often single items occur will be kept."
        return replace(planned, notes=(*planned.notes, note))

    def publish(self, run: Run[BasketEngine]) -> NoisySequences:
        """Return sequences with noisy counts; the ledger is settled afterwards.

        Privacy: costs epsilon.
        """
        measured = self.measure(run)
        run.progress("drawing sequences", None)
        budget, key = ChainBudget(epsilon=run.epsilon), int(run.source.words(1)[0])
        return drawn_sequences(
            measured, run.engine.taxonomy, budget, longest=self.max_length, key=key
        )

    def measure(self, run: Run[BasketEngine]) -> MeasuredSequences:
        """Return all that is measured; the ledger is settled afterwards.

        Privacy: costs epsilon; a release is made of this alone.
        """
        taxonomy = run.engine.taxonomy
        self.validate(taxonomy, run.epsilon)
        asking = _Measuring(
            run=run, alphabet=Alphabet.of(taxonomy), budget=ChainBudget(epsilon=run.epsilon)
        )
        first = asking.first_tree()
        contexts = contexts_of(first, least=asking.budget.context)
        further = asking.further_forest(first, contexts)
        lengths = asking.lengths(self.max_length)
        return MeasuredSequences(first=first, contexts=contexts, further=further, lengths=lengths)


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredSequences:
    """Both forests with their noisy counts, and noisy lengths: all of it publishable."""

    first: Forest
    contexts: Contexts
    further: Forest
    lengths: Lengths

    @property
    def roots(self) -> NDArray[np.int32]:
        """The root of the second forest at which each cell of the first leads on, or -1."""
        return roots_of_cells(self.first, self.contexts)


def roots_of_cells(first: Forest, contexts: Contexts) -> NDArray[np.int32]:
    """Return the root at which sequences go on that leave the first tree at each cell, or -1."""
    roots = np.full(first.n_cells, -1, dtype=np.int32)
    leaving = first.open_leaves
    roots[leaving] = contexts.root_of(places_of_cells(first).at(leaving))
    return roots


@dataclass(frozen=True, kw_only=True)
class _Measuring:
    """The measurements of one run: each sum goes straight into a mechanism that is booked."""

    run: Run[BasketEngine]
    alphabet: Alphabet
    budget: ChainBudget

    def first_tree(self) -> Forest:
        """Return the tree of prefixes that many sequences begin with."""
        self.run.progress("growing the tree of prefixes", None)
        tests = self.run.prefix_tests(
            fan_out=self.alphabet.fan_out,
            threshold=self.budget.first_threshold,
            n_roots=1,
            share=self.budget.first_tests,
            on=ON_FIRST_TESTS,
        )

        def counted(tree: NDArray[np.int32], first: int, n: int) -> NDArray[np.int64]:
            kernel = PrefixCounts(steps=self.alphabet.steps, tree=tree, first=first, n_counted=n)
            return self.run.engine.sum(kernel)

        return grow_forest(
            self.alphabet,
            Stands.beginning(),
            may_be_empty=False,
            deepest=DEEPEST,
            tests=tests,
            counted=counted,
            run=self.run,
            share=self.budget.first_counts,
            on=ON_FIRST_COUNTS,
        )

    def further_forest(self, first: Forest, contexts: Contexts) -> Forest:
        """Return the forest of what is left of sequences that leave the first tree."""
        self.run.progress("growing what follows", None)
        roots = roots_of_cells(first, contexts)
        tests = self.run.prefix_tests(
            fan_out=self.alphabet.fan_out,
            threshold=self.budget.further_threshold,
            n_roots=len(contexts.roots),
            share=self.budget.further_tests,
            on=ON_FURTHER_TESTS,
        )

        def counted(tree: NDArray[np.int32], begin: int, n: int) -> NDArray[np.int64]:
            kernel = PrefixCounts(
                steps=self.alphabet.steps,
                tree=first.tree,
                roots=roots,
                further=tree,
                first=begin,
                n_counted=n,
            )
            return self.run.engine.sum(kernel)

        return grow_forest(
            self.alphabet,
            contexts.roots,
            may_be_empty=True,
            deepest=DEEPEST,
            tests=tests,
            counted=counted,
            run=self.run,
            share=self.budget.further_counts,
            on=ON_FURTHER_COUNTS,
        )

    def lengths(self, longest: int) -> Lengths:
        """Return the noisy histogram of lengths."""
        least = length_bins(longest)
        counts = self.run.noisy(
            self.run.engine.sum(LengthCounts(least=least)),
            share=self.budget.lengths,
            on=ON_LENGTHS,
        )
        return Lengths(least=least, counts=counts, deviation=deviation(self.budget.lengths))


def drawn_sequences(
    measured: MeasuredSequences, taxonomy: Taxonomy, budget: ChainBudget, *, longest: int, key: int
) -> NoisySequences:
    """Return sequences drawn from what was published; nothing here reads the data."""
    first, further, lengths = measured.first, measured.further, measured.lengths
    of_first = NoisySums(first, deviation(budget.first_counts) ** 2)
    of_further = NoisySums(further, deviation(budget.further_counts) ** 2)
    pool = pooled([of_first, of_further])
    counts = np.zeros(first.n_cells, dtype=np.int64)
    leaves = np.flatnonzero(first.is_leaf)
    counts[leaves] = whole(consistent_counts(of_first, pool)[leaves])
    ways = Ways.of(further, measured.contexts, consistent_counts(of_further, pool))
    return listed_sequences(
        taxonomy,
        First(forest=first, counts=counts, errors=np.sqrt(of_first.variances)),
        ways,
        lengths,
        longest=longest,
        key=key,
        compiled=steps_compiled(lengths.n_items),
        counting=CountOrigin(share=budget.first_counts, threshold=None, lowered_by=None),
    )
