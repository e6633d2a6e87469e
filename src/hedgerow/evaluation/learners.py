"""Learners that take weighted examples and predict classes with scores.

``tree`` is scikit-learn's decision tree (CART, by entropy, pruned), ``bayes`` naive Bayes over
ranges, ``svm`` a linear support vector machine, ``boosting`` gradient-boosted trees.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError, MissingExtraError
from hedgerow.evaluation.class_measures import Answered, Classes, always
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.features import added_up, side_by_side, standardised, turned

Learner = Literal["tree", "bayes", "svm", "boosting"]
LEARNERS: tuple[Learner, ...] = get_args(Learner)

PRUNING = 0.0002
"""Cost-complexity pruning of the trees; an unpruned tree learns noise."""

MOST_TRAINED = 30_000
"""Maximum number of examples for the support vector machine and boosting; more are sampled."""

MOST_GROWN = 100_000
"""Maximum number of examples for a tree; more are sampled."""

MOST_CELLS = 2_000_000
"""Maximum number of values for a tree: fewer examples of wide tables, but at least 30,000."""

ROUNDS = 60
"""Number of boosted trees."""

BOOSTED_BINS = 255
"""Maximum number of places of a column that boosting distinguishes."""

LEAST_RECORDS = 20
"""Minimum number of records of a leaf of a boosted tree."""

NUMERIC_BINS = 32
"""Number of bins of about equal weight in which naive Bayes puts a numeric attribute."""


def most_examples(learner: Learner, n_attributes: int) -> int | None:
    """Return the maximum number of training examples of a learner; None: no limit.

    >>> most_examples("tree", 14), most_examples("tree", 100), most_examples("bayes", 14)
    (100000, 30000, None)
    """
    if learner == "tree":
        return min(MOST_GROWN, max(MOST_TRAINED, MOST_CELLS // max(n_attributes, 1)))
    return None if learner == "bayes" else MOST_TRAINED


def predict(learner: Learner, train: Examples, test: Examples) -> Classes:
    """Return the class that a model predicts for each test example."""
    return answered_by(learner, train, test).classes


def answered_by(learner: Learner, train: Examples, test: Examples) -> Answered:
    """Return the predictions of a model for each test example.

    Without training examples every prediction is the first class.
    """
    if train.classes is None:
        raise DataError(
            "No record has a class to learn from.",
            where="evaluation",
            do="Give a table whose plan names a class, with records in it.",
        )
    if not len(train) or not len(test) or (train.classes == train.classes[0]).all():
        only = int(train.classes[0]) if len(train) else 0
        return always(only, len(test), _n_classes(train))
    return _LEARN[learner](train, train.classes, test)


def _n_classes(examples: Examples) -> int:
    target = examples.schema.class_attribute
    known = 0 if examples.classes is None else int(examples.classes.max(initial=0)) + 1
    return known if target is None else target.domain.size


def _answered(classes: Any, shares: Any, known: Any, n_classes: int) -> Answered:
    """Return predictions with a score for every class; unseen classes have the lowest ones."""
    columns = np.asarray(shares, dtype=np.float64)
    scores = np.full((len(columns), n_classes), float(columns.min(initial=0.0)) - 1.0)
    scores[:, np.asarray(known, dtype=np.int64)] = columns
    return Answered(classes=np.asarray(classes, dtype=np.int64), scores=scores)


def _tree(train: Examples, classes: Classes, test: Examples) -> Answered:
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise MissingExtraError("Learning a decision tree", extra="evaluate") from error
    tree = DecisionTreeClassifier(criterion="entropy", ccp_alpha=PRUNING, random_state=0)
    tree.fit(train.places, classes, sample_weight=train.weights)
    shares = tree.predict_proba(test.places)
    predicted = tree.classes_[shares.argmax(axis=1)]
    return _answered(predicted, shares, tree.classes_, _n_classes(train))


def _bayes(train: Examples, classes: Classes, test: Examples) -> Answered:
    """Use add-one estimates of each range's probability, by class."""
    known = int(classes.max()) + 1
    size = np.bincount(classes, weights=train.weights, minlength=known)
    scores = np.tile(np.log(np.maximum(size, 1e-300)), (len(test), 1))
    for at in range(train.places.shape[1]):
        learnt, rows, n = _bins(train, test, at)
        weights = np.bincount(
            classes * n + learnt, weights=train.weights, minlength=known * n
        ).reshape(known, n)
        chance = np.log((weights + 1) / (size[:, None] + n))
        scores += chance.T[rows]
    predicted = scores.argmax(axis=1)
    return _answered(predicted, _log_odds(scores), np.arange(known), _n_classes(train))


