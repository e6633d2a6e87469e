"""What DiffPart keeps of MSNBC and of sparse data: mass, true sets, errors, top itemsets.

Run as ``python benchmarks/diffpart_quality.py [--runs N] [--only NAME ...]``. Prints the
tables of research/papers/diffpart.md: average relative error in five classes of query lengths,
top-K utility, released mass and the part of it in sets that truly occur. Every run draws its
noise from the operating system.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

from basket_data import FILES, context_free_of, encoded, real_taxonomy
from hedgerow.baselines.basic.basic import Basic
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.evaluation.itemsets import top_itemsets, top_k_utility
from hedgerow.evaluation.queries import Queries, kept, random_queries, relative_errors
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.run import Run
from hedgerow.privacy.source import SystemSource

TOPS = (20, 60, 100)
METHODS = {"faithful": DiffPart(faithful=True), "default": DiffPart()}
BUDGETS = [Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(5, 4)]


class Subject:
    """A data set with its queries and itemsets, computed once."""

    def __init__(self, baskets: EncodedBaskets) -> None:
        self.engine = BasketMemory(baskets=baskets)
        self.records = WeightedSets.of_records(baskets)
        longest = int(baskets.lengths.max())
        self.queries: Queries = random_queries(baskets.taxonomy.n_leaves, longest=longest, seed=1)
        self.top = list(top_itemsets(self.records, max(TOPS)).items())

    def figures(self, method: DiffPart | Basic, epsilon: Fraction) -> list[float]:
        """Return mass, true sets, five errors and the utilities of one release."""
        noisy = method.publish(Run.start(self.engine, epsilon=epsilon, source=SystemSource()))
        release = WeightedSets.of_release(noisy)
        told = kept(self.records, release)
        errors = relative_errors(self.records, release, self.queries)
        top = list(top_itemsets(release, max(TOPS)).items())
        utilities = [top_k_utility(dict(self.top[:k]), dict(top[:k])) for k in TOPS]
        return [told.mass, told.true_sets, *errors.by_class, *utilities]


def show(name: str, subject: Subject, epsilon: Fraction, runs: int, methods: dict) -> None:
    for variant, method in methods.items():
        figures = np.mean([subject.figures(method, epsilon) for _ in range(runs)], axis=0)
        digits = "{:.2f} | {:.2f} | " + " / ".join(["{:.4f}"] * 5) + " | "
        digits += " / ".join(["{:.2f}"] * len(TOPS))
        print(
            f"| {name} | {float(epsilon):g} | {variant} | {digits.format(*figures)} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=FILES, default=list(FILES))
    given = parser.parse_args()
    print("| data, taxonomy | B | variant | mass | true | relative error | top 20 / 60 / 100 |")
    print("|---|---|---|---|---|---|---|")
    for name in given.only:
        trees = {"context-free, 10": context_free_of(name)}
        if name in ("fruithut", "bms-webview-2"):
            trees["its own"] = real_taxonomy(name)
        for tree, taxonomy in trees.items():
            subject = Subject(encoded(name, taxonomy))
            small = name == "msnbc"
            methods = METHODS | {"basic": Basic()} if small else METHODS
            for epsilon in BUDGETS if small else [Fraction(1)]:
                show(f"{name}, {tree}", subject, epsilon, given.runs, methods)


if __name__ == "__main__":
    main()
