"""[TKDE, Alg. 3], Sample-Point: what it draws, exactly, and what is exact without it.

The points of ``P(F)`` are mixtures of the nodes of a maximal chain of the lattice. On the mixtures
of one chain the Lovász extensions of T, Φ and Ψ are linear, and all chains have the same volume:
uniform coordinates, sorted within each attribute, are a uniform point of ``P(F)``. Those in
the body of a layer, each kept with probability ``exp(Ψ̂ - max Ψ)``, have the density (7) itself:
Eq. (6) with δ' = 0, but for the rounding of doubles. What a rounding then gives is known from the
point, and is summed up rather than drawn where a law is asked for.

Guarantee: none. Lemma 1, on which the paper's rests, is false; see ``lemma_1_bound``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats, Ints

GUARANTEE = "none"

_AT_ONCE = 1 << 14
_MOST_TRIALS = 1 << 24
"""Points that are tried for one layer before it is called too thin."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Points of a layer: the ranks of the nodes of each one's chain, and their shares in it.

    ``trials`` uniform points were tried for them.
    """

    ranks: Ints
    shares: Floats
    trials: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplePoint:
    """Sample-Point(a, ε', ε'', θ, σ) for one record, over its whole lattice.

    ``matches`` is T, over all nodes: how many of the table's ``n_records`` records each one
    generalises. ``rate`` is ε', ``width`` ε''.

    Departs: T(X) is printed with ⊇, which is 0 almost everywhere; ⊆ is meant. Layers begin at
    φ_l, which is missing in print, so that they cover all nodes; with φ_l = 1 they are as printed.
    Layers without a point of the body, which the printed algorithm picks as well and then has
    nothing to sample from, are left out.
    """

    objective: AggregateObjective
    matches: Ints
    n_records: int
    rate: float
    width: float
    theta: float
    sigma: float

    def __post_init__(self) -> None:
        for name in ("rate", "width", "theta", "sigma"):
            if not 0 < getattr(self, name) < 1:
                value = getattr(self, name)
                raise SettingError.out_of_range(name, value, "a number above 0 and below 1")
        self.objective.check_positive()

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        return self.objective.lattice

    @property
    def threshold(self) -> float:
        """The number of records that a generalisation is to fit [line 1]."""
        return self.theta * self.n_records

    @cached_property
    def counts(self) -> Floats:
        """T of every node, by rank."""
        return self.matches.reshape(-1).astype(np.float64)

    @cached_property
    def severity(self) -> Floats:
        """Φ of every node, by rank."""
        return self.objective.severity(self.lattice.every_node())

    @cached_property
    def values(self) -> Floats:
        """The aggregate f of every node, by rank."""
        return self.objective.over_cube(self.matches).reshape(-1)

    @property
    def n_layers(self) -> int:
        """U + 1 [Sec. III-D]."""
        ratio = float(self.severity.max() / self.severity.min())
        return math.ceil(math.log(ratio) / math.log1p(self.width) - 1e-12) + 1

    def layer(self, i: int) -> tuple[float, float]:
        """The least and the most Φ of a layer."""
        low = float(self.severity.min()) * (1 + self.width) ** i
        return low, low * (1 + self.width)

    def exponents(self, i: int) -> Floats:
        """Ψ of every node in a layer, by rank: ε'ξ over |D| and the layer's least Φ."""
        return self.rate * self.values * self.severity / (self.n_records * self.layer(i)[0])

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The layers whose bodies have points, all but for a set without volume."""
        return tuple(i for i in range(self.n_layers) if self._has_volume(i))

    def _has_volume(self, i: int) -> bool:
        """Whether T̂ exceeds t somewhere in the layer.

        The extension is the concave closure, so its maximum is that over mixtures of nodes.
        """
        low, high = self.layer(i)
        if np.ptp(self.severity) > 0 and not (
            low < self.severity.max() and high > self.severity.min()
        ):
            return False
        slack = 1e-12 * high
        found = linprog(
            -self.counts,
            A_ub=np.stack([self.severity, -self.severity]),
            b_ub=np.array([high + slack, slack - low]),
            A_eq=np.ones((1, len(self.counts))),
            b_eq=np.ones(1),
            method="highs",
        )
        return bool(found.status == 0 and -found.fun > self.threshold * (1 + 1e-12))

    def points(self, i: int, n_points: int, rng: np.random.Generator) -> Points:
        """Points of the body of a layer with the density (7) [line 3]."""
        low, high = self.layer(i)
        exponents = self.exponents(i)
        ranks, shares, found, trials = [], [], 0, 0
        while found < n_points:
            if trials >= _MOST_TRIALS:
                raise SettingError(
                    f"a layer has too few of {_MOST_TRIALS:,} points",
                    where="width",
                    do="Give wider layers or a smaller theta.",
                )
            chain, share = self._uniform(rng)
            trials += len(chain)
            mean = [(share * of[chain]).sum(axis=1) for of in (self.counts, self.severity)]
            inside = (mean[0] >= self.threshold) & (mean[1] >= low) & (mean[1] <= high)
            level = (share * exponents[chain]).sum(axis=1) - exponents.max()
            kept = inside & (rng.random(len(chain)) < np.exp(level))
            ranks.append(chain[kept])
            shares.append(share[kept])
            found += int(kept.sum())
        return Points(
            ranks=np.concatenate(ranks)[:n_points],
            shares=np.concatenate(shares)[:n_points],
            trials=trials,
        )

    def _uniform(self, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Uniform points of P(F): the ranks of each one's chain, and the shares of its nodes."""
        attribute = np.repeat(np.arange(self.lattice.n_attributes), self.lattice.heights)
        drawn = rng.random((_AT_ONCE, len(attribute)))
        order = np.argsort(-drawn, axis=1)
        # Which step of an attribute a coordinate is follows from its place among them: only the
        # attribute of each coordinate matters for the chain.
        steps = np.asarray(self.lattice.strides)[attribute[order]]
        ranks = np.zeros((_AT_ONCE, len(attribute) + 1), dtype=np.int64)
        np.cumsum(steps, axis=1, out=ranks[:, 1:])
        ends = np.ones((_AT_ONCE, 1))
        heights = np.hstack([ends, np.take_along_axis(drawn, order, axis=1), 0 * ends])
        return ranks, heights[:, :-1] - heights[:, 1:]

    def accepted(self, points: Points) -> Floats:
        """The chance of each node of each point's chain to be returned [lines 4-7]."""
        enough = self.counts[points.ranks] >= self.sigma * self.threshold * (1 - 1e-12)
        shares = np.where(enough, points.shares, 0.0)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def rounds(self, points: Points) -> float:
        """How many calls of RR a point takes on average."""
        enough = self.counts[points.ranks] >= self.sigma * self.threshold * (1 - 1e-12)
        return float((1 / np.where(enough, points.shares, 0.0).sum(axis=1)).mean())

    def draw(self, rng: np.random.Generator) -> int:
        """The rank of one node, as printed [lines 1-7]."""
        point = self.points(int(rng.choice(self.layers)), 1, rng)
        return int(rng.choice(point.ranks[0], p=self.accepted(point)[0]))

    def law(self, n_points: int, rng: np.random.Generator) -> Floats:
        """The chance of every node, by rank, as the mean over points of every layer."""
        chances = np.zeros(self.lattice.n_nodes)
        for i in self.layers:
            points = self.points(i, n_points, rng)
            np.add.at(chances, points.ranks, self.accepted(points))
        return chances / (n_points * len(self.layers))

    # What is exact without it.

    def exact_law(self) -> Floats:
        """The distribution (5) over frequent nodes, by listing them: what line 6 of Alg. 2 asks."""
        frequent = self.counts >= self.threshold
        chances = np.where(frequent, np.exp(self._weighed() - self._weighed().max()), 0.0)
        return np.asarray(chances / chances.sum())

    def rejected(self, n_draws: int, rng: np.random.Generator) -> tuple[Ints, int]:
        """Draws from (5) by plain rejection of uniform nodes, and how many were tried.

        Exact, in expected time ``exp(ε' t_f) |a⁺| / |a⁺ ∩ L_t|`` a draw, since ε'f / |D| is
        bounded; no extension, layer or rounding is needed.
        """
        chance = np.exp(self._weighed() - self._weighed().max())
        found: list[NDArray[np.int64]] = []
        n_found = trials = 0
        while n_found < n_draws:
            node = rng.integers(0, self.lattice.n_nodes, _AT_ONCE)
            trials += len(node)
            fine = (self.counts[node] >= self.threshold) & (rng.random(len(node)) < chance[node])
            found.append(node[fine])
            n_found += int(fine.sum())
        return np.concatenate(found)[:n_draws], trials

    def _weighed(self) -> Floats:
        return self.rate * self.values / self.n_records


def lemma_1_bound(rate: float, width: float, shift: float, n_records: int) -> float:
    """The most that [TKDE, Lemma 1] allows of the ratio of chances, but for δ'.

    Departs: it is false. Take a node γ that generalises a0 with ``T(γ) = σθn``. Under D it is
    accepted; without a0 it has ``σθn - 1 < σθ(n - 1)`` records, and is never returned.
    """
    return math.exp(2 * rate * (1 + width) * shift / n_records)


def expected_rounds_bound(theta: float, sigma: float) -> float:
    """How many calls of RR are enough on average, by the reverse Markov inequality.

    Departs: printed is ``(1 - θσ) / (1 - θ)``. With ``E[T] >= θn`` and ``T <= n`` the chance of
    too few is at most ``(1 - θ) / (1 - θσ)``, so that of success is at least
    ``θ(1 - σ) / (1 - θσ)``.

    >>> round(expected_rounds_bound(0.3, 0.5), 2)
    5.67
    """
    return (1 - theta * sigma) / (theta * (1 - sigma))


def total_variation(one: Floats, other: Floats) -> float:
    """How far two laws are apart: the most by which the chance of any event differs."""
    return float(np.abs(one - other).sum() / 2)
