"""Equal records become one row with their number, by their items and never by a hash alone."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count import folding
from hedgerow.count.compiled import features
from hedgerow.count.folding import fold, hashed
from hedgerow.count.stream.folded import FoldedOnDisk
from hedgerow.count.stream.scratch import Scratch
from hedgerow.encode.people import mixed
from hedgerow.model.baskets import EncodedBaskets
from support.basket_sets import encoded_baskets, universe


def counted(rows):
    found = Counter()
    for folded in rows:
        bounds = folded.offsets.tolist()
        for r, weight in enumerate(folded.weights.tolist()):
            key = tuple(folded.items[bounds[r] : bounds[r + 1]].tolist())
            assert key not in found
            found[key] = weight
    return found


def expected(baskets):
    bounds = baskets.offsets.tolist()
    return Counter(tuple(baskets.items[a:b].tolist()) for a, b in pairwise(bounds))


@settings(max_examples=30)
@given(baskets=encoded_baskets())
def test_rows_are_the_distinct_records_with_their_numbers(baskets):
    folded = fold(baskets.offsets, baskets.items)
    assert counted([folded]) == expected(baskets)
    assert np.array_equal(folded.hashes, hashed(folded.offsets, folded.items))
    twice = fold(folded.offsets, folded.items, 2 * folded.weights)
    assert counted([twice]) == Counter({k: 2 * n for k, n in expected(baskets).items()})


@pytest.mark.parametrize("clash", [np.zeros_like, lambda lengths: lengths % 2])
def test_records_that_share_a_hash_are_told_apart(clash, monkeypatch):
    baskets = EncodedBaskets.from_sets(universe(9), [{1}, {2, 3}, {1}, {2}, {2, 3}, {1}, {2, 4}])

    def clashing(offsets, items):
        return clash(np.diff(offsets)).astype(np.uint64)

    monkeypatch.setattr(folding, "hashed", clashing)
    assert counted([fold(baskets.offsets, baskets.items)]) == expected(baskets)


@settings(max_examples=15)
@given(baskets=encoded_baskets(), n_pieces=st.integers(1, 4))
def test_rows_on_disk_are_those_in_memory_whatever_the_pieces(baskets, n_pieces):
    ends = np.linspace(0, len(baskets), n_pieces + 1).astype(int)
    place = np.searchsorted(ends[1:], np.arange(len(baskets)), side="right")
    pieces = [baskets.kept(place == p) for p in range(n_pieces)]
    scratch = Scratch()
    try:
        held = FoldedOnDisk.of(pieces, scratch, n_parts=n_pieces)
        assert counted(held) == expected(baskets)
    finally:
        scratch.close()


def test_words_are_mixed_as_those_of_people_are():
    words = np.array([0, 1, 2**63, 2**64 - 1, 12345], dtype=np.uint64)
    for key in words:
        ours = [features.mixed_word(key, word) for word in words]
        assert np.array_equal(np.array(ours, dtype=np.uint64), mixed(np.full(5, key), words))
