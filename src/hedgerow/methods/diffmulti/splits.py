"""The splits that boxes offer, scored for a whole level, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.methods.diffmulti.scores import MultiScore
from hedgerow.model.engine import Engine
from hedgerow.model.placed import Borders, ragged
from hedgerow.model.run import Run
from hedgerow.privacy.choice import Rule, position_in_block
from hedgerow.trees.axes import Axis, split_positions
from hedgerow.trees.binary_splits import borders_of_some
from hedgerow.trees.box_scores import splits_at_borders, splits_into_children
from hedgerow.trees.topdown import STOP, Boxes, Level, Split

MOST_POSITIONS = 1024
"""Split positions of a range, at the most: a wider one offers evenly spaced ones."""

LEAST_POSITIONS = 16
"""Split positions that a range offers where a level has very many boxes."""

MOST_CELLS = 1 << 20
"""Counts of a level, at about which its ranges offer fewer positions."""

_WEIGHT_UNITS = 1 << 10


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Offers:
    """One attribute's scored splits, by boxes (rows of the level), ascending; confidential.

    Split ``s`` of box ``box[s]`` is a numeric border, or all children of its node;
    ``borders`` are the attribute's borders for all boxes of the level, and ``border[s]``
    the first of the split's own among them.
    """

    attribute: int
    borders: Borders
    box: NDArray[np.int64]
    border: NDArray[np.int64]
    scores: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.box)

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Offers:
        return Offers(
            attribute=self.attribute,
            borders=self.borders,
            box=self.box[which],
            border=self.border[which],
            scores=self.scores[which],
        )


def positions_for(
    boxes: Boxes, attribute: int, axis: Axis, which: NDArray[np.bool_], *, most: int
) -> Borders:
    """Return the split positions that a numeric attribute offers in some of the boxes.

    Every position of the public grid inside the range, or ``most`` evenly spaced ones; of
    dates, where years, quarters, months or steps begin.
    """
    first, stop = boxes.first[:, attribute], boxes.stop[:, attribute]
    if axis.levels:
        some = np.flatnonzero(which)
        offered = axis.positions(first[some], stop[some], even=LEAST_POSITIONS)
        return borders_of_some(offered, some, len(boxes))
    length = (stop - first).astype(np.int64)
    wide = which & (length > most)
    n_narrow = np.where(which & ~wide, length - 1, 0)
    coarse = split_positions(first[wide], stop[wide], even=most)
    lengths = n_narrow.copy()
    lengths[wide] = np.diff(coarse.starts)
    starts, inside = ragged(lengths)
    owner = np.repeat(np.arange(len(boxes)), lengths)
    values = first[owner] + inside + 1
    values[wide[owner]] = coarse.values
    return Borders(starts=starts, values=values.astype(np.int32))


def most_positions(n_ranges: int, n_classes: int) -> int:
    """Return how many positions a range offers, from public numbers of the level."""
    fitting = MOST_CELLS // max(n_ranges * n_classes, 1)
    return min(max(fitting, LEAST_POSITIONS), MOST_POSITIONS)


def node_borders(boxes: Boxes, attribute: int, axis: Axis, which: NDArray[np.bool_]) -> Borders:
    """Return the borders between the children of some boxes' taxonomy nodes."""
    nodes = axis.node_of(boxes.first[:, attribute], boxes.stop[:, attribute])
    return axis.child_borders(np.where(which, nodes, -1).astype(np.int32))


def offers_of(level: Level, borders: dict[int, Borders], score: MultiScore) -> dict[int, Offers]:
    """Return the scored splits of each attribute, from one pass over the records."""
    counts = level.bins(borders)
    widest = _widest(level)
    return {
        a: _offers(level, a, borders[a], counts.pop(a), widest=widest, score=score) for a in borders
    }


def _widest(level: Level) -> NDArray[np.float64]:
    """Return, for every box, the largest share that a range has of its domain."""
    sizes = np.array([axis.size for axis in level.axes], dtype=np.float64)
    widest: NDArray[np.float64] = ((level.boxes.stop - level.boxes.first) / sizes).max(axis=1)
    return widest


