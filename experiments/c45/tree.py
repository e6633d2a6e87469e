"""C4.5 and ID3 over weighted rows: grown, pruned, asked.

C4.5 release 8 [Quinlan93], in the reading of Weka's J48: gain ratio among the splits of
average gain or better, a branch for every category, thresholds of numbers charged for their
choice, records with missing values divided among branches, error-based pruning with subtrees
raised. Weights are numbers of records: a row of weight 3 is three rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.c45.asking import answers
from experiments.c45.growing import ATTRIBUTE, FIRST, LEAF, MANY, Nodes, grow
from experiments.c45.learning import MISSING, UNSEEN, Learning, Rules
from experiments.c45.pruning import collapse, prune

C45 = Rules(least=2.0, by_ratio=True, corrected=True)
"""C4.5's own settings: two records to a branch."""

ID3 = Rules(least=1e-6, by_ratio=False, corrected=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """The values of an attribute, not-a-number where one is missing.

    ``categories`` is how many there are, numbered from 0; of a number it is ``None``.
    """

    values: NDArray[np.float64]
    categories: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class DecisionTree:
    """A tree that was learnt, with what is needed to ask it."""

    nodes: Nodes
    learning: Learning

    @property
    def n_leaves(self) -> int:
        """How many leaves there are, those of categories without records included."""
        return self._count()[1]

    @property
    def size(self) -> int:
        """How many nodes there are, leaves included."""
        return sum(self._count())

    def _count(self) -> tuple[int, int]:
        inner, leaves, waiting = 0, 0, [0]
        while waiting:
            at = waiting.pop()
            attribute, first, many = self.nodes.table[at, [ATTRIBUTE, FIRST, MANY]].tolist()
            if attribute == LEAF:
                leaves += 1
                continue
            inner += 1
            sons = self.nodes.sons[first : first + many]
            branches = int(self.learning.declared[attribute]) or 2
            full = sons[sons != LEAF].tolist()
            leaves += branches - len(full)
            waiting += full
        return inner, leaves

    def predict(self, columns: Sequence[Column]) -> NDArray[np.int64]:
        """Return the class of each row."""
        codes = np.stack([self._codes(a, column) for a, column in enumerate(columns)])
        return answers(self.learning, self.nodes, codes)

    def _codes(self, attribute: int, column: Column) -> NDArray[np.int32]:
        start, stop = self.learning.starts[attribute : attribute + 2]
        known = self.learning.values[start:stop]
        found = np.searchsorted(known, column.values)
        if self.learning.declared[attribute]:
            found = np.where(np.isin(column.values, known), found, UNSEEN)
        return np.where(np.isnan(column.values), MISSING, found).astype(np.int32)


def learning_of(
    columns: Sequence[Column],
    classes: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
    *,
    n_classes: int,
) -> Learning:
    """Return training rows in the form that is learnt from; rows of no weight are left out."""
    given = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)
    kept = given > 0
    codes, values = [], []
    for column in columns:
        known = column.values[kept]
        there = np.unique(known[~np.isnan(known)])
        places = np.searchsorted(there, known)
        codes.append(np.where(np.isnan(known), MISSING, places).astype(np.int32))
        values.append(there)
    return Learning(
        codes=np.stack(codes),
        values=np.concatenate(values),
        starts=np.concatenate([[0], np.cumsum([len(one) for one in values])]).astype(np.int64),
        declared=np.array([column.categories or 0 for column in columns], dtype=np.int64),
        classes=np.asarray(classes, dtype=np.int64)[kept],
        weights=given[kept],
        n_records=float(given[kept].sum()),
        n_classes=n_classes,
    )


def c45(learning: Learning, *, pruned: bool = True, rules: Rules = C45) -> DecisionTree:
    """Return C4.5's tree of training rows.

    >>> windy = Column(values=np.array([0.0, 0, 0, 1, 1, 1]), categories=2)
    >>> tree = c45(learning_of([windy], np.array([0, 0, 0, 1, 1, 1]), n_classes=2))
    >>> tree.size, tree.predict([windy]).tolist()
    (3, [0, 0, 0, 1, 1, 1])
    """
    nodes = grow(learning, rules)
    collapse(nodes)
    return DecisionTree(nodes=prune(learning, nodes) if pruned else nodes, learning=learning)


def id3(learning: Learning) -> DecisionTree:
    """Return ID3's tree: the most information gain, a branch for every category, no pruning.

    A branch that no training row takes answers as its node does.
    """
    return DecisionTree(nodes=grow(learning, ID3), learning=learning)
