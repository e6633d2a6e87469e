"""Whether synthetic records keep numbers and large taxonomies at their own resolution.

Run as ``python benchmarks/resolution.py [--data adult diabetes icd nist] [--splits N]
[--epsilon E ...] [--methods M ...]``. Two thirds of a table are published, the rest tests learners.
Tables: UCI Adult; diabetes-130 with its diagnoses as chapters, and with two of them in the public
list of ICD-9 codes (icd); NIST's two excerpts of 24 columns as one table. Printed are means over
splits of

- 1-way, wide, 2-way, worst, mean, top, occurs: as benchmarks/weave_quality.py, in cells of the raw
  data;
- TV2c: 2-way marginals with numbers in 16 equal bins, the class included, to compare with the past;
- tree, boosting: accuracy in %;
- Adult alone: released over true counts of women with an income above 50K (women: mean, and the
  furthest from 1) and of people who work 40 hours a week (40 h);
- cells: the part of cells of class x column tables of the records that are within three times the
  noise of the table that counted them (methods with 1-way tables alone);
- CPU seconds to the noisy groups.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from adult_records import adult, rows
from experiments.diabetes import PLAN
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.evaluation.classification import release_accuracies
from hedgerow.evaluation.fidelity import WIDE, fidelity
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.model.groups import Groups
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import plan_of
from hedgerow.plan.registry import METHODS
from hedgerow.privacy.source import SeededSource
from hedgerow.read.open import open_table
from weave_quality import diabetes, drawn

LEARNERS = ("tree", "boosting")
COLUMNS = (
    *("1-way", "wide", "2-way", "worst", "mean", "top", "occurs", "TV2c", "tree", "boosting"),
    *("women", "furthest", "40 h", "cells", "CPU s"),
)
NOISES = 3.0
"""Scales of noise that a cell of the records may be away from the truth."""


def data_folder() -> Path:
    """Return the folder of public data sets."""
    place = os.environ.get("HEDGEROW_DATA")
    return Path(place) if place else Path(__file__).resolve().parents[2] / "shared" / "data"


def icd_tree() -> dict[str, dict[str, list[str]]]:
    """Return the public list of ICD-9 codes, by chapter and block."""
    found: dict[str, dict[str, list[str]]] = {}
    path = data_folder() / "hierarchies" / "icd9" / "treefile_ICD9CODX.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        code, *above = line.strip().split(";")[:-1]
        block, chapter = (above[0], above[-1]) if above else ("others", "others")
        blocks = found.setdefault(f"chapter {chapter}", {})
        blocks.setdefault(f"block {chapter} {block}", []).append(code)
    return found


def icd() -> EncodedTable:
    """Return diabetes-130 with its first two diagnoses by their code."""
    import polars as pl

    taxonomy = {"taxonomy": {"*": icd_tree()}, "other": "unlisted"}
    attributes = {
        **PLAN["attributes"],
        "diag_1": taxonomy,
        "diag_2": taxonomy,
        "diag_3": {"role": "drop"},
    }
    raw = pl.read_csv(data_folder() / "diabetes-130" / "diabetic_data.csv.gz", infer_schema=False)
    codes = [
        pl.col(name).str.split(".").list.first().str.strip_chars_start("0").alias(name)
        for name in ("diag_1", "diag_2")
    ]
    readmitted = pl.when(pl.col("readmitted") == "NO").then(pl.lit("no")).otherwise(pl.lit("yes"))
    table = raw.with_columns(*codes, readmitted.alias("readmitted"))
    plan = plan_of({**PLAN, "attributes": attributes})
    return encode_table(open_table(table), schema_of(plan))


def nist() -> EncodedTable:
    """Return NIST's excerpts of Massachusetts and Texas as one table of 24 columns."""
    from peer_tables import ALL, AREAS, excerpts

    return excerpts(tuple(AREAS), ALL)


DATA: dict[str, Callable[[], EncodedTable]] = {
    "adult": adult,
    "diabetes": diabetes,
    "icd": icd,
    "nist": nist,
}