def _offers(
    level: Level,
    attribute: int,
    borders: Borders,
    counts: NDArray[np.int64],
    *,
    widest: NDArray[np.float64],
    score: MultiScore,
) -> Offers:
    axis, boxes = level.axes[attribute], level.boxes
    if not score.needs_class:
        counts = counts.T.sum(axis=0)[:, None]  # as they lie in memory
    first, stop = boxes.first[:, attribute], boxes.stop[:, attribute]
    if axis.numeric:
        box = np.repeat(np.arange(len(boxes)), np.diff(borders.starts))
        children = splits_at_borders(counts, borders, first, stop, domain=axis.size)
        border = np.arange(len(box))
    else:
        box, children = splits_into_children(counts, borders, first, stop, domain=axis.size)
        border = borders.starts[:-1][box]
    return Offers(
        attribute=attribute,
        borders=borders,
        box=box,
        border=border,
        scores=score.of(children, widest[box]),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Chosen:
    """One split for each of some boxes: rows of the level, ascending."""

    box: NDArray[np.int64]
    attribute: NDArray[np.int64]
    border: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Rule of choosing splits, with the rate as a share over a span."""

    rule: Rule
    span: Fraction


def choose_splits(
    offers: list[Offers], choice: Choice, *, run: Run[Engine], share: Fraction, on: str
) -> Chosen:
    """Return one split of every box that offers any, drawn so that high scores are likely.

    An attribute has measure 1 in a box, shared evenly by the positions it offers there.
    Neighbouring positions of one score go in as one block.

    Privacy: costs ``share`` on the path of each box that ``run`` is at (Lemma L1; boxes hold
    disjoint records). The blocks follow the data; only the position drawn leaves here.
    """
    blocks = [_Blocks.of(each) for each in offers]
    box = np.concatenate([each.box for each in blocks])
    order = np.argsort(box, kind="stable")
    box = box[order]
    starts = np.flatnonzero(np.diff(box, prepend=-1))
    lengths = np.concatenate([each.length for each in blocks])[order]
    n_splits = np.concatenate([each.n_splits for each in blocks])[order]
    finest = np.repeat(np.maximum.reduceat(n_splits, starts), np.diff(starts, append=len(box)))
    # At least 1 for a position, as permute-and-flip wants it, and few bits: products are exact.
    # (Whole numbers below 2^26 over others: floats round no quotient up to a whole one.)
    weights = np.floor(finest * _WEIGHT_UNITS / n_splits) / _WEIGHT_UNITS
    won = run.choose(
        np.concatenate([each.score for each in blocks])[order],
        share=share,
        on=on,
        sensitivity=choice.span,
        monotone=True,
        starts=starts,
        weights=lengths * weights,
        rule=choice.rule,
    )
    first = np.concatenate([each.border for each in blocks])[order][won]
    attribute = np.repeat([each.attribute for each in offers], [len(each.box) for each in blocks])
    return Chosen(
        box=box[won],
        attribute=attribute[order][won],
        border=position_in_block(first, lengths[won], source=run.source),
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Blocks:
    """Runs of one score among an attribute's splits, of which the box has ``n_splits``."""

    box: NDArray[np.int64]
    border: NDArray[np.int64]
    length: NDArray[np.int64]
    score: NDArray[np.int64]
    n_splits: NDArray[np.int64]

    @classmethod
    def of(cls, offers: Offers) -> _Blocks:
        new_box = np.diff(offers.box, prepend=-1) != 0
        first = np.flatnonzero(new_box | (np.diff(offers.scores, prepend=0) != 0))
        n_splits = np.diff(np.flatnonzero(new_box), append=len(offers))
        return cls(
            box=offers.box[first],
            border=offers.border[first],
            length=np.diff(first, append=len(offers)),
            score=offers.scores[first],
            n_splits=np.repeat(n_splits, n_splits)[first],
        )


def chosen_split(chosen: Chosen, borders: dict[int, Borders], level: Level) -> Split:
    """Return the level's decision: the chosen splits, and ``STOP`` for all other boxes."""
    n_boxes = len(level.boxes)
    attribute = np.full(n_boxes, STOP, dtype=np.int32)
    attribute[chosen.box] = chosen.attribute
    lengths, origin = np.zeros(n_boxes, dtype=np.int64), np.zeros(n_boxes, dtype=np.int64)
    origin[chosen.box] = chosen.border
    for a, each in borders.items():
        here = attribute == a
        lengths[here] = 1 if level.axes[a].numeric else np.diff(each.starts)[here]
    starts, inside = ragged(lengths)
    owner = np.repeat(np.arange(n_boxes), lengths)
    values = np.zeros(len(owner), dtype=np.int32)
    for a, each in borders.items():
        mine = attribute[owner] == a
        values[mine] = each.values[origin[owner[mine]] + inside[mine]]
    return Split(attribute=attribute, borders=Borders(starts=starts, values=values))
