"""What the factors of DiffPart's printed thresholds keep, by fan-out.

Run as ``python benchmarks/diffpart_factors.py [--runs N] [--only NAME ...]``. Prints the table
of docs/papers/diffpart.md, "The factors": faithful DiffPart at B = 1 with C1 = C2, with C1 by
the rule, with the factors of the authors' program, and the improved variant, which has no such
factors. Seeded.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

from basket_data import FILES, context_free_of, encoded
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.evaluation.itemsets import top_itemsets, top_k_utility
from hedgerow.evaluation.queries import kept, random_queries, relative_errors
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.diffpart.factors import pruning_factor
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource

ONE = Fraction(1)
TOP = 100
AUTHORS = DiffPart(faithful=True, c1=Fraction(11, 4), c2=Fraction(27, 4))
DEFAULT = DiffPart(max_length=8)  # given, so that a small universe is split, too


class Subject:
    """A data set with its queries and itemsets, computed once."""

    def __init__(self, name: str, fan_out: int) -> None:
        self.taxonomy = context_free_of(name, fan_out=fan_out)
        baskets = encoded(name, self.taxonomy)
        self.engine = BasketMemory(baskets=baskets)
        self.records = WeightedSets.of_records(baskets)
        longest = int(baskets.lengths.max())
        self.queries = random_queries(self.taxonomy.n_leaves, longest=longest, seed=1)
        self.top = dict(top_itemsets(self.records, TOP))

    def figures(self, method: DiffPart, seed: int) -> list[float]:
        """Return mass, true sets, the mean error over all lengths, and the top-100 utility."""
        noisy = method.publish(Run.start(self.engine, epsilon=ONE, source=SeededSource(seed)))
        release = WeightedSets.of_release(noisy)
        told = kept(self.records, release)
        error = float(np.mean(relative_errors(self.records, release, self.queries).by_class))
        top = top_k_utility(self.top, dict(top_itemsets(release, TOP)))
        return [told.mass, told.true_sets, error, top]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=FILES, default=["msnbc", "fruithut"])
    parser.add_argument("--fan-outs", nargs="*", type=int, default=[4, 6, 10, 16])
    given = parser.parse_args()
    print("| data | fan-out | factors | mass | true | relative error | top 100 |")
    print("|---|---|---|---|---|---|---|")
    for name in given.only:
        for fan_out in given.fan_outs:
            subject = Subject(name, fan_out)
            least = pruning_factor(SplitTree.of(subject.taxonomy))
            methods = {
                f"C1 = C2 = {float(least):g}": DiffPart(faithful=True, c1=least, c2=least),
                "C1 by the rule": DiffPart(faithful=True),
                "2.75 and 6.75": AUTHORS,
                "improved": DEFAULT,
            }
            for told, method in methods.items():
                runs = [subject.figures(method, seed) for seed in range(given.runs)]
                mass, true, error, top = np.mean(runs, axis=0)
                print(
                    f"| {name} | {fan_out} | {told} | {mass:.2f} | {true:.2f} | {error:.4f} |"
                    f" {top:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
