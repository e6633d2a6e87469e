"""The published baselines for sequences: exact without noise, and the noise that they need."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from experiments import sequence_baselines as module
from experiments import suffix_trees
from experiments.sequence_baselines import BASELINES, plain_ngrams, prefix_tree, privtree
from experiments.suffix_trees import Places, grown_tree
from hedgerow.evaluation.grams import gram_counts, relative_error
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import offsets_of
from support.sequences import journeys

N_ITEMS = 8


def held(records):
    return WeightedSets(
        n_items=N_ITEMS,
        offsets=offsets_of(np.array([len(each) for each in records], dtype=np.int64)),
        items=np.array([item for each in records for item in each], dtype=np.int64),
        weights=np.ones(len(records), dtype=np.int64),
    )


def counted(sequences):
    rows = [tuple(sequences.items[a:b].tolist()) for a, b in pairwise(sequences.offsets.tolist())]
    found = Counter()
    for row, weight in zip(rows, sequences.weights.tolist(), strict=True):
        found[row] += weight
    return +found


@pytest.fixture(autouse=True)
def no_runaways(monkeypatch):
    """Noise may well make contexts that never end."""
    monkeypatch.setattr(suffix_trees, "LONGEST_DRAWN", 60)


RECORDS = journeys(1500)
EXACT = 1e9  # an epsilon whose noise is nothing


def test_a_prefix_tree_without_noise_has_all_prefixes():
    cut = [each[:10] for each in RECORDS]
    assert counted(prefix_tree(held(RECORDS), EXACT, seed=1)) == Counter(cut)


@pytest.mark.parametrize("baseline", [plain_ngrams, privtree])
def test_a_tree_of_contexts_without_noise_has_all_short_runs(baseline):
    true = held(RECORDS)
    made = baseline(true, EXACT, seed=1)
    assert made.total == true.total
    assert np.diff(made.offsets).min() >= 1
    for n in (1, 2):
        error, compared = relative_error(
            gram_counts(true, n, begins=False), gram_counts(made, n, begins=False), least=100
        )
        assert compared > 3
        assert error < 0.12


def test_contexts_count_what_follows_them():
    sequences = held([(0, 1, 0, 1), (0, 1), (1,)])
    tree = grown_tree(
        Places.of(sequences, most=20, deepest=2),
        deepest=2,
        splits=lambda raw, _: np.ones(len(raw), dtype=np.bool_),
        counted=lambda raw: raw.astype(float),
    )
    after_one = tree.child[0, 1]
    assert tree.counts[after_one, [0, N_ITEMS]].tolist() == [1, 3]
    assert tree.counts[tree.child[after_one, 0], [0, N_ITEMS]].tolist() == [1, 2]
    assert tree.counts[tree.child[after_one, N_ITEMS], N_ITEMS] == 1  # began with it
    assert tree.n_sequences == 3


@pytest.mark.parametrize("name", BASELINES)
def test_a_seed_repeats(name):
    made = [BASELINES[name](held(RECORDS[:200]), 0.5, seed=seed) for seed in (1, 1, 2)]
    assert counted(made[0]) == counted(made[1]) != counted(made[2])


def test_noise_is_as_large_as_one_sequence_needs(monkeypatch):
    scales = []

    class Listening:
        def __init__(self, seed):
            self.rng = np.random.Generator(np.random.PCG64(seed))

        def laplace(self, place, scale, size):
            scales.append(round(scale, 6))
            return self.rng.laplace(place, scale, size)

        def __getattr__(self, name):
            return getattr(self.rng, name)

    monkeypatch.setattr(module.np.random, "default_rng", Listening)
    plain_ngrams(held(RECORDS[:50]), 2.0, seed=1)
    assert set(scales) == {10.0}  # 20 runs
    scales.clear()
    prefix_tree(held(RECORDS[:50]), 2.0, seed=1)
    assert set(scales) == {5.0}  # 10 levels
    scales.clear()
    privtree(held(RECORDS[:50]), 2.0, seed=1)
    tests, leaves = 17 / 8 * 20 / (2 / 9), 20 / (2 - 2 / 9)
    assert set(scales) == {round(tests, 6), round(leaves, 6)}
