"""The risk-utility plane: scales from mean utility and risk to coordinates, points and ticks.

Confidential if its points are; for pages that say so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

RiskScale: TypeAlias = Literal["linear", "square-root", "logarithmic"]

_EDGE = 16
"""Empty space above and to the right of the plane."""


@dataclass(frozen=True, kw_only=True)
class PlaneMark:
    """A point of the plane in the coordinates of the drawing, with its text."""

    x: float
    y: float
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class PlaneScales:
    """Scales of a drawing of ``width`` and ``height`` with room for labels ``left`` and ``below``.

    ``least_risk`` is the lower end of a logarithmic scale.
    """

    width: int
    height: int
    left: int
    below: int
    most_utility: float
    most_risk: float
    least_risk: float = 0.0
    risk_scale: RiskScale = "linear"

    def x(self, utility: float) -> float:
        """Return the horizontal position of a utility."""
        return round(self.left + (self.width - self.left - _EDGE) * utility / self.most_utility, 1)

    def y(self, risk: float) -> float:
        """Return the vertical position of a risk."""
        room = self.height - self.below
        return round(room - (room - _EDGE) * self._share(risk), 1)

    def _share(self, risk: float) -> float:
        if self.risk_scale == "logarithmic":
            low, high = self.least_risk, self.most_risk
            return math.log(max(risk, low) / low) / math.log(high / low)
        share = min(max(risk, 0.0) / self.most_risk, 1.0)
        return math.sqrt(share) if self.risk_scale == "square-root" else share

    def mark(self, utility: float, risk: float, text: str = "") -> PlaneMark:
        """Return a point of the plane."""
        return PlaneMark(x=self.x(utility), y=self.y(risk), text=text)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """Return the path through points of utility and risk, empty without points."""
        steps = [f"{self.x(utility)} {self.y(risk)}" for utility, risk in points]
        return "M" + "L".join(steps) if steps else ""

    def x_ticks(self, shares: Sequence[float]) -> tuple[PlaneMark, ...]:
        """Return ticks at shares of the highest utility."""
        values = [self.most_utility * share for share in shares]
        return tuple(self.mark(value, 0.0, figure_text(value)) for value in values)

    def y_ticks(self, shares: Sequence[float]) -> tuple[PlaneMark, ...]:
        """Return ticks at shares of the highest risk, or at powers of ten."""
        values = [self.most_risk * share for share in shares]
        if self.risk_scale == "logarithmic":
            first = math.ceil(math.log10(self.least_risk))
            last = math.floor(math.log10(self.most_risk))
            powers = [10.0**power for power in range(first, last + 1)]
            values = powers or [self.least_risk, self.most_risk]
        return tuple(self.mark(0.0, value, figure_text(value)) for value in values)


def figure_text(value: float) -> str:
    """Return a number with three significant digits, or as an integer from 1,000 on.

    >>> figure_text(0.0), figure_text(0.12345), figure_text(12345.6)
    ('0', '0.123', '12,346')
    """
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
