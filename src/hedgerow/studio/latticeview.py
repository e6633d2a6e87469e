"""Pictures of one record's lattice: all its generalisations, and the chosen one.

Confidential; only for pages that say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from hedgerow.draw.plane import PlaneMark
from hedgerow.studio.planeview import plane_scales

MOST_DRAWN = 160
"""Maximum number of generalisations of a lattice that is drawn; larger ones show only chains."""

MOST_DOTS = 1200
HASSE_WIDTH, ROW = 900, 74


@dataclass(frozen=True, kw_only=True)
class HasseNode:
    """A generalisation in the lattice: its position and its text."""

    x: float
    y: float
    label: str
    is_chosen: bool
    reaches: bool


@dataclass(frozen=True, kw_only=True)
class Hasse:
    """The lattice, with the original record at the bottom and full suppression at the top."""

    nodes: tuple[HasseNode, ...]
    edges: str
    height: float


@dataclass(frozen=True, kw_only=True)
class RecordPlane:
    """All generalisations of the record by utility and risk, and the frontier."""

    dots: tuple[PlaneMark, ...]
    frontier: str
    before: PlaneMark
    chosen: PlaneMark | None
    x_ticks: tuple[PlaneMark, ...]
    y_ticks: tuple[PlaneMark, ...]
    threshold_x: float | None
    threshold_y: float | None


def reaches(goal: Mapping[str, Any], form: Mapping[str, Any]) -> bool:
    """Return true if a generalisation satisfies the threshold of the goal."""
    if goal["kind"] == "least-risk":
        return bool(form["utility"] >= goal["at-least"] - 1e-9)
    if goal["kind"] == "most-utility":
        return bool(form["risk"] <= goal["at-most"] * (1 + 1e-9))
    return True


def hasse_of(record: Mapping[str, Any]) -> Hasse | None:
    """Return the drawing of a record's lattice, or ``None`` if it is too large."""
    points = record["points"]
    if record["forms"] > MOST_DRAWN or len(points) != record["forms"]:
        return None
    chosen = None if record["chosen"] is None else tuple(record["chosen"]["levels"])
    ordered = sorted(points, key=lambda form: (sum(form["levels"]), form["levels"]))
    rows = [list(group) for _, group in groupby(ordered, key=lambda form: sum(form["levels"]))]
    height = ROW * len(rows)
    nodes: dict[tuple[int, ...], HasseNode] = {}
    for level, row in enumerate(rows):
        for at, form in enumerate(row):
            key = tuple(form["levels"])
            nodes[key] = HasseNode(
                x=round(HASSE_WIDTH * (at + 0.5) / len(row), 1),
                y=round(height - ROW * (level + 0.5), 1),
                label=_label(record, form),
                is_chosen=key == chosen,
                reaches=reaches(record["goal"], form),
            )
    edges = []
    for key, node in nodes.items():
        for at in range(len(key)):
            above = nodes.get((*key[:at], key[at] + 1, *key[at + 1 :]))
            if above is not None:
                edges.append(f"M{node.x} {node.y}L{above.x} {above.y}")
    return Hasse(nodes=tuple(nodes.values()), edges="".join(edges), height=height)


def _label(record: Mapping[str, Any], form: Mapping[str, Any]) -> str:
    labels = [
        attribute["levels"][level]["label"]
        for attribute, level in zip(record["attributes"], form["levels"], strict=True)
    ]
    return f"{', '.join(labels)}: {form['risk']:.3g}, {form['utility']:.3g}"


def record_plane(record: Mapping[str, Any]) -> RecordPlane:
    """Return the drawing of all generalisations of a record on the risk-utility plane."""
    points, goal = record["points"], record["goal"]
    most_risk = max([*(form["risk"] for form in points), record["before"]["risk"], 1e-12])
    most_utility = max([*(form["utility"] for form in points), 1e-12])
    scales = plane_scales(most_utility, most_risk)
    distinct = {(round(form["utility"], 6), round(form["risk"], 9)) for form in points}
    chosen, before = record["chosen"], record["before"]
    return RecordPlane(
        dots=tuple(scales.mark(utility, risk) for utility, risk in sorted(distinct)[:MOST_DOTS]),
        frontier=scales.path((utility, risk) for utility, risk in record["frontier"]),
        before=scales.mark(before["utility"], before["risk"]),
        chosen=None if chosen is None else scales.mark(chosen["utility"], chosen["risk"]),
        x_ticks=scales.x_ticks((0.0, 0.5, 1.0)),
        y_ticks=scales.y_ticks((0.0, 0.05, 0.25, 1.0)),
        threshold_x=scales.x(goal["at-least"]) if goal["kind"] == "least-risk" else None,
        threshold_y=scales.y(goal["at-most"]) if goal["kind"] == "most-utility" else None,
    )
