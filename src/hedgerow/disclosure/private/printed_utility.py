"""The utility that [TKDE, Thm. 3(ii)] guarantees for Algorithm 2, if any.

It states that the mean utility is at least ``(1 - β)(1 - 3/ℓ)`` of the optimum, OPTIMUM, if
``OPTIMUM >= ℓ k |D| ln(hℓ) / ε'``. So ``ε' OPTIMUM / |D|``, the range of the exponent, decides
which ℓ may be used, and nothing is guaranteed unless ℓ may be above 3. The range is bounded: for
the utility version by ``(ε + ln β) / (6(1 - β))``. All of that is public except OPTIMUM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hedgerow.disclosure.private.printed_delta import PrintedTerms
from hedgerow.errors import SettingError

LEAST_ELL = 3.0
"""Value that ℓ must exceed for a guarantee above 0."""


@dataclass(frozen=True, kw_only=True)
class PromisedUtility:
    """The guaranteed part of the best possible utility: 0 if the theorem is void.

    ``exponent`` is ε' OPTIMUM / |D|, ``needed`` the value that it must exceed.
    """

    exponent: float
    needed: float
    ell: float
    part: float

    @property
    def void(self) -> bool:
        """True if nothing is guaranteed."""
        return self.part <= 0


def promised_utility(
    exponent: float, *, n_attributes: int, height: int, beta: float
) -> PromisedUtility:
    """Return the best guarantee of the theorem for an optimum.

    >>> promised = promised_utility(0.1, n_attributes=6, height=3, beta=0.5)
    >>> round(promised.needed, 1), promised.part
    (39.6, 0.0)
    >>> round(promised_utility(59.7, n_attributes=6, height=3, beta=0.5).part, 3)
    0.125
    """
    if n_attributes < 1 or height < 1 or not 0 < beta < 1:
        raise SettingError(
            "The theorem does not apply to these numbers.",
            where="promised utility",
            do="Give attributes and a height from 1 up, and beta above 0 and below 1.",
        )

    def asks(ell: float) -> float:
        return ell * n_attributes * math.log(height * ell)

    low = LEAST_ELL
    if exponent <= asks(low):
        return PromisedUtility(exponent=exponent, needed=asks(LEAST_ELL), ell=low, part=0.0)
    high = 2 * low
    while asks(high) < exponent:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if asks(middle) <= exponent else (low, middle)
    part = (1 - beta) * (1 - LEAST_ELL / low)
    return PromisedUtility(exponent=exponent, needed=asks(LEAST_ELL), ell=low, part=part)


def most_promised(settings: PrintedTerms, *, n_attributes: int, height: int) -> PromisedUtility:
    """Return the best guarantee possible for any table: OPTIMUM is at most ``reach`` times |D|."""
    exponent = settings.rate * settings.reach
    beta = float(settings.beta)
    return promised_utility(exponent, n_attributes=n_attributes, height=height, beta=beta)
