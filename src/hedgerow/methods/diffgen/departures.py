"""Differences between this DiffGen and the paper, as its certificate lists them."""

from __future__ import annotations

from hedgerow.model.method import Departure

_PAPER = "DiffGen (KDD 2011)"

COMMON = (
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace, drawn exactly in integer arithmetic.",
        why="Continuous noise in floating point leaks counts through its low-order bits.",
    ),
    Departure(
        paper=_PAPER,
        what="Numeric splits are positions of a public grid; bounds are given, never read.",
        why="Bounds and split points taken from the data reveal single values.",
    ),
    Departure(
        paper=_PAPER,
        what="Every group gets noise, also one without records; zero counts are not listed.",
        why="Listing only groups that have records shows who is in the table.",
    ),
    Departure(
        paper=_PAPER,
        what="The number of specialisations is public and rows are sorted.",
        why="Trying several on the data spends budget unseen; order shows what came first.",
    ),
)
"""Departures that privacy demands; the faithful variant has them too."""

IMPROVED = (
    Departure(
        paper=_PAPER,
        what="Attribute and split position are chosen together, each with half of epsilon / h.",
        why="Buying split points apart spends most of the budget on unused ones.",
    ),
    Departure(
        paper=_PAPER,
        what="Choices are made by permute-and-flip, at the full rate for a monotone score.",
        why="The same privacy with a better choice.",
    ),
    Departure(
        paper=_PAPER,
        what="Information gain is charged its true sensitivity, 1 bit.",
        why="The paper's log2 of the number of classes is not tight.",
    ),
    Departure(
        paper=_PAPER,
        what="Noisy counts are projected on the counts of a noisy total, and budget that no"
        " choice used goes to the counts.",
        why="Cutting at zero adds about one phantom record to every empty group.",
    ),
)
"""Departures that keep more of the data at the same epsilon."""
