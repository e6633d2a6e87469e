"""All methods on UCI Adult, side by side: research/methods.md, and docs/methods.md at ε = 1.

Run as ``python benchmarks/all_methods.py [--splits N] [--write]``, or ``make table``. Two thirds
of the records are published and the rest is classified: by a decision tree on the release's
boxes, or on its records where boxes do not divide the domain, and by gradient boosting on
records drawn from it. NCP is that of the published records' boxes. Errors are the mean total
variation of 1-way and 2-way marginals in cells of the raw data (docs/evaluate.md) and, to compare
with earlier figures, of 2-way marginals of predictors with numbers in 16 equal bins. Seconds are
processor time to the noisy groups. ``--write`` replaces both tables.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np

from adult_records import adult, rows

EPSILONS = ("1/10", "1/4", "1/2", "1")

PRIVATE: dict[str, dict[str, object]] = {
    "hedge": {"method": "hedge"},
    "hedge, for counting": {"method": "hedge", "for": "counting"},
    "weave": {"method": "weave"},
    "DiffGen": {"method": "diffgen", "h": 10},
    "DiffGen, as printed": {"method": "diffgen", "h": 10, "faithful": True},
    "DiffMulti": {"method": "diffmulti", "h": 1000, "for": "classification"},
    "DiffMulti, as printed": {
        "method": "diffmulti",
        "h": 1000,
        "for": "classification",
        "faithful": True,
    },
    "PrivBayes": {"method": "privbayes"},
    "RPS": {"method": "rps"},
    "DPCube": {"method": "dpcube", "cells": 65_536},
    "basic table": {"method": "basic-table", "cells": 65_536},
    "supermodular": {"method": "supermodular"},
}
PLAIN: dict[str, dict[str, object]] = {
    f"{name}, k = {k}": {"method": method, "k": k}
    for name, method in {
        "Mondrian": "mondrian",
        "TDS": "tds",
        "full-domain": "full-domain",
    }.items()
    for k in (5, 50)
}
TREE = "DiffP-C4.5"
MEASURES = (
    *("tree", "boosting", "NCP", "1-way error", "2-way error", "2-way, equal bins", "seconds"),
)
Job = tuple[str, str | None, int]


def measured(job: Job) -> tuple[float | None, ...]:
    """Return the measures of one release of one split."""
    name, epsilon, split = job
    whole = adult()
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    if name == TREE:
        return _tree_alone(train, test, Fraction(epsilon or "1"))
    from hedgerow.evaluation.classification import release_accuracies
    from hedgerow.evaluation.fidelity import fidelity
    from hedgerow.evaluation.loss import losses_of_groups, losses_of_records
    from hedgerow.evaluation.marginals import marginal_errors

    groups, seconds = _published(name, epsilon, train)
    placed = groups.is_cut or groups.tree is not None
    tree = release_accuracies(groups, test=test, learners=("tree",))["tree"]
    boosting = release_accuracies(groups, test=test, learners=("boosting",), by="records")
    loss = losses_of_records(groups, train) if placed else losses_of_groups(groups, train.schema)
    neutral = fidelity(groups, train, with_class=True)
    bins = marginal_errors(groups, train, ways=2).mean
    errors = neutral.one_way, neutral.two_way, bins
    return 100 * tree, 100 * boosting["boosting"], loss.ncp, *errors, seconds


def _published(name, epsilon, train):

    from hedgerow.count.memory.table import MemoryEngine
    from hedgerow.model.run import Run
    from hedgerow.plan.registry import METHODS
    from hedgerow.privacy.budget import PathLedger
    from hedgerow.privacy.source import SystemSource

    section = {**{**PRIVATE, **PLAIN}[name], **({} if epsilon is None else {"epsilon": epsilon})}
    plan = METHODS[str(section["method"])].model_validate(section, by_alias=True)
    engine, source = MemoryEngine(table=train), SystemSource()
    began = time.process_time()
    if epsilon is None:
        groups = plan.build(has_class=True).publish(engine, source=source)
    else:
        method, budget = plan.build(has_class=True), Fraction(epsilon)
        method.validate(train.schema, budget)
        ledger = PathLedger(budget)
        groups = method.publish(Run(engine=engine, epsilon=budget, ledger=ledger, source=source))
    return groups, time.process_time() - began


def _tree_alone(train, test, epsilon: Fraction) -> tuple[float | None, ...]:
    from experiments.private_tree import private_tree
    from hedgerow.privacy.budget import PathLedger
    from hedgerow.privacy.source import SystemSource

    began = time.process_time()
    tree = private_tree(train, epsilon=epsilon, ledger=PathLedger(epsilon), source=SystemSource())
    seconds = time.process_time() - began
    return 100 * tree.accuracy(test), None, None, None, None, None, seconds


def ends(split: int) -> tuple[float, ...]:
    """Return floor, and the ceilings of tree and boosting."""
    from hedgerow.evaluation.classification import majority_accuracy, raw_accuracies

    whole = adult()
    order = np.random.default_rng(split).permutation(len(whole))
    cut = len(whole) * 2 // 3
    train, test = rows(whole, order[:cut]), rows(whole, order[cut:])
    raw = raw_accuracies(train=train, test=test, learners=("tree", "boosting"))
    return tuple(
        100 * x for x in (majority_accuracy(train=train, test=test), raw["tree"], raw["boosting"])
    )


def table(found: dict[tuple[str, str | None], list], splits: int, limits: list[float]) -> str:
    lines = [
        f"| method | {' | '.join(MEASURES)} |",
        f"|{'---|' * (len(MEASURES) + 1)}",
        f"| *floor: the most frequent class* | {limits[0]:.1f} | {limits[0]:.1f} | | | | | |",
        f"| *ceiling: the raw records* | {limits[1]:.1f} | {limits[2]:.1f} | 0 | 0 | 0 | 0 | |",
    ]
    for name in (*PRIVATE, TREE, *PLAIN):
        told = [found[name, epsilon] for epsilon in (EPSILONS if name not in PLAIN else (None,))]
        cells = [
            " / ".join(_cell(measure, values[at]) for values in told)
            for at, measure in enumerate(MEASURES)
        ]
        cells = [re.sub(r"^–( / –)*$", "–", cell) for cell in cells]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    note = (
        f"Private methods at ε = 0.1 / 0.25 / 0.5 / 1; means of {splits} splits of 45,222 records."
        " Methods with k are not differentially private, and DiffP-C4.5 gives a classifier"
        " instead of data. Accuracy in %, errors from 0 to 1."
    )
    return "\n".join([*lines, "", note])


def _cell(measure: str, values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    digits = 1 if measure in ("tree", "boosting") else 3 if "way" in measure else 2
    return f"{statistics.mean(known):.{digits}f}"


def short(text: str) -> str:
    """Return the table with one number a cell: that of the largest epsilon.

    >>> short("| hedge | 81.7 / 84.1 | 0.36 / 0.11 |")
    '| hedge | 84.1 | 0.11 |'
    """
    table = re.sub(r"(?<=\| )[\d.–]+ / [\d./ –]*?([\d.–]+)(?= \|)", r"\1", text)
    return table.replace("at ε = 0.1 / 0.25 / 0.5 / 1;", "at ε = 1;")


def write(text: str) -> None:
    """Put the tables where the pages have them."""
    root = Path(__file__).resolve().parent.parent
    for folder, table in (("research", text), ("docs", short(text))):
        path = root / folder / "methods.md"
        old = path.read_text(encoding="utf-8")
        marked = re.compile(r"(<!-- all-methods -->\n).*?(<!-- /all-methods -->)", re.DOTALL)
        new, n = marked.subn(
            lambda found, table=table: f"{found[1]}{table}\n{found[2]}",
            old,
        )
        if n != 1:
            raise SystemExit(f"{folder}/methods.md has no place for the table")
        path.write_text(new, encoding="utf-8")


def runs_of(jobs: list[Job], store: Path | None) -> dict[tuple[str, str | None], list]:
    """Return the measures of all jobs; those that the store has are read, others added to it."""
    known = _stored(store)
    missing = [job for job in jobs if job not in known]
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for job, values in zip(missing, pool.map(measured, missing), strict=True):
            known[job] = values
            print(*job, *(None if v is None else round(v, 3) for v in values), flush=True)
            if store is not None:
                with store.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([job, values]) + "\n")
    found: dict[tuple[str, str | None], list] = defaultdict(list)
    for job in jobs:
        found[job[:2]].append(known[job])
    return found


def _stored(store: Path | None) -> dict[Job, tuple[float | None, ...]]:
    if store is None or not store.exists():
        return {}
    lines = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    return {tuple(job): tuple(values) for job, values in lines}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--store", type=Path, help="file of runs, to stop and resume")
    parser.add_argument("--methods", nargs="*", help="run these alone, and write no table")
    given = parser.parse_args()
    names = given.methods or (*PRIVATE, TREE, *PLAIN)
    jobs: list[Job] = [
        (name, epsilon, split)
        for name in names
        for epsilon in (EPSILONS if name not in PLAIN else (None,))
        for split in range(given.splits)
    ]
    found = runs_of(jobs, given.store)
    if given.methods:
        return
    limits = [statistics.mean(each) for each in zip(*map(ends, range(given.splits)), strict=True)]
    by_measure = {key: list(zip(*runs, strict=True)) for key, runs in found.items()}
    text = table(by_measure, given.splits, limits)
    print(text)
    if given.write:
        write(text)


if __name__ == "__main__":
    main()
