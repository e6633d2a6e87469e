"""Pictures of a cut: taxonomies down to the cut, and bands of numbers.

Plain values for page templates; all of them come from publishable groups.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.labels import range_labels
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

MOST_ROWS = 60
"""Maximum number of rows drawn for one attribute; the others are only counted."""

MOST_EXAMPLES = 4
LONGEST_LABEL = 60
MOST_SEGMENTS = 200
"""Maximum number of ranges of a band; a band with more is not drawn."""

TICK_ROOM = 7.0
"""Width of a number below a band, in per cent of the band."""

DATE_ROOM = 14.0
"""Width of a date below a band, in per cent of the band."""

Branch = Literal["line", "blank", "tee", "elbow"]
Branches: TypeAlias = tuple[Branch, ...]


@dataclass(frozen=True, kw_only=True)
class PictureRow:
    """One row of the picture: a node above the cut, or one of its ranges."""

    label: str
    branches: Branches
    published: bool
    count: int = 0
    percent: float = 0.0
    inside: str = ""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One segment of a numeric band, in per cent of its width."""

    label: str
    start: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One labelled border on a numeric band."""

    text: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The cut of one attribute."""

    name: str
    kind: str
    n_values: int
    n_ranges: int
    rows: tuple[PictureRow, ...]
    not_drawn: int
    segments: tuple[Segment, ...] = ()
    ticks: tuple[Tick, ...] = ()

    @property
    def is_full(self) -> bool:
        """True if every value of the domain is published as it is."""
        return self.n_ranges == self.n_values


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return ``text``, cut to ``longest`` characters with an ellipsis."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def range_totals(groups: Groups, attribute: int) -> NDArray[np.int64]:
    """Return the sum of published counts in each range of one attribute."""
    totals = np.zeros(len(groups.ranges[attribute]), dtype=np.int64)
    np.add.at(totals, groups.index[attribute], groups.counts)
    return totals


def picture(attribute: Attribute, groups: Groups, position: int) -> Picture:
    """Return the picture of one attribute's ranges with their published counts."""
    domain, ranges = attribute.domain, groups.ranges[position]
    marks = _Marks.of(range_labels(domain, ranges), ranges, range_totals(groups, position))
    segments: tuple[Segment, ...] = ()
    ticks: tuple[Tick, ...] = ()
    if isinstance(domain, CategoricalDomain):
        rows, not_drawn = _tree_rows(domain.taxonomy, marks)
    else:
        rows, not_drawn = _flat_rows(marks)
        if len(ranges) <= MOST_SEGMENTS:
            segments, ticks = _band(domain, ranges, marks.labels)
    return Picture(
        name=attribute.name,
        kind=domain.kind,
        n_values=domain.size,
        n_ranges=len(ranges),
        rows=rows,
        not_drawn=not_drawn,
        segments=segments,
        ticks=ticks,
    )


@dataclass(frozen=True, kw_only=True)
class _Marks:
    """The ranges of one attribute by their codes, with labels and published totals."""

    labels: list[str]
    totals: list[int]
    percents: list[float]
    place: dict[tuple[int, int], int]

    @classmethod
    def of(cls, labels: list[str], ranges: Ranges, totals: NDArray[np.int64]) -> _Marks:
        largest = max(int(totals.max(initial=0)), 1)
        pairs = zip(ranges.first.tolist(), ranges.stop.tolist(), strict=True)
        return cls(
            labels=labels,
            totals=totals.tolist(),
            percents=(100.0 * totals / largest).round(1).tolist(),
            place={pair: place for place, pair in enumerate(pairs)},
        )

    def row(self, place: int, branches: Branches, inside: str = "") -> PictureRow:
        return PictureRow(
            label=shortened(self.labels[place]),
            branches=branches,
            published=True,
            count=self.totals[place],
            percent=self.percents[place],
            inside=inside,
        )


def _flat_rows(marks: _Marks) -> tuple[tuple[PictureRow, ...], int]:
    drawn = min(len(marks.labels), MOST_ROWS)
    rows = tuple(marks.row(place, ()) for place in range(drawn))
    return rows, len(marks.labels) - drawn


