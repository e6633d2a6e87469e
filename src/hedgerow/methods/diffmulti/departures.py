"""Differences between this DiffMulti and the paper, as its certificate lists them."""

from __future__ import annotations

from hedgerow.model.method import Departure

_PAPER = "DiffMulti (KAIS 2018)"

COMMON = (
    Departure(
        paper=_PAPER,
        what="Eq. (10) uses a noisy count of every child, and divides by their sum.",
        why="Testing a true count for zero, or dividing by one, shows who is in the table.",
    ),
    Departure(
        paper=_PAPER,
        what="A path has fewer than |g| specialisations above its last.",
        why="Def. 4.1 allows one more than the budget has.",
    ),
    Departure(
        paper=_PAPER,
        what="Discernibility is divided by 2|P| + 1 of the box at hand.",
        why="2|D| + 1 reads the true number of records of the whole table in every box: nothing"
        " pays for that, the proof fails, and small boxes choose blindly.",
    ),
    Departure(
        paper=_PAPER,
        what="Split points are drawn from a public grid by their own score, never a midpoint;"
        " a range of more than 1,024 cells, or fewer where there are very many boxes, offers"
        " evenly spaced ones.",
        why="Midpoints between values of the data reveal those values.",
    ),
    Departure(
        paper=_PAPER,
        what="Each leaf gets what its own path has left, and boxes of a level are split together.",
        why="Every path may spend epsilon; the order of boxes does not matter.",
    ),
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace, drawn exactly, also for groups without records.",
        why="Continuous noise leaks counts; groups left out show who is in the table.",
    ),
)
"""Departures that privacy demands; the faithful variant has them too."""

CLUSTERED = (
    Departure(
        paper=_PAPER,
        what="Clusters are those of a first private release, bought with a fifth of epsilon; a"
        " record belongs to the nearest centre, and the clusters are not published.",
        why="Clusters of the raw records, which the paper takes for the class, let a record move"
        " the labels of others: nothing pays for that.",
    ),
)
"""The departure of runs for clustering."""

IMPROVED = (
    Departure(
        paper=_PAPER,
        what="Attribute and split position are chosen together, by permute-and-flip.",
        why="Buying split points apart spends budget on unused ones.",
    ),
    Departure(
        paper=_PAPER,
        what="Scores are charged the range of what one record changes: no factor 2 for"
        " discernibility, NCP and Max; NCP is scored by its gain.",
        why="The same privacy with a better choice.",
    ),
    Departure(
        paper=_PAPER,
        what="The depth is bounded by a small public number in place of |g|.",
        why="With |g| of UCI Adult, 64, every step gets epsilon / 396.",
    ),
    Departure(
        paper=_PAPER,
        what="Child counts are kept and joined with the leaves' by least squares, and the"
        " leaves projected on a noisy total.",
        why="They are measured already; cutting at zero adds phantom records.",
    ),
)
"""Departures that keep more of the data at the same epsilon."""
