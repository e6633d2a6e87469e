"""A table made from a plan's public domains alone, skewed as tables of people usually are.

What a method makes of a table depends on how uneven its columns are and on how they hang
together. Even, independent columns (`rehearse` draws such) give trees that no real table gives.
Here every record is of one of a few kinds, some frequent and some rare; a column leans on the
kind more or less; shares of values fall like Zipf's law, node by node of their taxonomy, and
numbers are bell-shaped or pile up at their lowest cell. The class follows from the kind.

Privacy: nothing of the data goes in. The constants were set once, on public tables
(research/check.md), and are the same for every plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import Domain
from hedgerow.taxonomy.tree import Taxonomy

MOST_CELLS = 4096
"""Cells of a number that get a share of their own."""

ValueShares = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Skew:
    """Skew of a simulated table and correlation of its columns: fixed for all plans.

    ``kinds`` of records have shares like rank to the minus ``kind_slope`` and lie at random in
    a plane. Values of a column have shares like rank to the minus ``slope``; for records of a
    kind they are tilted, along the order of the codes, by where the kind lies: ``leaning`` is
    the mean strength of that, ``class_leaning`` its strength for the class, whose shares fall
    with ``class_slope``. A larger ``tail`` lets a few columns lean strongly and most hardly. Of
    numeric columns ``piled`` pile up at their lowest cell.
    """

    kinds: int = 12
    kind_slope: float = 0.7
    slope: float = 3.0
    number_slope: float = 2.0
    piled: float = 0.5
    leaning: float = 1.0
    tail: float = 2.0
    class_leaning: float = 5.0
    class_slope: float = 1.5


USUAL = Skew()


def simulated_table(
    schema: Schema, n_records: int, *, seed: int, skew: Skew = USUAL
) -> EncodedTable:
    """Return ``n_records`` simulated records of the public domains; the same for the same seed."""
    rng = np.random.default_rng(seed)
    kinds = _Kinds.drawn(n_records, rng, skew)
    codes = [_codes(attribute.domain, kinds, skew) for attribute in schema.attributes]
    target = schema.class_attribute
    classes = None
    if target is not None:
        common = _ranked(target.domain.size, skew.class_slope)
        classes = kinds.column(common, np.array([skew.class_leaning, 0.0]))
    return EncodedTable.from_codes(schema, codes, classes)


def _codes(domain: Domain, kinds: _Kinds, skew: Skew) -> NDArray[np.int64]:
    """Return a column; a grid of very many cells is drawn in coarser ones, even inside."""
    rng = kinds.rng
    common = _shares(domain, rng, skew)
    column = kinds.column(common, skew.leaning * rng.exponential(size=2) ** skew.tail)
    if len(common) == domain.size:
        return column
    edges = np.arange(len(common) + 1) * domain.size // len(common)
    fine: NDArray[np.int64] = rng.integers(edges[column], edges[column + 1])
    return fine


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kinds:
    """Position of each kind of record (kinds, 2), and index of its first record, sorted by kind."""

    places: NDArray[np.float64]
    starts: NDArray[np.int64]
    rng: np.random.Generator

    @classmethod
    def drawn(cls, n_records: int, rng: np.random.Generator, skew: Skew) -> _Kinds:
        sizes = rng.multinomial(n_records, _ranked(skew.kinds, skew.kind_slope))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(places=rng.normal(size=(skew.kinds, 2)), starts=starts, rng=rng)

    def column(self, common: ValueShares, leaning: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return codes of all records: ``common`` shares, tilted for every kind."""
        middle = np.cumsum(common) - common / 2
        signs = self.rng.choice([-1.0, 1.0], size=2)
        tilts = self.places @ (leaning * signs)
        column = np.empty(int(self.starts[-1]), dtype=np.int64)
        for tilt, first, stop in zip(tilts, self.starts[:-1], self.starts[1:], strict=True):
            own = common * np.exp(np.clip(tilt * (2 * middle - 1), -30, 30))
            column[first:stop] = self.rng.choice(len(own), size=stop - first, p=own / own.sum())
        return column


def _ranked(n: int, slope: float) -> ValueShares:
    weights = np.arange(1, n + 1) ** -slope
    shares: ValueShares = weights / weights.sum()
    return shares


def _shares(domain: Domain, rng: np.random.Generator, skew: Skew) -> ValueShares:
    if domain.kind == "categorical":
        return _by_taxonomy(domain.taxonomy, rng, skew.slope)
    n_cells = min(domain.size, MOST_CELLS)
    place = (np.arange(n_cells) + 0.5) / n_cells
    if rng.random() < skew.piled:
        weights = np.arange(1, n_cells + 1) ** -skew.number_slope + 1e-6
    else:
        middle, width = rng.uniform(0.15, 0.5), rng.uniform(0.08, 0.2)
        weights = np.exp(-0.5 * ((place - middle) / width) ** 2) + 1e-4
    shares: ValueShares = weights / weights.sum()
    return shares


def _by_taxonomy(taxonomy: Taxonomy, rng: np.random.Generator, slope: float) -> ValueShares:
    """Return shares of the leaves: the children of every node share it by rank, in any order."""
    parent = taxonomy.parent
    order = np.lexsort((rng.random(len(parent)), parent))
    begins = np.searchsorted(parent[order], parent[order])
    weights = np.empty(len(parent))
    weights[order] = (np.arange(len(parent)) - begins + 1) ** -slope
    sums = np.bincount(np.maximum(parent, 0), weights=np.where(parent >= 0, weights, 0.0))
    shares = np.where(parent >= 0, weights / sums[np.maximum(parent, 0)], 1.0)
    for depth in range(2, int(taxonomy.depth.max()) + 1):
        level = np.flatnonzero(taxonomy.depth == depth)
        shares[level] *= shares[parent[level]]
    leaves: ValueShares = shares[taxonomy.leaf_nodes] / shares[taxonomy.leaf_nodes].sum()
    return leaves
