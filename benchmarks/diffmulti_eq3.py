"""[DiffMulti, Eq. (3)] divided by 2|P| + 1 and, as printed, by 2|D| + 1, on UCI Adult.

Run as ``python benchmarks/diffmulti_eq3.py [--runs N]``; prints a table of
docs/papers/diffmulti.md. Seeded; epsilon = 1, penalties of the true records.
"""

from __future__ import annotations

import argparse
from statistics import mean, stdev

from adult_records import adult
from experiments.printed_discernibility import penalties, variants
from experiments.tables import classless

STEPS = (300, 1_000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=6)
    seeds = range(parser.parse_args().runs)
    table = classless(adult())
    print("| Eq. (3) divided by | h | discernibility (million) | NCP |")
    print("|---|---|---|---|")
    for h in STEPS:
        for name, method in variants(h, table).items():
            dm, ncp = penalties(method, table, seeds=seeds)
            cells = f"{mean(dm):.1f} ± {stdev(dm):.1f} | {mean(ncp):.2f} ± {stdev(ncp):.2f}"
            print(f"| {name} | {h:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
