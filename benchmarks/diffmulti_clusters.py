"""Match Points of DiffMulti with clusters as the class: of raw records, and private ones.

Run as ``python benchmarks/diffmulti_clusters.py [--runs N] [--clusters K ...]``; prints a table of
docs/papers/diffmulti.md. UCI Adult without its class, epsilon = 1. Seeded.
"""

from __future__ import annotations

import argparse
from statistics import mean, stdev

from adult_records import adult
from experiments.private_clusters import LINES, match_points_of, raw_labelled
from experiments.tables import classless

STEPS = (1_000,)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--clusters", nargs="*", type=int, default=[2, 5])
    given = parser.parse_args()
    runs = given.runs
    plain = classless(adult())
    print("| clusters | boxes made for | " + " | ".join(f"h = {h:,}" for h in STEPS) + " |")
    print("|---|---|" + "---|" * len(STEPS))
    for k in given.clusters:
        labelled = raw_labelled(plain, k)
        for line in LINES:
            cells = []
            for h in STEPS:
                found = match_points_of(line, h, plain, labelled, runs=runs)
                cells.append(f"{mean(found):.1f} ± {stdev(found):.1f}")
            print(f"| {k} | {line} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