def _log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds of each class from its log-probabilities, up to a constant.

    Probabilities are rounded to 0 or 1 for most rows of a wide table, and rank nothing.
    """
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    rest = scores.copy()
    rest[rows, top] = -np.inf  # the most probable class, against all others
    others = np.logaddexp.reduce(rest, axis=1)
    whole = np.logaddexp(others, scores[rows, top])
    part = np.exp(scores - whole[:, None])
    odds: NDArray[np.float64] = scores - whole[:, None] - np.log1p(-np.minimum(part, 0.75))
    odds[rows, top] = scores[rows, top] - others
    return odds


def _bins(
    train: Examples, test: Examples, at: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the bins of one attribute for both sides, and their number."""
    learnt = train.places[:, at].astype(np.int64)
    rows = test.places[:, at].astype(np.int64)
    attribute = train.schema.attributes[at]
    if train.ranges is not None:
        return learnt, rows, len(train.ranges[at])
    if attribute.domain.kind == "categorical" or attribute.domain.size <= NUMERIC_BINS:
        return learnt, rows, attribute.domain.size
    weights = np.cumsum(np.bincount(learnt, train.weights, minlength=attribute.domain.size))
    bins = np.minimum(weights * NUMERIC_BINS // weights[-1], NUMERIC_BINS - 1).astype(np.int64)
    return bins[learnt], bins[rows], NUMERIC_BINS


def _svm(train: Examples, classes: Classes, test: Examples) -> Answered:
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC
    except ImportError as error:
        raise MissingExtraError("Learning a support vector machine", extra="evaluate") from error
    tables = turned(standardised(train.tables(), train.places, train.weights), train.places)
    model = LinearSVC(dual=False, random_state=0, tol=1e-3, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(side_by_side(tables, train.places), classes, sample_weight=train.weights)
    columns = added_up(tables, test.places, model.coef_.T) + model.intercept_
    if columns.shape[1] == 1:  # one number for two classes
        columns = np.concatenate([-columns, columns], axis=1)
    predicted = model.classes_[columns.argmax(axis=1)]
    return _answered(predicted, columns, model.classes_, _n_classes(train))


def _boosting(train: Examples, classes: Classes, test: Examples) -> Answered:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("Boosting", extra="evaluate") from error
    # A leaf needs 20 records. A group may be many records, so shrinkage replaces the limit.
    alone = bool((train.weights == 1).all())
    model = HistGradientBoostingClassifier(
        random_state=0,
        max_iter=ROUNDS,
        early_stopping=False,
        min_samples_leaf=LEAST_RECORDS if alone else 1,
        l2_regularization=0.0 if alone else float(LEAST_RECORDS),
    )
    known, rows = (train.places, test.places) if alone else _binned(train, test)
    # With few records, threads gain little and lose much on a busy machine.
    with threadpool_limits(limits=1, user_api="openmp"):
        model.fit(known, classes, sample_weight=None if alone else train.weights)
        shares = _shares_of(model, rows, alike=train.ranges is not None)
    predicted = model.classes_[shares.argmax(axis=1)]
    return _answered(predicted, shares, model.classes_, _n_classes(train))


def _shares_of(model: Any, rows: NDArray[np.int32], *, alike: bool) -> NDArray[np.float64]:
    """Return the probability of each class by row; equal rows are predicted once."""
    if not alike:
        return np.asarray(model.predict_proba(rows))
    whose, one_of_each = row_numbers(list(rows.T))
    return np.asarray(model.predict_proba(rows[one_of_each]))[whose]


def _binned(train: Examples, test: Examples) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return both sides' places, with long columns in bins of about equal weight.

    Boosting finds such bins itself, but for weighted examples at a hundred times the cost.
    """
    known, rows = train.places.copy(), test.places.copy()
    for at in range(known.shape[1]):
        size = int(max(known[:, at].max(initial=0), rows[:, at].max(initial=0))) + 1
        if size > BOOSTED_BINS:
            weights = np.cumsum(np.bincount(known[:, at], train.weights, minlength=size))
            bins = np.minimum(weights * BOOSTED_BINS // weights[-1], BOOSTED_BINS - 1)
            known[:, at], rows[:, at] = bins[known[:, at]], bins[rows[:, at]]
    return known, rows


_LEARN: dict[Learner, Callable[[Examples, Classes, Examples], Answered]] = {
    "tree": _tree,
    "bayes": _bayes,
    "svm": _svm,
    "boosting": _boosting,
}
