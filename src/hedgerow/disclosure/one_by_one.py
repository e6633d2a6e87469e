"""Methods that solve one record after another: the aggregate model and its approximation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hedgerow.disclosure.confidential import Problems
from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.known import known_parts, with_known
from hedgerow.disclosure.lattice.lattice import Lattice, Node, Parts, parts_of, total
from hedgerow.disclosure.lattice.matches import CUBE_UP_TO, MatchCounter, levels_of_columns
from hedgerow.disclosure.lattice.packed import Found
from hedgerow.disclosure.lattice.risk import RiskModel
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.solvers.aggregate import (
    AggregateOptimum,
    best_in_cube,
    maximise_aggregate,
    maximise_by_minimum_norm,
)
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem
from hedgerow.disclosure.solvers.approx import ApproxSettings, approximate
from hedgerow.disclosure.solvers.approx_dual import DualSettings, approximate_dual
from hedgerow.plan.disclose import AggregateDisclose, ApproxDisclose, UtilityThreshold

CodeTuple: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Common:
    """Shared data of the methods that solve one record after another."""

    ready: PreparedDisclosure
    dictionary: Dictionary
    problems: Problems

    def codes(self, job: int) -> CodeTuple:
        """Return the codes of one distinct record."""
        return tuple(int(column[job]) for column in self.problems.records.codes)

    def weights(self, job: int, codes: CodeTuple, lattice: Lattice) -> Parts | None:
        """Return the contribution of each level to the severity, or ``None`` without weights."""
        if not self.ready.model.personal:
            return None
        parts = self.problems.severities.parts(codes, lattice, job)
        return known_parts(parts, self.problems.known_of(job))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AttributePlace:
    """The lattice of a record and the contributions of its levels.

    ``counter`` counts its matches, and ``shown`` those that also match what is already known.
    """

    job: int
    lattice: Lattice
    utility: Parts
    weights: Parts | None
    counter: MatchCounter | None
    shown: MatchCounter | None
    known: bool
    problem: Callable[[AggregateObjective], AggregateProblem]

    def objective(self, *, risk_weight: float, power: float, floor: float) -> AggregateObjective:
        """Return the aggregate model of this record."""
        return AggregateObjective(
            lattice=self.lattice,
            utility_parts=self.utility,
            severity_parts=self.weights,
            risk_weight=risk_weight,
            power=power,
            floor=floor,
        )


Solve: TypeAlias = Callable[[AttributePlace], tuple[Node | None, int, int]]
"""Returns the node to disclose, its number of matches, and the number of nodes examined."""


class OneByOne:
    """Solves records one after another, in several threads."""

    def __init__(self, common: Common, solve: Solve, workers: int) -> None:
        self.common = common
        self.answer = solve
        self.workers = workers
        self.utility = common.ready.utility
        self.model: RiskModel = common.ready.model
        self.exposure = self.model.exposure(common.dictionary.n_records)

    def solve(self, start: int, stop: int) -> Found:
        """Return the answers for the records from ``start`` to ``stop``."""
        found = Found.nothing(stop - start, len(self.common.ready.chains))
        ends = np.linspace(start, stop, min(self.workers, stop - start) + 1).astype(int).tolist()
        pieces = [(ends[i], ends[i + 1]) for i in range(len(ends) - 1)]
        with ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda piece: self._solve_piece(piece, found, start), pieces))
        return found

    def _solve_piece(self, piece: tuple[int, int], found: Found, start: int) -> None:
        before: tuple[CodeTuple, AttributePlace] | None = None
        for job in range(*piece):
            codes = self.common.codes(job)
            # Records of equal values are adjacent: their matches are counted once.
            shared = before[1] if before is not None and before[0] == codes else None
            place = self._place(job, codes, shared)
            before = (codes, place)
            node, n_matches, n_visited = self.answer(place)
            self._write_down(place, node, n_matches, found, job - start)
            found.n_visited[job - start] = n_visited

    def _place(self, job: int, codes: CodeTuple, shared: AttributePlace | None) -> AttributePlace:
        common = self.common
        chains, dictionary = common.ready.chains, common.dictionary
        lattice, known = Lattice.of(codes, chains), common.problems.known_of(job)
        counter: MatchCounter | None = None
        if lattice.n_nodes <= CUBE_UP_TO:
            counter = shared.counter if shared is not None else dictionary.counter(codes)

        def problem(objective: AggregateObjective) -> AggregateProblem:
            columns, many = dictionary.columns, dictionary.many
            vectors = levels_of_columns(codes, chains, columns, len(many))
            if known is not None:
                fits = (vectors <= known).all(axis=1)
                vectors, many = vectors[fits], many[fits]
            return AggregateProblem(objective=objective, vectors=vectors, multiplicities=many)

        return AttributePlace(
            job=job,
            lattice=lattice,
            utility=parts_of(codes, self.utility, lattice),
            weights=common.weights(job, codes, lattice),
            counter=counter,
            shown=None if counter is None else with_known(counter, known),
            known=known is not None,
            problem=problem,
        )

    def _write_down(
        self, place: AttributePlace, node: Node | None, n_matches: int, found: Found, at: int
    ) -> None:
        if node is None:
            return
        found.feasible[at] = True
        found.levels[at] = node
        severity = 1.0 if place.weights is None else total(place.weights, node)
        found.risk[at] = severity * float(self.exposure[n_matches])
        found.utility[at] = total(place.utility, node)


class Aggregate:
    """The aggregate model: small lattices by enumeration, large ones by minimum cuts."""

    def __init__(self, common: Common, disclose: AggregateDisclose) -> None:
        n_records = max(common.dictionary.n_records, 1)
        self.risk_weight = float(disclose.risk_weight / n_records)
        self.power = float(disclose.power)
        self.floor = float(disclose.floor)
        self.top = disclose.top

    def __call__(self, place: AttributePlace) -> tuple[Node | None, int, int]:
        """Return the best node, its number of matches, and the nodes or cuts examined."""
        objective = place.objective(
            risk_weight=self.risk_weight, power=self.power, floor=self.floor
        )
        if place.shown is not None:
            optimum = best_in_cube(objective, place.shown.cube(), top=self.top)
            return optimum.node, place.shown.count(optimum.node), place.lattice.n_nodes
        problem = place.problem(objective)
        optimum = self._maximum(problem)
        return optimum.node, problem.count(optimum.node), optimum.n_cuts

    def _maximum(self, problem: AggregateProblem) -> AggregateOptimum:
        if self.power == int(self.power):
            return maximise_aggregate(problem, top=self.top)
        return maximise_by_minimum_norm(problem)


class Approx:
    """The approximated threshold model; faithful roundings have a generator for each record."""

    def __init__(self, common: Common, disclose: ApproxDisclose, seed: int) -> None:
        self.settings = ApproxSettings(
            at_most=float(disclose.risk.at_most or 1),
            width=float(disclose.width),
            share=float(disclose.share),
            excess=float(disclose.excess),
        )
        self.required = disclose.utility.at_least if disclose.dual else None
        self.floor = float(disclose.floor)
        self.faithful = disclose.faithful
        self.seed = seed

    def __call__(self, place: AttributePlace) -> tuple[Node | None, int, int]:
        """Return a node of high utility with little more risk than allowed, if one was found."""
        problem = place.problem(place.objective(risk_weight=1.0, power=1, floor=self.floor))
        if self.required is not None:
            node = approximate_dual(problem, self._dual(place, self.required)).node
            return node, 0 if node is None else problem.count(node), 0
        if place.known and not len(problem.multiplicities):
            return None, 0, 0  # no record matches what is known: no generalisation hides the record
        rng = np.random.default_rng([self.seed, place.job]) if self.faithful else None
        found = approximate(problem, self.settings, faithful=self.faithful, rng=rng)
        if found.node is None:
            return None, 0, 0
        return found.node, problem.count(found.node), 0

    def _dual(self, place: AttributePlace, required: UtilityThreshold) -> DualSettings:
        """Return the utility that this record must keep."""
        most = total(place.utility, place.lattice.bottom) if required.of_most else 1.0
        return DualSettings(at_least=float(required.value) * most, width=self.settings.width)
