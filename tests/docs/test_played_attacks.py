"""The attacks of docs/attacks.md, played small: they work against exact counts, not against ours.

Seeded, so that they always come out alike. A coin is guessed rightly by chance as by a fair coin;
bounds are set so wide that fresh seeds would pass as well.
"""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest


@pytest.fixture
def attacks(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import attacks

    return attacks


@pytest.fixture
def few(attacks):
    whole = attacks.adult()
    return attacks.rows(whole, np.random.default_rng(1).permutation(len(whole))[:600])


def contender(attacks, name):
    return next(each for each in attacks.CONTENDERS if each.name == name)


def test_two_k_anonymous_releases_tell_the_coin_of_who_joined_and_ours_do_not(attacks, few):
    mondrian, hedge = (contender(attacks, name) for name in ("Mondrian, k = 5", "hedge, ε = 1"))
    assert attacks.differencing(mondrian, few, n=10, seed=1) == 1
    # Of 40 fair coins 37 come out right less often than once in ten million games.
    assert attacks.differencing(hedge, few, n=80, seed=1) < 0.9


def test_ten_k_anonymous_releases_tell_nearly_all_coins_and_ours_do_not(attacks, few):
    mondrian, hedge = (contender(attacks, name) for name in ("Mondrian, k = 5", "hedge, ε = 1"))
    assert attacks.reconstruction(mondrian, few, releases=10, runs=1, seed=1) > 0.95
    # Of 600 fair coins 65 in 100 come out right less often than once in a trillion games.
    assert attacks.reconstruction(hedge, few, releases=10, runs=1, seed=1) < 0.65


def test_members_of_a_k_anonymous_release_stand_out(attacks):
    whole = attacks.adult()
    mondrian = contender(attacks, "Mondrian, k = 5")
    assert attacks.membership(mondrian, whole, n=1_000, runs=1, seed=1) > 0.6


def test_what_no_attack_exceeds_is_the_bound_of_replacing_a_record(attacks):
    assert {round(bound, 2) for bound in attacks.bounds(Fraction(1))} == {0.88}
    assert {round(bound, 2) for bound in attacks.bounds(Fraction(1, 10))} == {0.55}


def test_the_page_shows_every_contender(attacks, root):
    page = (root / "docs" / "attacks.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- attacks -->\n(.*?)<!-- /attacks -->", page, re.DOTALL)[1]
    for each in attacks.CONTENDERS:
        assert f"| {each.name} | " in shown
