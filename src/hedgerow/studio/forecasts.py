"""Cached forecasts of plans, so that pages answer at once; no record is read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction

from hedgerow.pipeline.forecast import Forecast, forecast
from hedgerow.pipeline.prepare import Prepared
from hedgerow.privacy.budget import parse_epsilon

KEPT = 256
_HUNDREDTHS = (
    *(1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100, 125, 150, 175, 200, 250),
    *(300, 350, 400, 500, 600, 700, 800, 1000, 1200, 1500, 2000),
)
STOPS = tuple(Fraction(part, 100) for part in _HUNDREDTHS)
"""Values of the slider; any other epsilon can be typed."""


def epsilon_value(text: str) -> tuple[Fraction, object]:
    """Return a typed epsilon as an exact fraction and as written in a plan.

    >>> epsilon_value("0.50"), epsilon_value("1/3")
    ((Fraction(1, 2), Decimal('0.5')), (Fraction(1, 3), '1/3'))
    """
    exact = parse_epsilon(text.strip() or "nothing")
    if exact.denominator == 1:
        return exact, exact.numerator
    shown = Decimal(exact.numerator) / Decimal(exact.denominator)
    if Fraction(shown) == exact:
        return exact, shown
    return exact, f"{exact.numerator}/{exact.denominator}"


def plain_epsilon(epsilon: Fraction) -> str:
    """Return an epsilon as it would be typed.

    >>> plain_epsilon(Fraction(1, 5)), plain_epsilon(Fraction(1, 3))
    ('0.2', '1/3')
    """
    return str(epsilon_value(str(epsilon))[1])


class Forecasts:
    """Forecasts by the fingerprint of their plans, which determines the forecast."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Forecast] = OrderedDict()
        self._lock = threading.Lock()

    def cached(self, ready: Prepared) -> Forecast | None:
        """Return a cached forecast, or ``None``."""
        with self._lock:
            return self._kept.get(ready.fingerprint())

    def computed(self, ready: Prepared) -> Forecast:
        """Return the forecast of a plan, as `hedgerow check` computes it."""
        found = self.cached(ready)
        if found is None:
            found = forecast(ready)
            with self._lock:
                self._kept[ready.fingerprint()] = found
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return found


def stop_of(epsilon: Fraction) -> int:
    """Return the index of the stop nearest to ``epsilon``."""
    nearest = min(STOPS, key=lambda stop: abs(float(stop / epsilon) - 1))
    return STOPS.index(nearest)
