"""How the constants of `hedge` were chosen: on diabetes-130 and simulated tables, never Adult.

Run as ``python benchmarks/hedge_choice.py [--splits N]``. Each line changes one constant
and gives, per table and epsilon, the accuracy of a decision tree learnt from the release
as a share of what raw data gains over the majority class.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import cache

import numpy as np

from diabetes import PLAN, diabetes_table
from hedgerow.count.memory import MemoryEngine
from hedgerow.encode.encode import encode_table
from hedgerow.encode.schema import Attribute, Schema, schema_of
from hedgerow.encode.table import EncodedTable
from hedgerow.evaluate.classification import tree_accuracy
from hedgerow.partition import hedge, hedge_budget
from hedgerow.partition.box_scores import GINI
from hedgerow.partition.hedge import Hedge
from hedgerow.plan.load import plan_of
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SystemSource
from hedgerow.read.open import open_table
from hedgerow.taxonomy.builders import context_free, flat
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(2)]
CHANGES: list[dict[str, object]] = [
    {},
    {"SHARED": Fraction(1, 5)},
    {"SHARED": Fraction(2, 5)},
    {"OWN": Fraction(1, 10)},
    {"OWN": Fraction(1, 4)},
    {"RECORDS_PER_LEVEL": 100},
    {"RECORDS_PER_LEVEL": 400},
    {"SHARED_ALONE": 3},
    {"SHARED_ALONE": 5},
    {"MOST_OWN": 0},
    {"MOST_SHARED": 5},
    {"MOST_SHARED": 9},
    {"STOP": 4},
    {"STOP": 16},
]


@cache
def table(name: str) -> EncodedTable:
    """Return a table by name, encoded."""
    return _diabetes() if name == "diabetes" else _simulated(int(name.split()[1]))


def _diabetes() -> EncodedTable:
    plan = plan_of({**PLAN, "publish": {"method": "diffgen", "epsilon": 1}})
    return encode_table(open_table(diabetes_table()), schema_of(plan))


def _simulated(n_records: int) -> EncodedTable:
    """Return skewed attributes and a class that depends on some of them, and on pairs."""
    rng = np.random.default_rng(n_records)
    numeric = [
        np.minimum(rng.exponential(scale, n_records), 99).astype(int) for scale in (5, 15, 30, 60)
    ]
    grouped = [rng.choice(12, n_records, p=rng.dirichlet(np.ones(12))) for _ in range(4)]
    strength = (
        (numeric[0] > 4) * 1.2
        - (numeric[1] > 20) * (grouped[0] < 6) * 1.5
        + (grouped[1] // 4 == 1) * 1.4
        + ((numeric[2] > 25) ^ (grouped[2] < 3)) * 1.0
        - 1.2
    )
    classes = rng.random(n_records) < 1 / (1 + np.exp(-2 * strength))
    labels = [f"v{i}" for i in range(12)]
    attributes = [
        Attribute(name=f"n{i}", domain=NumericDomain.even(low=0, high=99, step=1)) for i in range(4)
    ] + [
        Attribute(name=f"c{i}", domain=CategoricalDomain(taxonomy=context_free(labels, fan_out=4)))
        for i in range(4)
    ]
    target = Attribute(name="y", domain=CategoricalDomain(taxonomy=flat(["no", "yes"])))
    schema = Schema(attributes=tuple(attributes), class_attribute=target)
    return EncodedTable.from_codes(schema, [*numeric, *grouped], classes.astype(int))


def rows(of: EncodedTable, which: np.ndarray) -> EncodedTable:
    """Return some records of a table."""
    return EncodedTable(
        schema=of.schema, codes=tuple(c[which] for c in of.codes), classes=of.classes[which]
    )


def gained(job: tuple[str, Fraction, int, dict[str, object]]) -> float:
    """Return the share of raw data's gain over the majority class that the release keeps."""
    name, epsilon, split, change = job
    for constant, value in change.items():
        setattr(hedge_budget, constant, value)
        if constant == "STOP":
            hedge.STOP_BELOW = value
    whole = table(name)
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    groups = Hedge(score=GINI).publish(
        MemoryEngine(table=train),
        epsilon=epsilon,
        ledger=PathLedger(epsilon),
        source=SystemSource(),
    )
    told = tree_accuracy(groups, train=train, test=test)
    return (told.release - told.floor) / (told.ceiling - told.floor)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=4)
    splits = parser.parse_args().splits
    names = ["diabetes", "simulated 5000", "simulated 50000"]
    print(
        "| change | " + " | ".join(f"{n}, ε = {float(e):g}" for n in names for e in EPSILONS) + " |"
    )
    print("|---|" + "---|" * len(names) * len(EPSILONS))
    for change in CHANGES:
        jobs = [(n, e, s, change) for n in names for e in EPSILONS for s in range(splits)]
        with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
            results = np.array(list(pool.map(gained, jobs))).reshape(-1, splits).mean(axis=1)
        told = ", ".join(f"{k} = {v}" for k, v in change.items()) or "as it is"
        cells = " | ".join(f"{100 * value:.0f} %" for value in results)
        print(f"| {told} | {cells} | mean {100 * results.mean():.1f} |", flush=True)


if __name__ == "__main__":
    main()
