"""Levels of generalisation: for every attribute, cuts of its domain from its values to one.

Everything here is public: levels follow from the domains of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.model.groups import Ranges
from hedgerow.model.schema import Schema
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain


@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeLevels:
    """One attribute's levels, from the values themselves to a single range.

    ``parents[l]`` maps the ranges of level ``l - 1`` to those of level ``l``, and
    ``penalties[l]`` are the costs of the ranges per record: the part of the domain that they
    cover, 0 for a single value (normalised certainty penalty).
    """

    ranges: tuple[Ranges, ...]
    parents: tuple[NDArray[np.int64], ...]
    penalties: tuple[NDArray[np.float64], ...]

    def __len__(self) -> int:
        return len(self.ranges)

    @classmethod
    def of(cls, domain: Domain, *, fan_out: int) -> AttributeLevels:
        """Return the levels of a taxonomy, or of a grid whose cells are merged in runs.

        Level l of a grid has runs of ``fan_out ** l`` cells, and dates have months, quarters
        and years; missing values are separate until the last level. A level equal to the one
        below is omitted.
        """
        if isinstance(domain, CategoricalDomain):
            borders = _taxonomy_borders(domain)
        else:
            borders = _grid_borders(domain, fan_out)
        return cls._of_borders(borders, domain.size)

    @classmethod
    def _of_borders(cls, borders: list[NDArray[np.int64]], size: int) -> AttributeLevels:
        """Build the levels from the starts of their ranges, without repetitions."""
        kept = [borders[0]]
        kept += [b for a, b in pairwise(borders) if len(b) < len(a)]
        ranges = tuple(
            Ranges(first=first.astype(np.int32), stop=np.append(first[1:], size).astype(np.int32))
            for first in kept
        )
        parents = [np.arange(len(kept[0]))]
        parents += [
            np.searchsorted(above, below, side="right") - 1 for below, above in pairwise(kept)
        ]
        return cls(
            ranges=ranges,
            parents=tuple(parents),
            penalties=tuple(_penalties(each, size) for each in ranges),
        )


def levels_of(schema: Schema, *, fan_out: int) -> tuple[AttributeLevels, ...]:
    """Return the levels of all predictors."""
    if fan_out < 2:
        raise SettingError.out_of_range("fan_out", fan_out, "at least 2")
    return tuple(AttributeLevels.of(a.domain, fan_out=fan_out) for a in schema.attributes)


def _taxonomy_borders(domain: CategoricalDomain) -> list[NDArray[np.int64]]:
    """Return the starts of the nodes of each depth, including leaves that end higher up."""
    tree = domain.taxonomy
    return [
        np.unique(tree.first[tree.leaf_ancestors(depth)]).astype(np.int64)
        for depth in range(int(tree.height[0]), -1, -1)
    ]


def _grid_borders(domain: NumericDomain, fan_out: int) -> list[NDArray[np.int64]]:
    missing = int(domain.missing)
    if domain.levels:
        calendar = [level[:-1] for level in reversed(domain.levels)]
        return [*calendar, np.arange(1 + missing), np.zeros(1, dtype=np.int64)]
    n_cells = domain.size - missing
    runs = [1]
    while runs[-1] * fan_out < n_cells:
        runs.append(runs[-1] * fan_out)
    separate = np.arange(missing)
    borders = [np.concatenate([separate, np.arange(0, n_cells, run) + missing]) for run in runs]
    return [*borders, np.arange(1 + missing), np.zeros(1, dtype=np.int64)]


def _penalties(ranges: Ranges, size: int) -> NDArray[np.float64]:
    width = (ranges.stop - ranges.first).astype(np.float64)
    return np.where(width > 1, width / size, 0.0)
