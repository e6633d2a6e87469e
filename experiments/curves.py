"""Lines of a figure: means over runs, and how far runs are apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A line: by rising ``x`` the mean, the standard deviation and the number of runs."""

    panel: str
    line: str
    x: Floats
    y: Floats
    spread: Floats
    runs: NDArray[np.int64]

    def as_dict(self) -> dict[str, Any]:
        """Return the line as plain numbers, for JSON."""
        return {
            "panel": self.panel,
            "line": self.line,
            "x": self.x.tolist(),
            "mean": self.y.tolist(),
            "standard-deviation": self.spread.tolist(),
            "runs": self.runs.tolist(),
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Curve:
        """Return the line that :meth:`as_dict` wrote."""
        return cls(
            panel=given["panel"],
            line=given["line"],
            x=np.array(given["x"], dtype=np.float64),
            y=np.array(given["mean"], dtype=np.float64),
            spread=np.array(given["standard-deviation"], dtype=np.float64),
            runs=np.array(given["runs"], dtype=np.int64),
        )


class NotMeasuredError(LookupError):
    """A check asks for a point that was not measured, as in a short run."""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All lines of a figure, in the order in which they were first met."""

    curves: tuple[Curve, ...] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    @classmethod
    def of(cls, points: Iterable[tuple[str, str, float, float]]) -> Curves:
        """Average points over runs.

        >>> told = Curves.of([("a", "raw", 1, 2.0), ("a", "raw", 1, 4.0), ("a", "raw", 0, 1.0)])
        >>> told.line("a", "raw").x.tolist(), told.line("a", "raw").y.tolist()
        ([0.0, 1.0], [1.0, 3.0])
        """
        gathered: dict[tuple[str, str], dict[float, list[float]]] = defaultdict(dict)
        for panel, line, x, y in points:
            gathered[panel, line].setdefault(float(x), []).append(float(y))
        return cls(curves=tuple(_curve(*name, places) for name, places in gathered.items()))

    def lines(self, panel: str) -> list[str]:
        """Return the names of a panel's lines."""
        return [curve.line for curve in self.curves if curve.panel == panel]

    def line(self, panel: str, line: str) -> Curve:
        """Return one line."""
        for curve in self.curves:
            if (curve.panel, curve.line) == (panel, line):
                return curve
        raise NotMeasuredError(f"{panel}: {line}")

    def at(self, panel: str, line: str, x: float) -> float:
        """Return the mean of a line at one place."""
        curve = self.line(panel, line)
        found = np.flatnonzero(np.isclose(curve.x, x))
        if not len(found):
            raise NotMeasuredError(f"{panel}: {line} at {x:g}")
        return float(curve.y[found[0]])

    def together(self, panel: str, *lines: str) -> tuple[Floats, list[Floats]]:
        """Return the places that some lines share, and the mean of each line there."""
        curves = [self.line(panel, line) for line in lines]
        shared = curves[0].x
        for curve in curves[1:]:
            shared = shared[np.isin(shared, curve.x)]
        if not len(shared):
            raise NotMeasuredError(f"{panel}: {', '.join(lines)}")
        return shared, [curve.y[np.isin(curve.x, shared)] for curve in curves]


def _curve(panel: str, line: str, places: dict[float, list[float]]) -> Curve:
    ordered = sorted(places.items())
    values = [np.array(found) for _, found in ordered]
    return Curve(
        panel=panel,
        line=line,
        x=np.array([x for x, _ in ordered]),
        y=np.array([each.mean() for each in values]),
        spread=np.array([each.std(ddof=1) if len(each) > 1 else 0.0 for each in values]),
        runs=np.array([len(each) for each in values], dtype=np.int64),
    )
