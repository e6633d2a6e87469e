import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from hedgerow.errors import InternalError, SettingError
from hedgerow.privacy.source import (
    SeededSource,
    SystemSource,
    below,
    integers_below,
    random_bits,
    words_below_multiple,
)

FALSE_ALARM = 1e-6  # chance that a correct sampler would fail under a fresh seed
TOP = (1 << 64) - 1


class Replay:
    """Hands out given words, in order."""

    reproducible = True

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        taken, self.left = self.left[:n], self.left[n:]
        assert len(taken) == n, "more words were drawn than expected"
        return np.array(taken, dtype=np.uint64)


def test_the_same_seed_gives_the_same_words_and_another_gives_others():
    first = SeededSource(7).words(100)
    assert first.dtype == np.uint64
    assert np.array_equal(first, SeededSource(7).words(100))
    assert not np.any(first == SeededSource(8).words(100))


def test_a_seeded_source_gives_the_same_words_however_they_are_asked_for():
    source = SeededSource(7)
    parts = np.concatenate([source.words(n) for n in (1, 0, 30, 69)])
    assert np.array_equal(parts, SeededSource(7).words(100))


def test_only_a_seeded_source_calls_itself_reproducible():
    assert SeededSource(0).reproducible
    assert not SystemSource().reproducible


def test_a_negative_seed_is_refused():
    with pytest.raises(SettingError, match="seed"):
        SeededSource(-1)


@pytest.mark.parametrize("source", [SystemSource(), SeededSource(1)])
def test_every_bit_of_a_word_is_fair(source):
    bits = np.unpackbits(source.words(20_000).view(np.uint8)).reshape(-1, 64)
    ones = bits.sum(axis=0, dtype=np.int64)
    assert np.all(np.abs(ones - 10_000) < 7 * np.sqrt(5_000))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_see_the_words_of_its_parent():
    source = SystemSource()
    source.words(1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, source.words(8).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reading, 64), dtype=np.uint64)
    os.close(reading)
    os.close(writing)
    assert theirs.size == 8
    assert not np.any(theirs == source.words(8))


class Counter:
    """In place of the system: bytes of a counter, so that every word tells where it is from."""

    def __init__(self):
        self.given = 0

    def __call__(self, n):
        assert n % 8 == 0
        first, self.given = self.given, self.given + n // 8
        return np.arange(first, self.given, dtype=np.uint64).tobytes()


SIZES = (1, 0, 3, 64, 3, 3, 1000, 1, 5000, 17)


def test_every_word_is_asked_of_the_system_and_handed_out_once(monkeypatch):
    counter = Counter()
    monkeypatch.setattr(os, "urandom", counter)
    sources = [SystemSource(), SystemSource()]
    handed = [sources[at % 2].words(n) for at, n in enumerate(SIZES)]
    assert np.concatenate(handed).tolist() == list(range(sum(SIZES)))
    assert counter.given == sum(SIZES)
    # Also where the words are made into something: what is drawn again is asked for again.
    half = (1 << 63) - 1
    below(np.full(100, half), source=sources[0])
    integers_below(100, bound=half, source=sources[1])
    random_bits(6400, source=sources[0])
    assert counter.given >= sum(SIZES) + 300


def test_the_system_hands_out_no_word_twice():
    """A chance of one in 10^9: 80,000^2 / 2 pairs among 2^64 words."""
    sources = [SystemSource() for _ in range(3)]
    handed = [sources[at % 3].words(n) for at, n in enumerate(SIZES * 13)]
    handed += [SystemSource().words(1) for _ in range(1000)]
    every = np.concatenate(handed)
    assert np.unique(every).size == every.size
    # Nor the same words in another order of bytes, or turned.
    assert not np.isin(every.byteswap(), every).any()
    assert not np.isin(~every, every).any()


def test_threads_do_not_share_words():
    source = SystemSource()
    with ThreadPoolExecutor(8) as pool:
        handed = list(pool.map(lambda at: source.words(50 + at % 3), range(200)))
    every = np.concatenate(handed)
    assert np.unique(every).size == every.size


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_forked_processes_share_no_words_with_each_other_or_what_came_before():
    source = SystemSource()
    parts = [source.words(100)]
    for _ in range(2):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, source.words(100).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        parts.append(np.frombuffer(os.read(reading, 800), dtype=np.uint64))
        os.close(reading)
        os.close(writing)
    every = np.concatenate([*parts, source.words(100)])
    assert every.size == 400
    assert np.unique(every).size == every.size


