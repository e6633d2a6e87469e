"""Approximating the threshold model: a linear program, then rounding [TKDE, Alg. 1].

The maximum utility at a risk of at most ``c`` needs a node with ``Φ <= c |ρ|``. Divide the range
of Φ into slices ``[τ', τ]``, a factor ``1 + width`` wide; in a slice it is enough that
``|ρ| >= τ' / c`` and ``Φ <= τ``. On fractional nodes, ``1 >= z_i1 >= z_i2 >= ... >= 0`` for each
attribute, Φ and u are linear, and the Lovász extension of ``|ρ|`` is the sum over dictionary
records of the smallest of their literals: each slice is a linear program. A fractional node is a
mixture of a chain of nodes, the sets of steps whose ``z`` is at least some threshold.

Nothing here is differentially private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.aggregate import maximise_aggregate
from hedgerow.disclosure.solvers.aggregate_objective import AggregateProblem
from hedgerow.disclosure.solvers.monomials import BoxVariables, steps
from hedgerow.errors import InternalError, MissingExtraError, SettingError
from hedgerow.model.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class ApproxSettings:
    """The precision of the approximation of the threshold model.

    A node may have a ``share`` of the matches that its slice requires and exceed its
    severity by the factor ``excess``; slices are ``width`` wide. In [TKDE, Alg. 1]
    these are σ1, σ2 and ε.
    """

    at_most: float
    width: float = 0.1
    share: float = 0.5
    excess: float = 2.0

    def __post_init__(self) -> None:
        for setting, value in (("risk > at-most", self.at_most), ("width", self.width)):
            if not 0 < value < math.inf:
                raise SettingError.out_of_range(setting, value, "a finite number above 0")
        if not 0 < self.share <= 1:
            raise SettingError.out_of_range("share", self.share, "a number above 0, at most 1")
        if not 1 <= self.excess < math.inf:
            raise SettingError.out_of_range("excess", self.excess, "a finite number of 1 or more")

    @property
    def risk_bound(self) -> float:
        """Upper bound on the risk of the solution."""
        return self.excess * (1 + self.width) / self.share * self.at_most


@dataclass(frozen=True, kw_only=True, repr=False)
class Approximation:
    """A node of high utility with little more risk than allowed, if one was found; confidential.

    No node within the limit itself has more utility than ``utility_bound``. ``acceptance`` is
    the probability that [TKDE, Thm. 2] proves for one rounding to be acceptable, or 0.
    """

    node: Node | None
    utility: float
    risk: float
    utility_bound: float
    acceptance: float


class Chain(NamedTuple):
    """The nodes whose mixture is a fractional node, and the probability of each."""

    nodes: Ints
    chances: Floats


def least_risk(problem: AggregateProblem) -> Fraction:
    """Return the lowest risk of any node: the aggregate model without utility, λ or κ."""
    objective = replace(problem.objective, risk_weight=1.0, power=0)
    most = maximise_aggregate(replace(problem, objective=objective)).value - 1
    if most == 0:
        raise SettingError(
            "No dictionary record matches any generalisation.",
            where="against",
            do="Give a dictionary with at least one record.",
        )
    return 1 / most


def approximate(
    problem: AggregateProblem,
    settings: ApproxSettings,
    *,
    faithful: bool = False,
    rng: np.random.Generator | None = None,
) -> Approximation:
    """Return a node of approximately maximum utility at a risk within ``settings.risk_bound``.

    [TKDE, Alg. 1]; λ and κ of the problem are ignored. By default the best acceptable node of
    each chain is used; with ``faithful`` one is drawn as printed, by ``rng``.

    Departs: Theorem 2 claims that the expected utility is at least that of the best node
    within the limit, ``z*``. Rounding until the result is acceptable breaks that, because
    general nodes are more often acceptable and less useful: see
    :func:`expected_utility_bound` for what holds. The ``repeat`` loop is one draw from the
    chain's acceptable nodes, which has the same distribution and ends where the loop would not.
    There is at least one slice; as printed there is none if Φ is the same everywhere.

    Privacy: none. The answer is a function of the record and of the raw dictionary.
    """
    if faithful and rng is None:
        raise InternalError("A faithful rounding needs a random generator.")
    theta = float(least_risk(problem) / Fraction(settings.at_most))
    acceptance = acceptance_bound(theta, settings)
    if faithful:
        _check_condition(acceptance)
    program = SliceProgram(problem)
    found: list[Ints] = []
    utility_bound = -math.inf
    for bottom, top in severity_slices(problem, settings.width):  # line 2
        solved = program.solve(n_matches=bottom / settings.at_most, severity=top)  # lines 3-4
        if solved is None:
            continue
        utility_bound = max(utility_bound, solved.value)
        chain = rounding_chain(program.variables, solved.point)
        kept = _acceptable(problem, chain, settings, bottom, top)  # line 7
        if faithful and rng is not None:
            kept = _drawn(chain, kept, rng)  # lines 5-6
        found.extend(chain.nodes[kept])
    node, utility, risk = _most_useful(problem, found)  # line 8
    return Approximation(
        node=node, utility=utility, risk=risk, utility_bound=utility_bound, acceptance=acceptance
    )


def acceptance_bound(theta: float, settings: ApproxSettings) -> float:
    """Return the probability that [TKDE, Thm. 2] proves for one rounding to be acceptable.

    ``theta`` is the lowest risk divided by the limit.
    """
    too_few = (1 - theta) / (1 - theta * settings.share) if theta < 1 else 0.0
    return max(0.0, 1 - too_few - 1 / settings.excess)


def expected_utility_bound(best: float, most: float, acceptance: float) -> float:
    """Return a lower bound on the expected utility of an acceptable rounding.

    ``best`` is the utility of the best node within the limit, ``most`` that of the record
    itself, and a rounding is acceptable with probability ``acceptance`` or more. The
    expectation over all roundings is at least ``best``, and roundings that are not acceptable
    contribute at most their share of ``most``.

    >>> expected_utility_bound(0.9, 1.0, 0.5)
    0.8
    """
    return (best - (1 - acceptance) * most) / acceptance


def rounding_chain(variables: BoxVariables, point: Floats) -> Chain:
    """Return the nodes that randomised rounding can return, and their probabilities.

    They run from the lowest node up, one step at a time; steps with larger coordinates come
    first [TKDE, Sec. II-C].
    """
    # Lower levels come first among equals, so every set of the chain is a node.
    order: Ints = np.argsort(-point, kind="stable")
    nodes = np.zeros((len(point) + 1, len(variables.low)), dtype=np.int64)
    nodes[:] = variables.low
    nodes[np.arange(1, len(nodes)), variables.attribute[order]] = variables.level[order]
    np.maximum.accumulate(nodes, axis=0, out=nodes)
    heights = np.concatenate([[1.0], point[order], [0.0]])
    return Chain(nodes=nodes, chances=heights[:-1] - heights[1:])


def _check_condition(acceptance: float) -> None:
    if acceptance <= 0:
        raise SettingError(
            "Theorem 2 requires (1 - θ) / (1 - θ σ1) + 1 / σ2 below 1.",
            where="share, excess",
            do="Give a smaller share, a larger excess or a smaller risk limit.",
        )


def severity_slices(problem: AggregateProblem, width: float) -> list[tuple[float, float]]:
    """Return the lower and upper end of Φ in each slice [TKDE, Alg. 1, line 1]."""
    objective = problem.objective
    objective.check_positive()
    least = float(objective.severity(objective.lattice.top))
    most = float(objective.severity(objective.lattice.bottom))
    n_slices = max(1, math.ceil(math.log(most / least) / math.log1p(width)))
    return [(least * (1 + width) ** i, least * (1 + width) ** (i + 1)) for i in range(n_slices)]


class Solved(NamedTuple):
    """The value of a linear program, and a fractional node that attains it."""

    value: float
    point: Floats


class SliceProgram:
    """The linear program of a slice; only its right-hand side changes between slices."""

    SLACK = 1e-9  # relative: a node on the border of two slices must be in one of them

    def __init__(self, problem: AggregateProblem) -> None:
        objective = problem.objective
        low = np.array(objective.lattice.bottom, dtype=np.uint8)
        high = np.array(objective.lattice.top, dtype=np.uint8)
        self.variables = BoxVariables.of(low, high)
        vectors, group = np.unique(problem.columns.T, axis=0, return_inverse=True)
        many = np.zeros(len(vectors))
        np.add.at(many, group.reshape(-1), problem.many)
        free = ~vectors.any(axis=1)
        self.always = float(many[free].sum())
        self.bottom_utility = float(objective.utility(low))
        self.bottom_severity = float(objective.severity(low))
        falls = steps(objective.utility_of, objective.start, self.variables)
        weights = steps(objective.severity_of, objective.start, self.variables)
        many = many[~free]
        self.cost = np.concatenate([falls, np.zeros(len(many))])
        self.rows = self._rows(vectors[~free], many, weights)

    def _rows(self, vectors: np.ndarray[Any, Any], many: Floats, weights: Floats) -> Any:
        """Return ``z_i,j+1 <= z_ij``, ``y_t <= z`` per literal, and the bounds on |ρ| and Φ."""
        sparse = _scipy("sparse")
        n, variables = len(self.variables), self.variables
        above = np.flatnonzero(variables.attribute[1:] == variables.attribute[:-1]) + 1
        record, attribute = np.nonzero(vectors)
        literal = variables.start[attribute] + vectors[record, attribute]
        n_chain, n_literals = len(above), len(record)
        row = np.arange(n_chain + n_literals)
        places = (
            np.concatenate([row, row]),
            np.concatenate([above, n + record, above - 1, literal]),
        )
        signs = np.repeat([1.0, -1.0], len(row))
        order = sparse.csr_array((signs, places), shape=(len(row), n + len(many)))
        sums = np.zeros((2, n + len(many)))
        sums[0, n:] = -many
        sums[1, :n] = -weights
        return sparse.vstack([order, sparse.csr_array(sums)], format="csr")

    def solve(self, *, n_matches: float, severity: float) -> Solved | None:
        """Return the most useful fractional node within these bounds on matches and severity."""
        limits = np.zeros(self.rows.shape[0])
        limits[-2] = self.always - n_matches * (1 - self.SLACK)
        limits[-1] = severity * (1 + self.SLACK) - self.bottom_severity
        if not len(self.cost):  # a single node, but the solver requires variables
            return Solved(self.bottom_utility, self.cost) if (limits >= 0).all() else None
        found = self._least(self.cost, self.rows, limits)
        return None if found is None else Solved(self.bottom_utility - found[0], found[1])

    def most_matches(self, *, severity: float, utility: float) -> Solved | None:
        """Return the fractional node of most matches within bounds on severity and utility."""
        sparse, n = _scipy("sparse"), len(self.variables)
        spare = self.bottom_utility - utility + self.SLACK * max(1.0, abs(utility))
        room = severity * (1 + self.SLACK) - self.bottom_severity
        if not len(self.cost):
            return Solved(self.always, self.cost) if min(spare, room) >= 0 else None
        many = self.rows[[-2], :].toarray()[0]  # minus the number of records of each term
        useful = sparse.csr_array(np.concatenate([self.cost[:n], np.zeros(len(many) - n)])[None])
        rows = sparse.vstack([self.rows[:-2], self.rows[[-1], :], useful], format="csr")
        limits = np.zeros(rows.shape[0])
        limits[-2:] = room, spare
        found = self._least(many, rows, limits)
        return None if found is None else Solved(self.always - found[0], found[1])

    def _least(self, cost: Floats, rows: Any, limits: Floats) -> tuple[float, Floats] | None:
        """Return the minimum cost within the limits and its point, or ``None`` if infeasible."""
        solved = _scipy("optimize").linprog(
            cost, A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs"
        )
        if solved.status == 2:
            return None
        if solved.status != 0:
            raise InternalError("The linear program of a slice was not solved.")
        point = np.clip(solved.x[: len(self.variables)], 0.0, 1.0)
        return float(solved.fun), self._falling(point)

    def _falling(self, point: Floats) -> Floats:
        """Return the point made monotone, to remove what the solver's tolerance left."""
        falling = point.copy()
        for i in range(len(self.variables.low)):
            chain = self.variables.attribute == i
            falling[chain] = np.minimum.accumulate(point[chain])
        return falling


