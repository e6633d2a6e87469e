"""2-way marginals of all pairs of columns, of the records and of each release.

For the data owner: as confidential as the records.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.comparison.contenders import Contender
from hedgerow.evaluation.marginals import bin_edges, total_variation
from hedgerow.evaluation.pair_tables import BinEdges, pair_tables, release_tables
from hedgerow.evaluation.spread import Spread
from hedgerow.model.schema import Attribute

MOST_COLUMNS = 16
"""Maximum number of columns whose pairs are counted, the first ones."""

MOST_CELLS = 12
"""Maximum number of cells of one column."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairedTables:
    """Shares of all records in the cells of each pair of columns.

    ``records`` and, for each contender, ``releases`` have one marginal per pair of ``names``, in
    the order of :func:`itertools.combinations`; ``labels`` are the labels of the cells.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    records: tuple[NDArray[np.float64], ...]
    releases: tuple[tuple[str, tuple[NDArray[np.float64], ...]], ...]
    n_omitted: int

    def as_dict(self, audience: str) -> dict[str, Any]:
        """Return the marginals for JSON; ``audience`` states who may see them."""
        return {
            "format-version": 1,
            "for": audience,
            "columns": [
                {"name": name, "cells": list(cells)}
                for name, cells in zip(self.names, self.labels, strict=True)
            ],
            "columns-left-out": self.n_omitted,
            "pairs": [
                {
                    "columns": list(pair),
                    "records": _rounded(self.records[at]),
                    "releases": {
                        name: {
                            "shares": _rounded(tables[at]),
                            "error": round(total_variation(tables[at], self.records[at]), 6),
                        }
                        for name, tables in self.releases
                    },
                }
                for at, pair in enumerate(combinations(range(len(self.names)), 2))
            ],
        }

    def to_json(self, audience: str) -> str:
        """Return the content of `pairs.json`."""
        return json.dumps(self.as_dict(audience), ensure_ascii=False, allow_nan=False) + "\n"


def paired_tables(contenders: Sequence[Contender], *, seed: int) -> PairedTables:
    """Return the 2-way marginals of the records and of each release."""
    first = contenders[0].subject
    used = list(first.schema.used())
    if first.table.classes is None:
        used = list(first.schema.attributes)
    shown = used[:MOST_COLUMNS]
    edges = [_edges(attribute) for attribute in shown]
    pairs = list(combinations(range(len(shown)), 2))
    own = pair_tables(Spread.of_table(first.table), edges)
    releases = []
    for each in contenders:
        released = _released(each, edges, seed)
        releases.append((each.name, tuple(_shares(released(*pair)) for pair in pairs)))
    return PairedTables(
        names=tuple(attribute.name for attribute in shown),
        labels=tuple(_labels(attribute, at) for attribute, at in zip(shown, edges, strict=True)),
        records=tuple(_shares(own(*pair)) for pair in pairs),
        releases=tuple(releases),
        n_omitted=len(used) - len(shown),
    )


def _released(contender: Contender, edges: BinEdges, seed: int) -> Any:
    subject = contender.subject
    return release_tables(subject.groups, subject.schema, edges, seed=seed)[0]


def _edges(attribute: Attribute) -> NDArray[np.int64]:
    """Return the borders of at most ``MOST_CELLS`` cells, a subset of those of the figures."""
    borders = bin_edges(attribute)
    n_cells = len(borders) - 1
    if n_cells <= MOST_CELLS:
        return borders
    return borders[np.linspace(0, n_cells, MOST_CELLS + 1).round().astype(np.int64)]


def _labels(attribute: Attribute, edges: NDArray[np.int64]) -> tuple[str, ...]:
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return tuple(attribute.domain.label(first, stop) for first, stop in spans)


def _shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    total = float(table.sum())
    return table / total if total > 0 else np.zeros_like(table)


def _rounded(table: NDArray[np.float64]) -> list[list[float]]:
    rounded: list[list[float]] = table.round(6).tolist()
    return rounded
