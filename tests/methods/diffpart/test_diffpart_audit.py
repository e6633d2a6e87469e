"""Twins of DiffPart and Basic with the paper's own leaks, events T5 to T8: each is refuted.

That the methods themselves are not refuted is what `hedgerow audit diffpart basic` finds.
Where many runs are needed they are made at once: a level of N partitions that hold the
same records is N independent runs of the real code.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.neighbours import BasketPair
from hedgerow.baselines.basic.basic import Basic
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.methods.diffpart import diffpart
from hedgerow.methods.diffpart import level as diffpart_level
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.diffpart.level import Expansion, PartitionLevel, split_level
from hedgerow.methods.diffpart.rules import PrintedRules
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model import run as model_run
from hedgerow.model.baskets import EncodedBaskets, NoisyBaskets
from hedgerow.model.engine import SparseCounts
from hedgerow.model.run import Run
from hedgerow.privacy import laplace, mechanisms, sparse
from hedgerow.privacy.source import SeededSource
from support.basket_sets import universe
from support.broken_twins import BASKETS, ONE, outcome, outcome_at_once

pytestmark = pytest.mark.audit

TENTH = Fraction(1, 10)


class Replicated:
    """A walk over N partitions with the same few records each."""

    def __init__(self, masks, n):
        self.masks, self.n = masks, n

    def tally(self, kernel):
        held = Counter(self.masks)
        masks = np.array(sorted(held), dtype=np.int64)
        counts = np.array([held[mask] for mask in masks.tolist()], dtype=np.int64)
        keys = (np.arange(self.n)[:, None] << kernel.bits) | masks[None, :]
        return SparseCounts(keys=keys.ravel().astype(np.int64), counts=np.tile(counts, self.n))

    def descend(self, keys):
        pass


def one_level(with_record, without, *, n_items, epsilon, c1=ONE):
    """Return noisy counts of every itemset, in runs over a universe that is one node."""

    def columns(*, has_record, runs, seed):
        tree = SplitTree.of(universe(n_items, fan_out=max(n_items, 2)))
        run = Run.start(None, epsilon=epsilon, source=SeededSource(seed))
        level = PartitionLevel(
            nodes=run.branch(0, runs),
            starts=np.arange(runs + 1, dtype=np.int64),
            members=np.zeros(runs, dtype=np.int32),
            noisy=np.zeros(runs, dtype=np.int64),
            parent=np.zeros(runs, dtype=np.int64),
        )
        _, _, leaves = split_level(
            run,
            Expansion(level=level, tree=tree, chosen=np.arange(runs)),
            Replicated(with_record if has_record else without, runs),
            rules=PrintedRules(epsilon=epsilon, c1=c1, c2=c1),
        )
        counts = np.zeros((runs, 1 << n_items))
        counts[leaves.part, leaves.mask] = leaves.noisy
        return {f"itemset {mask}": counts[:, mask] for mask in range(1, 1 << n_items)}

    return columns


def one_test_too_many(blocks, *, spending):
    """As printed [DiffPart, Procedure 1, lines 11-18]: 2^l - |S| tests of empty ones.

    Every partition draws one zero too many; if it passes, one more empty sub-partition of
    the partition that has not passed yet does.
    """
    epsilon = spending.book()
    rng = np.random.default_rng(int(spending.source.words(1)[0]))
    results = []
    for block in blocks:
        n = np.size(spending.nodes)
        per_part = block.n_groups // n
        keys, values = mechanisms._reaching(block, epsilon, spending.source)
        extra, tails = sparse.passing_empties(
            n, epsilon=epsilon, threshold=block.threshold, source=spending.source
        )
        listed_keys = set(keys.tolist()) | set(block.keys.tolist())
        more_keys, more_values = [], []
        for part, tail in zip(extra.tolist(), tails.tolist(), strict=True):
            free = [
                key
                for key in range(part * per_part, (part + 1) * per_part)
                if key not in listed_keys
            ]
            if free:
                more_keys.append(free[int(rng.integers(len(free)))])
                more_values.append(tail)
        keys = np.concatenate([keys, np.array(more_keys, dtype=np.int64)])
        values = np.concatenate([values, np.array(more_values, dtype=np.int64)])
        order = np.argsort(keys)
        results.append((keys[order], values[order]))
    return results


UNARY = one_level([1], [], n_items=1, epsilon=TENTH)
PAIR = one_level([1, 2, 3], [1, 2], n_items=2, epsilon=TENTH)


@pytest.mark.parametrize(("columns", "runs"), [(UNARY, 20_000), (PAIR, 100_000)], ids=["T5", "T6"])
def test_an_itemset_is_published_as_often_as_noise_says(columns, runs):
    assert outcome_at_once(columns, epsilon=TENTH, runs=runs) == "not refuted"


@pytest.mark.parametrize(("columns", "runs"), [(UNARY, 30_000), (PAIR, 200_000)], ids=["T5", "T6"])
def test_a_twin_that_tests_one_empty_sub_partition_too_many_is_refuted(columns, runs, monkeypatch):
    monkeypatch.setattr(model_run, "noisy_sparse_blocks", one_test_too_many)
    assert outcome_at_once(columns, epsilon=TENTH, runs=runs) == "refuted"


def test_a_twin_with_half_the_noise_is_refuted(monkeypatch):
    nine = one_level([1] * 9, [1] * 8, n_items=1, epsilon=ONE, c1=Fraction(0))
    assert outcome_at_once(nine, runs=5_000) == "not refuted"

    def quiet(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=2 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quiet)
    assert outcome_at_once(nine, runs=5_000) == "refuted"


PRINTED = DiffPart(faithful=True, c1=Fraction(0), c2=Fraction(0))


def test_t7_the_order_of_a_release_shows_nothing():
    assert outcome(PRINTED, BASKETS["T7"], epsilon=TENTH, runs=800) == "not refuted"


def test_t7_a_twin_that_lists_what_has_records_first_is_refuted(monkeypatch):
    monkeypatch.setattr(model_run, "noisy_sparse_blocks", occupied_first)
    monkeypatch.setattr(diffpart_level.FoundParts, "sorted_of", staticmethod(as_found))
    monkeypatch.setattr(diffpart.NoisyBaskets, "sorted_of", staticmethod(unsorted))
    assert outcome(PRINTED, BASKETS["T7"], epsilon=TENTH, runs=1500) == "refuted"


def occupied_first(blocks, *, spending):
    results = []
    for block, (keys, values) in zip(
        blocks, mechanisms.noisy_sparse_blocks(blocks, spending=spending), strict=True
    ):
        # Those without records come after, in the order in which they happen to be drawn.
        late = ~np.isin(keys, block.keys) * spending.source.words(len(keys))
        order = np.argsort(late, kind="stable")
        results.append((keys[order], values[order]))
    return results


def unsorted(taxonomy, *, offsets, items, counts, origin):
    codes = items.astype(np.uint16)
    return NoisyBaskets(
        taxonomy=taxonomy, offsets=offsets, items=codes, counts=counts, origin=origin
    )


def as_found(pieces):
    none = np.zeros(0, dtype=np.int64)
    return diffpart_level.FoundParts(
        **{
            name: np.concatenate([none, *(getattr(piece, name) for piece in pieces)])
            for name in ("part", "mask", "noisy")
        }
    )


@dataclass(frozen=True, kw_only=True)
class UniverseOfTheData(BasketPair):
    """[T8] The items of the universe are those that occur."""

    def engine(self, *, has_record):
        sets = (*self.rest, self.record) if has_record else self.rest
        largest = max(max(each) for each in sets)
        return BasketMemory(baskets=EncodedBaskets.from_sets(universe(largest + 1), sets))


def test_t8_a_twin_whose_universe_comes_from_the_data_is_refuted():
    assert outcome(Basic(), UniverseOfTheData(**vars(BASKETS["T8"]))) == "refuted"