def _tree_rows(taxonomy: Taxonomy, marks: _Marks) -> tuple[tuple[PictureRow, ...], int]:
    """Return the nodes from the root to the cut; values below a range are named in its row."""
    rows: list[PictureRow] = []
    drawn = 0
    spans = sorted(marks.place)
    stack: list[tuple[int, Branches]] = [(0, ())]
    while stack and len(rows) < MOST_ROWS:
        node, branches = stack.pop()
        node = _lowest_alike(taxonomy, node)
        span = (int(taxonomy.first[node]), int(taxonomy.stop[node]))
        place = marks.place.get(span)
        goes_on = _any_inside(spans, span)
        if place is not None:
            rows.append(marks.row(place, branches, _inside(taxonomy, span)))
            drawn += 1
        elif goes_on:
            label = shortened(taxonomy.labels[node])
            rows.append(PictureRow(label=label, branches=branches, published=False))
        if goes_on:
            stack.extend(_children(taxonomy, node, branches))
    return tuple(rows), len(marks.labels) - drawn


def _lowest_alike(taxonomy: Taxonomy, node: int) -> int:
    """Return the lowest node with the same values, reached through single children."""
    while len(taxonomy.children(node)) == 1:
        node = int(taxonomy.children(node)[0])
    return node


def _any_inside(spans: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Return true if a published range lies strictly inside ``span``."""
    at = bisect_left(spans, (span[0], 0))
    while at < len(spans) and spans[at][0] < span[1]:
        if spans[at] != span and spans[at][1] <= span[1]:
            return True
        at += 1
    return False


def _children(taxonomy: Taxonomy, node: int, branches: Branches) -> Iterator[tuple[int, Branches]]:
    """Yield the children, the last first, each with its branch lines."""
    after: dict[Branch, Branch] = {"tee": "line", "elbow": "blank"}
    before = tuple(after.get(branch, branch) for branch in branches)
    for rank, child in enumerate(reversed(taxonomy.children(node).tolist())):
        yield child, (*before, "tee" if rank else "elbow")


def _inside(taxonomy: Taxonomy, span: tuple[int, int]) -> str:
    """Return the names of some values of a published range."""
    n_values = span[1] - span[0]
    if n_values == 1:
        return ""
    some = taxonomy.leaf_labels[span[0] : min(span[1], span[0] + MOST_EXAMPLES)]
    named = ", ".join(shortened(label, 24) for label in some)
    more = n_values - len(some)
    return f"{named} and {more:,} more" if more else named


def _band(
    domain: NumericDomain, ranges: Ranges, labels: list[str]
) -> tuple[tuple[Segment, ...], tuple[Tick, ...]]:
    """Return the positions of ranges of known values between the public bounds."""
    low, width = domain.low, (domain.high - domain.low) or Fraction(1)

    def at(value: Fraction) -> float:
        return round(float(100 * (value - low) / width), 2)

    segments: list[Segment] = []
    borders = {domain.low, domain.high}
    for first, stop, label in zip(ranges.first.tolist(), ranges.stop.tolist(), labels, strict=True):
        begin, end = domain.bounds(first, stop)
        if begin < end:
            start = at(begin)
            segments.append(Segment(label=label, start=start, width=round(at(end) - start, 2)))
            borders |= {begin, end}
    named = [(at(border), domain.written(border)) for border in sorted(borders)]
    room = DATE_ROOM if isinstance(domain, DateDomain) else TICK_ROOM
    return tuple(segments), _ticks(named, room=room)


def _ticks(borders: list[tuple[float, str]], *, room: float) -> tuple[Tick, ...]:
    """Return labels for the two bounds and for borders far enough from other labels."""
    ticks = [Tick(text=borders[0][1], at=borders[0][0])]
    for at, border in borders[1:-1]:
        if at - ticks[-1].at >= room and borders[-1][0] - at >= room:
            ticks.append(Tick(text=border, at=at))
    if len(borders) > 1:
        ticks.append(Tick(text=borders[-1][1], at=borders[-1][0]))
    return tuple(ticks)
