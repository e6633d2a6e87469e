"""Fixed and adaptive numbers of DiffGen's specialisations, by budget.

Run as ``python benchmarks/diffgen_h.py [--runs N] [--only adult diabetes]``. Prints the table of
docs/papers/diffgen.md, "An adaptive h": accuracy of a pruned tree that learns from the release of
two thirds of the records, on the last third. Seeded.
"""

from __future__ import annotations

import argparse
import os
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Literal

from experiments.figure import Scene
from experiments.releases import accuracy, released
from experiments.tables import adult, diabetes, split
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.scores import GINI

STEPS: tuple[int | Literal["auto"], ...] = (4, 7, 10, 13, "auto")
EPSILONS = ("0.1", "0.25", "0.5", "1")
DATA = os.environ.get("HEDGEROW_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
SCENE = Scene(folder=Path(DATA), quick=False)
TABLES = {"adult": adult, "diabetes": diabetes}


def accuracies(table: EncodedTable, h: int | Literal["auto"], epsilon: str, runs: int) -> str:
    method = DiffGen(specialisations=h, score=GINI, faithful=False)
    found = []
    for run in range(runs):
        train, test = split(table, run)
        source = SeededSource(100 + run)
        groups = released(method, train, epsilon=Fraction(epsilon), source=source)
        found.append(accuracy(groups, test))
    return f"{mean(found):.1f} ± {stdev(found):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    given = parser.parse_args()
    print("| data | h | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |")
    print("|---|---|---|---|---|---|")
    for name in given.only:
        table = TABLES[name](SCENE)
        for h in STEPS:
            cells = [accuracies(table, h, epsilon, given.runs) for epsilon in EPSILONS]
            print(f"| {name} | {h} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
