"""What every method that publishes sequences keeps: ledger, determinism, neighbours, order."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.auditing.sequences import encoded_sequences
from hedgerow.count.memory import baskets as memory
from hedgerow.errors import SettingError
from hedgerow.methods.chain import budget
from hedgerow.methods.chain.chain import SequenceChain
from support.exact_transcripts import World, content, drawn, wild
from support.sequences import ONE, flat, grouped, journeys, listed, published, rows_of, sequences

METHODS = {"chain": SequenceChain(), "chain, cut": SequenceChain(max_length=3)}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
every_universe = pytest.mark.parametrize(
    "taxonomy", [flat(8), grouped(70, 9)], ids=["flat", "grouped"]
)


@every_method
@settings(max_examples=15)
@given(
    records=sequences(),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_no_path_exceeds_epsilon_and_none_falls_short(method, records, epsilon, seed):
    released, ledger = published(method, flat(3), records, epsilon=epsilon, seed=seed)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (released.counts > 0).all()
    rows = rows_of(released)
    assert rows == sorted(set(rows))
    assert all(rows)
    assert released.lengths.max(initial=0) <= method.max_length


@every_universe
def test_the_same_seed_gives_the_same_release_whatever_counts_the_records(taxonomy, monkeypatch):
    monkeypatch.delitem(sys.modules, "hedgerow.count.compiled.sequences", raising=False)
    records = journeys()
    first, _ = published(SequenceChain(), taxonomy, records, compiled=False)
    assert len(first) > 50
    assert listed(published(SequenceChain(), taxonomy, records[::-1], compiled=False)[0]) == listed(
        first
    )
    monkeypatch.setattr(memory, "STEPS_COMPILED_FROM", 0)
    by_loops, _ = published(SequenceChain(), taxonomy, records)
    assert listed(by_loops) == listed(first)
    assert np.array_equal(by_loops.prefixes.counts, first.prefixes.counts)


def test_another_seed_gives_another_release():
    made = {
        str(listed(published(SequenceChain(), flat(8), journeys(500), seed=s)[0])) for s in range(3)
    }
    assert len(made) == 3


@every_universe
def test_what_is_frequent_comes_through(taxonomy):
    records = journeys()
    released, _ = published(SequenceChain(), taxonomy, records, epsilon=Fraction(4))
    assert int(released.counts.sum()) == pytest.approx(len(records), rel=0.02)
    for item in range(3):
        true = sum(row[0] == item for row in records)
        noisy = sum(count for row, count in listed(released).items() if row[0] == item)
        assert noisy == pytest.approx(true, rel=0.15, abs=25)
    true_items = sum(map(len, records))
    assert int((released.lengths * released.counts).sum()) == pytest.approx(true_items, rel=0.1)


def test_prefixes_are_those_of_the_release():
    released, _ = published(SequenceChain(), flat(8), journeys(), epsilon=Fraction(4))
    prefixes = released.prefixes
    assert len(prefixes) > 20
    rows = listed(released)
    for place in range(len(prefixes)):
        begin, stop = prefixes.offsets[place : place + 2].tolist()
        prefix = tuple(prefixes.items[begin:stop].tolist())
        among = sum(count for row, count in rows.items() if row[: len(prefix)] == prefix)
        assert among == prefixes.counts[place]
        if prefixes.ends[place] > 0:
            assert rows[prefix] >= prefixes.ends[place]


def test_sequences_do_not_run_away_where_noise_hides_their_ends():
    for seed in range(20):
        released, _ = published(SequenceChain(), flat(3), [(1, 2, 1)] * 9, seed=seed)
        assert (released.lengths * released.counts).sum() < 20_000


def test_data_without_records_are_published_as_any_other():
    for seed in range(3):
        _, ledger = published(SequenceChain(), flat(3), [], seed=seed)
        assert ledger.settled()


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(SettingError, match="max-length"):
        SequenceChain(max_length=0)
    with pytest.raises(SettingError, match="epsilon"):
        SequenceChain().validate(flat(3), Fraction(1, 10**6))


# Neighbours, by the exact law of transcripts.


def world(taxonomy, records, dropped, *, epsilon, method=None):
    """A world in which prefixes are followed however few records there are."""
    rest = records[:dropped] + records[dropped + 1 :]
    engines = tuple(
        (lambda kept=kept: memory.BasketMemory(baskets=encoded_sequences(taxonomy, kept)))
        for kept in (records, rest)
    )
    return World(
        method=method or SequenceChain(), epsilon=epsilon, engines=engines, content=content
    )


@settings(max_examples=25)
@given(
    records=sequences(min_records=1),
    dropped=st.integers(0, 10**6),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(3)]),
    seed=st.integers(0, 10**6),
    groups=st.booleans(),
)
def test_neighbours_are_no_more_than_epsilon_apart_on_any_transcript(
    records, dropped, epsilon, seed, groups
):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_FIRST_THRESHOLD", "_FURTHER_THRESHOLD", "_CONTEXT"):
            patch.setattr(budget, name, 0)
        patch.setattr(budget, "DEEPEST", 4)
        taxonomy = grouped(66, 9) if groups else flat(3)
        here = world(taxonomy, records, dropped % len(records), epsilon=epsilon)
        rng = np.random.default_rng(seed)
        pick = wild(rng) if seed % 2 and not groups else drawn(rng)
        ratio, _ = here.log_ratio(pick, seed=1, first=seed % 2)
    assert abs(ratio) <= float(epsilon) * (1 + 1e-9)
