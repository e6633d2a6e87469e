"""What a release of MSNBC's sequences keeps, and how its time compares with reading the file.

Prints, for epsilon 1, .5 and .25 and the means of some seeds, the mean relative errors of counts
of prefixes and substrings of 1 to 4 items (true count 0.1 % or more), F1 and supports of the 100
most frequent patterns, and the total variation of lengths; then CPU seconds of the method over
those of reading, in one run.

    HEDGEROW_DATA=... python benchmarks/sequence_quality.py [SEEDS]
"""

from __future__ import annotations

import os
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.evaluation.sequence_tasks import begun_with, held_runs, lengths, patterns
from hedgerow.evaluation.subject import BasketSubject
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.chain.chain import SequenceChain
from hedgerow.plan.load import plan_of
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.read.items import open_items

EPSILONS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
BARS = """bars: worst prefix .02 / .025 / .04; substrings .06 .10 .11 .12 / .07 .13 .14 .15 /
.09 .16 .19 .20; F1 .97 / .97 / .95; length TV .005 / .005 / .006; time 6 times reading"""


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    data = Path(os.environ["HEDGEROW_DATA"]) / "msnbc" / "msnbc990928.seq.gz"
    plan = plan_of({"items": {"universe": [1, 17], "ordered": True}, "reading": {"header": 7}})
    universe = universe_of(plan)
    read = []
    for _ in range(2):  # the first run loads libraries
        start = time.process_time()
        source = open_items(data, universe.place, reading=plan.how_to_read())
        records = encode_baskets(source, universe)
        read.append(time.process_time() - start)
    engine = BasketMemory(baskets=records)
    run(engine, Fraction(1), seed=0)  # compiles
    print("epsilon | prefixes of 1..4 | substrings of 1..4 | F1 support | length TV | s/reading")
    for epsilon in EPSILONS:
        rows, spent = [], []
        for seed in range(n_seeds):
            start = time.process_time()
            released = run(engine, epsilon, seed=100 + seed)
            spent.append(time.process_time() - start)
            rows.append(figures(records, released, universe.taxonomy.leaf_labels))
        told = np.mean(np.array(rows), axis=0)
        shown = " ".join(f"{value:.3f}" for value in told)
        print(f"{float(epsilon):g} | {shown} | {np.mean(spent) / min(read):.1f}", flush=True)
    print(BARS)


def run(engine: BasketMemory, epsilon: Fraction, *, seed: int):
    return SequenceChain().publish(
        engine, epsilon=epsilon, ledger=PathLedger(epsilon), source=SeededSource(seed)
    )


def figures(records, released, labels) -> list[float]:
    subject = BasketSubject(
        name="msnbc",
        certificate=None,
        release=WeightedSets.of_release(released),
        records=WeightedSets.of_records(records),
        labels=labels,
        ordered=True,
    )
    found = patterns(subject, seed=0)
    return [
        *(each["relative"] for each in begun_with(subject, seed=0)["lengths"]),
        *(each["relative"] for each in held_runs(subject, seed=0)["lengths"]),
        found["f1"],
        found["utility"],
        lengths(subject, seed=0)["total-variation"],
    ]


if __name__ == "__main__":
    main()
