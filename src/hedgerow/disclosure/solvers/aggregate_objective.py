"""The objective of the aggregate model: low risk and high utility in one number.

For a node ``x`` of a record's lattice, ``f(x) = λ |ρ(x)| / Φ(x) + u(x)^κ`` [TKDE, Eq. (2)]:
``|ρ|`` dictionary records match the node, ``Φ`` is its severity and ``u`` its utility.
``|ρ|`` is supermodular and grows with ``x``; ``1 / Φ`` is a convex function of a modular one
and grows with ``x`` too, so their product is supermodular; so is a convex power of the modular
``u``. Hence ``f`` is supermodular for κ = 0 and every real κ >= 1, and its maximisers are
closed under meet and join: there is a *least* one, the most specific of the best nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.disclosure.lattice.lattice import Lattice, Levels, Node, Parts
from hedgerow.errors import InternalError, SettingError
from hedgerow.model.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AggregateObjective:
    """The aggregate model for one record, without the dictionary.

    ``severity_parts`` and ``utility_parts`` are the contributions of each level of each
    attribute to Φ and to u; both fall with the level and are never negative. Without the
    former, Φ is 1. ``risk_weight`` is λ, ``power`` is κ. λ|ρ| grows with the dictionary and u
    does not, so a λ near 1 / |Θ| gives them similar weight.

    Departs: with the weights of both papers' experiments the fully generalised node has
    Φ = 0 and f = ∞, whatever the rest. ``floor`` is added to Φ so that it can lose.
    """

    lattice: Lattice
    utility_parts: Parts
    severity_parts: Parts | None
    risk_weight: float
    power: float = 1
    floor: float = 0.0

    def __post_init__(self) -> None:
        for setting, value in (("risk-weight", self.risk_weight), ("floor", self.floor)):
            if not 0 <= value < math.inf:
                raise SettingError.out_of_range(setting, value, "a finite number of 0 or more")
        if not (self.power == 0 or 1 <= self.power < math.inf):
            # A power between 0 and 1 is concave, and f not supermodular.
            raise SettingError.out_of_range("power", self.power, "0 or a number of 1 or more")
        _check_parts(self.utility_parts, self.lattice, "utility")
        if self.severity_parts is not None:
            _check_parts(self.severity_parts, self.lattice, "severity")

    @cached_property
    def start(self) -> Ints:
        """Index of each attribute's first level in ``utility_of`` and ``severity_of``."""
        sizes = np.array(self.lattice.shape, dtype=np.int64)
        return np.cumsum(sizes) - sizes

    @cached_property
    def utility_of(self) -> Floats:
        """Contribution of each level to u, all attributes concatenated."""
        return np.concatenate([*self.utility_parts, np.zeros(0)])

    @cached_property
    def severity_of(self) -> Floats:
        """Contribution of each level to Φ, all attributes concatenated."""
        if self.severity_parts is None:
            return np.zeros(len(self.utility_of))
        return np.concatenate([*self.severity_parts, np.zeros(0)])

    @property
    def constant(self) -> float:
        """Part of Φ that is the same for every node."""
        return self.floor + (1.0 if self.severity_parts is None else 0.0)

    def severity(self, levels: ArrayLike) -> Floats:
        """Return Φ of nodes, whose levels are along the last axis."""
        at = self.start + np.asarray(levels, dtype=np.int64)
        return np.asarray(self.constant + self.severity_of[at].sum(axis=-1))

    def utility(self, levels: ArrayLike) -> Floats:
        """Return the utility of nodes, whose levels are along the last axis."""
        at = self.start + np.asarray(levels, dtype=np.int64)
        return np.asarray(self.utility_of[at].sum(axis=-1))

    def values(self, levels: ArrayLike, n_matches: ArrayLike) -> Floats:
        """Return the aggregate ``f`` of nodes with the given numbers of matches."""
        risk_part = self.risk_weight * np.asarray(n_matches) / self.severity(levels)
        return np.asarray(risk_part + self.utility(levels) ** self.power)

    def over_cube(self, cube: Ints) -> Floats:
        """Return the aggregate ``f`` of every node, from the numbers of matches of all nodes."""
        severity = np.full(self.lattice.shape, self.constant)
        if self.severity_parts is not None:
            severity += self.lattice.totals(self.severity_parts)
        utility = self.lattice.totals(self.utility_parts)
        return np.asarray(self.risk_weight * cube / severity + utility**self.power)

    @cached_property
    def _exact(self) -> tuple[_ExactParts, _ExactParts]:
        return _ExactParts.of(self.severity_of), _ExactParts.of(self.utility_of)

    def exact_severity(self, node: Sequence[int]) -> Fraction:
        """Return Φ of a node as the exact sum of its floats."""
        at = (self.start + np.asarray(node, dtype=np.int64)).tolist()
        return self._exact[0].total(at) + Fraction(self.constant)

    def exact_value(self, node: Sequence[int], n_matches: int) -> Fraction:
        """Return the aggregate ``f`` of a node exactly; κ must be an integer."""
        at = (self.start + np.asarray(node, dtype=np.int64)).tolist()
        risk_part = Fraction(self.risk_weight) * n_matches / self.exact_severity(node)
        return Fraction(risk_part + self._exact[1].total(at) ** self.whole_power())

    def check_positive(self) -> None:
        """Refuse an objective that divides by zero at the fully generalised node."""
        if self.severity(self.lattice.top) <= 0:
            raise SettingError(
                "The fully generalised node has severity 0 and would always be the best.",
                where="floor",
                do="Give a floor above 0, or exclude that node.",
            )

    def whole_power(self) -> int:
        """Return κ as an integer, which minimum cuts and exact values need."""
        if self.power != int(self.power):
            raise SettingError(
                f"{self.power} is not a whole number.",
                where="power",
                do="Give a whole number, or use the minimum-norm point.",
            )
        return int(self.power)

    def capped(self, attribute: int) -> AggregateObjective:
        """Return the objective in which one attribute may not be suppressed."""
        heights = list(self.lattice.heights)
        heights[attribute] -= 1
        lattice = Lattice(heights=tuple(heights))
        weights = self.severity_parts
        return AggregateObjective(
            lattice=lattice,
            utility_parts=_cut_to(self.utility_parts, lattice),
            severity_parts=None if weights is None else _cut_to(weights, lattice),
            risk_weight=self.risk_weight,
            power=self.power,
            floor=self.floor,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _ExactParts:
    """Floats as integer multiples of one unit, whose sums are exact."""

    multiples: tuple[int, ...]
    units_in_one: int

    @classmethod
    def of(cls, numbers: Floats) -> _ExactParts:
        ratios = [number.as_integer_ratio() for number in numbers.tolist()]
        # Denominators of floats are powers of two, so the largest is a multiple of all.
        finest = max((denominator for _, denominator in ratios), default=1)
        multiples = (numerator * (finest // denominator) for numerator, denominator in ratios)
        return cls(multiples=tuple(multiples), units_in_one=finest)

    def total(self, places: Sequence[int]) -> Fraction:
        return Fraction(sum(self.multiples[place] for place in places), self.units_in_one)


def _cut_to(parts: Parts, lattice: Lattice) -> Parts:
    return tuple(part[:size] for part, size in zip(parts, lattice.shape, strict=True))


def _check_parts(parts: Parts, lattice: Lattice, what: str) -> None:
    if tuple(len(part) for part in parts) != lattice.shape:
        raise InternalError(f"The {what} of a record does not have one number per level.")
    for part in parts:
        numbers = np.asarray(part, dtype=np.float64)
        if not np.isfinite(numbers).all() or numbers[-1] < 0 or (np.diff(numbers) > 0).any():
            raise SettingError(
                f"The {what} of an attribute is negative somewhere, or grows with its level.",
                where=what,
                do="Give weights of 0 or more that never grow towards the root.",
            )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AggregateProblem:
    """An aggregate objective and the level vectors of the dictionary; confidential.

    Row ``t`` of ``vectors`` represents ``multiplicities[t]`` dictionary records, which match
    every node at or above it. Rows may repeat: grouping them first is not needed, and costs
    more than it saves when there are many attributes. Column-major arrays are not copied.
    """

    objective: AggregateObjective
    vectors: Levels
    multiplicities: Ints

    def __post_init__(self) -> None:
        lattice, vectors = self.objective.lattice, self.vectors
        if vectors.shape != (len(self.multiplicities), lattice.n_attributes):
            raise InternalError("Level vectors do not fit their lattice or multiplicities.")
        if vectors.size and (vectors.max(axis=0) > np.array(lattice.heights)).any():
            raise InternalError("A level vector lies above the lattice.")
        if len(vectors) and self.multiplicities.min() < 0:
            raise InternalError("A multiplicity is negative.")

    @cached_property
    def columns(self) -> Levels:
        """The level vectors, one row per attribute."""
        return np.ascontiguousarray(self.vectors.T, dtype=np.uint8)

    @cached_property
    def many(self) -> Ints:
        """Number of dictionary records that each level vector represents."""
        return np.ascontiguousarray(self.multiplicities, dtype=np.int64)

    def counts(self, levels: NDArray[Any]) -> Ints:
        """Return the numbers of matches of many nodes, one row of levels each."""
        from hedgerow.disclosure.solvers.compiled import aggregate as compiled_aggregate

        nodes = np.ascontiguousarray(levels, dtype=np.uint8)
        counts: Ints = compiled_aggregate.counts_at(self.columns, self.many, nodes)
        return counts

    def count(self, node: Sequence[int]) -> int:
        """Return the number of matches of one node."""
        return int(self.counts(np.array([node], dtype=np.uint8))[0])

    def values(self, levels: NDArray[Any]) -> Floats:
        """Return the aggregate ``f`` of many nodes, one row of levels each."""
        return self.objective.values(levels, self.counts(levels))

    def exact_value(self, node: Node) -> Fraction:
        """Return the aggregate ``f`` of a node exactly."""
        return self.objective.exact_value(node, self.count(node))

    def capped(self, attribute: int) -> AggregateProblem:
        """Return the problem in which one attribute may not be suppressed."""
        kept = self.columns[attribute] < self.objective.lattice.heights[attribute]
        return AggregateProblem(
            objective=self.objective.capped(attribute),
            vectors=self.columns[:, kept].T,
            multiplicities=self.many[kept],
        )
