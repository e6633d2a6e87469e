"""How well classifiers learnt from a release do on records they have not seen.

For the data owner: the figures here compare with the raw table and are not private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError, ReleaseError
from hedgerow.evaluation.class_measures import ClassMeasures, always, class_measures
from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.learners import LEARNERS, Learner, answered_by, most_examples
from hedgerow.evaluation.placing import boxes_of, drawn, is_placed, is_pointlike
from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, unheard

By = Literal["boxes", "records"]
"""Learn from groups and generalise the test rows, or learn from drawn records."""


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Shares of held-out records classified rightly.

    ``floor`` always says the most frequent class, ``release`` learns from the release
    alone, ``ceiling`` from the raw records: LA, CA and BA of [DiffGen, Sec. 5].
    """

    floor: float
    release: float
    ceiling: float


def tree_accuracy(groups: Groups, *, train: EncodedTable, test: EncodedTable) -> Accuracy:
    """Return floor, release and ceiling of a decision tree on ``test``.

    ``train`` is the table that was released; it serves the ceiling and the floor only.
    The records of ``test`` are generalised by the release's own boxes [DiffGen, Sec. 5].
    """
    return accuracies(groups, train=train, test=test, learners=("tree",), by="boxes")["tree"]


def accuracies(
    groups: Groups,
    *,
    train: EncodedTable,
    test: EncodedTable,
    learners: Sequence[Learner] = LEARNERS,
    by: By | None = None,
    seed: int = 0,
) -> dict[Learner, Accuracy]:
    """Return floor, release and ceiling of each learner on ``test``.

    As :func:`release_accuracies` and :func:`raw_accuracies`, together; where one table is
    released many times, call those two, the second of them once.
    """
    floor = majority_accuracy(train=train, test=test)
    release = release_accuracies(groups, test=test, learners=learners, by=by, seed=seed)
    ceiling = raw_accuracies(train=train, test=test, learners=learners, seed=seed)
    return {
        learner: Accuracy(floor=floor, release=release[learner], ceiling=ceiling[learner])
        for learner in learners
    }


def majority_accuracy(*, train: EncodedTable, test: EncodedTable) -> float:
    """Return the share of ``test`` in the class that is most frequent in ``train``."""
    return majority_measures(train=train, test=test).accuracy


def majority_measures(*, train: EncodedTable, test: EncodedTable) -> ClassMeasures:
    """Return the measures of always saying the class that is most frequent in ``train``."""
    truth, usual = _classes(test), usual_class(train)
    return class_measures(truth, always(usual, len(truth), _n_classes(test)), usual=usual)


def usual_class(table: EncodedTable) -> int:
    """Return the most frequent class of a table."""
    return int(np.bincount(_classes(table)).argmax())


def _n_classes(table: EncodedTable) -> int:
    target = table.schema.class_attribute
    return int(_classes(table).max()) + 1 if target is None else target.domain.size


def raw_accuracies(
    *,
    train: EncodedTable,
    test: EncodedTable,
    learners: Sequence[Learner] = LEARNERS,
    seed: int = 0,
) -> dict[Learner, float]:
    """Return the accuracy on ``test`` of each learner trained on the raw records."""
    found = raw_measures(train=train, test=test, learners=learners, seed=seed)
    return {learner: each.accuracy for learner, each in found.items()}


def raw_measures(
    *,
    train: EncodedTable,
    test: EncodedTable,
    learners: Sequence[Learner] = LEARNERS,
    seed: int = 0,
    done: Done = unheard,
) -> dict[Learner, ClassMeasures]:
    """Return all measures on ``test`` of each learner trained on the raw records."""
    learnt, asked = Examples.of_records(train), Examples.of_records(test)
    usual = usual_class(train)
    return _measured(learnt, asked, test, learners, seed=seed, usual=usual, done=done)


def release_accuracies(
    groups: Groups,
    *,
    test: EncodedTable,
    learners: Sequence[Learner] = LEARNERS,
    by: By | None = None,
    seed: int = 0,
) -> dict[Learner, float]:
    """Return the accuracy on ``test`` of each learner trained on a release alone.

    ``by="boxes"`` trains on the groups, weighted by their counts, and generalises the
    rows of ``test`` by the release's boxes [DiffGen, Sec. 5]. ``by="records"`` trains on
    records drawn from the release and leaves the rows of ``test`` as they are. Left out,
    it is by boxes where the groups themselves divide the domain. A release of records with a
    leaf table has boxes as well: those of its leaves.
    """
    usual = usual_class(test)
    found = release_measures(groups, test=test, usual=usual, learners=learners, by=by, seed=seed)
    return {learner: each.accuracy for learner, each in found.items()}


def release_measures(
    groups: Groups,
    *,
    test: EncodedTable,
    usual: int,
    learners: Sequence[Learner] = LEARNERS,
    by: By | None = None,
    seed: int = 0,
    done: Done = unheard,
) -> dict[Learner, ClassMeasures]:
    """Return all measures on ``test`` of each learner trained on a release alone.

    As :func:`release_accuracies`; ``usual`` is the class that is not among the rarer ones.
    """
    learnt, asked = examples_of(groups, test, by=by, seed=seed)
    return _measured(learnt, asked, test, learners, seed=seed, usual=usual, done=done)


def examples_of(
    groups: Groups, test: EncodedTable, *, by: By | None, seed: int = 0
) -> tuple[Examples, Examples]:
    """Return what to learn from a release, and the rows of ``test`` to match."""
    boxes = boxes_of(groups, test.schema) if by == "boxes" or is_placed(groups) else None
    if by == "boxes" and boxes is None:
        raise ReleaseError(
            "no tree leads records to the boxes of this release",
            where="evaluation",
            do="Learn from records drawn from it instead: by='records'.",
        )
    if boxes is not None and by != "records":
        return Examples.of_groups(test.schema, boxes), Examples.of_rows(boxes, test)
    rows = Examples.of_records(test)
    if is_pointlike(groups):
        return _points(groups, test), rows
    return Examples.of_records(drawn(groups, test.schema, seed=seed)), rows


def _points(groups: Groups, test: EncodedTable) -> Examples:
    """Return the groups of a release of points as weighted records, none of them repeated."""
    codes = [ranges.first[index] for ranges, index in zip(groups.ranges, groups.index, strict=True)]
    return Examples(
        schema=test.schema,
        places=np.stack(codes, axis=1),
        classes=None if groups.classes is None else groups.classes.astype(np.int64),
        weights=groups.counts.astype(np.float64),
    )


def _measured(
    learnt: Examples,
    asked: Examples,
    test: EncodedTable,
    learners: Sequence[Learner],
    *,
    seed: int,
    usual: int,
    done: Done,
) -> dict[Learner, ClassMeasures]:
    truth = _classes(test)
    found = {}
    for at, learner in enumerate(learners):
        done(at / len(learners))
        most = most_examples(learner, len(test.schema.attributes))
        train = learnt if most is None else learnt.sampled(most, seed=seed)
        found[learner] = class_measures(truth, answered_by(learner, train, asked), usual=usual)
    return found


def _classes(table: EncodedTable) -> NDArray[np.int64]:
    if table.classes is None or not len(table):
        raise DataError(
            "there are no records with a class to compare with",
            where="evaluation",
            do="Give a table whose plan names a class, with records in it.",
        )
    return table.classes.astype(np.int64)
