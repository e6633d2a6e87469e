"""Differences between this DiffPart and the paper, as its certificate lists them."""

from __future__ import annotations

from hedgerow.model.method import Departure

_PAPER = "DiffPart (VLDB 2011)"

COMMON = (
    Departure(
        paper=_PAPER,
        what="Of 2^l - 1 sub-partitions all get noise; those without records are drawn directly.",
        why="The printed 2^l - |S| tests of empty ones are one too many and break the guarantee.",
    ),
    Departure(
        paper=_PAPER,
        what="Leaf partitions are counted once, with all that is left, and not tested before.",
        why="Procedure 1 and Example 4.2 together would spend 4/3 of the budget.",
    ),
    Departure(
        paper=_PAPER,
        what="Thresholds, the universe and its order come from public settings alone.",
        why="Trying thresholds on the raw data spends budget unseen; a universe read from the"
        " data shows who is in it.",
    ),
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace, drawn exactly; thresholds are rounded up; baskets are"
        " sorted.",
        why="Floating-point noise and the order of insertion leak.",
    ),
)
"""Departures that privacy demands; the faithful variant has them too."""

IMPROVED = (
    Departure(
        paper=_PAPER,
        what="Thresholds allow a public number of false positives, fewer for larger combinations,"
        " more for itemsets than for partitions that are split again.",
        why="The printed ones let through a fixed part of the empty ones, whatever the budget.",
    ),
    Departure(
        paper=_PAPER,
        what="Shares of tests grow from operation to operation and expect one child per node.",
        why="Paying for the worst case leaves nothing for a large universe.",
    ),
    Departure(
        paper=_PAPER,
        what="Records are cut to a public length, by a rule of each record alone.",
        why="Combinations that no record can have need no test.",
    ),
    Departure(
        paper=_PAPER,
        what="Records of partitions that nothing below accounts for are drawn from the"
        " partition's noisy count and from how records elsewhere divide.",
        why="Dropping them loses most of a sparse data set; counts already measured are free.",
    ),
    Departure(
        paper=_PAPER,
        what="A third of the budget goes to noisy counts of all items; drawn baskets are brought"
        " into line with them.",
        why="Most records of a sparse data set are lost sight of far above the items.",
    ),
    Departure(
        paper=_PAPER,
        what="A small universe is split once, into all its itemsets, and the counts are made"
        " non-negative so that counting queries stay near their noisy answers.",
        why="A threshold loses the rare long records, which most queries are about.",
    ),
)
"""Departures that keep more of the data at the same epsilon."""
