"""What `check` forecasts against what `publish` gives: the table of research/check.md.

Run as ``python benchmarks/check_against_publish.py [--epsilon 1] [--runs 5] [--methods hedge,weave]
[--tables adult,diabetes-130] [--constants]``. For every table and method: rows of the release, the
error of a published count in 95 of 100 cases, and how far a count of 500 people by one to three
columns is off, each foretold from the plan and a rounded number of records, and the median of
several runs on the real table. ``--constants`` lists hedge alone on further tables and epsilons,
those that the constants of `pipeline/simulate.py` were set on.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from statistics import median

import numpy as np

from adult_records import adult, rows
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.drafting.rounding import one_digit
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.precision import within
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.forecast import forecast
from hedgerow.pipeline.prepare import Prepared
from hedgerow.pipeline.stretches import count_error
from hedgerow.plan.load import plan_of
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from hedgerow.read.open import open_table

SECTIONS: dict[str, dict[str, object]] = {
    "hedge": {},
    "weave": {},
    "diffgen": {"h": 10},
    "diffmulti": {"h": 1000},
    "rps": {},
    "dpcube": {"cells": 65_536},
    "basic-table": {"cells": 65_536},
    "privbayes": {},
    "supermodular": {},
}
ADULT = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"]
FURTHER = (
    "adult",
    "adult-20k",
    "adult-3k",
    "adult without class",
    "adult, 7 columns",
    "diabetes-130",
)


def tables() -> dict[str, EncodedTable]:
    """Return the tables by name; diabetes-130 where its file is."""
    whole = adult()
    order = np.random.default_rng(1994).permutation(len(whole))
    found = {
        "adult": whole,
        "demo": rows(whole, np.sort(order[: len(whole) * 2 // 3])),
        "adult-20k": rows(whole, np.sort(order[:20_000])),
        "adult-3k": rows(whole, np.sort(order[:3_000])),
        "adult without class": _part(whole, None, has_class=False),
        "adult, 7 columns": _part(whole, ADULT, has_class=True),
    }
    from diabetes import FILE, PLAN, diabetes_table

    if FILE.exists():
        schema = schema_of(plan_of(PLAN))
        found["diabetes-130"] = encode_table(open_table(diabetes_table()), schema)
    return found


def _part(table: EncodedTable, names: list[str] | None, *, has_class: bool) -> EncodedTable:
    from dataclasses import replace

    kept = [
        at for at, each in enumerate(table.schema.attributes) if names is None or each.name in names
    ]
    schema = replace(
        table.schema,
        attributes=tuple(table.schema.attributes[at] for at in kept),
        class_attribute=table.schema.class_attribute if has_class else None,
    )
    codes = tuple(table.codes[at] for at in kept)
    return EncodedTable(schema=schema, codes=codes, classes=table.classes if has_class else None)


def ready_for(table: EncodedTable, method: str, epsilon: Fraction) -> Prepared:
    """Return a method with its settings, ready for the table's domains."""
    section = {"method": method, "epsilon": str(epsilon), **SECTIONS.get(method, {})}
    settings = METHODS[method].model_validate(section, by_alias=True)
    built = settings.build(has_class=table.schema.class_attribute is not None)
    built.validate(table.schema, epsilon)
    plan = plan_of({"attributes": {"x": {"values": ["a"]}}})
    return Prepared(plan=plan, settings=settings, domain=table.schema, method=built)


def compared(name: str, table: EncodedTable, method: str, epsilon: Fraction, runs: int) -> str:
    """Return a row of the table."""
    ready = ready_for(table, method, epsilon)
    began = time.process_time()
    told = forecast(ready, records=one_digit(len(table)))
    seconds = time.process_time() - began
    given, shares, errors = [], [], []
    for seed in range(runs):
        engine = MemoryEngine(table=table)
        groups = ready.tried(engine, rate=epsilon, source=SeededSource(100 + seed))
        given.append(len(groups))
        error = count_error(groups, table, n_records=len(table), seed=seed)
        errors.append((error.typical, error.within_95) if error else (0.0, 0.0))
        made = [groups.made.share] if groups.made else [each.share for each in groups.tables]
        shares.append(within(sorted(made)[len(made) // 2]) if made else 0)
    off, most = (median(each) for each in zip(*errors, strict=True))
    foretold = told.prediction.error if told.prediction else None
    cells = [
        name,
        method,
        str(epsilon),
        f"{told.n_groups:,}",
        f"{round(median(given)):,} ({min(given):,} to {max(given):,})",
        f"{told.n_groups / max(median(given), 1):.2f}",
        f"±{told.error_95}",
        f"±{median(shares):.0f}",
        "" if foretold is None else f"{foretold.typical:.0f} ({foretold.within_95:.0f})",
        f"{off:.0f} ({most:.0f})",
        f"{seconds:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--methods", default=",".join(SECTIONS))
    parser.add_argument("--tables", default="adult,demo,diabetes-130")
    parser.add_argument("--constants", action="store_true")
    given = parser.parse_args()
    found = tables()
    print(
        "| table | method | ε | groups, forecast | published | ratio | error, forecast |"
        " published | a count of 500, forecast | published | s |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    if given.constants:
        jobs = [(n, "hedge", e) for n in FURTHER for e in ("1/10", "1", "3")]
    else:
        jobs = [
            (n, m, given.epsilon) for n in given.tables.split(",") for m in given.methods.split(",")
        ]
    for name, method, epsilon in jobs:
        if name in found:
            row = compared(name, found[name], method, Fraction(epsilon), given.runs)
            print(row, flush=True)


if __name__ == "__main__":
    main()
