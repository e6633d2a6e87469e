"""How long an evaluation of a wide table takes, task by task.

Run as ``python benchmarks/evaluate_wide.py [--columns 42 100] [--records 200000] [--methods hedge
weave] [--task T ...]``. The table is made up: a fifth of the columns are numbers, the others have 2
to 50 values, all lean on a few hidden factors, and the class is that of 6 records in 100.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation import run
from hedgerow.evaluation.subject import TableSubject
from hedgerow.model.run import Run
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

FACTORS = 6


def flat(n: int) -> CategoricalDomain:
    """Return a domain of that many values below one root."""
    return CategoricalDomain(taxonomy=Taxonomy.flat([f"v{i}" for i in range(n)]))


def wide_table(columns: int, records: int, seed: int = 0) -> EncodedTable:
    """Return a made-up table of that many predictors and a rare class."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(records, FACTORS))
    attributes, codes = [], []
    for at in range(columns):
        lean = rng.normal(size=FACTORS) * rng.random(FACTORS)
        place = factors @ lean + rng.normal(size=records)
        numeric = at % 5 == 0
        size = int(rng.integers(60, 2000)) if numeric else int(rng.integers(2, 51))
        domain = NumericDomain.even(low=0, high=size - 1, step=1) if numeric else flat(size)
        rank = np.argsort(np.argsort(place)) / records
        codes.append(np.minimum((rank**2 * size).astype(np.int64), size - 1))
        attributes.append(Attribute(name=f"c{at}", domain=domain))
    score = factors[:, 0] + 0.5 * factors[:, 1] + rng.normal(size=records)
    classes = (score > np.quantile(score, 0.94)).astype(np.int64)
    schema = Schema(
        attributes=tuple(attributes), class_attribute=Attribute(name="class", domain=flat(2))
    )
    return EncodedTable.from_codes(schema, codes, classes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", nargs="*", type=int, default=[42, 100])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--methods", nargs="*", default=["hedge", "weave"])
    tasks = [task for task in run._OF_TABLES if task != "people"]  # records of nobody known
    parser.add_argument("--task", nargs="*", default=tasks)
    given = parser.parse_args()
    for columns in given.columns:
        table = wide_table(columns, given.records)
        for method in given.methods:
            settings = METHODS[method].model_validate({"method": method, "epsilon": "1"})
            began = time.perf_counter()
            groups = settings.build(has_class=True).publish(
                Run.start(MemoryEngine(table=table), epsilon=Fraction(1), source=SeededSource(1))
            )
            print(f"{columns} {method}: {len(groups):,} groups", end="", flush=True)
            print(f" in {time.perf_counter() - began:.1f} s", flush=True)
            subject = TableSubject(
                name="wide",
                schema=table.schema,
                groups=groups,
                certificate=None,
                table=table,
                test=None,
            )
            whole = time.perf_counter(), time.process_time()
            for task in given.task:
                began, cpu = time.perf_counter(), time.process_time()
                run._OF_TABLES[task](subject, seed=0)
                seconds = time.perf_counter() - began, time.process_time() - cpu
                print(f"  {task:16}{seconds[0]:8.1f} s{seconds[1]:8.1f} CPU s", flush=True)
            seconds = time.perf_counter() - whole[0], time.process_time() - whole[1]
            print(f"  {'all':16}{seconds[0]:8.1f} s{seconds[1]:8.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
