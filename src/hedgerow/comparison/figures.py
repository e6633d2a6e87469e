"""Figures of contenders: utility and cost of each, and 2-way marginals of all.

For the data owner: as confidential as the records.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.comparison.contenders import Contender
from hedgerow.evaluation import tasks
from hedgerow.evaluation.marginals import bin_edges, total_variation
from hedgerow.evaluation.pair_tables import BinEdges, pair_tables, release_tables
from hedgerow.evaluation.spread import Spread
from hedgerow.model.schema import Attribute

LEARNERS = ("tree", "boosting")


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Utility and cost of a release, for the data owner only.

    ``count_error`` is the median relative error of range queries over two columns;
    ``answering_zero`` the mean relative error of answering 0 to all of them; ``one_way_neutral``
    and ``two_way_neutral`` the share of records in the wrong cell of marginals in cells of the raw
    data, ``worst_column`` the column with the largest error of the former, ``worst_error``;
    ``two_way`` the share for 2-way marginals in public bins; ``learnt`` the accuracies of learners
    trained on the release. ``risk`` is the highest probability that a record is matched to its
    person, if
    rows are true records.
    """

    name: str
    method: str
    epsilon: str | None
    rows: int
    count_error: float | None
    answering_zero: float | None
    one_way_neutral: float
    worst_column: str
    worst_error: float
    two_way_neutral: float | None
    two_way: float | None
    floor: float | None
    ceiling: dict[str, float]
    learnt: dict[str, float]
    risk: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {name.replace("_", "-"): value for name, value in asdict(self).items()}


def figures_of(contender: Contender, *, seed: int) -> Figures:
    """Return the figures of one contender, for two columns, or for one if there is only one."""
    subject = contender.subject
    counting = tasks.counting(subject, seed=seed)
    ranges = _of_columns(counting["ranges"], "attributes")
    tables = _of_columns(counting["marginals"], "ways")
    neutral = tasks.columns_and_pairs(subject, seed=seed)
    worst, pairs = neutral["1-way"]["worst"], neutral["2-way"]
    learnt = _learnt(contender, seed)
    return Figures(
        name=contender.name,
        method=contender.method,
        epsilon=contender.epsilon,
        rows=len(subject.groups),
        count_error=None if ranges is None else ranges["median"],
        answering_zero=None if ranges is None else ranges["answering-zero"],
        one_way_neutral=neutral["1-way"]["mean"],
        worst_column=worst["attributes"][0],
        worst_error=worst["value"],
        two_way_neutral=None if pairs is None else pairs["mean"],
        two_way=None if tables is None else tables["mean"],
        risk=_risk(contender, seed),
        **learnt,
    )


def _of_columns(found: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """Return the figures for two columns, or for one if there is only one."""
    few = [each for each in found if each[key] <= 2]
    return max(few, key=lambda each: int(each[key]), default=None)


def _learnt(contender: Contender, seed: int) -> dict[str, Any]:
    subject = contender.subject
    target = subject.test or subject.table
    if subject.groups.classes is None or subject.table.classes is None or target.classes is None:
        return {"floor": None, "ceiling": {}, "learnt": {}}
    facts = tasks.classification(subject, seed=seed)
    best = facts["release"][facts["judged"]]
    return {
        "floor": facts["floor"],
        "ceiling": {name: facts["ceiling"][name] for name in LEARNERS},
        "learnt": {name: best[name] for name in LEARNERS},
    }


def _risk(contender: Contender, seed: int) -> float | None:
    """Return the highest risk of a record, or ``None`` if epsilon bounds it."""
    if contender.is_private:
        return None
    facts = tasks.reidentification(contender.subject, seed=seed)
    if not facts["applicable"] or facts["release"] is None:
        return None
    highest: float = facts["release"]["prosecutor"]["highest"]
    return highest


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
