"""From a network to synthetic records: noisy marginals, then one attribute after another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.privbayes.network import Encoding, Pair
from hedgerow.count.joint import JointCounts
from hedgerow.model.engine import Engine
from hedgerow.model.run import Run
from hedgerow.privacy.source import RandomSource, below
from hedgerow.trees.shrinkage import shrunk_counts


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditional:
    """The law of an attribute's cells given its parents' cell, from noisy counts.

    ``weights`` has one row per cell of the parents; rows add up to 1.
    """

    pair: Pair
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        pair: Pair,
        noisy: NDArray[np.int64],
        total: int,
        *,
        scale: float = 0.0,
        widths: NDArray[np.int64] | None = None,
    ) -> Conditional:
        """Return the law that noisy counts (parents, child) of a noisy total give.

        Counts with noise of this scale are shrunk towards even codes (the child's cells have
        ``widths``) or even cells, or made non-negative, by the least estimated risk; they have
        that total. Where a parents' cell has nothing left the child goes by its own marginal,
        and evenly if that is empty too.
        """
        codes = np.ones(noisy.shape[1]) if widths is None else widths.astype(np.float64)
        positive = shrunk_counts(
            noisy.ravel().astype(np.float64),
            total,
            variance=2 * scale**2,
            priors=(np.tile(codes, noisy.shape[0]), np.ones(noisy.size)),
        ).reshape(noisy.shape)
        alone = positive.sum(axis=0)
        alone = alone if alone.sum() > 0 else codes
        empty = positive.sum(axis=1) <= 0
        positive[empty] = alone
        return cls(pair=pair, weights=positive / positive.sum(axis=1, keepdims=True))

    def draw(self, rows: NDArray[np.int64], *, source: RandomSource) -> NDArray[np.int64]:
        """Return one cell for each row of the parents."""
        n_cells = self.weights.shape[1]
        ends = np.cumsum(self.weights, axis=1)
        ends = np.minimum(ends, 1.0)  # rounding must not carry a draw beyond the last cell
        ends[:, -1] = 1.0
        flat = (ends + np.arange(len(ends))[:, None]).ravel()
        at = (source.words(len(rows)) >> np.uint64(11)) * 2.0**-53
        within = np.minimum(rows + at, np.nextafter(rows + 1, 0))
        cells: NDArray[np.int64] = np.searchsorted(flat, within, "right") - rows * n_cells
        return cells


def noisy_conditionals(
    run: Run[Engine], encoding: Encoding, network: tuple[Pair, ...], *, total: int
) -> list[Conditional]:
    """Return the law of every attribute given its parents, from one pass over the data.

    Privacy: a record is in one cell of every marginal, so each costs its share and all of
    them what was left of epsilon, in equal shares (sequential composition).
    """
    kernel = JointCounts(places=encoding.places, tables=tuple(pair.table for pair in network))
    share: Fraction = run.left() / len(network)
    laws = []
    for pair, step, counts in zip(
        network, range(1, len(network) + 1), kernel.split(run.engine.sum(kernel)), strict=True
    ):
        noisy = run.noisy(counts, share=share, on=f"marginal {step}")
        widths = np.diff(encoding.ladders[pair.child][0].edges)
        laws.append(Conditional.of(pair, noisy, total, scale=1 / float(share), widths=widths))
    return laws


def drawn_codes(
    encoding: Encoding, laws: list[Conditional], n_records: int, *, source: RandomSource
) -> list[NDArray[np.int64]]:
    """Return the codes of synthetic records, by attribute, the class last.

    Cells are drawn from the laws in the network's order, and codes evenly in their cell.
    """
    codes: dict[int, NDArray[np.int64]] = {}
    for law in laws:
        rows = np.zeros(n_records, dtype=np.int64)
        for a, level in law.pair.parents:
            rows = rows * encoding.ladders[a][level].n_cells + encoding.places[a][level][codes[a]]
        cells = law.draw(rows, source=source)
        edges = encoding.ladders[law.pair.child][0].edges.astype(np.int64)
        codes[law.pair.child] = edges[cells] + below(np.diff(edges)[cells], source=source)
    return [codes[a] for a in range(len(encoding))]
