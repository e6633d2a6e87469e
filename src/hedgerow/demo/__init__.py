"""The demonstration: a release of real, bundled data from start to end.

Takes an empty folder and writes data, plan, taxonomies, a release and what it keeps: a starting
point for own data.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import InternalError, MissingExtraError, ReleaseError
from hedgerow.evaluation.classification import Accuracy, tree_accuracy
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.publish import publish
from hedgerow.plan.load import load_plan
from hedgerow.progress import Progress, no_progress
from hedgerow.read.open import open_table
from hedgerow.release.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_SEED = 1994
"""Seed of the split into published and held-out thirds; fixed, so that runs can be compared."""


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """Results of the demonstration; ``accuracy`` is ``None`` without scikit-learn."""

    folder: Path
    release: Release
    accuracy: Accuracy | None


def run_demo(
    folder: Path, *, force: bool = False, progress: Progress = no_progress
) -> Demonstration:
    """Publish UCI Adult at epsilon 1 into ``folder`` and measure what the release keeps.

    Writes the plan, the taxonomies, both parts of the data and the release.
    """
    progress("laying out the demonstration", None)
    lay_out(folder, force=force)
    release = publish(folder / "plan.yaml", out=folder / "release", again=force, progress=progress)
    if not isinstance(release, Release):
        raise InternalError("The demonstration's plan is not for a table.")
    progress("learning from the release", None)
    return Demonstration(folder=folder, release=release, accuracy=_accuracy(folder, release))


def lay_out(folder: Path, *, force: bool = False) -> None:
    """Write the plan, the taxonomies and the data, two thirds of them to be released."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not force:
        raise ReleaseError(
            "The folder exists already.",
            where=str(folder),
            do="Give another one with --out, or replace the demonstration with --force.",
        )
    try:
        (folder / "taxonomies").mkdir(parents=True, exist_ok=True)
        for old in folder.glob("ledger.sqlite*"):  # the demonstration is created anew
            old.unlink()
        with as_file(files("hedgerow.demo") / "adult") as bundled:
            shutil.copy(bundled / "plan.yaml", folder)
            shutil.copy(bundled / "ATTRIBUTION.md", folder)
            for taxonomy in sorted((bundled / "taxonomies").iterdir()):
                shutil.copy(taxonomy, folder / "taxonomies")
        _write_parts(folder)
    except OSError as error:
        raise ReleaseError(
            "The demonstration cannot be written:"
            f" {(error.strerror or 'no reason given').lower()}.",
            where=str(folder),
            do="Give a folder with room that you may write to.",
        ) from error


def adult_table() -> pa.Table:
    """Return the bundled UCI Adult table, missing values included."""
    import pyarrow.parquet as pq

    with as_file(files("hedgerow.demo") / "adult" / "adult.parquet") as path:
        return pq.read_table(path)


def _write_parts(folder: Path) -> None:
    import pyarrow.parquet as pq

    table = adult_table()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(table))
    released = len(table) * 2 // 3
    for name, rows in (("train", order[:released]), ("test", order[released:])):
        pq.write_table(table.take(np.sort(rows)), folder / f"adult-{name}.parquet")


def _accuracy(folder: Path, release: Release) -> Accuracy | None:
    schema = schema_of(load_plan(folder / "plan.yaml"))

    def encoded(name: str) -> EncodedTable:
        return encode_table(open_table(folder / name), schema)

    try:
        return tree_accuracy(
            release.groups, train=encoded("adult-train.parquet"), test=encoded("adult-test.parquet")
        )
    except MissingExtraError:
        return None
