"""Releases of a table by the methods that the papers compare, for experiments."""

from __future__ import annotations

from fractions import Fraction

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.classification import (
    majority_accuracy,
    raw_accuracies,
    release_accuracies,
)
from hedgerow.evaluation.learners import Learner
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import ScoreName, multi_score
from hedgerow.methods.kanonymity.mondrian import Mondrian
from hedgerow.methods.kanonymity.tds import TopDownSpecialisation
from hedgerow.model.groups import Groups
from hedgerow.model.method import PlainMethod, TableMethod
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.budget import PathLedger
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
    return method.publish(
        MemoryEngine(table=table), epsilon=epsilon, ledger=PathLedger(epsilon), source=source
    )


def released_plainly(method: PlainMethod, table: EncodedTable, *, source: RandomSource) -> Groups:
    """Return a release of a method without a guarantee of differential privacy."""
    method.validate(table.schema)
    return method.publish(MemoryEngine(table=table), source=source)


def accuracy(groups: Groups, test: EncodedTable, *, learner: Learner = "tree") -> float:
    """Return the percentage of test records that a learner of the release gets right."""
    return 100 * release_accuracies(groups, test=test, learners=(learner,))[learner]


def bounds(
    train: EncodedTable, test: EncodedTable, *, learner: Learner = "tree"
) -> tuple[float, float]:
    """Return LA and BA in per cent: without attributes, and from the raw records."""
    raw = raw_accuracies(train=train, test=test, learners=(learner,))[learner]
    return 100 * majority_accuracy(train=train, test=test), 100 * raw
