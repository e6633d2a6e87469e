"""DiffP-C4.5: a private decision tree, asked for interactively, to compare releases with.

Each node measures its noisy size and a private choice of its split, each leaf its noisy class
counts [DiffP-C4.5]. [DiffGen, Fig. 4] compares with it. What comes out is one classifier and
not data: whoever wants another question answered spends again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.pruning import pruned
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import DataError, SettingError
from hedgerow.methods.diffmulti.scores import INFOGAIN, MAX
from hedgerow.model.groups import Tree
from hedgerow.model.locate import box_of
from hedgerow.model.placed import Borders
from hedgerow.model.run import Run
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.labels import ROOT
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.box_choice import own_candidates, split_of
from hedgerow.trees.box_scores import GINI, BoxScore, Children
from hedgerow.trees.topdown import STOP, Boxes, Grown, Level, Split, grow

TreeScoreName = Literal["max", "gini", "infogain"]

DEPTH = 5
"""The most splits of a path, as in the paper's experiments."""

MOST_DEPTH = 30


def _majority(children: Children) -> NDArray[np.int64]:
    """Return the records that a majority vote in each child gets right."""
    return MAX.of(children, np.zeros(0))


def _information(children: Children) -> NDArray[np.int64]:
    """Return the mutual information of child and class, in units of 2^-30 bit."""
    return INFOGAIN.of(children, np.zeros(0))


SCORES: dict[TreeScoreName, BoxScore] = {
    # One record raises one child's maximum by 0 or 1: all scores move one candidate.
    "max": BoxScore(name="max", monotone=True, sensitivity=Fraction(1), of=_majority),
    "gini": GINI,
    "infogain": BoxScore(
        name="infogain", monotone=False, sensitivity=INFOGAIN.span / 2, of=_information
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateTree:
    """A decision tree with the class that each of its boxes answers; it may be published."""

    tree: Tree
    answers: NDArray[np.int64]

    def predict(self, table: EncodedTable) -> NDArray[np.int64]:
        """Return the class of each record."""
        return self.answers[box_of(self.tree, table.codes)]

    def accuracy(self, table: EncodedTable) -> float:
        """Return the share of records whose class the tree tells (owner only)."""
        if table.classes is None or not len(table):
            raise _no_class()
        return float(np.mean(self.predict(table) == table.classes))


def private_tree(
    train: EncodedTable,
    *,
    epsilon: Fraction,
    ledger: PathLedger,
    source: RandomSource,
    depth: int = DEPTH,
    score: TreeScoreName = "max",
    prune: bool = True,
) -> PrivateTree:
    """Return a decision tree of the records that costs ``epsilon``.

    A categorical attribute splits into all of its values, a numeric one in two.

    Departs: the paper first chooses a split point of every numeric attribute of every node;
    here the one choice of a node is among all attributes and public split points, and the
    budget that is spared goes to all steps. Leaves get whatever their path has left.
    Noise is discrete, and information gain is that of a record, whose sensitivity does
    not depend on the confidential number of records.

    Privacy: neighbours differ in one record. Each path spends a share of
    epsilon / (2 (depth + 1)) for the size and for the choice of each of its nodes, and
    what is left for the class counts of its leaf: epsilon in all (Lemma L2). Pruning
    sees noisy counts only.
    """
    if not 0 <= depth <= MOST_DEPTH:
        raise SettingError.out_of_range("depth", depth, f"a whole number from 0 to {MOST_DEPTH}")
    if score not in SCORES:
        raise SettingError(
            f"{score!r} is not known", where="score", do=f"Give one of: {', '.join(SCORES)}."
        )
    if train.classes is None:
        raise _no_class()
    flat = _flattened(train)
    engine = MemoryEngine(table=flat)
    run = Run(engine=engine, epsilon=epsilon, ledger=ledger, source=source)
    strategy = _Growth(
        score=SCORES[score],
        depth=depth,
        share=epsilon / (2 * (depth + 1)),
        widest=_most_children(flat.schema),
        run=run,
    )
    grown = grow(run, strategy)
    noisy, _ = run.noisy_rest(grown.counts, nodes=grown.leaves.ledger, on="class counts")
    tree = _tree_of(grown)
    return PrivateTree(tree=tree, answers=pruned(tree, noisy, keep_all=not prune))


@dataclass(kw_only=True, eq=False, repr=False)
class _Growth:
    """The strategy of one run: sizes, then choices, level by level."""

    score: BoxScore
    depth: int
    share: Fraction
    widest: int
    run: Run[MemoryEngine]

    def split(self, level: Level) -> Split:
        """Decide for every box of a level."""
        boxes = level.boxes
        if level.depth >= self.depth:
            return _all_stop(boxes)
        counts = level.classes()
        noisy = self.run.nodes(boxes.ledger).noisy(
            counts.sum(axis=1), share=self.share, on=f"sizes {level.depth + 1}"
        )
        # On average a class of a child must stand out from its noise.
        least = math.sqrt(2) / float(self.share) * self.widest * counts.shape[1]
        own = own_candidates(level, self.score, noisy >= least)
        if not len(own.scores):
            return _all_stop(boxes)
        chosen = self.run.nodes(boxes.ledger[own.boxes]).choose(
            own.scores,
            share=self.share,
            on=f"choices {level.depth + 1}",
            sensitivity=self.score.sensitivity,
            monotone=self.score.monotone,
            starts=own.starts,
            weights=own.weights,
            rule="exponential",
        )
        return split_of(own, chosen, level)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Nothing to carry over."""


def _all_stop(boxes: Boxes) -> Split:
    none = Borders(
        starts=np.zeros(len(boxes) + 1, dtype=np.int64), values=np.zeros(0, dtype=np.int32)
    )
    return Split(attribute=np.full(len(boxes), STOP, dtype=np.int32), borders=none)


def _flattened(table: EncodedTable) -> EncodedTable:
    """Return the table with all values of a taxonomy side by side; the codes are the same."""
    attributes = tuple(_flat(attribute) for attribute in table.schema.attributes)
    return replace(table, schema=replace(table.schema, attributes=attributes))


def _flat(attribute: Attribute) -> Attribute:
    domain = attribute.domain
    if not isinstance(domain, CategoricalDomain):
        return attribute
    root, leaves = ROOT, domain.taxonomy.leaf_labels
    while root in leaves:
        root += ROOT
    side_by_side = replace(domain, taxonomy=Taxonomy.flat(leaves, root=root))
    return replace(attribute, domain=side_by_side)


def _most_children(schema: Schema) -> int:
    """Return into how many children any split can divide: the paper's t."""
    sizes = [
        attribute.domain.size if attribute.domain.kind == "categorical" else 2
        for attribute in schema.attributes
    ]
    return max(sizes, default=1)


def _tree_of(grown: Grown) -> Tree:
    box = np.full(len(grown.parent), -1, dtype=np.int32)
    box[grown.leaves.tree] = np.arange(len(grown.leaves), dtype=np.int32)
    return Tree(
        parent=grown.parent,
        attribute=grown.attribute,
        first=grown.first,
        stop=grown.stop,
        box=box,
        sizes=np.zeros(len(grown.parent)),
    )


def _no_class() -> DataError:
    return DataError(
        "there are no records with a class to learn from",
        where="evaluation",
        do="Give a table whose plan names a class.",
    )
