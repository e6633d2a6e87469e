"""The tables that the experiments run on: UCI Adult, and diabetes-130 for the Wal-Mart table.

Adult comes with the package: its complete records, in the order of the two files of UCI,
so that the first 30,162 are those of the training file.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from experiments.figure import Scene
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.read.open import open_table

DIABETES = "diabetes-130/diabetic_data.csv.gz"
ADULT_TRAINING = 30_162
"""Complete records of the training file of Adult."""

QUICK_RECORDS = 2_000
SAMPLE_SEED = 2011


@cache
def adult(scene: Scene) -> EncodedTable:
    """Return the 45,222 complete records of Adult, or a sample of them in a short run."""
    with as_file(files("hedgerow") / "demo" / "adult") as folder:
        schema = schema_of(load_plan(folder / "plan.yaml"))
        table = encode_table(open_table(folder / "adult.parquet"), schema)
    return _sample(table) if scene.quick else table


@cache
def diabetes(scene: Scene) -> EncodedTable:
    """Return the diabetes-130 table, 28 predictors."""
    from experiments.diabetes import PLAN, diabetes_table

    if scene.folder is None:
        raise FileNotFoundError(DIABETES)
    table = diabetes_table(scene.folder / DIABETES)
    encoded = encode_table(open_table(table), schema_of(plan_of(PLAN)))
    return _sample(encoded) if scene.quick else encoded


def _sample(table: EncodedTable) -> EncodedTable:
    chosen = np.random.default_rng(SAMPLE_SEED).choice(len(table), QUICK_RECORDS, replace=False)
    return rows(table, np.sort(chosen))


def rows(table: EncodedTable, which: NDArray[np.int64]) -> EncodedTable:
    """Return some records of a table."""
    return EncodedTable(
        schema=table.schema,
        codes=tuple(column[which] for column in table.codes),
        classes=None if table.classes is None else table.classes[which],
    )


def with_attributes(table: EncodedTable, names: list[str]) -> EncodedTable:
    """Return a table with some of its predictors only, in the order given."""
    places = {attribute.name: i for i, attribute in enumerate(table.schema.attributes)}
    kept = [places[name] for name in names]
    schema = Schema(
        attributes=tuple(table.schema.attributes[i] for i in kept),
        class_attribute=table.schema.class_attribute,
        missing=table.schema.missing,
        missing_values=table.schema.missing_values,
    )
    codes = tuple(table.codes[i] for i in kept)
    return EncodedTable(schema=schema, codes=codes, classes=table.classes)


def classless(table: EncodedTable) -> EncodedTable:
    """Return a table without its class."""
    schema = Schema(attributes=table.schema.attributes, class_attribute=None)
    return EncodedTable(schema=schema, codes=table.codes, classes=None)


def split(
    table: EncodedTable, run: int, *, share: float = 2 / 3
) -> tuple[EncodedTable, EncodedTable]:
    """Return a random part of the records to publish and the rest to test on."""
    order = np.random.default_rng(run).permutation(len(table))
    cut = round(len(table) * share)
    return rows(table, order[:cut]), rows(table, order[cut:])


def fold(table: EncodedTable, run: int, *, folds: int) -> tuple[EncodedTable, EncodedTable]:
    """Return the training and test records of one fold; every ``folds`` runs shuffle anew."""
    order = np.random.default_rng(run // folds).permutation(len(table))
    held = np.arange(len(table)) % folds == run % folds
    return rows(table, order[~held]), rows(table, order[held])
