"""Compare C4.5 of the experiments with Weka's J48, table by table.

For developers, by hand: ``python tools/j48_agreement.py [DATA]`` prints the table of
``research/c45.md``. It needs Java and python-weka-wrapper3, which is under the GPL and is neither
a dependency of hedgerow nor in its lock: install it beside, and put it on PYTHONPATH. DATA is
the folder of public data sets; without it their tables are left out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from experiments.c45.examples import columns_of
from experiments.c45.tree import Column, c45, learning_of
from experiments.figure import Scene
from experiments.releases import diffgen, diffmulti, mondrian, released, released_plainly
from experiments.tables import adult, diabetes, rows, split
from hedgerow.evaluation.examples import Examples
from hedgerow.privacy.source import SeededSource

SEED = 45


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Rows to learn from, each so many times, and rows to be asked about."""

    name: str
    columns: list[Column]
    classes: np.ndarray
    times: np.ndarray
    asked: list[Column]
    truth: np.ndarray


def trials(data: Path | None) -> Iterator[Trial]:
    """Yield the tables."""
    yield from _small()
    whole = adult(Scene(folder=data, quick=False))
    yield _table("UCI Adult, complete records", whole)
    yield _with_gaps("UCI Adult, a fifth of its values removed", _table("", whole))
    train, test = split(whole, 0)
    one = Fraction(1)
    gen = released(diffgen(10), train, epsilon=one, source=SeededSource(1))
    yield _release("a release of DiffGen, h = 10, ε = 1", gen, test)
    multi = released(diffmulti(1_000), train, epsilon=one, source=SeededSource(1))
    yield _release("a release of DiffMulti, h = 1,000, ε = 1", multi, test)
    boxes = released_plainly(mondrian(60, by_class=False), train, source=SeededSource(1))
    yield _release("boxes of Mondrian, k = 60", boxes, test)
    if data is not None:
        visits = diabetes(Scene(folder=data, quick=False))
        few = rows(visits, np.random.default_rng(SEED).permutation(len(visits))[:30_000])
        yield _with_gaps("diabetes-130, 30,000 records, a fifth removed", _table("", few))


def _small() -> Iterator[Trial]:
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        told = getattr(datasets, f"load_{name}")()
        columns = [Column(values=column.astype(float)) for column in told.data.T]
        yield _halves(name.replace("_", " "), columns, told.target)
    rng = np.random.default_rng(SEED)
    noise = [Column(values=rng.integers(0, 5, 900).astype(float), categories=5) for _ in range(6)]
    yield _halves("noise, six categories of five values", noise, rng.integers(0, 3, 900))


def _table(name: str, table: Any) -> Trial:
    return _halves(name, columns_of(Examples.of_records(table)), table.classes)


def _release(name: str, groups: Any, test: Any) -> Trial:
    known, asked = Examples.of_groups(test.schema, groups), Examples.of_rows(groups, test)
    return Trial(
        name=name,
        columns=columns_of(known),
        classes=known.classes,
        times=known.weights.astype(np.int64),
        asked=columns_of(asked),
        truth=asked.classes,
    )


def _halves(name: str, columns: list[Column], classes: np.ndarray) -> Trial:
    order = np.random.default_rng(SEED).permutation(len(classes))
    cut = len(classes) * 2 // 3
    first, second = (
        [replace(c, values=c.values[part]) for c in columns] for part in (order[:cut], order[cut:])
    )
    ones = np.ones(cut, dtype=np.int64)
    return Trial(
        name=name,
        columns=first,
        classes=classes[order[:cut]],
        times=ones,
        asked=second,
        truth=classes[order[cut:]],
    )


def _with_gaps(name: str, trial: Trial) -> Trial:
    rng = np.random.default_rng(SEED)

    def gaps(column: Column) -> Column:
        return replace(
            column, values=np.where(rng.random(len(column.values)) < 0.2, np.nan, column.values)
        )

    return replace(
        trial,
        name=name,
        columns=[gaps(column) for column in trial.columns],
        asked=[gaps(column) for column in trial.asked],
    )


def _arff(path: Path, columns: list[Column], classes: np.ndarray, n_classes: int) -> None:
    """Write rows as Weka reads them."""
    head = ["@relation trial"]
    for i, column in enumerate(columns):
        kind = "numeric" if column.categories is None else _named("v", column.categories)
        head.append(f"@attribute a{i} {kind}")
    head += [f"@attribute class {_named('c', n_classes)}", "@data"]
    cells = [_cells(column) for column in columns]
    body = [",".join(row) for row in zip(*cells, [f"c{c}" for c in classes], strict=True)]
    path.write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")


def _named(letter: str, many: int) -> str:
    return "{" + ",".join(f"{letter}{i}" for i in range(many)) + "}"


def _cells(column: Column) -> list[str]:
    if column.categories is None:
        return ["?" if np.isnan(value) else repr(float(value)) for value in column.values]
    return ["?" if np.isnan(value) else f"v{int(value)}" for value in column.values]


def compared(trial: Trial, *, pruned: bool) -> str:
    """Return a row of the table: sizes, predictions and accuracies of both."""
    from weka.classifiers import Classifier
    from weka.core.converters import Loader

    n_classes = int(max(trial.classes.max(), trial.truth.max())) + 1
    learning = learning_of(
        trial.columns, trial.classes, trial.times.astype(float), n_classes=n_classes
    )
    ours = c45(learning, pruned=pruned)
    told = ours.predict(trial.asked)
    repeated = np.repeat(np.arange(len(trial.times)), trial.times)
    known = [replace(c, values=c.values[repeated]) for c in trial.columns]
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "known.arff", Path(folder) / "asked.arff"
        _arff(paths[0], known, trial.classes[repeated], n_classes)
        _arff(paths[1], trial.asked, trial.truth, n_classes)
        train, test = (
            Loader(classname="weka.core.converters.ArffLoader").load_file(str(p)) for p in paths
        )
    train.class_is_last()
    test.class_is_last()
    j48 = Classifier(classname="weka.classifiers.trees.J48", options=[] if pruned else ["-U"])
    j48.build_classifier(train)
    theirs = np.array([int(j48.classify_instance(one)) for one in test])
    sizes = int(j48.jobject.measureTreeSize()), int(j48.jobject.measureNumLeaves())
    return (
        f"| {trial.name} | {len(repeated):,} | {sizes[0]:,} ({sizes[1]:,}) |"
        f" {ours.size:,} ({ours.n_leaves:,}) | {np.mean(theirs == told):.2%} |"
        f" {np.mean(theirs == trial.truth):.2%} | {np.mean(told == trial.truth):.2%} |"
    )


def main() -> None:
    """Print the table."""
    from weka.core import jvm

    data = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    jvm.start(max_heap_size="3g", packages=False)
    print(
        "| table | records | J48: nodes (leaves) | ours | same answers | J48 right | ours right |"
    )
    print("|---|---|---|---|---|---|---|")
    for trial in trials(data):
        print(compared(trial, pruned=True), flush=True)
    jvm.stop()


if __name__ == "__main__":
    main()
