"""What coterie keeps of sparse data, beside DiffPart: top itemsets, queries, CPU seconds.

Run as ``python benchmarks/coterie_quality.py [--runs N] [--only NAME ...] [--epsilon E ...]``.
The universe is the items that occur. Every figure is a mean over seeds 1, 2, ...; CPU seconds
are those of ``publish`` alone, with loops compiled before.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from basket_data import FILES, context_free_of, encoded
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.evaluation.itemsets import top_itemsets, top_k_utility
from hedgerow.evaluation.queries import kept, random_queries, relative_errors
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource

TOP = 100
METHODS = {"coterie": Coterie(), "diffpart": DiffPart()}
SPARSE = [name for name in FILES if name != "msnbc"]


class Subject:
    """A data set with its queries and itemsets, computed once."""

    def __init__(self, baskets: EncodedBaskets) -> None:
        self.baskets = baskets
        self.records = WeightedSets.of_records(baskets)
        longest = int(baskets.lengths.max())
        self.queries = random_queries(baskets.taxonomy.n_leaves, longest=longest, seed=1)
        self.top = top_itemsets(self.records, TOP)

    def figures(self, method: Coterie | DiffPart, epsilon: Fraction, seed: int) -> list[float]:
        """Return top-K utility, F1, true sets, mass, five errors and CPU seconds of one release."""
        engine = BasketMemory(baskets=self.baskets)
        start = time.process_time()
        noisy = method.publish(Run.start(engine, epsilon=epsilon, source=SeededSource(seed)))
        seconds = time.process_time() - start
        release = WeightedSets.of_release(noisy)
        told = kept(self.records, release)
        errors = relative_errors(self.records, release, self.queries)
        top = top_itemsets(release, TOP)
        utility = top_k_utility(self.top, top)
        f1 = len(top.keys() & self.top.keys()) / TOP
        return [utility, f1, told.true_sets, told.mass, *errors.by_class, seconds]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=FILES, default=SPARSE)
    parser.add_argument(
        "--epsilon", nargs="*", type=Fraction, default=[Fraction(1), Fraction(1, 2)]
    )
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    given = parser.parse_args()
    print("| data | epsilon | method | top-100 utility (sd) | F1 | true | mass | error | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.only:
        subject = Subject(encoded(name, context_free_of(name)))
        for variant in given.methods:
            subject.figures(METHODS[variant], Fraction(1), 0)  # compiles
            for epsilon in given.epsilon:
                runs = [
                    subject.figures(METHODS[variant], epsilon, seed + 1)
                    for seed in range(given.runs)
                ]
                mean, sd = np.mean(runs, axis=0), np.std(runs, axis=0)
                errors = " / ".join(f"{each:.4f}" for each in mean[4:9])
                print(
                    f"| {name} | {float(epsilon):g} | {variant} | {mean[0]:.3f} ({sd[0]:.3f})"
                    f" | {mean[1]:.2f} | {mean[2]:.2f} | {mean[3]:.2f} | {errors}"
                    f" | {mean[9]:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
