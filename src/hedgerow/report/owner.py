"""The owner's page of a disclosure: risks before and after, and the risk-utility plane.

Confidential: means, extremes and histograms are computed from the raw records and the weights of
all records without noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.plane import PlaneMark, PlaneScales, figure_text
from hedgerow.model.arrays import Floats
from hedgerow.model.certificate import Certificate
from hedgerow.report.page import rendered

WIDTH, HEIGHT, MARGIN = 680, 400, 78
TICKS = (0, 0.25, 0.5, 0.75, 1)
N_BINS = 24


@dataclass(frozen=True, kw_only=True)
class Point:
    """Mean utility and mean risk of the records of one generalised table."""

    utility: float
    risk: float


@dataclass(frozen=True, kw_only=True)
class AnonymousTable:
    """A k-anonymous table, and the lowest possible mean risk at the same utilities."""

    k: int
    anonymous: Point
    best: Point | None


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Points of the risk-utility plane; ``frontier`` is empty if lattices are too large."""

    n_records: int
    before: Point
    after: Point
    frontier: tuple[Point, ...]
    anonymous: tuple[AnonymousTable, ...]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A statistic of all records, before and after the disclosure."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Bin:
    """One pair of bars of the histogram, heights in per cent of the tallest."""

    label: str
    before: int
    after: int
    before_percent: float
    after_percent: float


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """The risk-utility plane in the coordinates of the page."""

    frontier: str
    before: PlaneMark
    after: PlaneMark
    anonymous: tuple[PlaneMark, ...]
    best: tuple[PlaneMark, ...]
    x_ticks: tuple[PlaneMark, ...]
    y_ticks: tuple[PlaneMark, ...]
    logarithmic: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecipientHistory:
    """Earlier disclosures to a recipient (confidential).

    ``earlier`` has number, day, records and state of each disclosure. ``n_recognised`` records of
    this table were among them; ``n_changed`` of these have other values now. ``risks`` are the
    risks of the recognised records as the recipient already has them.
    """

    name: str
    by: str
    earlier: tuple[tuple[int, str, int, str], ...]
    n_recognised: int
    n_changed: int
    risks: Floats
    memory: str

    @property
    def mean(self) -> str:
        """The mean of the risks, formatted."""
        return figure_text(float(self.risks.mean())) if len(self.risks) else "–"

    @property
    def largest(self) -> str:
        """The largest risk, formatted."""
        return figure_text(float(self.risks.max())) if len(self.risks) else "–"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnerFigures:
    """Risk and utility of every record, before and after the disclosure (confidential).

    ``visited`` is the number of generalisations examined for each record; risks and utilities
    after the disclosure exclude withheld records.
    """

    n_distinct: int
    risks: tuple[Floats, Floats]
    utilities: tuple[Floats, Floats]
    visited: NDArray[np.int64]
    plane: Plane | None
    measure: str
    model: int
    recipient: RecipientHistory | None = None


def render_owner_report(figures: OwnerFigures, certificate: Certificate) -> str:
    """Return the page as self-contained HTML.

    Privacy: none. The page is for the data owner only and says so.
    """
    n_records = len(figures.visited)
    return rendered(
        "owner.html.j2",
        certificate=certificate,
        n_records=n_records,
        n_distinct=figures.n_distinct,
        n_withheld=n_records - len(figures.risks[1]),
        summaries=_summaries("Risk", *figures.risks) + _summaries("Utility", *figures.utilities),
        visited=figure_text(float(figures.visited.mean())) if n_records else "0",
        bins=_bins(*figures.risks),
        plane=figures.plane,
        drawing=None if figures.plane is None else _drawing(figures.plane),
        measure=figures.measure,
        model=figures.model,
        recipient=figures.recipient,
        width=WIDTH,
        height=HEIGHT,
        margin=MARGIN,
    )


def _summaries(what: str, before: Floats, after: Floats) -> list[Summary]:
    statistics: dict[str, Callable[[Floats], np.floating[Any]]] = {
        f"{what}, mean": np.mean,
        f"{what}, median": np.median,
        f"{what}, 95th percentile": lambda values: np.quantile(values, 0.95),
        f"{what}, maximum": np.max,
    }
    return [
        Summary(
            name=name,
            before=figure_text(float(of(before))) if len(before) else "–",
            after=figure_text(float(of(after))) if len(after) else "–",
        )
        for name, of in statistics.items()
    ]


def _bins(before: Floats, after: Floats) -> tuple[Bin, ...]:
    """Return the histogram of risks on a logarithmic scale, with a separate bar for risk 0."""
    positive = np.concatenate([before[before > 0], after[after > 0]])
    if not len(positive):
        return ()
    low, high = float(positive.min()), float(positive.max())
    edges = np.geomspace(low, high * (1 + 1e-12), N_BINS + 1) if low < high else np.array([low] * 2)
    counted = [
        np.concatenate([[np.sum(risk <= 0)], _histogram(risk[risk > 0], edges)])
        for risk in (before, after)
    ]
    tallest = max(int(counts.max()) for counts in counted)
    labels = [
        "0",
        *(f"{figure_text(a)} to {figure_text(b)}" for a, b in pairwise(edges.tolist())),
    ]
    return tuple(
        Bin(
            label=label,
            before=int(one),
            after=int(other),
            before_percent=round(100 * int(one) / tallest, 2),
            after_percent=round(100 * int(other) / tallest, 2),
        )
        for label, one, other in zip(labels, *counted, strict=True)
    )


def _histogram(risk: Floats, edges: Floats) -> NDArray[np.int64]:
    place = np.clip(np.searchsorted(edges, risk, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(place, minlength=len(edges) - 1)


def _scales(points: list[Point]) -> PlaneScales:
    """Return scales for the points, logarithmic if their risks span more than a factor of 30."""
    risks = [point.risk for point in points if point.risk > 0]
    highest = max([*risks, 1e-12])
    lowest = min([*risks, highest])
    return PlaneScales(
        width=WIDTH,
        height=HEIGHT,
        left=MARGIN,
        below=MARGIN,
        most_utility=max([point.utility for point in points] + [1e-12]),
        most_risk=highest,
        least_risk=lowest,
        risk_scale="logarithmic" if highest / lowest > 30 else "linear",
    )


def _drawing(plane: Plane) -> Drawing:
    best = [table.best for table in plane.anonymous if table.best is not None]
    anonymous = [table.anonymous for table in plane.anonymous]
    scales = _scales([plane.before, plane.after, *plane.frontier, *anonymous, *best])

    def mark(point: Point, name: str) -> PlaneMark:
        title = f"{name}: utility {figure_text(point.utility)}, risk {figure_text(point.risk)}"
        return scales.mark(point.utility, point.risk, title)

    return Drawing(
        frontier=scales.path((point.utility, point.risk) for point in plane.frontier),
        before=mark(plane.before, "original records"),
        after=mark(plane.after, "this disclosure"),
        anonymous=tuple(
            mark(table.anonymous, f"{table.k}-anonymous table") for table in plane.anonymous
        ),
        best=tuple(
            mark(table.best, f"lowest risk at the utility of the {table.k}-anonymous table")
            for table in plane.anonymous
            if table.best is not None
        ),
        x_ticks=scales.x_ticks(TICKS),
        y_ticks=scales.y_ticks(TICKS),
        logarithmic=scales.risk_scale == "logarithmic",
    )
