"""The names beside a map of boxes: real text, as many of it as a wide and a narrow page hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from hedgerow.draw.maps import HEIGHT, WIDTH, BoxMap, MapMark
from hedgerow.draw.pictures import shortened

LETTER = 7.0
"""The width of a letter in pixels, on the generous side."""

LINE = 16.0
WIDE, NARROW = (600.0, 400.0), (225.0, 300.0)
"""How many pixels the fields of a map have at least, across and down, on the two kinds of pages."""

LONG, SHORT = 22, 12
"""Letters of a name down the side, on the two kinds of pages."""


@dataclass(frozen=True, kw_only=True)
class AxisName:
    """A name beside an axis: where, in percent, and how it is called where there is little room.

    ``narrow`` is whether a narrow page has room for it; ``anchor`` keeps the first and the last
    one across on the page.
    """

    percent: float
    text: str
    short: str
    narrow: bool
    anchor: str = "middle"


def names_across(drawn: BoxMap) -> tuple[AxisName, ...]:
    """Return the names below a map; those of values are slanted, and so need a line each."""

    def room(mark: MapMark) -> float:
        return LINE if drawn.slanted else len(mark.text) * LETTER + 8

    def anchor(percent: float) -> str:
        return "start" if percent < 4 else "end" if percent > 96 else "middle"

    wide = _with_room(drawn.across_marks, WIDTH / WIDE[0], room)
    narrow = _with_room(wide, WIDTH / NARROW[0], room)
    return tuple(
        AxisName(
            percent=round(100 * mark.at / WIDTH, 2),
            text=shortened(mark.text, LONG),
            short=shortened(mark.text, LONG),
            narrow=mark in narrow,
            anchor="end" if drawn.slanted else anchor(100 * mark.at / WIDTH),
        )
        for mark in wide
    )


def names_down(drawn: BoxMap) -> tuple[AxisName, ...]:
    """Return the names left of a map."""
    # A name at an end is moved inwards, so that it is not cut off: it needs its room there.
    ends = HEIGHT * 0.015, HEIGHT * 0.985
    inside = [replace(mark, at=min(max(mark.at, ends[0]), ends[1])) for mark in drawn.down_marks]
    wide = _with_room(inside, HEIGHT / WIDE[1], lambda _: LINE)
    narrow = _with_room(wide, HEIGHT / NARROW[1], lambda _: LINE)
    return tuple(
        AxisName(
            percent=round(100 * mark.at / HEIGHT, 2),
            text=shortened(mark.text, LONG),
            short=shortened(mark.text, SHORT),
            narrow=mark in narrow,
        )
        for mark in wide
    )


def _with_room(
    marks: Iterable[MapMark], scale: float, room: Callable[[MapMark], float]
) -> list[MapMark]:
    """Return marks that do not touch; the first and the last one come before those between."""
    ordered = sorted(marks, key=lambda mark: mark.at)
    kept: list[MapMark] = []
    for mark in [*ordered[:1], *ordered[:0:-1][:1], *ordered[1:-1]]:
        if all(abs(mark.at - other.at) >= _apart(mark, other, room) * scale for other in kept):
            kept.append(mark)
    return kept


def _apart(one: MapMark, other: MapMark, room: Callable[[MapMark], float]) -> float:
    """Return how many pixels the places of two names must be apart.

    A name in the middle of its place reaches half its width to either side; one at an end of the
    axis lies wholly on one side.
    """
    return room(one) / 2 + room(other) / 2 + (max(room(one), room(other)) - LINE) / 2
