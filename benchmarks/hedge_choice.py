"""How the constants of `hedge` were chosen: on diabetes-130 and simulated tables, never Adult.

Run as ``python benchmarks/hedge_choice.py [--splits N]``. Each line changes one constant
and gives, per table and epsilon, the accuracy of a decision tree learnt from the release
as a share of what raw data gains over the majority class. With ``--describing`` each line
is a way to share epsilon for the other purposes, with the mean errors of the marginals of
two and of three attributes, and NCP.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from diabetes import PLAN, diabetes_table
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.evaluation.classification import tree_accuracy
from hedgerow.evaluation.loss import losses_of_records
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.methods.hedge.budget import HedgeShares
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.run import Run
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import plan_of
from hedgerow.privacy.source import SystemSource
from hedgerow.read.open import open_table
from hedgerow.taxonomy.builders import context_free, flat
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.trees.box_scores import BOX_SCORES, GINI

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(2)]
CHANGES: list[dict[str, object]] = [
    {},
    {"shared": Fraction(1, 5)},
    {"shared": Fraction(2, 5)},
    {"own": Fraction(1, 10)},
    {"own": Fraction(1, 4)},
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
SHARES = [
    ("2/25", "2/5", "1/10", "1/20"),
    ("1/4", "3/10", "2/25", "1/20"),
    ("2/5", "1/5", "3/50", "1/25"),
    ("1/2", "1/5", "1/20", "3/100"),
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
        if constant.islower():
            hedge.CLASSIFYING = replace(hedge.CLASSIFYING, **{constant: value})
            continue
        setattr(hedge_budget, constant, value)
        if constant == "STOP":
            hedge.STOP_BELOW = value
    whole = table(name)
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    groups = Hedge(score=GINI).publish(
        Run.start(MemoryEngine(table=train), epsilon=epsilon, source=SystemSource())
    )
    told = tree_accuracy(groups, train=train, test=test)
    return (told.release - told.floor) / (told.ceiling - told.floor)


def kept(job: tuple[str, Fraction, int, str, HedgeShares]) -> tuple[float, float, float]:
    """Return the errors of the marginals of two and three attributes, and NCP."""
    name, epsilon, split, score, shares = job
    hedge.DESCRIBING = shares
    whole = table(name)
    order = np.random.default_rng(split).permutation(len(whole))
    train = rows(whole, order[: len(whole) * 2 // 3])
    groups = Hedge(score=BOX_SCORES[score]).publish(
        Run.start(MemoryEngine(table=train), epsilon=epsilon, source=SystemSource())
    )
    pairs, triples = (marginal_errors(groups, train, ways=w, most=40).mean for w in (2, 3))
    return pairs, triples, losses_of_records(groups, train).ncp


def describe(names: list[str], splits: int) -> None:
    """Print what each way to share epsilon keeps for purposes other than classification."""
    print("| table | score | ε | marginals, shared, own, sizes | pairs | triples | NCP |")
    print("|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, score, epsilon, parts in product(names, ("skew", "ncp"), EPSILONS, SHARES):
            words = ("marginals", "shared", "own", "sizes")
            shares = HedgeShares(**dict(zip(words, map(Fraction, parts), strict=True)))
            jobs = [(name, epsilon, split, score, shares) for split in range(splits)]
            found = np.mean(list(pool.map(kept, jobs)), axis=0)
            told = " | ".join(f"{value:.3f}" for value in found)
            print(
                f"| {name} | {score} | {float(epsilon):g} | {', '.join(parts)} | {told} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--describing", action="store_true")
    given = parser.parse_args()
    splits = given.splits
    names = ["diabetes", "simulated 5000", "simulated 50000"]
    if given.describing:
        describe(names, splits)
        return
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
