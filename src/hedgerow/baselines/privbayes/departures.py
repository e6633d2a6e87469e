"""Differences between this PrivBayes and the paper, as its certificate lists them."""

from __future__ import annotations

from hedgerow.model.method import Departure

_PAPER = "PrivBayes (SIGMOD 2014, TODS 2017)"

DEPARTURES = (
    Departure(
        paper=_PAPER,
        what="Neighbours add or remove a record. The score R is taken in records, where one"
        " record moves it by less than 2, and a marginal costs its share once, not twice.",
        why="The paper's neighbours replace a record and keep the number of records, by which"
        " it divides.",
    ),
    Departure(
        paper=_PAPER,
        what="The number of records is noisy, and spent on (1/50 of epsilon); it decides how"
        " large marginals may be and how many records are drawn, 20,000,000 at the most.",
        why="The paper takes the true number as known.",
    ),
    Departure(
        paper=_PAPER,
        what="Domains, bins and taxonomies are public. Numbers of more than 40 cells are cut"
        " in 16 equal steps and finer ones near both ends, and values of more by their"
        " taxonomy.",
        why="The paper's 16 equal bins of the range put almost all of a skewed attribute in"
        " one, and a range read from the data shows its extremes.",
    ),
    Departure(
        paper=_PAPER,
        what="An attribute has at most 'degree' parents, and of more than 1,000 pairs a choice"
        " compares 1,000 that coins pick.",
        why="Maximal parent sets of many attributes are too many to count; coins do not look"
        " at the data.",
    ),
    Departure(
        paper=_PAPER,
        what="Noise is discrete Laplace; marginals are projected on non-negative counts of the"
        " noisy number of records, or shrunk towards even ones where less error is estimated.",
        why="Low-order bits of a float show what was added to it, cutting at zero favours"
        " empty cells, and counts that noise drowns are worse than none.",
    ),
)
