"""Labels beside a map of boxes as page text, as many as fit on a wide and a narrow page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from hedgerow.draw.maps import HEIGHT, WIDTH, BoxMap, MapMark
from hedgerow.draw.pictures import shortened

LETTER = 7.0
"""Upper estimate of the width of a letter in pixels."""

LINE = 16.0
WIDE, NARROW = (600.0, 400.0), (225.0, 300.0)
"""Minimum size of a map in pixels, across and down, on a wide and a narrow page."""

LONG, SHORT = 22, 12
"""Letters of a label down the side, on a wide and a narrow page."""


@dataclass(frozen=True, kw_only=True)
class AxisName:
    """A label beside an axis: its position in per cent, its text and a short form.

    ``narrow`` is true if a narrow page has room for it; ``anchor`` keeps the first and the last
    label across inside the page.
    """

    percent: float
    text: str
    short: str
    narrow: bool
    anchor: str = "middle"


def names_across(drawn: BoxMap) -> tuple[AxisName, ...]:
    """Return the labels below a map; those of categories are slanted, so each needs a line."""

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
    """Return the labels left of a map."""
    # A label at an end is moved inwards, so that it is not cut off.
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
    """Return marks that do not touch; the first and the last take precedence."""
    ordered = sorted(marks, key=lambda mark: mark.at)
    kept: list[MapMark] = []
    for mark in [*ordered[:1], *ordered[:0:-1][:1], *ordered[1:-1]]:
        if all(abs(mark.at - other.at) >= _distance(mark, other, room) * scale for other in kept):
            kept.append(mark)
    return kept


def _distance(one: MapMark, other: MapMark, room: Callable[[MapMark], float]) -> float:
    """Return the minimum distance between two labels in pixels.

    A label centred on its position takes half its width on either side; one at an end of the
    axis lies entirely on one side.
    """
    return room(one) / 2 + room(other) / 2 + (max(room(one), room(other)) - LINE) / 2
