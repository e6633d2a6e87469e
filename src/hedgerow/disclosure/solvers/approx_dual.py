"""Approximation of the other threshold model: nearly minimum risk at a required utility.

[TKDE, Sec. II-C] says that Algorithm 1 has a dual and leaves it to a report; this is it. The
lowest ``Φ / |ρ|`` among nodes of utility ``c`` or more is in one of the slices of Φ. In a slice
``[τ', τ]`` the linear program maximises the matches under ``Φ <= τ`` and ``u >= c``; its value
``T`` is at least the matches of every such node there, so each of them has a risk of at least
``τ' / T``. The minimum of these over all slices is a lower bound for all nodes, whatever rounding
finds.

Nothing here is differentially private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.solvers.aggregate_objective import AggregateProblem
from hedgerow.disclosure.solvers.approx import SliceProgram, rounding_chain, severity_slices
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Ints


@dataclass(frozen=True, kw_only=True)
class DualSettings:
    """The required utility, the width of slices, and the part of the utility that suffices.

    With ``share`` 1 the answer has the required utility itself.
    """

    at_least: float
    width: float = 0.1
    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.at_least < math.inf:
            raise SettingError.out_of_range("utility > at-least", self.at_least, "a number from 0")
        if not 0 < self.width < math.inf:
            raise SettingError.out_of_range("width", self.width, "a finite number above 0")
        if not 0 < self.share <= 1:
            raise SettingError.out_of_range("share", self.share, "a number above 0, at most 1")


@dataclass(frozen=True, kw_only=True, repr=False)
class DualApproximation:
    """A node of sufficient utility and low risk, if there is any; confidential.

    No node of the required utility has less risk than ``least_risk``, so ``factor`` bounds the
    distance of the answer from the best.
    """

    node: Node | None
    utility: float
    risk: float
    least_risk: float

    @property
    def factor(self) -> float:
        """Upper bound on the ratio of the answer's risk to the lowest risk."""
        return self.risk / self.least_risk if self.least_risk > 0 else math.inf


def approximate_dual(problem: AggregateProblem, settings: DualSettings) -> DualApproximation:
    """Return a node of nearly minimum risk at the required utility [TKDE, Sec. II-C].

    λ and κ of the problem are ignored. Of the nodes that rounding can return, in all slices,
    the one of lowest risk with sufficient utility is used; the record itself is always among
    them.

    Departs: the paper prints no dual. Randomised rounding would accept a node that keeps
    ``share`` of the utility, has σ1 of the matches and σ2 times the severity of its slice; it
    does so with probability :func:`dual_acceptance` or more, and the risk is then at most
    ``σ2 (1 + width) / σ1`` times the lowest. The best node of each chain is at least as good.
    With ``share`` 1 no such bound is proved beforehand; ``factor`` is known afterwards.

    Privacy: none. The answer is a function of the record and of the raw dictionary.
    """
    program = SliceProgram(problem)
    found: list[Ints] = []
    least = math.inf
    for bottom, top in severity_slices(problem, settings.width):
        solved = program.most_matches(severity=top, utility=settings.at_least)
        if solved is None:
            continue
        if solved.value > 0:
            least = min(least, bottom / solved.value)
        found.append(rounding_chain(program.variables, solved.point).nodes)
    return _least_risky(problem, settings, found, least)


def dual_acceptance(
    *,
    matches: float,
    most_matches: float,
    required: float,
    most: float,
    settings: DualSettings,
    share: float,
    excess: float,
) -> float:
    """Return a lower bound on the probability that a rounding is acceptable.

    ``matches`` is the value of the slice's program, ``most_matches`` the matches of the fully
    generalised node, ``required`` the required utility and ``most`` that of the record. Uses
    Markov's inequality for matches and utility, which are bounded from above, and for severity.
    """
    few = (most_matches - matches) / max(most_matches - share * matches, 1e-300)
    useless = (most - required) / max(most - settings.share * required, 1e-300)
    return max(0.0, 1 - few - useless - 1 / excess)


def _least_risky(
    problem: AggregateProblem, settings: DualSettings, found: list[Ints], least: float
) -> DualApproximation:
    if found:
        nodes = np.unique(np.concatenate(found), axis=0)
        utilities = problem.objective.utility(nodes)
        slack = 1e-9 * max(1.0, settings.at_least)
        useful = utilities >= settings.share * settings.at_least - slack
        nodes, utilities = nodes[useful], utilities[useful]
        if len(nodes):
            counts = np.maximum(problem.counts(nodes), 1)
            risks = problem.objective.severity(nodes) / counts
            best = np.lexsort((-utilities, risks))[0]
            return DualApproximation(
                node=tuple(int(level) for level in nodes[best]),
                utility=float(utilities[best]),
                risk=float(risks[best]),
                least_risk=min(least, float(risks[best])),
            )
    return DualApproximation(node=None, utility=-math.inf, risk=math.inf, least_risk=least)
