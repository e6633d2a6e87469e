"""How deep improved DiffMulti goes and how it shares epsilon: the trial on a simulated table.

Run as ``python benchmarks/diffmulti_choice.py``. 60,000 records in twelve clusters, five
numeric and four categorical attributes, a class that depends on one of them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np

from experiments.releases import diffmulti, released
from hedgerow.evaluation.loss import losses_of_records
from hedgerow.methods.diffmulti import budget as diffmulti_budget
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SystemSource
from hedgerow.taxonomy.builders import context_free, flat
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain

RECORDS = 60_000
CLUSTERS = 12
SHARES = [(Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 5), Fraction(3, 10))]
"""Of epsilon, for choices and for child counts."""


def simulated() -> EncodedTable:
    """Return the table."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, CLUSTERS, RECORDS)
    centres = rng.uniform(5, 60, (CLUSTERS, 5))
    numbers = np.clip(rng.normal(centres[cluster], 6), 0, 63).astype(np.int64)
    odds = rng.dirichlet(np.full(16, 0.3), (CLUSTERS, 4)).cumsum(axis=2)
    drawn = [(odds[cluster, j] < rng.random(RECORDS)[:, None]).sum(axis=1) for j in range(4)]
    slope = (numbers[:, 0] - 32) / 8 + cluster % 3 - 1
    classes = (rng.random(RECORDS) < 1 / (1 + np.exp(-slope))).astype(np.int64)
    names = [f"v{i}" for i in range(16)]
    domains = [
        *[NumericDomain.even(low=0, high=63, step=1)] * 5,
        *[CategoricalDomain(taxonomy=context_free(names, fan_out=2))] * 4,
    ]
    schema = Schema(
        attributes=tuple(Attribute(name=f"a{i}", domain=d) for i, d in enumerate(domains)),
        class_attribute=Attribute(
            name="class", domain=CategoricalDomain(taxonomy=flat(["no", "yes"]))
        ),
    )
    return EncodedTable.from_codes(
        schema, [*numbers.T, *(np.minimum(each, 15) for each in drawn)], classes
    )


def main() -> None:
    table = simulated()
    print("| score | h | depth | choices | child counts | discernibility (million) | NCP |")
    print("|---|---|---|---|---|---|---|")
    for score, h, depth, shares in product(
        ("discernibility", "ncp", "max"), (1_000, 10_000), (12, 16, 20, 28), SHARES
    ):
        diffmulti_budget.CHOICES, diffmulti_budget.SIZES = shares
        method = replace(diffmulti(h, score=score, faithful=False), depth=depth)
        groups = released(method, table, epsilon=Fraction(1), source=SystemSource())
        found = losses_of_records(groups, table)
        cells = f"{shares[0]} | {shares[1]} | {found.discernibility / 1e6:.1f} | {found.ncp:.2f}"
        print(f"| {score} | {h:,} | {depth} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
