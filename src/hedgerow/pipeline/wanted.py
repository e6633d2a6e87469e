"""The least epsilon at which a published count is as near to the truth as somebody wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from hedgerow.errors import SettingError
from hedgerow.model.precision import within as noise_within
from hedgerow.pipeline.forecast import RecordsGiven, ends, forecast
from hedgerow.pipeline.prepare import Prepared
from hedgerow.privacy.budget import MAX_EPSILON

_CORRECTIONS = 6


def with_error(ready: Prepared, *, within: int, records: RecordsGiven | None) -> Prepared:
    """Return the plan with the least epsilon whose counts are within that, 95 times in 100.

    Epsilon has two digits. Where ``records`` are a range, it is the one for the fewest.
    """
    if within < 1:
        raise SettingError.out_of_range("within", within, "a whole number, 1 or above")
    n_records, _ = ends(ready.plan.records if records is None else records)
    candidates = list(_two_digits())
    low, high = 0, len(candidates)
    while low < high:  # the outline's error falls with epsilon
        middle = (low + high) // 2
        if _outlined(_at(ready, candidates[middle]), n_records) <= within:
            high = middle
        else:
            low = middle + 1
    for epsilon in candidates[low : low + _CORRECTIONS]:
        asked = _at(ready, epsilon)
        if forecast(asked, records=n_records, most_runs=1).error_95 <= within:
            return asked
    raise SettingError(
        f"no epsilon up to {MAX_EPSILON} gives counts within {within:,}",
        where="within",
        do="Give a larger error, or a method that spends more on its counts.",
    )


def _at(ready: Prepared, epsilon: Fraction) -> Prepared:
    return replace(ready, settings=ready.settings.model_copy(update={"epsilon": epsilon}))


def _outlined(ready: Prepared, n_records: int | None) -> int:
    return noise_within(ready.outline(n_records).counts)


def _two_digits() -> Iterator[Fraction]:
    """Yield 0.001, 0.0011 and so on to the largest epsilon: numbers of two digits."""
    for power in range(-4, 1):
        for digits in range(10, 100):
            value = Fraction(digits) * Fraction(10) ** power
            if value <= MAX_EPSILON:
                yield value
