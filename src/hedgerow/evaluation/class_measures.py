"""Measures of predicted classes beside accuracy.

If 94 of 100 records are of one class, always predicting it is right in 94 cases and never finds
the other class. These measures weigh classes alike. For the data owner: not private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError

MOST_RANKED = 50
"""Maximum number of classes, the most frequent ones, that the mean AUC is taken over."""

Classes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answered:
    """Predicted class of each test row, and a score for each class.

    ``scores`` has a row per test row and a column per class; only the order in a column is used.
    """

    classes: Classes
    scores: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ClassMeasures:
    """Accuracy, AUC and recalls of predictions.

    ``auc`` is the probability that a row of a class has a higher score for it than a row of another
    class, ties counting half: the mean over classes, each against all others, or None if the test
    rows have one class only. ``recalls`` has an entry per class, None without test rows of it;
    ``balanced`` is their mean, ``rare`` the mean over all classes but ``usual``, the most frequent
    one.
    """

    accuracy: float
    auc: float | None
    balanced: float
    rare: float | None
    recalls: tuple[float | None, ...]
    usual: int


def class_measures(truth: Classes, answered: Answered, *, usual: int) -> ClassMeasures:
    """Return all measures of predictions for test rows with known classes.

    >>> certain = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> answered = Answered(classes=np.array([0, 1, 0]), scores=certain)
    >>> found = class_measures(np.array([0, 1, 1]), answered, usual=0)
    >>> found.accuracy, found.balanced, found.rare, found.auc
    (0.6666666666666666, 0.75, 0.5, 0.75)
    """
    if not len(truth):
        raise DataError(
            "There are no test rows.",
            where="evaluation",
            do="Give test rows with a class.",
        )
    n_classes = answered.scores.shape[1]
    recalls = _recalls(truth, answered.classes, n_classes)
    rarer = [each for at, each in enumerate(recalls) if at != usual]
    return ClassMeasures(
        accuracy=float(np.mean(answered.classes == truth)),
        auc=mean_auc(truth, answered.scores),
        balanced=_mean(recalls) or 0.0,
        rare=_mean(rarer),
        recalls=tuple(recalls),
        usual=usual,
    )


def always(usual: int, n: int, n_classes: int) -> Answered:
    """Return predictions that are always the same class, with equal scores."""
    return Answered(classes=np.full(n, usual, dtype=np.int64), scores=np.zeros((n, n_classes)))


def mean_auc(truth: Classes, scores: NDArray[np.float64]) -> float | None:
    """Return the mean AUC of the classes, each against all others."""
    sizes = np.bincount(truth, minlength=scores.shape[1])
    found = [int(at) for at in np.argsort(-sizes, kind="stable") if 0 < sizes[at] < len(truth)]
    areas = [auc(truth == at, scores[:, at]) for at in found[:MOST_RANKED]]
    return float(np.mean(areas)) if areas else None


def auc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the receiver operating characteristic, by ranks [Mann-Whitney].

    >>> auc(np.array([True, False, False]), np.array([0.7, 0.7, 0.1]))
    0.75
    """
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(many) - (many - 1) / 2)[place]  # equal scores have equal ranks
    n_positive = int(positive.sum())
    n_pairs = n_positive * (len(positive) - n_positive)
    above = float(ranks[positive].sum()) - n_positive * (n_positive + 1) / 2
    return above / n_pairs


def _recalls(truth: Classes, predicted: Classes, n_classes: int) -> list[float | None]:
    sizes = np.bincount(truth, minlength=n_classes)
    right = np.bincount(truth[predicted == truth], minlength=n_classes)
    pairs = zip(right.tolist(), sizes.tolist(), strict=True)
    return [found / size if size else None for found, size in pairs]


def _mean(values: list[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return float(np.mean(known)) if known else None
