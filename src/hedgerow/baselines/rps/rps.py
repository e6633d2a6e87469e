"""RPS: boxes by recursive private medians of attributes taken at random.

The instantiation for relational data of Recursive Partitioning and Summarization [Qardaji
and Li, ASIACCS 2012], as [DiffMulti, Sec. 2.2 and 5] describes and compares with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Departure, Outline, Step
from hedgerow.model.placed import Borders
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.privacy.source import RandomSource, below
from hedgerow.taxonomy.even_steps import EVEN_STEPS
from hedgerow.trees.axes import Axis, split_positions
from hedgerow.trees.binary_splits import (
    borders_of_some,
    no_splits,
    smaller_sides,
    split_in_two,
)
from hedgerow.trees.coarsening import require_share
from hedgerow.trees.leaves import Measurements, publish_leaves
from hedgerow.trees.topdown import STOP, Boxes, Level, Split, grow

POSITIONS = 1024
"""A range of more codes than this offers that many equal steps, and finer ones at its ends."""

MOST_SCORES = 1 << 22
"""Fewer steps are offered where very many boxes would score more positions than this."""

MEDIANS = Fraction(1, 2)
"""Share of epsilon for the medians of all levels."""

_PAPER = "RPS (Qardaji and Li, ASIACCS 2012)"

DEPARTURES = (
    Departure(
        paper=_PAPER,
        what="Recursion ends at a public height, or where a box is a single value everywhere.",
        why="No test of a box's size needs any budget, and true sizes must not decide.",
    ),
    Departure(
        paper=_PAPER,
        what="Medians are positions on the public grid; categorical attributes are cut in the"
        " order of their taxonomy's leaves.",
        why="A position that depends on the values present would show them.",
    ),
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace; counts are projected on whole, non-negative ones of"
        " their noisy sum.",
        why="Low-order bits of a float show what was added to it, and cutting at zero adds"
        " synthetic records.",
    ),
    Departure(
        paper=_PAPER,
        what="Half of epsilon spends on the medians, equally over the levels.",
        why="The description that is followed, DiffMulti's, does not say how it was shared.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class RecursiveMedians:
    """Halve every box at a private median of an attribute taken at random.

    Privacy: neighbours differ in one record. A path spends on one median a level, and its
    leaf gets what is left: epsilon in all (Lemma L2). Attributes are drawn by coins that
    know only the public ranges of the box.
    """

    height: int

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="rps",
            departures=DEPARTURES,
            details={
                "score": "records on the smaller side of a split",
                "sensitivity": "1 record",
                "choice": "exponential mechanism",
                "rate": "share / sensitivity",
            },
        )

    def median_share(self, epsilon: Fraction) -> Fraction:
        """Return what the median of one level costs."""
        return epsilon * MEDIANS / self.height

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        require_share(self.median_share(epsilon))

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what the longest path spends, and how many groups there are at the most."""
        share = self.median_share(epsilon)
        counts = epsilon - share * self.height
        return Outline(
            steps=(
                Step(on="medians", share=share, times=self.height),
                Step(on="counts", share=counts, times=1),
            ),
            counts=counts,
            n_groups=2**self.height * schema.n_classes,
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy groups of the boxes; the ledger is settled afterwards."""
        self.validate(run.engine.schema, run.epsilon)
        growth = _Medians(run=run, height=self.height, share=self.median_share(run.epsilon))
        grown = grow(run, growth)
        run.progress("counting groups", None)
        return publish_leaves(grown, Measurements(), run=run)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Medians:
    """The strategy of one run."""

    run: Run[Engine]
    height: int
    share: Fraction

    def split(self, level: Level) -> Split:
        """Split every box that is not a point, down to the height."""
        self.run.progress("growing boxes", min(level.depth / self.height, 1.0))
        attribute = random_attributes(level.boxes, source=self.run.source)
        if level.depth >= self.height or (attribute == STOP).all():
            return no_splits(len(level.boxes))
        return split_in_two(attribute, self._medians(level, attribute))

    def follow(self, parents: NDArray[np.int64], children: Boxes) -> None:
        """Nothing to carry over."""

    def _medians(self, level: Level, attribute: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return a private median of each box's attribute, as the first code on its right.

        Privacy: boxes are disjoint, so that all choices of a level cost every path one
        ``share`` (parallel composition); the score is monotone with sensitivity 1.
        """
        boxes = level.boxes
        used = [int(a) for a in np.unique(attribute[attribute != STOP])]
        which = {a: np.flatnonzero(attribute == a) for a in used}
        offered = {a: _positions(boxes[which[a]], a, level.axes[a]) for a in used}
        borders = {a: borders_of_some(offered[a], which[a], len(boxes)) for a in used}
        counts = level.bins(borders)
        scores = [smaller_sides(counts[a].sum(axis=1), borders[a]) for a in used]
        lengths = np.concatenate([np.diff(offered[a].starts) for a in used])
        order = np.concatenate([which[a] for a in used])
        chosen = self.run.nodes(boxes.ledger[order]).choose(
            np.concatenate(scores),
            share=self.share,
            on=f"medians {level.depth + 1}",
            sensitivity=Fraction(1),
            monotone=True,
            starts=np.cumsum(lengths) - lengths,
            rule="exponential",
        )
        position = np.zeros(len(boxes), dtype=np.int32)
        position[order] = np.concatenate([offered[a].values for a in used])[chosen]
        return position


def random_attributes(boxes: Boxes, *, source: RandomSource) -> NDArray[np.int32]:
    """Return an attribute for each box, uniform among those with two codes or more.

    ``STOP`` where there is none. Only public ranges are looked at.
    """
    divisible = boxes.stop - boxes.first > 1
    n = divisible.sum(axis=1)
    rank = below(np.maximum(n, 1).astype(np.int64), source=source)
    chosen = (divisible & (np.cumsum(divisible, axis=1) == rank[:, None] + 1)).argmax(axis=1)
    return np.where(n > 0, chosen, STOP).astype(np.int32)


def _positions(boxes: Boxes, attribute: int, axis: Axis) -> Borders:
    """Return where each box may be cut: everywhere, unless its range is very long or of dates."""
    first, stop = boxes.first[:, attribute], boxes.stop[:, attribute]
    if axis.levels:
        return axis.positions(first, stop, even=EVEN_STEPS)
    most = max(MOST_SCORES // len(boxes), EVEN_STEPS)
    return split_positions(first, stop, even=min(POSITIONS, int((stop - first).max()), most))
