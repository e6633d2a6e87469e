"""Statistical audits: DiffPart run many times on neighbours that are built to hurt.

An event with probabilities p on D and q on D' refutes the claim of epsilon when the lower
confidence bound of p exceeds e^epsilon times the upper bound of q, or the reverse. Bounds
are Clopper-Pearson at 1 - 10^-6. Every audit has a broken twin that it refutes: the events
T5 to T8 of the privacy notes.

Where many runs are needed they are made at once: a level of N partitions that hold the
same records is N independent runs of the real code.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from basket_sets import listed, universe
from hedgerow.count.basket_memory import BasketMemory
from hedgerow.count.engine import SparseCounts
from hedgerow.encode.baskets import EncodedBaskets
from hedgerow.partition import diffpart, diffpart_level
from hedgerow.partition.basic import Basic
from hedgerow.partition.baskets import NoisyBaskets
from hedgerow.partition.diffpart import DiffPart
from hedgerow.partition.diffpart_level import Expansion, Level, split_level
from hedgerow.partition.diffpart_rules import PrintedRules
from hedgerow.partition.diffpart_tree import SplitTree
from hedgerow.privacy import laplace, mechanisms, sparse
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource

pytestmark = pytest.mark.audit

MISTAKE = 1e-6
ONE = Fraction(1)
TENTH = Fraction(1, 10)


def certified(first, second, n):
    """Return the largest epsilon that two counters of events prove, in either direction."""
    worst = -math.inf
    for event in first | second:
        for a, b in ((first[event], second[event]), (second[event], first[event])):
            lower = beta.ppf(MISTAKE, a, n - a + 1) if a else 0.0
            upper = beta.ppf(1 - MISTAKE, b + 1, n - b) if b < n else 1.0
            if lower > 0:
                worst = max(worst, math.log(lower / upper))
    return worst


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


def runs_of_one_level(masks, *, n_items, n, epsilon, c1, seed):
    """Return how often each event shows in N runs over a universe that is one node."""
    tree = SplitTree.of(universe(n_items, fan_out=max(n_items, 2)))
    ledger = PathLedger(epsilon)
    level = Level(
        nodes=ledger.branch(0, n),
        starts=np.arange(n + 1, dtype=np.int64),
        members=np.zeros(n, dtype=np.int32),
        noisy=np.zeros(n, dtype=np.int64),
        parent=np.zeros(n, dtype=np.int64),
    )
    rules = PrintedRules(epsilon=epsilon, c1=c1, c2=c1)
    expansion = Expansion(level=level, tree=tree, chosen=np.arange(n))
    _, _, leaves = split_level(
        expansion, Replicated(masks, n), rules=rules, ledger=ledger, source=SeededSource(seed)
    )
    events = Counter()
    for mask in range(1, 1 << n_items):
        here = leaves.noisy[leaves.mask == mask]
        for least in (1, 5, 10, 15, 20, 30, 40):
            events[mask, least] = int((here >= least).sum())
    return events


def compared(first, second, *, n_items, n, epsilon, c1=ONE):
    one = runs_of_one_level(first, n_items=n_items, n=n, epsilon=epsilon, c1=c1, seed=1)
    other = runs_of_one_level(second, n_items=n_items, n=n, epsilon=epsilon, c1=c1, seed=2)
    return certified(one, other, n)


def one_test_too_many(blocks, *, purchase):
    """As printed [DiffPart, Procedure 1, lines 11-18]: 2^l - |S| tests of empty ones.

    Every partition draws one zero too many; if it passes, one more empty sub-partition of
    the partition that has not passed yet does.
    """
    epsilon = purchase.book()
    rng = np.random.default_rng(int(purchase.source.words(1)[0]))
    results = []
    for block in blocks:
        n = np.size(purchase.nodes)
        per_part = block.n_groups // n
        keys, values = mechanisms._reaching(block, epsilon, purchase.source)
        extra, tails = sparse.passing_empties(
            n, epsilon=epsilon, threshold=block.threshold, source=purchase.source
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


UNARY = {"n_items": 1, "n": 20_000, "epsilon": TENTH}
PAIR = {"n_items": 2, "n": 200_000, "epsilon": TENTH}


def test_t5_a_single_child_passes_as_often_as_noise_says():
    assert compared([1], [], **UNARY) <= TENTH


def test_t5_a_twin_that_tests_one_empty_sub_partition_too_many_is_refuted(monkeypatch):
    monkeypatch.setattr(diffpart_level, "noisy_sparse_blocks", one_test_too_many)
    assert compared([1], [], **UNARY) > TENTH


def test_t6_an_itemset_is_published_as_often_as_noise_says():
    assert compared([1, 2, 3], [1, 2], **PAIR) <= TENTH


def test_t6_a_twin_that_tests_one_empty_sub_partition_too_many_is_refuted(monkeypatch):
    monkeypatch.setattr(diffpart_level, "noisy_sparse_blocks", one_test_too_many)
    assert compared([1, 2, 3], [1, 2], **PAIR) > TENTH


def test_a_twin_with_half_the_noise_is_refuted(monkeypatch):
    setting = {"n_items": 1, "n": 100_000, "epsilon": ONE, "c1": Fraction(0)}
    assert compared([1] * 9, [1] * 8, **setting) <= ONE

    def quiet(n, *, epsilon, source):
        return laplace.discrete_laplace(n, epsilon=2 * epsilon, source=source)

    monkeypatch.setattr(mechanisms, "discrete_laplace", quiet)
    assert compared([1] * 9, [1] * 8, **setting) > ONE


def frequencies(records, *, method, events, n, epsilon, seed, taxonomy):
    engine = BasketMemory(baskets=EncodedBaskets.from_sets(taxonomy(records), records))
    source = SeededSource(seed)
    counts = Counter()
    for _ in range(n):
        noisy = method.publish(engine, epsilon=epsilon, ledger=PathLedger(epsilon), source=source)
        counts.update(set(events(noisy)))
    return counts


def audited(first, second, *, method, events, n, epsilon, taxonomy):
    settings = {
        "method": method, "events": events, "n": n, "epsilon": epsilon, "taxonomy": taxonomy
    }  # fmt: skip
    return certified(
        frequencies(first, seed=1, **settings), frequencies(second, seed=2, **settings), n
    )


def order_of_baskets(noisy):
    rows = list(listed(noisy))
    for a in range(len(rows)):
        for b in rows[a + 1 :]:
            yield ("before", rows[a], b)


ORDER = {
    "method": DiffPart(faithful=True, c1=Fraction(0), c2=Fraction(0)),
    "events": order_of_baskets,
    "n": 5000,
    "epsilon": ONE,
    "taxonomy": lambda _: universe(2),
}


def test_t7_the_order_of_a_release_shows_nothing():
    assert audited([{0}, {1}], [{0}], **ORDER) <= ONE


def test_t7_a_twin_that_lists_what_has_records_first_is_refuted(monkeypatch):
    def occupied_first(blocks, *, purchase):
        results = []
        for block, (keys, values) in zip(
            blocks, mechanisms.noisy_sparse_blocks(blocks, purchase=purchase), strict=True
        ):
            # Those without records come after, in the order in which they happen to be drawn.
            late = ~np.isin(keys, block.keys) * purchase.source.words(len(keys))
            order = np.argsort(late, kind="stable")
            results.append((keys[order], values[order]))
        return results

    def unsorted(taxonomy, *, offsets, items, counts, made):
        codes = items.astype(np.uint16)
        return NoisyBaskets(
            taxonomy=taxonomy, offsets=offsets, items=codes, counts=counts, made=made
        )

    def as_found(pieces):
        return diffpart_level.Found(
            part=np.concatenate([piece.part for piece in pieces]),
            mask=np.concatenate([piece.mask for piece in pieces]),
            noisy=np.concatenate([piece.noisy for piece in pieces]),
        )

    none = np.zeros(0, dtype=np.int64)
    empty = diffpart_level.Found(part=none, mask=none, noisy=none)
    monkeypatch.setattr(diffpart_level, "noisy_sparse_blocks", occupied_first)
    monkeypatch.setattr(
        diffpart_level.Found,
        "sorted_of",
        staticmethod(lambda pieces: as_found([empty, *pieces])),
    )
    monkeypatch.setattr(diffpart.Sets, "joined", staticmethod(lambda pieces: pieces[0]))
    monkeypatch.setattr(
        "hedgerow.partition.diffpart_rest.Sets.joined", staticmethod(lambda pieces: pieces[0])
    )
    monkeypatch.setattr(diffpart.NoisyBaskets, "sorted_of", staticmethod(unsorted))
    assert audited([{0}, {1}], [{0}], **ORDER) > ONE


def which_items(noisy):
    for item in set(noisy.items.tolist()):
        yield ("item", noisy.taxonomy.leaf_labels[item])
    for row, count in listed(noisy).items():
        yield ("basket", tuple(noisy.taxonomy.leaf_labels[item] for item in row))
        yield ("count", row, count // 4)


def universe_of_the_data(records):
    """The broken twin's universe: whatever occurs."""
    return universe(max((max(record) for record in records), default=0) + 1)


METHODS = {
    "faithful": DiffPart(faithful=True),
    "improved": DiffPart(max_length=2),
    "small universe": DiffPart(),
    "basic": Basic(),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(([{0}, {4}], [{0}]), id="an item of one record"),
        pytest.param(([{0, 4}], []), id="one record or none"),
        pytest.param(([{1, 2}] * 9, [{1, 2}] * 8), id="one of many"),
    ],
)
def test_t8_no_event_refutes_the_claim(name, pair):
    settings = {"events": which_items, "n": 1000, "epsilon": ONE, "taxonomy": lambda _: universe(5)}
    assert audited(*pair, method=METHODS[name], **settings) <= ONE


def test_t8_a_twin_whose_universe_comes_from_the_data_is_refuted():
    certain = audited(
        [{0}, {4}],
        [{0}],
        method=METHODS["basic"],
        events=which_items,
        n=2000,
        epsilon=ONE,
        taxonomy=universe_of_the_data,
    )
    assert certain > ONE
