"""Forecasts of plans, kept so that a page answers at once; they read no record."""

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
"""Where the slider stops; any other epsilon can be typed."""


def epsilon_value(text: str) -> tuple[Fraction, object]:
    """Return an epsilon that somebody typed, exactly, and as a plan writes it.

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
    """Return an epsilon as somebody would type it.

    >>> plain_epsilon(Fraction(1, 5)), plain_epsilon(Fraction(1, 3))
    ('0.2', '1/3')
    """
    return str(epsilon_value(str(epsilon))[1])


class Forecasts:
    """Forecasts by the fingerprint of their plans; nothing else tells two plans apart."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Forecast] = OrderedDict()
        self._lock = threading.Lock()

    def cached(self, ready: Prepared) -> Forecast | None:
        """Return a forecast that was made before."""
        with self._lock:
            return self._kept.get(ready.fingerprint())

    def told(self, ready: Prepared) -> Forecast:
        """Return the forecast of a plan, as `hedgerow check` tells it."""
        found = self.cached(ready)
        if found is None:
            found = forecast(ready)
            with self._lock:
                self._kept[ready.fingerprint()] = found
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return found


def stop_of(epsilon: Fraction) -> int:
    """Return the place of the stop that is nearest to ``epsilon``."""
    nearest = min(STOPS, key=lambda stop: abs(float(stop / epsilon) - 1))
    return STOPS.index(nearest)
