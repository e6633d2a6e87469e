"""The best node of the aggregate model, exactly: Dinkelbach's method over minimum cuts.

``f = ξ / Φ`` with ``ξ = λ|ρ| + Φ u^κ``. A node is better than the best one so far, of value α, if
and only if ``ξ - αΦ`` is above 0 there; maximising that over the lattice either finds a better node
or proves that none exists. The maximum is a minimum cut, as ``λ|ρ|`` rewards sets of variables
that are 1 and ``Φ u^κ`` sets that are 0 [TKDE, Thm. 1].

Values of nodes are compared as fractions, without rounding; only the network is rounded, and
the answer bounds the effect of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.disclosure.solvers.bracket import MARGIN, Bracket, bracket
from hedgerow.disclosure.solvers.min_cut import MinCut, least_maximiser
from hedgerow.disclosure.solvers.minimum_norm import maximise_supermodular
from hedgerow.disclosure.solvers.monomials import BoxVariables, powers_of, steps
from hedgerow.disclosure.solvers.relaxation import RelaxedDictionary, balanced_orders
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats, Ints

Top = Literal["allowed", "excluded"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AggregateOptimum:
    """The node to disclose by the aggregate model; confidential.

    No node is better by more than ``gap``; if it is 0, the answer is proved, and ``node`` is the
    most specific of the best. ``n_cuts`` is the number of minimum cuts, 0 if coordinate steps
    suffice.
    """

    node: Node
    value: Fraction
    gap: float
    n_cuts: int


def maximise_aggregate(problem: AggregateProblem, *, top: Top = "allowed") -> AggregateOptimum:
    """Return the best node of the aggregate model, by Dinkelbach's method [TKDE, Thm. 1].

    With ``top="excluded"`` the fully generalised node is excluded; that takes one search per
    attribute, as some attribute must then not be suppressed.

    Privacy: none. The answer is a function of the record and of the raw dictionary.
    """
    problem.objective.whole_power()
    if top == "allowed":
        return _maximise(problem)
    heights = problem.objective.lattice.heights
    capped = [problem.capped(i) for i, height in enumerate(heights) if height > 0]
    if any(one.objective.severity(one.objective.lattice.top) <= 0 for one in capped):
        raise _still_zero()
    return _best_of([_maximise(one) for one in capped])


def maximise_by_minimum_norm(
    problem: AggregateProblem, *, tolerance: float = 1e-9
) -> AggregateOptimum:
    """Return the best node of the aggregate model for any real κ from 1 up, or 0.

    Uses the minimum-norm point [TKDE, Sec. II-B.3] in the box that coordinate steps leave.
    ``n_cuts`` counts its steps. Values are floats here.

    Departs: the paper maximises ``ξ - αΦ`` repeatedly because it assumes that ``f`` is not
    supermodular. It is, so one maximisation suffices.

    Privacy: none. The answer is a function of the record and of the raw dictionary.
    """
    problem.objective.check_positive()
    box = bracket(problem)
    low = box.low.astype(np.int64)
    inside = AggregateProblem(
        objective=problem.objective, vectors=box.columns.T, multiplicities=box.many
    )
    found = maximise_supermodular(
        lambda raised: inside.values(low + raised),
        (box.high - box.low).tolist(),
        tolerance=tolerance,
    )
    node = tuple(int(level) for level in low + np.array(found.node, dtype=np.int64))
    value = Fraction(found.value)
    return AggregateOptimum(node=node, value=value, gap=found.gap, n_cuts=found.n_steps)


def best_in_cube(
    objective: AggregateObjective, cube: Ints, *, top: Top = "allowed"
) -> AggregateOptimum:
    """Return the best node of a lattice that is small enough to examine every node.

    ``cube`` holds the numbers of matches of all nodes, in the shape of the lattice.
    """
    if top == "allowed":
        objective.check_positive()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = objective.over_cube(cube)
    if top == "excluded":
        if values.size == 1:
            raise _nothing_left()
        values[objective.lattice.top] = -1.0
        if not np.isfinite(values).all():
            raise _still_zero()
    ties = np.argwhere(values >= values.max() * (1 - MARGIN))
    # The best nodes are closed under meet, so the minimum of each attribute gives one of them.
    node = tuple(int(level) for level in ties.min(axis=0))
    if values[node] < values.max() * (1 - MARGIN):
        node = tuple(int(level) for level in ties[0])
    value = Fraction(float(values[node]))
    if objective.power == int(objective.power):
        value = objective.exact_value(node, int(cube[node]))
    return AggregateOptimum(node=node, value=value, gap=2 * MARGIN * float(value), n_cuts=0)


def _best_of(found: list[AggregateOptimum]) -> AggregateOptimum:
    if not found:
        raise _nothing_left()
    # Among equal nodes, use the first with the fewest steps up.
    best = max(found, key=lambda optimum: (optimum.value, -sum(optimum.node)))
    return AggregateOptimum(
        node=best.node,
        value=best.value,
        gap=max(optimum.gap + float(optimum.value - best.value) for optimum in found),
        n_cuts=sum(optimum.n_cuts for optimum in found),
    )


def _nothing_left() -> SettingError:
    return SettingError(
        "A record without attributes to generalise has no other node.",
        where="top",
        do="Allow the fully generalised node.",
    )


def _still_zero() -> SettingError:
    return SettingError(
        "A node other than the fully generalised one has severity 0.",
        where="floor",
        do="Give a floor above 0.",
    )


def _maximise(problem: AggregateProblem) -> AggregateOptimum:
    problem.objective.check_positive()
    box = bracket(problem)
    low, high = box.ends
    best = max((problem.exact_value(node), node) for node in {low, high})
    if box.closed:
        return AggregateOptimum(node=best[1], value=best[0], gap=0.0, n_cuts=0)
    search = _Search(problem.objective, box, best[1], float(best[0]))
    n_cuts = 0
    while True:
        beaten = best
        cut, found, exact = search.beat(beaten[1], beaten[0])
        n_cuts += 1
        value = search.exact_value(found)
        if value >= best[0]:
            best = (value, found)
        if value <= beaten[0] and exact:
            break
    gap = search.gap(beaten[1], beaten[0], cut)
    return AggregateOptimum(node=best[1], value=best[0], gap=gap, n_cuts=n_cuts)


class _Search:
    """The state shared by successive minimum cuts, and the growing dictionary."""

    def __init__(
        self, objective: AggregateObjective, box: Bracket, best: Node, level: float
    ) -> None:
        self.objective = objective
        self.box = box
        self.variables = BoxVariables.of(box.low, box.high)
        self.powers = powers_of(objective, self.variables, box.high)
        self.falls = steps(objective.severity_of, objective.start, self.variables)
        self.dictionary = RelaxedDictionary(
            box,
            self.variables,
            balanced_orders(objective, box, level),
            exact_at=np.array(best, dtype=np.uint8),
        )

    def beat(self, best: Node, value: Fraction) -> tuple[MinCut, Node, bool]:
        """Return the least maximiser of ``Φ(best) ξ - ξ(best) Φ``, which is 0 at ``best``.

        Also return whether the bound on ``|ρ|`` was exact there; it is now.
        """
        severity, numerator = self._of_best(best, value)
        single, projects = self.dictionary.rewards(self.objective.risk_weight * severity)
        monomials = self.powers.sets._replace(rewards=self.powers.sets.rewards * severity)
        unary = self.powers.singles * severity - self.falls * numerator - single
        cut = least_maximiser(
            self.variables.attribute,
            unary,
            projects,
            monomials,
            reference=self.variables.of_node(np.array(best, dtype=np.uint8)),
        )
        node = self.variables.node(cut.ones)
        exact = not self.dictionary.tighten(node)
        return cut, tuple(int(level) for level in node), exact

    def exact_value(self, node: Node) -> Fraction:
        """Return the value of a node at which the bound on ``|ρ|`` is exact."""
        n_matches = self.dictionary.count(np.array(node, dtype=np.uint8))
        return self.objective.exact_value(node, n_matches)

    def _of_best(self, best: Node, value: Fraction) -> tuple[float, float]:
        severity = self.objective.exact_severity(best)
        return float(severity), float(value * severity)

    def gap(self, best: Node, value: Fraction, cut: MinCut) -> float:
        """Return how much better than the best node found another one can be.

        ``Φ(best) ξ(x) - ξ(best) Φ(x) = Φ(best) Φ(x) (f(x) - f(best))``; the network has the left
        side up to the rounding of its capacities and of the arithmetic that led to them: at most
        ``n_operations`` in a row, each within 2^-53 of its terms.
        """
        severity, numerator = self._of_best(best, value)
        objective, low = self.objective, self.box.low
        most = float(objective.severity(low))
        weighed = objective.risk_weight * float(self.box.many.sum())
        powers = most * float(objective.utility(low)) ** objective.power
        terms = severity * (weighed + powers) + numerator * most
        n_operations = len(self.variables) + len(low) + 2 * objective.whole_power() + 10
        error = 0.0 if _whole(objective, terms) else n_operations * 2.0**-52 * terms
        least = float(objective.severity(self.box.high))
        return (cut.advantage + cut.rounding + error) / (severity * least)


def _whole(objective: AggregateObjective, terms: float) -> bool:
    """Return whether doubles hold every number of the network without rounding.

    That is the case if all numbers are multiples of small powers of two and their products,
    at most ``terms`` of them added, stay within 53 bits.
    """
    weight = _binary_places(np.append(objective.severity_of, objective.constant))
    worth = _binary_places(objective.utility_of)
    factor = _binary_places(np.array([objective.risk_weight]))
    if weight is None or worth is None or factor is None:
        return False
    places = weight + max(factor, weight + objective.whole_power() * worth)
    return terms * 2.0**places <= 2.0**53


def _binary_places(numbers: Floats) -> int | None:
    """Return the number of binary places of all numbers, or ``None`` if it is large."""
    for places in range(21):
        scaled = numbers * 2.0**places
        if (scaled == np.rint(scaled)).all():
            return places
    return None
