"""How well a decision tree learnt from a release classifies records it has not seen.

For the data owner: the figures here compare with the raw table and are not private.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.table import EncodedTable
from hedgerow.errors import DataError, MissingExtraError, ReleaseError
from hedgerow.partition.groups import Groups
from hedgerow.partition.locate import box_of

PRUNING = 0.0002
"""Cost-complexity pruning of the trees; C4.5 prunes, and an unpruned tree learns noise."""


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
    truth, known = _classes(test), _classes(train)
    return Accuracy(
        floor=float(np.mean(truth == np.bincount(known).argmax())),
        release=float(np.mean(_from_release(groups, test) == truth)),
        ceiling=float(np.mean(_from_records(train, test) == truth)),
    )


def _classes(table: EncodedTable) -> NDArray[np.int64]:
    if table.classes is None or not len(table):
        raise DataError(
            "there are no records with a class to compare with",
            where="evaluation",
            do="Give a table whose plan names a class, with records in it.",
        )
    return table.classes.astype(np.int64)


def _tree() -> Any:
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise MissingExtraError("Learning a decision tree", extra="evaluate") from error
    return DecisionTreeClassifier(criterion="entropy", ccp_alpha=PRUNING, random_state=0)


def _from_release(groups: Groups, test: EncodedTable) -> NDArray[np.int64]:
    """Return the classes that a tree of the release gives the test records."""
    if groups.classes is None or not len(groups):
        return np.zeros(len(test), dtype=np.int64)
    tree = _tree().fit(np.stack(groups.index, axis=1), groups.classes, sample_weight=groups.counts)
    predicted: NDArray[np.int64] = tree.predict(_generalised(groups, test))
    return predicted


def _generalised(groups: Groups, test: EncodedTable) -> NDArray[np.int32]:
    """Return the range of each attribute that the release puts each record in."""
    if not groups.is_cut:
        return _boxed(groups, test)
    sizes = [attribute.domain.size for attribute in test.schema.attributes]
    places = [
        ranges.partition_of(size)[codes]
        for ranges, size, codes in zip(groups.ranges, sizes, test.codes, strict=True)
    ]
    return np.stack(places, axis=1)


def _boxed(groups: Groups, test: EncodedTable) -> NDArray[np.int32]:
    if groups.tree is None or groups.boxes is None:
        raise ReleaseError(
            "no tree leads records to the boxes of this release",
            where="evaluation",
            do="Evaluate a release of another method, such as diffgen or hedge.",
        )
    box = box_of(groups.tree, test.codes)
    return np.stack([of_boxes[box] for of_boxes in groups.boxes], axis=1)


def _from_records(train: EncodedTable, test: EncodedTable) -> NDArray[np.int64]:
    tree = _tree().fit(np.stack(train.codes, axis=1), _classes(train))
    predicted: NDArray[np.int64] = tree.predict(np.stack(test.codes, axis=1))
    return predicted
