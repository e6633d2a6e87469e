"""[TKDE, Fig. 3]: the aggregate model beside the threshold model."""

from __future__ import annotations

import math
import time
from functools import cache

from experiments.figure import FigurePoint, Scene, Unit
from experiments.item_table import ItemTable, item_table
from hedgerow.disclosure.lattice.lattice import Node
from hedgerow.disclosure.lattice.risk import RiskModel
from hedgerow.disclosure.lattice.threshold import MaximiseUtility, RecordLandscape
from hedgerow.disclosure.solvers.aggregate import AggregateOptimum, maximise_aggregate
from hedgerow.disclosure.solvers.aggregate_objective import AggregateProblem
from hedgerow.disclosure.solvers.solve import solve

UTILITY_ATTRIBUTES = 6
MOST_WALKED = 9
"""Attributes up to which the frontier is walked; it grows with the lattice."""


def aggregate_beside_threshold(unit: Unit, scene: Scene) -> list[FigurePoint]:
    """Return time and utility of both models for a few records [Fig. 3].

    For utilities, the threshold of a record is the risk that the aggregate model reached;
    for time, the geometric mean of that and the risk of the record itself.
    """
    k, weight = unit["attributes"], unit["weight"]
    items = item_table(scene, k, unit.run)
    _warm_up(scene)
    risk_weight = weight / items.dictionary.n_records
    points = []
    for record in items.sample(scene.pick(full=10, quick=1), unit.rng).tolist():
        start = time.process_time()
        problem = items.aggregate(record, risk_weight=risk_weight, floor=0.0)
        best = maximise_aggregate(problem, top="excluded")
        seconds = time.process_time() - start
        if unit["by"] == "weight":
            points += _utilities(items, record, problem, best, weight)
        else:
            points.append(FigurePoint("(a) time", "aggregate", k, 1e3 * seconds))
            if k <= MOST_WALKED:
                ends = (_risk(problem, best), _risk_at(problem, problem.objective.lattice.bottom))
                taken = _seconds_to_walk(items, record, math.sqrt(ends[0] * ends[1]))
                points.append(FigurePoint("(a) time", "threshold", k, 1e3 * taken))
    return points


@cache
def _warm_up(scene: Scene) -> None:
    """Load what is compiled or imported at the first call, so that no time has it."""
    items = item_table(scene, 4, 0)
    for record in range(10):  # not every record needs a cut
        problem = items.aggregate(record, risk_weight=1 / len(items.table), floor=0.0)
        maximise_aggregate(problem, top="excluded")


def _risk(problem: AggregateProblem, best: AggregateOptimum) -> float:
    return _risk_at(problem, best.node)


def _risk_at(problem: AggregateProblem, node: Node) -> float:
    """Return the risk of a node by model I."""
    return float(problem.objective.severity(node)) / max(problem.count(node), 1)


def _utilities(
    items: ItemTable, record: int, problem: AggregateProblem, best: AggregateOptimum, weight: float
) -> list[FigurePoint]:
    """Return what both models keep, in per cent of the record's own utility."""
    landscape = items.landscape(record)
    most = landscape.utility(landscape.lattice.bottom)
    limit = _risk(problem, best) * (1 + 1e-9)
    other = solve(landscape, MaximiseUtility(at_most=limit), "brute-force")
    found = float(problem.objective.utility(best.node))
    return [
        FigurePoint("(b) utility", "aggregate", weight, 100 * found / most),
        FigurePoint("(b) utility", "threshold", weight, 100 * other.utility / most),
        FigurePoint("(b) risk reached", "both", weight, limit),
        FigurePoint("(b) between", "aggregate", weight, 100.0 * (0.1 < found / most < 0.9)),
    ]


def _seconds_to_walk(items: ItemTable, record: int, limit: float) -> float:
    """Return the CPU seconds to count the lattice of a record and to walk its frontier."""
    codes = items.codes(record)
    start = time.process_time()
    counter = items.dictionary.matches(codes)
    counter.cube()
    landscape = RecordLandscape.of(
        codes,
        counter,
        utility=items.utility,
        severities=items.severities,
        model=RiskModel(number=1),
        person=record,
    )
    solve(landscape, MaximiseUtility(at_most=limit * (1 + 1e-9)), "aruba")
    return time.process_time() - start
