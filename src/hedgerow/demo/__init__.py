"""The demonstration: a release of real, bundled data from start to end.

Takes an empty folder and writes data, plan, taxonomies, a release and what it keeps: a starting
point for own data.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.table import encode_table
from hedgerow.errors import InternalError, MissingExtraError, ReleaseError
from hedgerow.evaluation.classification import Accuracy, accuracies, release_accuracies
from hedgerow.model.labels import leaf_labels
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.output import Output
from hedgerow.pipeline.publish import publish
from hedgerow.progress import Progress, no_progress
from hedgerow.read.open import open_table
from hedgerow.release.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_SEED = 1994
"""Seed of the split into published and held-out thirds; fixed, so that runs can be compared."""


_DIVORCED = {"marital-status": "Divorced", "education": "Bachelors"}

QUESTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    ("women with an income above 50K", {"sex": "Female", "income": ">50K"}),
    ("men with an income above 50K", {"sex": "Male", "income": ">50K"}),
    ("people who work 40 hours a week", {"hours-per-week": "40"}),
    ("divorced people with a bachelor's degree", _DIVORCED),
)
"""Counts that the demonstration compares, each with the values that it counts."""


@dataclass(frozen=True, kw_only=True)
class ComparedCount:
    """A count in the released rows and in the raw records."""

    question: str
    released: int
    raw: int


@dataclass(frozen=True, kw_only=True)
class Demonstration:
    """Result of the demonstration; accuracies are ``None`` where scikit-learn is missing.

    ``accuracy`` is of a tree that learns from the released rows, ``box_accuracy`` of one that
    learns from the boxes of the leaf table.
    """

    folder: Path
    release: Release
    counts: tuple[ComparedCount, ...]
    accuracy: Accuracy | None
    box_accuracy: float | None


def run_demo(
    folder: Path, *, force: bool = False, progress: Progress = no_progress
) -> Demonstration:
    """Publish UCI Adult at epsilon 1 into ``folder`` and measure what the release keeps.

    Writes the plan, the taxonomies, both parts of the data and the release. The raw records are
    public, so the figures may be shown.
    """
    progress("laying out the demonstration", None)
    lay_out(folder, force=force)
    release = publish(
        folder / "plan.yaml", out=Output(folder=folder / "release", again=force), progress=progress
    )
    if not isinstance(release, Release):
        raise InternalError("The demonstration's plan is not for a table.")
    progress("learning from the release", None)
    schema = release.schema
    train, test = (_encoded(folder / f"adult-{name}.parquet", schema) for name in ("train", "test"))
    accuracy, of_boxes = _accuracies(release, train=train, test=test)
    return Demonstration(
        folder=folder,
        release=release,
        counts=tuple(_compared(release, train)),
        accuracy=accuracy,
        box_accuracy=of_boxes,
    )


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


def _encoded(path: Path, schema: Schema) -> EncodedTable:
    return encode_table(open_table(path), schema)


def _compared(release: Release, train: EncodedTable) -> Iterator[ComparedCount]:
    """Yield the counts of all questions, in the released rows and in the raw records."""
    groups = release.groups
    rows = [each.first[at] for each, at in zip(groups.ranges, groups.index, strict=True)]
    released = _holding(release.schema, rows, groups.classes)
    raw = _holding(release.schema, train.codes, train.classes)
    for question, values in QUESTIONS:
        yield ComparedCount(
            question=question,
            released=int(groups.counts[released(values)].sum()),
            raw=int(raw(values).sum()),
        )


def _holding(
    schema: Schema, columns: Sequence[NDArray[Any]], classes: NDArray[Any] | None
) -> Callable[[dict[str, str]], NDArray[np.bool_]]:
    """Return a function that marks the rows with given values by column."""
    attributes = {each.name: each.domain for each in schema.used()}
    codes = dict(zip(attributes, [*columns, classes], strict=False))

    def marked(values: dict[str, str]) -> NDArray[np.bool_]:
        wanted = {name: leaf_labels(attributes[name]).index(each) for name, each in values.items()}
        tests = [codes[name] == code for name, code in wanted.items()]
        return np.asarray(np.logical_and.reduce(tests), dtype=np.bool_)

    return marked


def _accuracies(
    release: Release, *, train: EncodedTable, test: EncodedTable
) -> tuple[Accuracy | None, float | None]:
    """Return the accuracy of a tree of the rows, and of one of the boxes of the leaf table."""
    try:
        found = accuracies(release.groups, train=train, test=test, learners=("tree",))["tree"]
        if release.groups.leaves is None:
            return found, None
        boxes = release_accuracies(release.groups, test=test, learners=("tree",), by="boxes")
    except MissingExtraError:
        return None, None
    return found, boxes["tree"]
