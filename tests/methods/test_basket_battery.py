"""One battery for every method that publishes baskets: ledger, determinism, neighbours, order."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.basic.basic import Basic
from hedgerow.count.memory import baskets as basket_memory
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.diffpart.diffpart import MAX_LENGTH, DiffPart
from hedgerow.model import run as model_run
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.plan.load import plan_of
from hedgerow.privacy import mechanisms
from hedgerow.read.items import open_items
from support.basket_sets import ONE, encoded_baskets, listed, published, universe
from support.basket_transcripts import LONG, loss_between, without

METHODS = {
    "coterie small universe": Coterie(),
    "coterie": Coterie(frequent=5),
    "diffpart small universe": DiffPart(),
    "diffpart improved": DiffPart(max_length=3),
    "diffpart improved, long records": DiffPart(max_length=40, false_positives=ONE),
    "diffpart faithful": DiffPart(faithful=True),
    "diffpart faithful, factors": DiffPart(faithful=True, c1=ONE, c2=Fraction(2)),
    "basic": Basic(),
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


def rows_of(noisy):
    return [tuple(noisy.items[a:b].tolist()) for a, b in pairwise(noisy.offsets.tolist())]


@every_method
@settings(max_examples=25)
@given(
    baskets=encoded_baskets(most_items=9),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_no_chain_exceeds_epsilon_and_none_falls_short(method, baskets, epsilon, seed):
    noisy, ledger = published(method, baskets, epsilon=epsilon, seed=seed)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (noisy.counts > 0).all()
    rows = rows_of(noisy)
    assert rows == sorted(set(rows))
    assert all(row and row == tuple(sorted(set(row))) for row in rows)
    if isinstance(method, DiffPart) and method.max_length:
        assert noisy.lengths.max(initial=0) <= method.max_length


def busy_sets(n_items=14):
    rng = np.random.default_rng(11)
    sets = [{int(i) % n_items for i in rng.zipf(1.4, 4)} for _ in range(3000)]
    return sets + [{1, 5, 9}] * 900 + [{2}] * 1200


@every_method
def test_the_same_seed_gives_the_same_release_whatever_counts_the_records(method, monkeypatch):
    taxonomy, sets = universe(14, fan_out=3), busy_sets()
    baskets = EncodedBaskets.from_sets(taxonomy, sets)
    first = listed(published(method, baskets)[0])
    assert first
    backwards = EncodedBaskets.from_sets(taxonomy, sets[::-1])
    assert listed(published(method, backwards)[0]) == first
    monkeypatch.setattr(basket_memory, "MASKED_UP_TO", 0)  # records are no longer folded
    monkeypatch.setattr(basket_memory, "COMPILED_FROM", 0)
    assert listed(published(method, baskets)[0]) == first
    monkeypatch.setattr(basket_memory, "COMPILED_FROM", len(baskets.items) + 1)
    monkeypatch.delitem(sys.modules, "hedgerow.count.compiled.baskets", raising=False)
    assert listed(published(method, baskets)[0]) == first


@every_method
def test_the_same_seed_gives_the_same_release_whatever_pieces_the_file_is_read_in(
    method, tmp_path, monkeypatch
):
    lines = [" ".join(str(item) for item in sorted(each)) for each in busy_sets()]
    (tmp_path / "baskets.dat").write_text("\n".join(lines))
    items = {"universe": [0, 13], "taxonomy": "context-free", "fan-out": 3}
    public = universe_of(plan_of({"items": items}, base=tmp_path))
    releases = []
    for block_size in (1 << 21, 700):
        source = open_items(tmp_path / "baskets.dat", public.place)
        object.__setattr__(source, "block_size", block_size)
        releases.append(listed(published(method, encode_baskets(source, public))[0]))
    assert releases[0] == releases[1]


@every_method
def test_another_seed_gives_another_release(method):
    baskets = EncodedBaskets.from_sets(universe(14, fan_out=3), busy_sets())
    releases = {str(listed(published(method, baskets, seed=seed)[0])) for seed in range(3)}
    assert len(releases) == 3


@every_method
def test_data_without_records_are_published_as_any_other(method):
    baskets = EncodedBaskets.from_sets(universe(6, fan_out=3), [])
    for seed in range(3):
        _, ledger = published(method, baskets, seed=seed)
        assert ledger.settled()


@every_method
@settings(max_examples=25)
@given(
    baskets=encoded_baskets(most_items=9, min_records=1),
    dropped=st.integers(0, 10**6),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
)
def test_neighbours_are_no_more_than_epsilon_apart_on_any_transcript(
    method, baskets, dropped, epsilon
):
    neighbour = without(baskets, dropped % len(baskets))
    assert 0 < loss_between(method, baskets, neighbour, epsilon=epsilon) <= epsilon


@pytest.mark.parametrize(
    "method",
    [DiffPart(), DiffPart(faithful=True), Coterie()],
    ids=["improved", "as is", "coterie"],
)
def test_a_record_longer_than_the_limit_costs_no_more_than_others(method):
    assert len(LONG.items) > MAX_LENGTH + 1
    assert 0 < loss_between(method, LONG, without(LONG, 0), epsilon=ONE) <= 1


def test_a_twin_whose_item_counts_have_the_noise_of_one_count_is_refuted(monkeypatch):
    def too_quiet(counts, *, spending, per_record=1):
        return mechanisms.noisy_counts(counts, spending=spending)

    monkeypatch.setattr(model_run, "noisy_counts", too_quiet)
    assert loss_between(DiffPart(), LONG, without(LONG, 0), epsilon=ONE) > 1


def test_a_twin_that_does_not_cut_long_records_is_refuted(monkeypatch):
    whole = basket_memory.BasketMemory.walk
    monkeypatch.setattr(
        basket_memory.BasketMemory, "walk", lambda self, *, max_length: whole(self, max_length=None)
    )
    assert loss_between(DiffPart(), LONG, without(LONG, 0), epsilon=ONE) > 1
