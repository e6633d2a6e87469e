"""Match Point from the contingency table equals its definition over all pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import BisectingKMeans

from hedgerow.errors import DataError
from hedgerow.evaluation import clustering
from hedgerow.evaluation.clustering import (
    bisected,
    cluster,
    match_by_chance,
    match_point,
    match_points,
)
from hedgerow.evaluation.examples import Examples
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values

SCHEMA = schema_of(grid(20), values(4), classes=None)

labellings = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


@given(pair=labellings)
@settings(max_examples=60)
def test_match_point_is_the_share_of_equal_cells_of_two_matrices(pair):
    first, second = (np.array(labels) for labels in pair)
    matrices = [labels[:, None] == labels[None, :] for labels in (first, second)]
    expected = float((matrices[0] == matrices[1]).mean())  # [DiffMulti, Eq. (15)]
    assert match_point(first, second) == pytest.approx(expected, abs=1e-12)


@given(labels=st.lists(st.integers(0, 5), min_size=1, max_size=20), shift=st.integers(1, 9))
@settings(max_examples=25)
def test_names_of_clusters_do_not_matter(labels, shift):
    here = np.array(labels)
    assert match_point(here, (here + shift) * 7) == pytest.approx(1.0)


def test_labels_at_random_match_by_chance():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 3, 20_000), (rng.random(20_000) < 0.2).astype(int)
    assert match_point(first, second) == pytest.approx(match_by_chance(first, second), abs=0.01)


def two_heaps(n: int) -> EncodedTable:
    rng = np.random.default_rng(2)
    side = rng.integers(0, 2, n)
    numbers = side * 15 + rng.integers(0, 5, n)
    return EncodedTable.from_codes(SCHEMA, [numbers, side * 2 + rng.integers(0, 2, n)])


def cut_at(*borders: int) -> Groups:
    edges = [0, *borders, 20]
    ranges = Ranges.of(list(pairwise(edges)))
    index = np.arange(len(ranges), dtype=np.int32)
    return Groups(
        ranges=(ranges, Ranges.of([(0, 4)])),
        index=(index, np.zeros_like(index)),
        classes=None,
        counts=np.full(len(ranges), 100, dtype=np.int64),
        is_cut=True,
    )


def test_boxes_that_keep_the_heaps_apart_keep_the_clusters():
    (found,) = match_points(cut_at(10), two_heaps(400), clusters=[2])
    assert found.generalised == found.release == 1.0
    assert found.by_chance == pytest.approx(0.5, abs=0.02)


def test_a_release_that_says_nothing_has_one_cluster():
    (found,) = match_points(cut_at(), two_heaps(400), clusters=[2])
    assert found.release == pytest.approx(0.5, abs=0.02)


def test_a_release_of_points_is_clustered_without_boxes():
    points = Groups(
        ranges=(Ranges.of([(2, 3), (17, 18)]), Ranges.of([(0, 1), (3, 4)])),
        index=(np.array([0, 1], np.int32), np.array([0, 1], np.int32)),
        classes=None,
        counts=np.array([200, 200], dtype=np.int64),
        is_cut=False,
    )
    (found,) = match_points(points, two_heaps(400), clusters=[2])
    assert found.generalised is None
    assert found.release == 1.0


def test_large_tables_are_clustered_from_a_sample(monkeypatch):
    monkeypatch.setattr(clustering, "MOST_CLUSTERED", 50)
    (found,) = match_points(cut_at(10), two_heaps(400), clusters=[2])
    assert found.release == 1.0


def test_weights_move_the_clusters():
    table = EncodedTable.from_codes(SCHEMA, [[0, 9, 19], [0, 0, 0]])
    plain = Examples.of_records(table)
    heavy = Examples(
        schema=SCHEMA, places=plain.places, classes=None, weights=np.array([1000.0, 1000.0, 1.0])
    )
    assert len(set(cluster(heavy, plain, clusters=2)[:2].tolist())) == 2


def test_clusterings_of_different_records_are_refused():
    with pytest.raises(DataError, match="same records"):
        match_point(np.array([0, 1]), np.array([0]))


NUMBERS = (2, 10, 5, 1, 3)


def scattered(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points in some heaps, their weights, and other points."""
    rng = np.random.default_rng(seed)
    heaps = rng.normal(size=(6, 4)) * rng.integers(1, 5, size=(6, 1))
    learnt = heaps[rng.integers(0, 6, 500)] + rng.normal(size=(500, 4))
    targets = heaps[rng.integers(0, 6, 300)] + rng.normal(size=(300, 4))
    return learnt.astype(np.float32), rng.random(500) + 0.1, targets.astype(np.float32)


def one_by_one(seed: int) -> list[np.ndarray]:
    learnt, weights, targets = scattered(seed)
    models = [
        BisectingKMeans(n_clusters=n, random_state=seed, init="k-means++", n_init=3)
        for n in NUMBERS
    ]
    return [model.fit(learnt, sample_weight=weights).predict(targets) for model in models]


def same(found: list[np.ndarray], plain: list[np.ndarray]) -> bool:
    return all(np.array_equal(ours, theirs) for ours, theirs in zip(found, plain, strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_one_fit_gives_the_clusters_of_a_fit_for_each_number(seed):
    found = bisected(*scattered(seed), clusters=NUMBERS, seed=seed)
    assert same(found, one_by_one(seed))


class Bare:
    """A fitted model of which nothing is known but how to ask it."""

    def __init__(self, model: BisectingKMeans) -> None:
        self.predict = model.predict


def test_without_the_order_of_bisections_each_number_is_fitted(monkeypatch):
    fit = BisectingKMeans.fit
    with monkeypatch.context() as patch:
        patch.setattr(BisectingKMeans, "fit", lambda *given, **more: Bare(fit(*given, **more)))
        found = bisected(*scattered(3), clusters=NUMBERS, seed=3)
    assert same(found, one_by_one(3))


def test_points_that_are_all_alike_are_one_cluster():
    alike = np.ones((7, 2), dtype=np.float32)
    (labels,) = bisected(alike, np.ones(7), alike, clusters=[1], seed=0)
    assert labels.tolist() == [0] * 7
