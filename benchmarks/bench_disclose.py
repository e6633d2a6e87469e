"""Searches for the best generalisation of Adult records: time and visited nodes.

Run as ``python benchmarks/bench_disclose.py [--records N] [--whole] [--figure FILE]``. The
shapes are those of [ARUBA, Fig. 7]: by utility threshold and by number of attributes.
``--whole`` discloses the whole table instead.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from hedgerow.demo import adult_table
from hedgerow.disclosure.lattice.dictionary import Dictionary, DistinctRecords
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import (
    MaximiseUtility,
    MinimiseRisk,
    Objective,
    RecordLandscape,
)
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.disclosure.solvers.solve import METHODS, Search, solve
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import load_plan
from hedgerow.read.open import open_table

SEED = 2008
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one record cost on average, in CPU time."""

    milliseconds: float
    n_visited: float
    n_nodes: float


def adult_categorical() -> EncodedTable:
    """Adult's complete records, its eight categorical attributes."""
    with as_file(files("hedgerow.demo") / "adult") as folder:
        schema = schema_of(load_plan(folder / "plan.yaml"))
    table = encode_table(open_table(adult_table()), schema)
    kept = [i for i, a in enumerate(schema.attributes) if a.domain.kind == "categorical"]
    return with_attributes(table, kept)


def with_attributes(table: EncodedTable, kept: Sequence[int]) -> EncodedTable:
    attributes = tuple(table.schema.attributes[i] for i in kept)
    schema = Schema(attributes=attributes, class_attribute=None)
    return EncodedTable(schema=schema, codes=tuple(table.codes[i] for i in kept), classes=None)


def solver_of(table: EncodedTable, objective: Objective, number: int = 1) -> RecordSolver:
    dictionary = Dictionary.of(table)
    personal = np.random.default_rng(SEED).random((len(table), len(table.codes)))
    return RecordSolver(
        dictionary=dictionary,
        utility=utility_tables("depth", dictionary.chains),
        severities=Severities.of(dictionary.chains, personal=personal),
        model=RiskModel(number=number),
        objective=objective,
    )


def costs(table: EncodedTable, objective: Objective, n_records: int) -> dict[Search, Cost]:
    """Search distinct records one by one; counting matches is not timed."""
    solver = solver_of(table, objective)
    chosen = np.random.default_rng(SEED).permutation(DistinctRecords.of(table).first)[:n_records]
    seconds = dict.fromkeys(METHODS, 0.0)
    visited = dict.fromkeys(METHODS, 0)
    n_nodes = 0
    for record in chosen.tolist():
        codes = [int(column[record]) for column in table.codes]
        counter = solver.dictionary.counter(codes)
        counter.cube()
        n_nodes += counter.lattice.n_nodes
        landscape = RecordLandscape.of(
            codes,
            counter,
            utility=solver.utility,
            severities=solver.severities,
            model=solver.model,
            person=record,
        )
        for method in METHODS:
            start = time.process_time()
            answer = solve(landscape, objective, method)
            seconds[method] += time.process_time() - start
            visited[method] += answer.n_visited
    n = len(chosen)
    return {
        method: Cost(
            milliseconds=seconds[method] / n * 1e3,
            n_visited=visited[method] / n,
            n_nodes=n_nodes / n,
        )
        for method in METHODS
    }


def show(label: str, by_method: dict[Search, Cost]) -> None:
    for method, cost in by_method.items():
        print(
            f"  {label:16} {method:18} {cost.milliseconds:9.2f} ms"
            f" {cost.n_visited:9.0f} of {cost.n_nodes:9.0f} nodes visited"
        )


def shapes(table: EncodedTable, n_records: int, figure: Path | None) -> None:
    half = MinimiseRisk(at_least=0.5, of_most=True)
    print(f"least risk, by share of utility; {n_records} distinct records")
    by_share = {
        share: costs(table, MinimiseRisk(at_least=share, of_most=True), n_records)
        for share in SHARES
    }
    for share, by_method in by_share.items():
        show(f"utility >= {share:.0%}", by_method)
    print("least risk at half the utility, by number of attributes")
    by_attributes = {
        k: costs(with_attributes(table, range(k)), half, n_records)
        for k in range(2, len(table.codes) + 1, 2)
    }
    for k, by_method in by_attributes.items():
        show(f"{k} attributes", by_method)
    print("most utility at a risk of at most 0.01")
    show("risk <= 0.01", costs(table, MaximiseUtility(at_most=0.01), n_records))
    if figure is not None:
        plot(by_share, by_attributes, figure)


def plot(by_share, by_attributes, figure: Path) -> None:
    """Draw visited nodes and time as in [ARUBA, Fig. 7]."""
    import matplotlib.pyplot as plt

    grid, panels = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for row, (costs_by, label) in enumerate(
        [(by_share, "share of utility kept"), (by_attributes, "number of attributes")]
    ):
        for column, (field, unit) in enumerate(
            [("n_visited", "nodes visited"), ("milliseconds", "milliseconds")]
        ):
            panel = panels[row, column]
            for method in METHODS:
                values = [getattr(by_method[method], field) for by_method in costs_by.values()]
                panel.plot(list(costs_by), values, marker="o", label=method)
            panel.set(xlabel=label, ylabel=unit, yscale="log")
    panels[0, 0].legend()
    grid.savefig(figure)


def whole(table: EncodedTable) -> None:
    print(f"{len(table):,} records, {len(DistinctRecords.of(table).first):,} of them distinct")
    small = EncodedTable(
        schema=table.schema, codes=tuple(column[:10] for column in table.codes), classes=None
    )
    for objective in (MinimiseRisk(at_least=0.5, of_most=True), MaximiseUtility(at_most=0.01)):
        for number in (1, 2, 3):
            solver = solver_of(table, objective, number)
            solver.solve(small)  # compile or load, not timed
            start, cpu = time.perf_counter(), time.process_time()
            answers = solver.solve(table)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"  {type(objective).__name__:16} model {number} {seconds:7.1f} s ({cpu:.1f} s CPU)"
                f" {answers.n_visited.mean():7.0f} nodes visited, {memory:5.0f} MB at most"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=20)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    table = adult_categorical()
    if given.whole:
        whole(table)
    else:
        shapes(table, given.records, given.figure)


if __name__ == "__main__":
    main()
