"""[TKDE, Thm. 3(ii)]: what it promises of utility, and where that is nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.disclosure.private.printed_delta import PrintedTerms
from hedgerow.disclosure.private.printed_utility import most_promised, promised_utility
from hedgerow.errors import SettingError


def terms(beta: float) -> PrintedTerms:
    """The terms of the utility version; η is twice what bounds f / n."""
    return PrintedTerms(
        epsilon=Fraction(1),
        beta=Fraction(str(beta)),
        theta=Fraction(1, 10),
        least_records=45_222,
        n_nodes=4096,
        reach=2.0,
        shift=4.0,
    )


@pytest.mark.parametrize(("beta", "exponent"), [(0.5, 0.10), (0.7, 0.36), (0.9, 1.49)])
def test_with_settings_that_sample_more_than_one_in_a_hundred_it_is_void(beta, exponent):
    promised = most_promised(terms(beta), n_attributes=6, height=3)
    assert promised.exponent == pytest.approx(exponent, abs=0.005)
    assert promised.needed == pytest.approx(18 * math.log(9))
    assert promised.void


def test_it_becomes_a_promise_only_where_next_to_nothing_is_sampled():
    assert most_promised(terms(1 - 1 / 200), n_attributes=6, height=3).void
    some = most_promised(terms(1 - 1 / 1000), n_attributes=6, height=3)
    assert not some.void
    assert some.part < 0.001  # of the best there is


@given(
    exponent=st.floats(0, 1e4),
    k=st.integers(1, 30),
    h=st.integers(1, 6),
    beta=st.floats(0.01, 0.99),
)
def test_the_promise_is_the_best_over_every_ell(exponent, k, h, beta):
    promised = promised_utility(exponent, n_attributes=k, height=h, beta=beta)
    grid = [3 * 1.01**step for step in range(1200)]
    allowed = [ell for ell in grid if exponent >= ell * k * math.log(h * ell)]
    best = max(((1 - beta) * (1 - 3 / ell) for ell in allowed), default=0.0)
    assert promised.part >= best - 1e-12
    if not promised.void:
        assert promised.ell * k * math.log(h * promised.ell) <= exponent
        assert promised.part <= 1 - beta


def test_numbers_that_are_none_are_refused():
    with pytest.raises(SettingError, match="theorem does not apply"):
        promised_utility(1.0, n_attributes=0, height=3, beta=0.5)
