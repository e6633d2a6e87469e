"""The boxes of weave's leaf table beside hedge's boxes, by a decision tree.

Run as ``PYTHONPATH=. python benchmarks/leaf_boxes.py [--splits N] [--epsilon E ...]``. Two thirds
of each table are published for classification; a tree is trained on the boxes and classifies the
rest. Printed per table and epsilon: epsilon * records / columns, and both accuracies in %. From 225
on weave is the default, below it hedge.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

from adult_records import adult, rows
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.classification import release_accuracies
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.defaults import strength_of
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from resolution import icd, nist
from weave_quality import diabetes

SETTINGS = {"weave": {"leaf-table": True}, "hedge": {}}


def accuracy(method: str, epsilon: str, table: EncodedTable, split: int) -> float:
    """Return the accuracy of a tree on the boxes of one release."""
    order = np.random.default_rng(split).permutation(len(table))
    cut = len(table) * 2 // 3
    given = {"method": method, "epsilon": epsilon, "for": "classification", **SETTINGS[method]}
    built = METHODS[method].model_validate(given).build(has_class=True)
    engine = MemoryEngine(table=rows(table, order[:cut]))
    run = Run.start(engine, epsilon=Fraction(epsilon), source=SeededSource(split))
    test = rows(table, order[cut:])
    groups = built.publish(run)
    return release_accuracies(groups, test=test, learners=("tree",), by="boxes")["tree"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--epsilon", nargs="+", default=["1", "1/2", "1/4", "1/10"])
    options = parser.parse_args()
    print("| data | ε | ε · records / columns | weave's leaf table | hedge |")
    print("|---|---|---|---|---|")
    for make in (adult, diabetes, icd, nist):
        table = make()
        width = len(table.schema.attributes) + 1
        for epsilon in options.epsilon:
            n_records = len(table) * 2 // 3
            s = strength_of(Fraction(epsilon), records=n_records, n_columns=width, bound=None)
            found = [
                100 * np.mean([accuracy(m, epsilon, table, k) for k in range(options.splits)])
                for m in SETTINGS
            ]
            cells = [make.__name__, epsilon, f"{float(s or 0):,.0f}", *(f"{x:.1f}" for x in found)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
