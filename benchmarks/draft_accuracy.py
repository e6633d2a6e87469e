"""What a draft that is confirmed as it stands keeps, beside a plan written by hand.

Run as ``python benchmarks/draft_accuracy.py [adult|diabetes] [--splits N]``. Both plans publish the
same two thirds of the same records by hedge at epsilon 1; a pruned decision tree is tested on the
rest, generalised by each release's own boxes. The class of diabetes-130 has three values here, as
its file has them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hedgerow
from diabetes import FILE, PLAN
from experiments import diabetes
from experiments.tables import rows
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_accompanied
from hedgerow.evaluation.classification import tree_accuracy
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.plan.model import Plan
from hedgerow.privacy.source import SystemSource
from hedgerow.read.open import open_table
from hedgerow.trees.box_scores import GINI

DEMO = Path(hedgerow.__file__).parent / "demo" / "adult"


def encoded(frame: Any, plan: Plan) -> tuple[EncodedTable, np.ndarray]:
    """Return a table as codes, and the rows of the frame that its records are."""
    found = encode_accompanied(open_table(frame, reading=plan.how_to_read()), schema_of(plan))
    return found.table, found.rows


def of_adult(folder: Path) -> list[tuple[EncodedTable, np.ndarray]]:
    """Return Adult by the demonstration's plan and by a draft of the same file."""
    frame = pl.read_parquet(DEMO / "adult.parquet")
    frame.write_csv(folder / "adult.csv")
    plans = [load_plan(DEMO / "plan.yaml"), draft_plan(folder / "adult.csv", base=folder).plan]
    return [encoded(folder / "adult.csv", plan) for plan in plans]


def of_diabetes(folder: Path) -> list[tuple[EncodedTable, np.ndarray]]:
    """Return diabetes-130 by the plan of the benchmarks and by a draft of its file."""
    raw = pl.read_csv(FILE, infer_schema=False)
    by_hand = diabetes.diabetes_table(FILE).with_columns(raw["readmitted"])
    classes = {"role": "class", "values": ["NO", ">30", "<30"]}
    plan = plan_of({**PLAN, "attributes": {**PLAN["attributes"], "readmitted": classes}})
    drafted = draft_plan(FILE, base=folder).plan
    return [encoded(by_hand.to_arrow(), plan), encoded(FILE, drafted)]


def accuracy(table: EncodedTable, train: np.ndarray, test: np.ndarray) -> float:
    """Return the accuracy on ``test`` of a tree learnt from a release of ``train``."""
    released = rows(table, train)
    groups = Hedge(score=GINI).publish(
        Run.start(MemoryEngine(table=released), epsilon=Fraction(1), source=SystemSource())
    )
    return tree_accuracy(groups, train=released, test=rows(table, test)).release


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=["adult", "diabetes"])
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    print("| table | by hand | drafted | difference |\n|---|---|---|---|")
    for name in given.tables:
        with tempfile.TemporaryDirectory() as folder:
            pair = (of_adult if name == "adult" else of_diabetes)(Path(folder))
        both = np.intersect1d(pair[0][1], pair[1][1])
        told: list[list[float]] = [[], []]
        for split in range(given.splits):
            order = np.random.default_rng(split).permutation(both)
            cut = len(order) * 2 // 3
            for at, (table, places) in enumerate(pair):
                train, test = (np.searchsorted(places, part) for part in (order[:cut], order[cut:]))
                told[at].append(100 * accuracy(table, train, test))
        gaps = [mine - theirs for theirs, mine in zip(*told, strict=True)]
        spread = statistics.stdev(gaps) if len(gaps) > 1 else 0.0
        hand, draft = (statistics.mean(each) for each in told)
        print(
            f"| {name} | {hand:.2f} | {draft:.2f} | {draft - hand:+.2f} ± {spread:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
