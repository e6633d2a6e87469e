"""The least epsilon at which a published count is as near to the truth as somebody wants."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction

from hedgerow.errors import SettingError
from hedgerow.model.precision import within as noise_within
from hedgerow.pipeline.forecast import RecordsGiven, ends, forecast
from hedgerow.pipeline.prepare import Prepared
from hedgerow.privacy.budget import MAX_EPSILON, MIN_EPSILON

_LOOKS = 8

EPSILONS = tuple(
    value
    for power in range(-7, 1)
    for digits in range(10, 100)
    if MIN_EPSILON <= (value := Fraction(digits) * Fraction(10) ** power) <= MAX_EPSILON
)
"""Possible answers: numbers of two digits."""


def with_error(ready: Prepared, *, within: int, records: RecordsGiven | None) -> Prepared:
    """Return the plan with the least epsilon whose counts are within that, 95 times in 100.

    Where ``records`` are a range, it is the one for the fewest. How much of epsilon goes to
    a count may itself change with epsilon, so the answer is looked for in a few steps.
    """
    if within < 1:
        raise SettingError.out_of_range("within", within, "a whole number, 1 or above")
    n_records, _ = ends(ready.plan.records if records is None else records)
    wanted = EPSILONS[bisect_left(EPSILONS, -within, key=lambda share: -noise_within(share))]
    at = _least(wanted / ready.outline(n_records).counts * ready.epsilon)
    good: int | None = None
    for _ in range(_LOOKS):
        if at >= len(EPSILONS):
            break
        expected = forecast(_with(ready, EPSILONS[at]), records=n_records, most_runs=1)
        guess = _least(wanted / expected.share * EPSILONS[at])
        if expected.error_95 > within:
            at = max(guess, at + 1)
        else:
            good = at if good is None else min(good, at)
            if guess >= at:
                break
            at = guess
        if good is not None and at >= good:
            break
    if good is not None:
        return _with(ready, EPSILONS[good])
    raise SettingError(
        f"No epsilon up to {MAX_EPSILON} gives counts within {within:,}.",
        where="within",
        do="Give a larger error, or a method that spends more on its counts.",
    )


def _least(epsilon: Fraction) -> int:
    """Return the place of the least answer that is no smaller."""
    return bisect_left(EPSILONS, epsilon)


def _with(ready: Prepared, epsilon: Fraction) -> Prepared:
    return replace(ready, settings=ready.settings.model_copy(update={"epsilon": epsilon}))
