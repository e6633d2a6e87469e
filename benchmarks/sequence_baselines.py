"""What published ways to release sequences keep of MSNBC, as sequence_quality.py has it for chain.

HEDGEROW_DATA=... PYTHONPATH=. python benchmarks/sequence_baselines.py [SEEDS]
"""

from __future__ import annotations

import sys

import numpy as np

from experiments.sequence_baselines import BASELINES
from sequence_figures import HEADINGS, Truth, shown_figures
from sequence_quality import msnbc

EPSILONS = (1.0, 0.25)


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    truth = Truth(msnbc())
    print(f"epsilon | method | {HEADINGS}")
    for epsilon in EPSILONS:
        for name, baseline in BASELINES.items():
            rows = [
                truth.figures(baseline(truth.sequences, epsilon, seed=100 + seed))
                for seed in range(n_seeds)
            ]
            shown = shown_figures(np.mean(np.array(rows), axis=0))
            print(f"{epsilon:g} | {name} | {shown}", flush=True)


if __name__ == "__main__":
    main()
