"""Accuracy of classifiers trained on a release, on records that they have not seen.

For the data owner: figures compare with the raw table and are not private.
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
from hedgerow.report.headlines import Facts

By = Literal["boxes", "records"]
"""Train on groups and generalise the test rows, or train on records drawn from the release."""


MOST_LISTED = 50
"""Maximum number of classes whose recalls are listed, the rarest first."""

ByLearner = dict[Learner, ClassMeasures]

_MEASURES = {"auc": "auc", "balanced-accuracy": "balanced", "rare-recall": "rare"}


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Accuracy on held-out records.

    ``floor`` always predicts the most frequent class, ``release`` is trained on the release
    alone, ``ceiling`` on the raw records: LA, CA and BA of [DiffGen, Sec. 5].
    """

    floor: float
    release: float
    ceiling: float


def tree_accuracy(groups: Groups, *, train: EncodedTable, test: EncodedTable) -> Accuracy:
    """Return floor, release and ceiling of a decision tree on ``test``.

    ``train`` is the table that was released; only the ceiling and the floor use it.
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

    Combines :func:`release_accuracies` and :func:`raw_accuracies`. For many releases of one
    table, call these two instead, the second only once.
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
    """Return the measures of always predicting the most frequent class of ``train``."""
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
    learnt, rows = Examples.of_records(train), Examples.of_records(test)
    usual = usual_class(train)
    return _measured(learnt, rows, test, learners, seed=seed, usual=usual, done=done)


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
    records drawn from the release and leaves the rows of ``test`` unchanged. The default is
    boxes if the groups themselves divide the domain. A release of records with a leaf table has
    boxes as well: those of its leaves.
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

    Like :func:`release_accuracies`; ``usual`` is the most frequent class.
    """
    learnt, rows = examples_of(groups, test, by=by, seed=seed)
    return _measured(learnt, rows, test, learners, seed=seed, usual=usual, done=done)


def examples_of(
    groups: Groups, test: EncodedTable, *, by: By | None, seed: int = 0
) -> tuple[Examples, Examples]:
    """Return the training examples of a release, and the rows of ``test`` in the same form."""
    boxes = boxes_of(groups, test.schema) if by == "boxes" or is_placed(groups) else None
    if by == "boxes" and boxes is None:
        raise ReleaseError(
            "This release has no tree that assigns records to boxes.",
            where="evaluation",
            do="Train on records drawn from it instead: by='records'.",
        )
    if boxes is not None and by != "records":
        return Examples.of_groups(test.schema, boxes), Examples.of_rows(boxes, test)
    rows = Examples.of_records(test)
    if is_pointlike(groups):
        return _points(groups, test), rows
    return Examples.of_records(drawn(groups, test.schema, seed=seed)), rows


def _points(groups: Groups, test: EncodedTable) -> Examples:
    """Return the groups of a release of points as weighted records without duplicates."""
    codes = [ranges.first[index] for ranges, index in zip(groups.ranges, groups.index, strict=True)]
    return Examples(
        schema=test.schema,
        places=np.stack(codes, axis=1),
        classes=None if groups.classes is None else groups.classes.astype(np.int64),
        weights=groups.counts.astype(np.float64),
    )


def _measured(
    learnt: Examples,
    rows: Examples,
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
        found[learner] = class_measures(truth, answered_by(learner, train, rows), usual=usual)
    return found


def _classes(table: EncodedTable) -> NDArray[np.int64]:
    if table.classes is None or not len(table):
        raise DataError(
            "There are no records with a class to compare with.",
            where="evaluation",
            do="Give a table whose plan names a class, with records in it.",
        )
    return table.classes.astype(np.int64)


def measure_facts(
    floor: ClassMeasures,
    boxes: ByLearner | None,
    records: ByLearner,
    ceiling: ByLearner,
    judged: ByLearner,
) -> Facts:
    """Return the measures beside accuracy, each by learner between its floor and its ceiling.

    ``judged`` are those of the boxes or of the records, whichever the release consists of.
    """
    return {
        name: {
            "floor": getattr(floor, key),
            "release": {
                "boxes": None if boxes is None else _column(boxes, key),
                "records": _column(records, key),
            },
            "ceiling": _column(ceiling, key),
            "kept": kept_of(floor, judged, ceiling, key),
        }
        for name, key in _MEASURES.items()
    }


def _column(measures: ByLearner, key: str) -> dict[Learner, float | None]:
    return {learner: getattr(each, key) for learner, each in measures.items()}


def kept_of(
    floor: ClassMeasures, release: ByLearner, ceiling: ByLearner, key: str
) -> dict[Learner, float | None]:
    """Return, by learner, the release's share of the way from floor to ceiling."""
    return {
        learner: _kept(getattr(floor, key), getattr(each, key), getattr(ceiling[learner], key))
        for learner, each in release.items()
    }


def _kept(floor: float | None, release: float | None, ceiling: float | None) -> float | None:
    if floor is None or release is None or ceiling is None or ceiling <= floor:
        return None
    return (release - floor) / (ceiling - floor)


def class_rows(
    labels: list[str],
    shares: list[float],
    boxes: ByLearner | None,
    records: ByLearner,
    ceiling: ByLearner,
) -> list[Facts]:
    """Return the recall of each class by learner, the rarest class first."""
    there = sorted((share, at) for at, share in enumerate(shares) if share > 0)
    return [
        {
            "label": labels[at],
            "share": share,
            "release": {
                "boxes": None if boxes is None else _recalls(boxes, at),
                "records": _recalls(records, at),
            },
            "ceiling": _recalls(ceiling, at),
        }
        for share, at in there[:MOST_LISTED]
    ]


def _recalls(measures: ByLearner, at: int) -> dict[Learner, float | None]:
    return {learner: each.recalls[at] for learner, each in measures.items()}