def measured(method: str, epsilon: str, name: str, table: EncodedTable, split: int) -> list[float]:
    """Return all measures of one release of one split; NaN where one does not apply."""
    order = np.random.default_rng(split).permutation(len(table))
    cut = len(table) * 2 // 3
    train, test = rows(table, order[:cut]), rows(table, order[cut:])
    settings = METHODS[method].model_validate({"method": method, "epsilon": epsilon})
    run = Run.start(
        MemoryEngine(table=train), epsilon=Fraction(epsilon), source=SeededSource(split)
    )
    began = time.process_time()
    groups = settings.build(has_class=True).publish(run)
    seconds = time.process_time() - began
    accuracies = release_accuracies(groups, test=test, learners=LEARNERS, by="records")
    codes = drawn(groups, SeededSource(split))
    codes.append(np.repeat(groups.classes, groups.counts))
    women, hours = adult_counts(codes, train) if name == "adult" else (np.nan, np.nan)
    return [
        *fidelity_measures(groups, train),
        marginal_errors(groups, train, ways=2, most=10**6, with_class=True).mean,
        *(100 * accuracies[learner] for learner in LEARNERS),
        *(women, women, hours),
        within_noise(groups, codes, train),
        seconds,
    ]


def fidelity_measures(groups: Groups, table: EncodedTable) -> list[float]:
    """Return the measures in cells of the raw data."""
    found = fidelity(groups, table, with_class=True)
    wide = [each for each in found.columns if each.size > WIDE]
    numbers = [each.number.mean_error for each in found.columns if each.number is not None]
    return [
        found.one_way,
        found.one_way_wide or np.nan,
        found.two_way or np.nan,
        found.worst_column.error,
        float(np.mean(numbers)) if numbers else np.nan,
        float(np.mean([each.top for each in wide])) if wide else np.nan,
        float(np.mean([each.occurs or 0.0 for each in wide])) if wide else np.nan,
    ]


def adult_counts(codes: list[np.ndarray], table: EncodedTable) -> tuple[float, float]:
    """Return released over true counts: women above 50K, and people who work 40 hours."""
    names = [attribute.name for attribute in table.schema.attributes]
    sex, hours = names.index("sex"), names.index("hours-per-week")
    female = table.schema.attributes[sex].domain.taxonomy.leaf_code["Female"]
    rich = table.schema.class_attribute.domain.taxonomy.leaf_code[">50K"]
    forty = int(table.schema.attributes[hours].domain.encode(np.array([40.0]))[0])
    true = [*(np.asarray(each) for each in table.codes), np.asarray(table.classes)]
    found = [
        (np.sum((each[sex] == female) & (each[-1] == rich)), np.sum(each[hours] == forty))
        for each in (codes, true)
    ]
    return float(found[0][0] / found[1][0]), float(found[0][1] / found[1][1])


def within_noise(groups: Groups, codes: list[np.ndarray], table: EncodedTable) -> float:
    """Return the part of cells of the 1-way tables that the records have within their noise."""
    true = [*(np.asarray(each) for each in table.codes), np.asarray(table.classes)]
    close = []
    for each in groups.tables:
        if each.kind != "one-way":
            continue
        found = []
        for columns in (codes, true):
            keys = [g[columns[a]] for a, g in zip(each.attributes, each.groups, strict=True)]
            cell = np.ravel_multi_index(keys, each.counts.shape)
            found.append(np.bincount(cell, minlength=each.counts.size))
        close.append(np.abs(found[0] - found[1]) <= NOISES / float(each.share))
    return float(np.concatenate(close).mean()) if close else np.nan


def summary(runs: list[list[float]]) -> list[float]:
    """Return means over splits; of the women also the count that is furthest from the truth."""
    table = np.array(runs)
    mean = table.mean(axis=0)
    at = COLUMNS.index("furthest")
    mean[at] = table[np.argmax(np.abs(table[:, at] - 1)), at]
    return list(mean)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--epsilon", nargs="*", default=["1", "1/4", "1/10"])
    parser.add_argument("--methods", nargs="*", default=["weave"])
    given = parser.parse_args()
    print(f"{'data':10}{'method':10}{'eps':>5}  " + " ".join(f"{name:>8}" for name in COLUMNS))
    for name in given.data:
        table = DATA[name]()
        for method in given.methods:
            for epsilon in given.epsilon:
                runs = [measured(method, epsilon, name, table, at) for at in range(given.splits)]
                figures = " ".join(f"{x:8.3f}" for x in summary(runs))
                print(f"{name:10}{method:10}{epsilon:>5}  {figures}", flush=True)


if __name__ == "__main__":
    main()
