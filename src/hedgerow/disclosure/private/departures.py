"""Departures of private disclosure from [TKDE, Algorithms 2 and 3] as printed, with reasons."""

from __future__ import annotations

from hedgerow.model.method import Departure

PAPER = "TKDE"

_FLOOR = Departure(
    paper=PAPER,
    what="A public floor is added to the severity of every generalisation.",
    why="With weight 0 for suppressed values, full generalisation would have infinite value.",
)
_PRIVATE_COUNTS = Departure(
    paper=PAPER,
    what="The number of records that match a generalisation is a noisy count measured beforehand,"
    " and noisy counts alone decide which generalisations are offered.",
    why="Algorithm 2 tests true counts against a random threshold: with a probability above the"
    " reciprocal of the number of records the output shows whether one record is present.",
)
_BEST = Departure(
    paper=PAPER,
    what="Every record takes its best generalisation, not a random one.",
    why="Given the noisy counts the choice depends on the record alone and costs nothing; the"
    " printed exponential mechanism is close to uniform.",
)

SUPERMODULAR = (
    _PRIVATE_COUNTS,
    _BEST,
    Departure(
        paper=PAPER,
        what="Every offered generalisation is published with a noisy count.",
        why="True counts of a sample show, with some probability, that one record is present.",
    ),
    Departure(
        paper=PAPER,
        what="Noisy counts below a public threshold are omitted.",
        why="Very many generalisations are offered that no record takes.",
    ),
    _FLOOR,
)

TRUTHFUL = (
    _PRIVATE_COUNTS,
    _BEST,
    Departure(
        paper=PAPER,
        what="Groups of fewer sampled records than a computed number are omitted.",
        why="Small groups show, with a probability far above delta, that one record is present.",
    ),
    Departure(
        paper=PAPER,
        what="The fully generalised record is not added.",
        why="It belongs to nobody; all published records are real.",
    ),
    _FLOOR,
)

SAMPLE = (
    Departure(
        paper=PAPER,
        what="Algorithm 3 is not run: the frequent generalisations of a record are listed and one"
        " is drawn exactly by distribution (5), restricted to frequent ones.",
        why="Its random walks need an accuracy of 2^-|D|², which cannot be computed; picking a"
        " layer uniformly is not that distribution; and Lemma 1, which should correct this, is"
        " false.",
    ),
    Departure(
        paper=PAPER,
        what="The output is sorted.",
        why="Its order would show which records were present.",
    ),
    Departure(
        paper=PAPER,
        what="In the risk version a record without a frequent generalisation of sufficient utility"
        " is omitted.",
        why="The paper does not define the draw in this case; (C1') cannot be satisfied.",
    ),
    Departure(
        paper=PAPER,
        what="The plan gives a lower bound on the number of records, above which the stated delta"
        " holds.",
        why="The paper's delta is not defined, and depends on the number of records.",
    ),
    _FLOOR,
)
