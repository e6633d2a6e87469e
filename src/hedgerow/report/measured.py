"""The noisy marginals behind synthetic records: a graph of joins, and a list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hedgerow.draw.pictures import shortened
from hedgerow.model.groups import Groups
from hedgerow.model.measured import MeasuredTable, group_labels
from hedgerow.model.precision import deviation, within
from hedgerow.model.schema import Schema

MOST_TABLES = 80
MOST_CELLS = 64
MOST_SHOWN = 12
"""Maximum number of marginals whose cells are shown, 2-way marginals first."""

SIDE, RADIUS = 820, 240


@dataclass(frozen=True, kw_only=True)
class GraphNode:
    """An attribute of the graph and its position; the label is turned away from the centre."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    turn: float
    anchor: str


@dataclass(frozen=True, kw_only=True)
class GraphEdge:
    """A 2-way marginal: solid if it is a join, dashed if it was chosen later."""

    x1: float
    y1: float
    x2: float
    y2: float
    is_join: bool


def measured_tables(schema: Schema, groups: Groups) -> dict[str, Any] | None:
    """Return the pictures of the measured marginals, or ``None`` if there are none."""
    if not groups.tables:
        return None
    nodes = _nodes(schema)
    pairs = [table for table in groups.tables if table.kind in ("join", "further")]
    edges = [_edge(nodes, table) for table in pairs]
    listed = [_line(schema, table) for table in groups.tables]
    singles = [table for table in groups.tables if table.kind == "one-way"]
    shown = [table for table in (*pairs, *singles) if table.counts.size <= MOST_CELLS]
    return {
        "nodes": nodes,
        "edges": edges,
        "side": SIDE,
        "lines": listed[:MOST_TABLES],
        "n_more": max(len(listed) - MOST_TABLES, 0),
        "cells": [_cells(schema, table) for table in shown[:MOST_SHOWN]],
        "leaves": None if groups.leaves is None else len(groups.leaves.counts),
    }


def _nodes(schema: Schema) -> list[GraphNode]:
    names = [shortened(attribute.name, 18) for attribute in schema.attributes]
    found = []
    for at, name in enumerate(names):
        angle = 2 * math.pi * at / len(names) - math.pi / 2
        x, y = math.cos(angle), math.sin(angle)
        found.append(
            GraphNode(
                name=name,
                x=round(SIDE / 2 + RADIUS * x, 1),
                y=round(SIDE / 2 + RADIUS * y, 1),
                label_x=round(SIDE / 2 + (RADIUS + 12) * x, 1),
                label_y=round(SIDE / 2 + (RADIUS + 12) * y, 1),
                turn=round(math.degrees(angle) + (0 if x >= -1e-9 else 180), 1),
                anchor="start" if x >= -1e-9 else "end",
            )
        )
    return found


def _edge(nodes: list[GraphNode], table: MeasuredTable) -> GraphEdge:
    first, second = nodes[table.attributes[0]], nodes[table.attributes[1]]
    return GraphEdge(x1=first.x, y1=first.y, x2=second.x, y2=second.y, is_join=table.kind == "join")


def _names(schema: Schema, table: MeasuredTable) -> list[str]:
    used = list(schema.used())
    return [shortened(used[a].name) for a in table.attributes]


def _line(schema: Schema, table: MeasuredTable) -> dict[str, Any]:
    return {
        "kind": table.kind,
        "names": " × ".join(_names(schema, table)),
        "shape": " × ".join(str(n) for n in table.counts.shape),
        "error": round(deviation(table.share), 1),
        "within": within(table.share),
    }


def _cells(schema: Schema, table: MeasuredTable) -> dict[str, Any]:
    """Return the rows of a marginal by the first attribute, with columns for the others."""
    used = list(schema.used())
    labels = [
        [shortened(label, 30) for label in group_labels(used[a].domain, groups)]
        for a, groups in zip(table.attributes, table.groups, strict=True)
    ]
    columns = labels[1] if len(labels) > 1 else ["count"]
    if len(labels) > 2:
        columns = [f"{one}, {other}" for one in labels[1] for other in labels[2]]
    counts = table.counts.reshape(table.counts.shape[0], -1).tolist()
    return {
        "title": " × ".join(_names(schema, table)),
        "columns": columns,
        "rows": list(zip(labels[0], counts, strict=True)),
        "within": within(table.share),
    }
