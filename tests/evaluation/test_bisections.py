"""Clusters of several numbers from one fit are those of a fit each."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import BisectingKMeans

from hedgerow.evaluation.bisections import bisected

NUMBERS = (2, 10, 5, 1, 3)


def points(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points in some heaps, their weights, and other points."""
    rng = np.random.default_rng(seed)
    heaps = rng.normal(size=(6, 4)) * rng.integers(1, 5, size=(6, 1))
    learnt = heaps[rng.integers(0, 6, 500)] + rng.normal(size=(500, 4))
    asked = heaps[rng.integers(0, 6, 300)] + rng.normal(size=(300, 4))
    return learnt.astype(np.float32), rng.random(500) + 0.1, asked.astype(np.float32)


def one_by_one(seed: int) -> list[np.ndarray]:
    learnt, weights, asked = points(seed)
    models = [
        BisectingKMeans(n_clusters=n, random_state=seed, init="k-means++", n_init=3)
        for n in NUMBERS
    ]
    return [model.fit(learnt, sample_weight=weights).predict(asked) for model in models]


def same(found: list[np.ndarray], plain: list[np.ndarray]) -> bool:
    return all(np.array_equal(ours, theirs) for ours, theirs in zip(found, plain, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_one_fit_gives_the_clusters_of_a_fit_for_each_number(seed):
    found = bisected(*points(seed), clusters=NUMBERS, seed=seed)
    assert same(found, one_by_one(seed))


class Bare:
    """A fitted model of which nothing is known but how to ask it."""

    def __init__(self, model: BisectingKMeans) -> None:
        self.predict = model.predict


def test_without_the_order_of_bisections_each_number_is_fitted(monkeypatch):
    fit = BisectingKMeans.fit
    with monkeypatch.context() as patch:
        patch.setattr(BisectingKMeans, "fit", lambda *given, **more: Bare(fit(*given, **more)))
        found = bisected(*points(3), clusters=NUMBERS, seed=3)
    assert same(found, one_by_one(3))


def test_points_that_are_all_alike_are_one_cluster():
    alike = np.ones((7, 2), dtype=np.float32)
    (labels,) = bisected(alike, np.ones(7), alike, clusters=[1], seed=0)
    assert labels.tolist() == [0] * 7
