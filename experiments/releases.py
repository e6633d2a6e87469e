"""Releases of a table by the methods that the papers compare, for experiments."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from hedgerow.baselines.kanonymity.mondrian import Mondrian
from hedgerow.baselines.kanonymity.tds import TopDownSpecialisation
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import DataError
from hedgerow.evaluation.classification import (
    examples_of,
    majority_accuracy,
    raw_accuracies,
    release_accuracies,
)
from hedgerow.evaluation.examples import Examples
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import ScoreName, multi_score
from hedgerow.model.groups import Groups
from hedgerow.model.method import PlainMethod, TableMethod
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import RandomSource
from hedgerow.trees.scores import SCORES


def diffgen(h: int, *, score: str = "max", faithful: bool = True) -> DiffGen:
    """Return DiffGen, as printed unless said otherwise."""
    return DiffGen(specialisations=h, score=SCORES[score], faithful=faithful)


def diffmulti(h: int, *, score: ScoreName = "max", faithful: bool = True) -> DiffMulti:
    """Return DiffMulti, as printed unless said otherwise."""
    chosen = multi_score(score, faithful=faithful)
    return DiffMulti(specialisations=h, score=chosen, fair=True, depth=None, faithful=faithful)


def mondrian(k: int, *, by_class: bool) -> Mondrian:
    """Return strict Mondrian over the taxonomies, by medians or by information gain."""
    return Mondrian(k=k, relaxed=False, by_class=by_class, ordered=False)


def tds(k: int) -> TopDownSpecialisation:
    """Return top-down specialisation to k-anonymity."""
    return TopDownSpecialisation(k=k)


def released(
    method: TableMethod, table: EncodedTable, *, epsilon: Fraction, source: RandomSource
) -> Groups:
    """Return a private release of a table.

    Privacy: costs ``epsilon`` under adding or removing one record, if ``source`` is not
    seeded; experiments on public data seed it.
    """
    method.validate(table.schema, epsilon)
    return method.publish(Run.start(MemoryEngine(table=table), epsilon=epsilon, source=source))


def released_plainly(method: PlainMethod, table: EncodedTable, *, source: RandomSource) -> Groups:
    """Return a release of a method without a guarantee of differential privacy."""
    method.validate(table.schema)
    return method.publish(MemoryEngine(table=table), source=source)


TreeLearner = Literal["c45", "id3"]
PaperLearner = Literal["c45", "id3", "svm"]
"""The learners of the papers."""


def accuracy(groups: Groups, test: EncodedTable, *, learner: PaperLearner = "c45") -> float:
    """Return the percentage of test records that a learner of the release gets right.

    Trees learn from the groups, weighted by their counts, and are asked about the test
    records as the release's own boxes generalise them [DiffGen, Sec. 5].
    """
    if learner == "svm":
        return 100 * release_accuracies(groups, test=test, learners=("svm",))["svm"]
    return _right(*examples_of(groups, test, by=None), learner)


def bounds(
    train: EncodedTable, test: EncodedTable, *, learner: PaperLearner = "c45"
) -> tuple[float, float]:
    """Return LA and BA in per cent: without attributes, and from the raw records."""
    floor = 100 * majority_accuracy(train=train, test=test)
    if learner == "svm":
        return floor, 100 * raw_accuracies(train=train, test=test, learners=("svm",))["svm"]
    return floor, _right(Examples.of_records(train), Examples.of_records(test), learner)


def _right(known: Examples, asked: Examples, learner: TreeLearner) -> float:
    """Return the percentage of examples that a tree gets right."""
    # Loading Numba takes a while.
    from experiments.c45.examples import columns_of
    from experiments.c45.tree import c45, id3, learning_of

    if known.classes is None or asked.classes is None:
        raise DataError(
            "there are no records with a class", where="experiments", do="Give a plan with one."
        )
    n_classes = int(max(known.classes.max(initial=0), asked.classes.max(initial=0))) + 1
    learning = learning_of(columns_of(known), known.classes, known.weights, n_classes=n_classes)
    tree = c45(learning) if learner == "c45" else id3(learning)
    return 100 * float(np.mean(tree.predict(columns_of(asked)) == asked.classes))
