"""`hedge`, the default for tables: boxes of their own, grown together and then apart.

The first choices are made by all boxes together: one attribute and split for the whole
table, scored by what it does inside every box. Such a choice sees all records, so a small
share makes it well. Later choices are made by each box for itself, where its noisy size
says that it has records enough. Counts measured on the candidate are reused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.hedge.budget import (
    CLASSIFYING,
    DESCRIBING,
    SIZE,
    HedgeBudget,
    HedgeShape,
    HedgeShares,
)
from hedgerow.methods.hedge.budget import STOP as STOP_BELOW
from hedgerow.methods.hedge.marginals import counted_marginals, noisy_marginals
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline
from hedgerow.model.placed import Borders
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.trees.box_choice import own_candidates, split_of
from hedgerow.trees.box_scores import GINI, BoxScore
from hedgerow.trees.leaves import MeasuredCounts, MeasuredTotal, Measurements, publish_leaves
from hedgerow.trees.shared_choice import shared_candidates
from hedgerow.trees.topdown import STOP, Boxes, Level, Split, grow

EXAMPLE_RECORDS = 30_000
"""Number of records that an outline assumes, as it must not read the data."""


@dataclass(frozen=True, kw_only=True)
class Hedge:
    """Divide the domain into boxes by private choices and publish their noisy counts.

    Privacy: neighbours differ in one record. Every path spends on the number of records,
    the marginals, the choices made together, the sizes and choices of its own boxes, and
    its leaf, which gets what is left: epsilon in all (Lemma L2).
    """

    score: BoxScore

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="hedge",
            chosen={"score": self.score.name},
            details={
                "sensitivity": "1 record",
                "choice": "permute-and-flip",
                "rate": "share / sensitivity" if self.score.monotone else "share / (2 sensitivity)",
            },
        )

    @property
    def shares(self) -> HedgeShares:
        """Split of epsilon, by the purpose of the score."""
        return CLASSIFYING if self.score == GINI else DESCRIBING

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where an attribute has more values than scores are proved for."""
        require_domains(schema)

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what a run spends, estimated for a table of 30,000 records."""
        return self.outline_of(schema, epsilon, EXAMPLE_RECORDS)

    def outline_of(self, schema: Schema, epsilon: Fraction, n_records: int) -> Outline:
        """Return what a run on ``n_records`` spends."""
        shape = HedgeShape.of(epsilon, n_records)
        steps = HedgeBudget(epsilon=epsilon, shape=shape, shares=self.shares).steps()
        classes = schema.class_attribute
        n_classes = 1 if classes is None else classes.domain.size
        n_boxes = min(2**shape.shared * 2, shape.most_boxes)
        return Outline(
            steps=steps,
            counts=steps[-1].share,
            n_groups=n_boxes * n_classes,
            notes=(
                "hedge is for a readable generalised table, and for a class at a small epsilon;"
                " weave keeps relations between columns better and gives better records.",
            ),
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy groups of the boxes."""
        run.progress("growing boxes", None)
        strategy = _Growth(run=run, score=self.score, shares=self.shares)
        grown = grow(run, strategy)
        run.progress("counting groups", None)
        groups = publish_leaves(grown, strategy.measured, run=run)
        return replace(groups, marginals=strategy.marginals)


@dataclass(kw_only=True, eq=False, repr=False)
class _Growth:
    """The strategy of one run."""

    run: Run[Engine]
    score: BoxScore
    shares: HedgeShares
    measured: Measurements = field(default_factory=Measurements)
    budget: HedgeBudget | None = None
    marginals: tuple[NDArray[np.float64], ...] = ()

    def split(self, level: Level) -> Split:
        """Decide for every box of a level."""
        budget = self.budget or self._begin(level)
        shape = budget.shape
        depth = max(shape.shared + shape.own, 1)
        self.run.progress("growing boxes", min(level.depth / depth, 1.0))
        if level.depth < shape.shared:
            return self._split_jointly(level, budget)
        if level.depth < shape.shared + shape.own:
            return self._split_each(level, budget)
        return _all_stop(level.boxes)

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Nothing to carry over."""

    def _begin(self, level: Level) -> HedgeBudget:
        """Buy the number of records, by which the depth is set."""
        counted = counted_marginals(level)  # the number of records follows from them: one pass
        epsilon = self.run.epsilon
        share = epsilon * SIZE
        noisy = self.run.noisy_total(level.classes(), share=share, on="number of records")
        self.measured.total = MeasuredTotal(noisy=noisy, share=share)
        self.budget = HedgeBudget(
            epsilon=epsilon, shape=HedgeShape.of(epsilon, noisy), shares=self.shares
        )
        self.marginals = noisy_marginals(
            level, counted, noisy, share=self.budget.marginals, run=self.run
        )
        return self.budget

    def _split_jointly(self, level: Level, budget: HedgeBudget) -> Split:
        """Choose one part of one attribute, and its split, for all boxes that hold it.

        Privacy: the score of a candidate is the sum over all boxes, split where they hold the
        part and unsplit elsewhere. A record is in one box, so the sum moves by at most
        the sensitivity; what all candidates have in common does not matter to the choice. The
        one choice reads every box, so every path spends its share.
        """
        shared = shared_candidates(level, self.score, most_boxes=budget.shape.most_boxes)
        if not len(shared.scores):
            return _all_carried(level.boxes)
        chosen = self.run.nodes(level.boxes.ledger).choose(
            shared.scores,
            share=budget.shared,
            on=f"shared choice {level.depth + 1}",
            sensitivity=self.score.sensitivity,
            monotone=self.score.monotone,
            weights=shared.weights,
        )
        return shared.split(int(chosen[0]), level)

    def _split_each(self, level: Level, budget: HedgeBudget) -> Split:
        """Choose for every box by itself, where its noisy size is worth a split."""
        boxes = level.boxes
        at = level.depth - budget.shape.shared + 1
        noisy = self.run.nodes(boxes.ledger).noisy(
            level.classes(), share=budget.sizes, on=f"box sizes {at}"
        )
        self.measured.counts.append(
            MeasuredCounts(tree=boxes.tree, noisy=noisy, share=budget.sizes)
        )
        large = noisy.sum(axis=1) * float(budget.own) >= STOP_BELOW
        own = own_candidates(level, self.score, large)
        if not len(own.scores):
            return _all_stop(boxes)
        chosen = self.run.nodes(boxes.ledger[own.boxes]).choose(
            own.scores,
            share=budget.own,
            on=f"own choice {at}",
            sensitivity=self.score.sensitivity,
            monotone=self.score.monotone,
            starts=own.starts,
            weights=own.weights,
        )
        return split_of(own, chosen, level)


def _all_stop(boxes: Boxes) -> Split:
    none = Borders(
        starts=np.zeros(len(boxes) + 1, dtype=np.int64), values=np.zeros(0, dtype=np.int32)
    )
    return Split(attribute=np.full(len(boxes), STOP, dtype=np.int32), borders=none)


def _all_carried(boxes: Boxes) -> Split:
    """Leave all boxes as they are for the next level."""
    stop = _all_stop(boxes)
    return Split(attribute=np.zeros(len(boxes), dtype=np.int32), borders=stop.borders)
