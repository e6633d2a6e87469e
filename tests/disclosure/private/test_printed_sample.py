"""[TKDE, Alg. 2], drawn exactly: its law, and the delta that can be proved for it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.private.choice import Worth
from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.disclosure.private.printed import Sampler
from hedgerow.disclosure.private.printed_delta import PrintedTerms, proved_delta
from hedgerow.disclosure.private.sampling import amplified_epsilon, kept_of_each
from hedgerow.disclosure.private.synopsis import Kinds
from hedgerow.errors import SettingError
from hedgerow.privacy.source import SeededSource
from support.tables import grid, schema_of, values

ADULT = 45_222


def numbers(**changed):
    given = {
        "epsilon": Fraction(1),
        "beta": Fraction(1, 2),
        "theta": Fraction(1, 10),
        "least_records": ADULT,
        "n_nodes": 729,
        "reach": 6.0,
        "shift": 12.0,
    }
    return PrintedTerms(**{**given, **changed})


def sampler(space, *, version="utility", at_least=0.0, risk_weight=2.0, **changed):
    worth = Worth(
        utility=space.tables(utility_tables("depth", space.chains)),
        severity=space.tables(Severities.of(space.chains).tables),
        risk_weight=risk_weight,
        power=1.0,
        floor=1.0,
    )
    return Sampler(
        space=space,
        worth=worth,
        settings=numbers(**{"n_nodes": space.n_vectors, **changed}),
        version=version,
        at_least=at_least,
    )


# For 45,222 records: (nodes, theta) -> delta_theta and, by tenths of beta, delta_own, computed
# apart (docs/privacy.md, "The printed sample"). Ours is a little larger where the bound on the
# sample's size matters.
TABLE = {
    (64, "0.1"): (1.6e-3, {5: 1e-12, 7: 1e-12, 9: 1e-12}),
    (729, "0.05"): (1.7e-2, {5: 9e-4, 7: 2e-3, 9: 2.9e-2}),
    (729, "0.1"): (1.8e-2, {5: 1.2e-5, 7: 7.6e-5, 9: 3.6e-3}),
    (4096, "0.1"): (0.10, {5: 2.2e-2, 7: 2.8e-2, 9: 7.4e-2}),
}


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_the_proved_delta_is_that_of_the_table(case):
    nodes, theta = case
    threshold, own = TABLE[case]
    for tenths, expected in own.items():
        proved = proved_delta(
            numbers(beta=Fraction(tenths, 10), theta=Fraction(theta), n_nodes=nodes)
        )
        assert proved.threshold == pytest.approx(threshold, rel=0.05)
        if expected > 1e-12:
            assert 0.95 * expected <= proved.own <= 1.15 * expected
        else:
            assert proved.own < 1e-12


def test_more_records_never_prove_less():
    deltas = [proved_delta(numbers(least_records=n)) for n in (2_000, 10_000, ADULT, 10**6)]
    for fewer, more in pairwise(deltas):
        assert more.total < fewer.total
        assert more.own <= fewer.own


def test_no_settings_bring_delta_below_one_in_the_number_of_records():
    for beta in ("0.5", "0.9", "0.99"):
        for theta in ("0.001", "0.1", "0.9"):
            proved = proved_delta(
                numbers(beta=Fraction(beta), theta=Fraction(theta), n_nodes=2, epsilon=Fraction(2))
            )
            assert proved.total > Fraction(1, ADULT)


@pytest.mark.parametrize("beta", ["0.3", "0.36"])
def test_a_beta_that_spends_more_than_epsilon_is_refused(beta):
    with pytest.raises(SettingError, match="beta"):
        numbers(beta=Fraction(beta))


@pytest.fixture
def all_frequent(monkeypatch):
    """The random threshold is so low that every generalisation with a record is frequent."""
    monkeypatch.setattr(Sampler, "_threshold", lambda *_: 1)


@pytest.mark.usefixtures("all_frequent")
def test_what_is_drawn_follows_the_printed_distribution():
    """One attribute of two values: each node with a weight of exp(rate * f / n)."""
    space = LevelSpace.of(schema_of(values(2), classes=None))
    kinds = Kinds(columns=[np.array([0, 1])], many=np.array([6000, 4000]))
    one = sampler(space, epsilon=Fraction(20))
    drawn = Counter(one.draw(kinds, None, source=SeededSource(5)).tolist())
    for key, fraction in ((1, 0.6), (2, 0.4)):
        # A value has severity 1 + 1 and utility 1, what says nothing 1 and 0.
        f = 2.0 * fraction / 2 + 1 / 10_000
        odds = math.exp(one.settings.rate * (f - 2.0))
        chance = odds / (1 + odds) / 2
        n = 10_000 * fraction
        assert abs(drawn[key] - n * chance) < 5 * math.sqrt(n * chance * (1 - chance))
        assert abs(drawn[key] - n / 4) > 5 * math.sqrt(n / 4)  # not what a fair coin would give


def test_only_frequent_nodes_are_drawn_and_one_says_nothing_at_the_end():
    space = LevelSpace.of(schema_of(values(3), classes=None))
    kinds = Kinds(columns=[np.array([0, 2])], many=np.array([95, 5]))
    one = sampler(space, theta=Fraction(1, 10))
    drawn = [one.draw(kinds, None, source=SeededSource(seed)) for seed in range(30)]
    assert all(keys[-1] == 0 for keys in drawn)
    assert set(np.concatenate(drawn).tolist()) <= {0, 1}


@pytest.mark.usefixtures("all_frequent")
def test_the_risk_version_draws_only_what_is_useful_enough():
    space = LevelSpace.of(schema_of(values(6, 2), values(2), classes=None))
    kinds = Kinds(columns=[np.array([0, 3]), np.array([0, 1])], many=np.array([300, 300]))
    one = sampler(space, version="risk", at_least=2.0, theta=Fraction(1, 100))
    keys = one.draw(kinds, None, source=SeededSource(2))[:-1]
    vectors = space.vectors[np.searchsorted(space.offsets, keys, side="right") - 1]
    assert len(keys) > 0
    assert (vectors.sum(axis=1) >= 2).all()


def test_many_records_are_drawn_in_parts_of_bounded_size(monkeypatch):
    space = LevelSpace.of(schema_of(grid(30), values(6, 2), classes=None))
    rng = np.random.default_rng(3)
    kinds = Kinds(
        columns=[rng.integers(0, 30, 60), rng.integers(0, 6, 60)], many=rng.integers(1, 20, 60)
    )
    one = sampler(space, theta=Fraction(1, 50))
    whole = one.draw(kinds, None, source=SeededSource(8))
    monkeypatch.setattr("hedgerow.disclosure.private.printed._AT_ONCE", 64)
    parts = one.draw(kinds, None, source=SeededSource(8))
    assert len(parts) == len(whole)


@pytest.mark.parametrize("version", ["utility", "risk"])
def test_a_table_without_records_gives_only_what_says_nothing(version):
    space = LevelSpace.of(schema_of(values(3), classes=None))
    none = Kinds(columns=[np.zeros(0, dtype=np.int64)], many=np.zeros(0, dtype=np.int64))
    drawn = sampler(space, version=version).draw(none, None, source=SeededSource(1))
    assert drawn.tolist() == [0]


@settings(max_examples=25)
@given(many=st.lists(st.integers(1, 30), max_size=12), seed=st.integers(0, 100))
def test_no_kind_keeps_more_records_than_it_has(many, seed):
    counts = np.array(many, dtype=np.int64)
    kept = kept_of_each(counts, rate=Fraction(1, 3), source=SeededSource(seed))
    assert kept.shape == counts.shape
    assert ((kept >= 0) & (kept <= counts)).all()


def test_records_are_kept_at_the_rate_in_blocks_of_any_size(monkeypatch):
    monkeypatch.setattr("hedgerow.disclosure.private.sampling._AT_ONCE", 1000)
    many = np.array([30_000, 1, 60_000])
    kept = kept_of_each(many, rate=Fraction(1, 3), source=SeededSource(4))
    assert abs(kept[0] - 10_000) < 5 * math.sqrt(20_000 / 3)
    assert abs(kept[2] - 20_000) < 5 * math.sqrt(40_000 / 3)


def test_what_is_spent_on_a_sample_costs_epsilon_on_the_table():
    epsilon, rate = Fraction(1), Fraction(1, 4)
    inner = amplified_epsilon(epsilon, rate)
    cost = math.log1p(float(rate) * math.expm1(float(inner)))
    assert float(epsilon) - 1e-8 < cost <= float(epsilon)