def _acceptable(
    problem: AggregateProblem, chain: Chain, settings: ApproxSettings, bottom: float, top: float
) -> Ints:
    """Return which nodes of a chain nearly keep the limits of their slice."""
    slack = SliceProgram.SLACK
    needed = settings.share * bottom / settings.at_most
    enough = problem.counts(chain.nodes) >= needed * (1 - slack)
    allowed = settings.excess * top * (1 + slack)
    return np.flatnonzero(enough & (problem.objective.severity(chain.nodes) <= allowed))


def _drawn(chain: Chain, kept: Ints, rng: np.random.Generator) -> Ints:
    """Return one acceptable node, drawn by its probability, or none if there is none."""
    chances = chain.chances[kept]
    if chances.sum() <= 0:
        return kept[:0]
    return np.asarray(rng.choice(kept, size=1, p=chances / chances.sum()))


def _most_useful(problem: AggregateProblem, found: list[Ints]) -> tuple[Node | None, float, float]:
    if not found:
        return None, -math.inf, math.inf
    nodes = np.array(found)
    utilities = problem.objective.utility(nodes)
    counts = problem.counts(nodes)
    with np.errstate(divide="ignore"):
        risks = problem.objective.severity(nodes) / counts
    best = np.lexsort((risks, -utilities))[0]
    node = tuple(int(level) for level in nodes[best])
    return node, float(utilities[best]), float(risks[best])


def _scipy(name: str) -> Any:
    try:
        return import_module(f"scipy.{name}")
    except ModuleNotFoundError:
        raise MissingExtraError("Approximation", extra="disclose") from None
