"""The solver for blocks of distinct records, by family of methods."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hedgerow.disclosure.confidential import Confidential, Problems
from hedgerow.disclosure.lattice.consistency import SIMILAR_FROM
from hedgerow.disclosure.lattice.matches import CUBE_UP_TO
from hedgerow.disclosure.lattice.packed import Found
from hedgerow.disclosure.lattice.threshold import Balance, MaximiseUtility, MinimiseRisk, Objective
from hedgerow.disclosure.one_by_one import Aggregate, Approx, Common, OneByOne
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.solvers.cubes import AggregateSettings, best_of_records
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.errors import InternalError
from hedgerow.plan.disclose import AggregateDisclose, ApproxDisclose, ThresholdDisclose


class BlockSolver(Protocol):
    """Finds the best generalisations of some of the distinct records; confidential."""

    def solve(self, start: int, stop: int) -> Found:
        """Return the answers for the records from ``start`` to ``stop``."""
        ...


def solver_for(
    ready: PreparedDisclosure,
    confidential: Confidential,
    problems: Problems,
    *,
    seed: int,
    workers: int,
) -> BlockSolver:
    """Return the solver for the plan's method."""
    disclose = ready.disclose
    if isinstance(disclose, ThresholdDisclose):
        return _threshold_solver(ready, confidential, problems, disclose, workers)
    common = Common(ready=ready, dictionary=confidential.dictionary, problems=problems)
    if isinstance(disclose, AggregateDisclose):
        plain = OneByOne(common, Aggregate(common, disclose), workers)
        return _aggregate_cubes(common, disclose, workers) or plain
    if isinstance(disclose, ApproxDisclose):
        return OneByOne(common, Approx(common, disclose, seed), workers)
    raise InternalError("A disclosure method has no solver.")


def objective_of(disclose: ThresholdDisclose) -> Objective:
    """Return the objective of the threshold model: minimum risk, maximum utility, or a balance."""
    if disclose.rate is not None:
        return Balance(rate=float(disclose.rate))
    if disclose.risk.at_most is not None:
        return MaximiseUtility(at_most=float(disclose.risk.at_most))
    threshold = disclose.threshold
    if threshold is None:
        raise InternalError("A threshold method has no goal.")
    return MinimiseRisk(at_least=float(threshold.value), of_most=threshold.of_most)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _ThresholdSolver:
    solver: RecordSolver
    problems: Problems

    def solve(self, start: int, stop: int) -> Found:
        answers = self.solver.solve(self.problems.part(start, stop), first=start)
        return Found(
            levels=answers.levels,
            feasible=answers.feasible,
            risk=answers.risk,
            utility=answers.utility,
            n_visited=answers.n_visited,
        )


def _threshold_solver(
    ready: PreparedDisclosure,
    confidential: Confidential,
    problems: Problems,
    disclose: ThresholdDisclose,
    workers: int,
) -> _ThresholdSolver:
    risk = disclose.risk
    solver = RecordSolver(
        dictionary=confidential.dictionary,
        utility=ready.utility,
        severities=problems.severities,
        model=ready.model,
        objective=objective_of(disclose),
        method=disclose.method,
        consistency="approximate" if risk.consistency == "jaro" else "hierarchical",
        similar_from=SIMILAR_FROM if risk.similar_from is None else float(risk.similar_from),
        known=problems.known,
        moves=disclose.moves,
        workers=workers,
    )
    return _ThresholdSolver(solver=solver, problems=problems)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _AggregateCubes:
    """The compiled aggregate model, for tables in which all lattices are small."""

    common: Common
    settings: AggregateSettings
    workers: int

    def solve(self, start: int, stop: int) -> Found:
        common = self.common
        severities = common.problems.severities
        personal, model = severities.personal, common.ready.model
        known = common.problems.known
        found = best_of_records(
            common.problems.part(start, stop).codes,
            common.dictionary,
            self.settings,
            utility=common.ready.utility,
            weights=severities.tables,
            personal=None if personal is None else personal[start:stop],
            known=None if known is None else known[start:stop],
            workers=self.workers,
        )
        risk = model.exposure(common.dictionary.n_records)[found.n_matches]
        return Found(
            levels=found.levels,
            feasible=np.ones(stop - start, dtype=np.bool_),
            risk=risk * found.severity if model.personal else risk,
            utility=found.utility,
            n_visited=found.n_nodes,
        )


def _aggregate_cubes(
    common: Common, disclose: AggregateDisclose, workers: int
) -> _AggregateCubes | None:
    """Return the compiled solver if every lattice is small and no node is excluded."""
    if disclose.top == "excluded":
        return None
    n_nodes = np.ones(len(common.problems))
    for column, chain in zip(common.problems.records.codes, common.ready.chains, strict=True):
        n_nodes *= chain.heights[column] + 1.0
    if n_nodes.max(initial=1.0) > CUBE_UP_TO:
        return None
    settings = AggregateSettings(
        risk_weight=float(disclose.risk_weight / max(common.dictionary.n_records, 1)),
        power=float(disclose.power),
        floor=float(disclose.floor),
        weighed=common.ready.model.personal,
    )
    return _AggregateCubes(common=common, settings=settings, workers=workers)


def n_workers(wanted: int | None) -> int:
    """Return the number of cores to use, by default all."""
    return wanted or os.cpu_count() or 1


def joined_answers(parts: Sequence[Found]) -> Found:
    """Return the answers of several blocks, joined in order."""
    return Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
