"""Lines of a figure: what every run gave, means over runs, and how far runs are apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Floats

Point: TypeAlias = tuple[str, str, float, float]
Sample: TypeAlias = tuple[int, int]
"""A run (or several folds of one), and which of its measurements at the same place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A line: by rising ``x`` the mean, the standard deviation and the number of runs.

    ``samples`` are the values of the runs at each place. An ``exact`` line depends on no
    seed: one run of it is enough, and is compared with every run of others.
    """

    panel: str
    line: str
    x: Floats
    y: Floats
    spread: Floats
    runs: NDArray[np.int64]
    samples: tuple[Mapping[Sample, float], ...] = ()
    exact: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the line as plain numbers, for JSON; values in the order of runs."""
        return {
            "panel": self.panel,
            "line": self.line,
            "x": self.x.tolist(),
            "mean": self.y.tolist(),
            "standard-deviation": self.spread.tolist(),
            "runs": self.runs.tolist(),
            "values": [[value for _, value in sorted(told.items())] for told in self.samples],
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Curve:
        """Return the line that :meth:`as_dict` wrote, without the values of single runs."""
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
    def of(cls, points: Iterable[Point], *, exact: Collection[str] = ()) -> Curves:
        """Average points over runs: the n-th point of a place is of the n-th run.

        >>> told = Curves.of([("a", "raw", 1, 2.0), ("a", "raw", 1, 4.0), ("a", "raw", 0, 1.0)])
        >>> told.line("a", "raw").x.tolist(), told.line("a", "raw").y.tolist()
        ([0.0, 1.0], [1.0, 3.0])
        """
        return cls.of_runs([(0, points)], exact=exact)

    @classmethod
    def of_runs(
        cls, runs: Iterable[tuple[int, Iterable[Point]]], *, exact: Collection[str] = ()
    ) -> Curves:
        """Average the points of runs; those of one number are folds and make one value."""
        gathered: dict[tuple[str, str], dict[float, dict[Sample, list[float]]]] = defaultdict(dict)
        for run, points in runs:
            met: dict[tuple[str, str, float], int] = defaultdict(int)
            for panel, line, x, y in points:
                sample = run, met[panel, line, float(x)]
                met[panel, line, float(x)] += 1
                places = gathered[panel, line].setdefault(float(x), {})
                places.setdefault(sample, []).append(float(y))
        return cls(
            curves=tuple(
                _curve(*name, places, exact=name[1] in exact) for name, places in gathered.items()
            )
        )

    def lines(self, panel: str) -> list[str]:
        """Return the names of a panel's lines."""
        return [curve.line for curve in self.curves if curve.panel == panel]

    def line(self, panel: str, line: str) -> Curve:
        """Return one line."""
        for curve in self.curves:
            if (curve.panel, curve.line) == (panel, line):
                return curve
        raise NotMeasuredError(f"{panel}: {line}")

    def places(self, panel: str, *lines: str) -> list[float]:
        """Return the places that some lines share."""
        shared: list[float] = self.line(panel, lines[0]).x.tolist()
        for line in lines[1:]:
            there = self.line(panel, line).x
            shared = [x for x in shared if np.isclose(there, x).any()]
        if not shared:
            raise NotMeasuredError(f"{panel}: {', '.join(lines)}")
        return shared

    def paired(self, panel: str, *at: tuple[str, float]) -> tuple[tuple[Floats, ...], bool]:
        """Return the values of lines at places, run by run, and whether all are exact.

        Only runs that all of them share are returned; what is exact stands beside each.
        """
        found = [self._samples(panel, line, x) for line, x in at]
        drawn = [samples for samples, exact in found if not exact]
        if not drawn:
            return tuple(np.array([next(iter(each.values()))]) for each, _ in found), True
        shared = sorted(set.intersection(*(set(samples) for samples in drawn)))
        if not shared:
            raise NotMeasuredError(f"{panel}: {', '.join(line for line, _ in at)} in the same runs")
        return tuple(
            np.full(len(shared), next(iter(samples.values())))
            if exact
            else np.array([samples[one] for one in shared])
            for samples, exact in found
        ), False

    def _samples(self, panel: str, line: str, x: float) -> tuple[Mapping[Sample, float], bool]:
        curve = self.line(panel, line)
        found = np.flatnonzero(np.isclose(curve.x, x))
        if not len(found):
            raise NotMeasuredError(f"{panel}: {line} at {x:g}")
        return curve.samples[found[0]], curve.exact


def _curve(
    panel: str, line: str, places: dict[float, dict[Sample, list[float]]], *, exact: bool
) -> Curve:
    ordered = sorted(places.items())
    samples = tuple(
        {sample: float(np.mean(values)) for sample, values in found.items()} for _, found in ordered
    )
    values = [np.array(list(told.values())) for told in samples]
    return Curve(
        panel=panel,
        line=line,
        x=np.array([x for x, _ in ordered]),
        y=np.array([each.mean() for each in values]),
        spread=np.array([each.std(ddof=1) if len(each) > 1 else 0.0 for each in values]),
        runs=np.array([len(each) for each in values], dtype=np.int64),
        samples=samples,
        exact=exact,
    )
