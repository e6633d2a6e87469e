"""The parts of chain by themselves: public numbers, how items are spelt, contexts, rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.sequences import encoded_sequences
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.errors import InternalError
from hedgerow.methods.chain import forest
from hedgerow.methods.chain.alphabet import BETWEEN, MOST_CHILDREN, Alphabet
from hedgerow.methods.chain.budget import ChainBudget
from hedgerow.methods.chain.chain import LEAST_EPSILON, SequenceChain
from hedgerow.methods.chain.contexts import contexts_of
from hedgerow.methods.chain.estimate import whole
from hedgerow.methods.chain.forest import Forest, Stands, require_nodes
from hedgerow.methods.chain.lengths import Lengths, length_bins
from hedgerow.model import run as model_run
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.mechanisms import pass_tests
from hedgerow.privacy.path_tests import rule_for
from hedgerow.privacy.source import SeededSource
from support.sequences import flat, grouped

ONE = Fraction(1)


@pytest.mark.parametrize(
    ("epsilon", "first", "further", "context"),
    [(ONE, 120, 44, 373), (Fraction(1, 2), 240, 87, 746), (Fraction(7), 18, 7, 54)],
)
def test_thresholds_follow_from_epsilon(epsilon, first, further, context):
    budget = ChainBudget(epsilon=epsilon)
    assert (budget.first_threshold, budget.further_threshold) == (first, further)
    assert budget.context == context
    assert sum(step.share for step in budget.steps()) == epsilon


def test_a_run_tests_with_the_thresholds_and_shares_of_its_budget(monkeypatch):
    asked = []
    real = model_run.path_tests

    def seen(**given):
        asked.append((given["threshold"], given["spending"].epsilon, given["fan_out"]))
        return real(**given)

    monkeypatch.setattr(model_run, "path_tests", seen)
    engine = BasketMemory(baskets=encoded_sequences(flat(3), [(0, 1), (2,)] * 30))
    ledger = PathLedger(ONE)
    SequenceChain().measure(Run(engine=engine, epsilon=ONE, ledger=ledger, source=SeededSource(1)))
    budget = ChainBudget(epsilon=ONE)
    assert asked == [
        (budget.first_threshold, budget.first_tests, 4),
        (budget.further_threshold, budget.further_tests, 4),
    ]
    assert ledger.settled()


def test_an_outline_tells_how_frequent_a_prefix_must_be():
    rule = rule_for(Fraction(1, 10), fan_out=9)
    notes = SequenceChain().outline_of(flat(8), ONE, 100_000).notes
    assert f"about {120 + rule.delta:,} sequences" in notes[0]
    assert f"at most {100_000 // (120 + rule.delta):,} prefixes" in notes[-1]
    assert "Little beyond" not in notes[-1]
    few = SequenceChain().outline_of(flat(8), ONE, 1000).notes
    assert few[-1].endswith("Little beyond how often single items occur will be kept.")


def test_an_epsilon_below_the_least_is_refused():
    SequenceChain().validate(flat(3), LEAST_EPSILON)
    with pytest.raises(Exception, match="1/1000"):
        SequenceChain().validate(flat(3), LEAST_EPSILON - Fraction(1, 10**9))


@pytest.mark.parametrize(
    "taxonomy", [flat(3), flat(64), flat(65), flat(73), flat(700), flat(5000), grouped(70, 9)]
)
def test_every_item_is_spelt_by_steps_of_its_own(taxonomy):
    alphabet = Alphabet.of(taxonomy)
    steps = alphabet.steps
    words = {tuple(row[:n].tolist()) for row, n in zip(steps.slots, steps.n_steps, strict=True)}
    assert len(words) == alphabet.n_items == taxonomy.n_leaves
    assert alphabet.fan_out <= max(MOST_CHILDREN, math.ceil(math.sqrt(taxonomy.n_leaves))) + 1
    # Following the steps of an item leads to it, by children that are there.
    for item in range(0, alphabet.n_items, max(1, alphabet.n_items // 40)):
        kind = BETWEEN
        for slot in steps.slots[item, : steps.n_steps[item]].tolist():
            assert alphabet.there[kind, slot]
            found, kind = alphabet.item_of[kind, slot], alphabet.kind_of[kind, slot]
        assert found == item
    assert alphabet.there[:, alphabet.end].tolist() == [True] + [False] * (alphabet.n_kinds - 1)


def a_level(alphabet, roots, noisy):
    """A forest of roots whose children are all leaves."""
    there = alphabet.there[roots.kind].copy()
    return Forest(
        alphabet=alphabet,
        nodes=roots,
        tree=np.full(there.size, -1, dtype=np.int32),
        cell_of=np.full(len(roots), -1),
        levels=(0, len(roots)),
        is_leaf=there.ravel(),
        noisy=np.asarray(noisy),
    )


def test_sequences_go_on_at_the_longest_context_that_is_frequent():
    alphabet = Alphabet.of(flat(3))
    # Two nodes: after item 0 and after item 2; the last cell of each is the end.
    roots = Stands(
        kind=np.zeros(2, dtype=np.int32),
        last=np.array([0, 2], dtype=np.int32),
        previous=np.array([-1, -1], dtype=np.int32),
    )
    forest = a_level(alphabet, roots, [5, 50, 6, 99, 30, 30, 7, 99])
    contexts = contexts_of(forest, least=30)
    found = list(zip(contexts.roots.last.tolist(), contexts.roots.previous.tolist(), strict=True))
    # One for all, one for the last item 0 (30 of a pair and 5 that fell short: the pair is apart),
    # and pairs (last, previous) of 30 or more.
    assert found[0] == (-1, -1)
    assert set(found[1:]) == {(0, 2), (1, 0), (1, 2)}
    places = Stands(
        kind=np.zeros(4, dtype=np.int32),
        last=np.array([1, 0, 2, 0], dtype=np.int32),
        previous=np.array([0, 2, 2, 0], dtype=np.int32),
    )
    led = [found[root] for root in contexts.root_of(places).tolist()]
    assert led == [(1, 0), (0, 2), (-1, -1), (-1, -1)]


def test_leaves_that_fall_short_are_added_up_by_their_last_item():
    alphabet = Alphabet.of(flat(3))
    roots = Stands(
        kind=np.zeros(3, dtype=np.int32),
        last=np.array([0, 1, 2], dtype=np.int32),
        previous=np.full(3, -1, dtype=np.int32),
    )
    forest = a_level(alphabet, roots, [12, 40, 3, 0, 11, 5, 3, 0, 9, 5, 3, 0])
    contexts = contexts_of(forest, least=30)
    found = list(zip(contexts.roots.last.tolist(), contexts.roots.previous.tolist(), strict=True))
    assert found == [(-1, -1), (0, -1), (1, 0)]


def test_counts_are_rounded_so_that_running_sums_are_right():
    counts = np.array([0.5, 0.25, 0.25, 3.0, 0.4, 0.6])
    assert whole(counts).tolist() == [1, 0, 0, 3, 0, 1]
    assert whole(counts).sum() == counts.sum()


def noisy_lengths(*counts, deviation=10.0):
    least = length_bins(len(counts))
    return Lengths(least=least, counts=np.array(counts), deviation=deviation)


def test_bins_are_trusted_up_to_the_first_that_noise_hides_or_the_last_that_stands_out():
    assert noisy_lengths(100, 50, 25, 24, 30).n_sure == 3
    assert noisy_lengths(100, 50, 24, 24, 45).n_sure == 5
    assert noisy_lengths(100, 50, 24, 24, 44).n_sure == 2
    assert noisy_lengths(100, 50, 25, 10, 25).n_items == 100 * 2 + 50 * 3 + 25 * 4 + 25 * 10


def test_what_is_beyond_the_trusted_bins_counts_as_longer():
    lengths = noisy_lengths(100, 50, 10, 20, 20)
    assert lengths.least_chances()[:2].tolist() == pytest.approx([0.2 * 100 / 200, 0.2 * 50 / 100])
    assert lengths.least_chances()[2:].tolist() == pytest.approx([1 / 3, 1 / 4, 1 / 5])
    generated = np.array([60, 60, 40, 20, 20])
    moved = lengths.corrected(np.ones(5), closed=np.zeros(5, dtype=np.int64), generated=generated)
    ratios = [(100 / 200) / (60 / 200), (50 / 100) / (60 / 140)]
    assert moved.tolist() == pytest.approx([*ratios, *[sum(ratios) / 2] * 3])


def test_a_forest_has_at_most_as_many_nodes_as_32_bits_number():
    require_nodes(2**31 - 1)
    with pytest.raises(InternalError, match="more nodes"):
        require_nodes(2**31)


def test_every_level_checks_the_number_of_all_nodes_so_far(monkeypatch):
    levels, checked = [], []

    def passing(counts, **settings):
        passed = pass_tests(counts, **settings)
        levels.append((len(counts), int(passed.sum())))
        return passed

    monkeypatch.setattr(forest, "pass_tests", passing)
    monkeypatch.setattr(forest, "require_nodes", checked.append)
    engine = BasketMemory(baskets=encoded_sequences(flat(3), [(0, 1, 2, 0, 1)] * 3000))
    SequenceChain().measure(Run.start(engine, epsilon=ONE, source=SeededSource(1)))
    assert any(passed for _, passed in levels)
    totals, nodes = [], 0
    for n_parents, passed in levels:
        nodes = (nodes or n_parents) + passed
        totals.append(nodes)
        nodes = nodes if passed else 0  # the next level begins another forest
    assert checked == totals
