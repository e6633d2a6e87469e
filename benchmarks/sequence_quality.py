"""What a release of MSNBC's sequences keeps, and how its time compares with reading the file.

Prints, for epsilon 1, .5 and .25 and the means of some seeds, the mean relative errors of counts
of prefixes and substrings of 1 to 4 items (true count 0.1 % or more), F1 and supports of the 100
most frequent patterns, and the total variation of lengths; then CPU seconds of the method over
those of reading, in one run. Then the same of 50,000 sequences drawn from the file, at epsilon
1 and .25.

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
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.chain.chain import SequenceChain
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.run import Run
from hedgerow.plan.load import plan_of
from hedgerow.privacy.source import SeededSource
from hedgerow.read.items import open_items
from sequence_figures import HEADINGS, Truth, drawn_from, shown_figures

EPSILONS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
FEW = 50_000
BARS = """bars: worst prefix .02 / .025 / .04; substrings .06 .10 .11 .12 / .07 .13 .14 .15 /
.09 .16 .19 .20; F1 .97 / .97 / .95; length TV .005 / .005 / .006; time 6 times reading"""


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    read = []
    for _ in range(2):  # the first run loads libraries
        start = time.process_time()
        records = msnbc()
        read.append(time.process_time() - start)
    run(records, Fraction(1), seed=0)  # compiles
    print(f"sequences | epsilon | {HEADINGS} | s/reading")
    show(records, EPSILONS, n_seeds=n_seeds, reading=min(read))
    few = drawn_from(records, FEW, seed=7)
    show(few, (EPSILONS[0], EPSILONS[-1]), n_seeds=n_seeds, reading=min(read))
    print(BARS)


def msnbc() -> EncodedBaskets:
    data = Path(os.environ["HEDGEROW_DATA"]) / "msnbc" / "msnbc990928.seq.gz"
    plan = plan_of({"items": {"universe": [1, 17], "ordered": True}, "reading": {"header": 7}})
    universe = universe_of(plan)
    source = open_items(data, universe.place, reading=plan.how_to_read())
    return encode_baskets(source, universe)


def show(records, epsilons, *, n_seeds: int, reading: float) -> None:
    truth = Truth(records)
    for epsilon in epsilons:
        rows, spent = [], []
        for seed in range(n_seeds):
            start = time.process_time()
            released = run(records, epsilon, seed=100 + seed)
            spent.append(time.process_time() - start)
            rows.append(truth.figures(WeightedSets.of_release(released)))
        shown = shown_figures(np.mean(np.array(rows), axis=0))
        ratio = np.mean(spent) / reading
        print(f"{len(records):,} | {float(epsilon):g} | {shown} | {ratio:.1f}", flush=True)


def run(records, epsilon: Fraction, *, seed: int):
    return SequenceChain().publish(
        Run.start(BasketMemory(baskets=records), epsilon=epsilon, source=SeededSource(seed))
    )


if __name__ == "__main__":
    main()