@pytest.mark.parametrize("source", [SystemSource(), SeededSource(2)])
def test_words_that_follow_each_other_are_independent(source):
    words = np.concatenate([source.words(n) for n in (5_000, 1, 14_999)])
    turned = (words << np.uint64(1)) | (words >> np.uint64(63))
    pairs = {"next": words[1:] ^ words[:-1], "second": words[2:] ^ words[:-2]}
    pairs["next bit"] = words ^ turned
    for mixed in pairs.values():
        bits = np.unpackbits(mixed.view(np.uint8)).reshape(-1, 64)
        ones = bits.sum(axis=0, dtype=np.int64)
        # 7 standard deviations: one in 10^9 for all bits of all pairs.
        assert np.all(np.abs(ones - len(mixed) / 2) < 7 * np.sqrt(len(mixed) / 4))


def test_words_beyond_the_last_whole_multiple_are_drawn_again():
    # 2**64 = 3 * 6148914691236517205 + 1: the very last word would be one too many.
    source = Replay(0, TOP, TOP - 1, TOP, 5)
    assert integers_below(3, bound=3, source=source).tolist() == [0, 0, 2]
    assert not source.left


def test_the_last_word_that_may_be_kept_is_kept_when_drawn_again_too():
    source = Replay(TOP, TOP - 1)
    assert integers_below(1, bound=3, source=source).tolist() == [2]
    source = Replay(0, 1)
    assert below(np.array([3]), source=source).tolist() == [1]
    assert words_below_multiple(1, bound=1, source=Replay(TOP)).tolist() == [TOP]


def test_a_power_of_two_rejects_no_word():
    assert integers_below(2, bound=4, source=Replay(TOP, 0)).tolist() == [3, 0]


def test_mixed_bounds_reject_the_words_that_would_bias_them():
    # 2**64 mod 3 = 1: word 0 is drawn again, for the bound 3 only.
    source = Replay(0, 0, 7, 4)
    assert below(np.array([3, 4, 5]), source=source).tolist() == [1, 0, 2]


THIRDS = 3 << 61  # 2**64 holds it two times and two thirds: taking remainders is biased


def thirds_p_value(values):
    return chisquare(np.bincount(values // (1 << 61), minlength=3)).pvalue


def test_integers_below_a_large_bound_are_uniform():
    source = SeededSource(2011)
    scalar = integers_below(30_000, bound=THIRDS, source=source).astype(np.int64)
    assert thirds_p_value(scalar) > FALSE_ALARM
    bounds = np.full(30_000, THIRDS)
    assert thirds_p_value(below(bounds, source=source)) > FALSE_ALARM
    # Negative control: without rejection the bias shows.
    biased = (source.words(30_000) % np.uint64(THIRDS)).astype(np.int64)
    assert thirds_p_value(biased) < FALSE_ALARM


@pytest.mark.parametrize("bound", [2, 7, 1000])
def test_integers_below_a_small_bound_are_uniform(bound):
    source = SeededSource(bound)
    scalar = integers_below(50_000, bound=bound, source=source).astype(np.int64)
    mixed = below(np.full(50_000, bound), source=source)
    for values in (scalar, mixed):
        assert chisquare(np.bincount(values, minlength=bound)).pvalue > FALSE_ALARM


@settings(max_examples=50, deadline=None)
@given(bounds=st.lists(st.integers(1, 2**63 - 1), max_size=20), seed=st.integers(0, 99))
def test_integers_stay_below_their_bounds(bounds, seed):
    limits = np.array(bounds, dtype=np.int64)
    values = below(limits, source=SeededSource(seed))
    assert values.dtype == np.int64
    assert np.all((values >= 0) & (values < limits))
    for bound in bounds[:3]:
        drawn = integers_below(5, bound=bound, source=SeededSource(seed))
        assert all(0 <= value < bound for value in drawn.tolist())


def test_bounds_out_of_range_are_refused():
    with pytest.raises(InternalError):
        below(np.array([3, 0]), source=SeededSource(1))
    for bound in (0, -1, (1 << 63) + 1):
        with pytest.raises(InternalError):
            words_below_multiple(1, bound=bound, source=SeededSource(1))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65])
def test_as_many_coins_are_flipped_as_asked_for(n):
    assert random_bits(n, source=SeededSource(1)).shape == (n,)
    assert random_bits(n, source=SeededSource(1)).dtype == np.bool_


def test_coins_are_fair():
    heads = random_bits(100_000, source=SeededSource(3)).sum()
    assert abs(heads - 50_000) < 5 * np.sqrt(25_000)
