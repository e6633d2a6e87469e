"""What private disclosure does otherwise than [TKDE, Algorithms 2 and 3] print it, and why."""

from __future__ import annotations

from hedgerow.model.method import Departure

PAPER = "TKDE"

_FLOOR = Departure(
    paper=PAPER,
    what="A public floor is added to the severity of every generalisation.",
    why="With weight 0 for what is suppressed, saying nothing would be worth infinitely much.",
)
_PRIVATE_COUNTS = Departure(
    paper=PAPER,
    what="How many records fit a generalisation is a noisy count measured beforehand, and which"
    " generalisations are offered is decided by noisy counts alone.",
    why="Algorithm 2 tests true counts against a random threshold: with a chance of more than 1"
    " in the number of records the answer shows whether one record is there.",
)
_BEST = Departure(
    paper=PAPER,
    what="Every record takes its best generalisation, not a random one.",
    why="Given the noisy counts the choice concerns the record alone and costs nothing; the"
    " printed exponential mechanism is close to uniform.",
)

SUPERMODULAR = (
    _PRIVATE_COUNTS,
    _BEST,
    Departure(
        paper=PAPER,
        what="Every generalisation that is offered is published with a noisy count.",
        why="True counts of a sample show, with some chance, that one record is there.",
    ),
    Departure(
        paper=PAPER,
        what="Noisy counts below a public threshold are left out.",
        why="Very many generalisations are offered and taken by nobody.",
    ),
    _FLOOR,
)

TRUTHFUL = (
    _PRIVATE_COUNTS,
    _BEST,
    Departure(
        paper=PAPER,
        what="Groups of fewer sampled records than a computed number are left out.",
        why="Small groups show, with a chance far above delta, that one record is there.",
    ),
    Departure(
        paper=PAPER,
        what="The record that says nothing is not added.",
        why="It was nobody's; nothing that is published is invented.",
    ),
    _FLOOR,
)

SAMPLE = (
    Departure(
        paper=PAPER,
        what="Algorithm 3 is not run: the frequent generalisations of a record are listed and one"
        " is drawn exactly by distribution (5), over those that are frequent.",
        why="Its random walks need an accuracy of 2^-|D|², which nothing can run, picking a layer"
        " uniformly is not that distribution, and Lemma 1, which is to make up for it, is false.",
    ),
    Departure(
        paper=PAPER,
        what="The output is sorted.",
        why="Its order would show which records were there.",
    ),
    Departure(
        paper=PAPER,
        what="In the risk version a record without a frequent generalisation that is useful"
        " enough is left out.",
        why="The paper does not say what to draw then; it cannot be covered as (C1') asks.",
    ),
    Departure(
        paper=PAPER,
        what="The number of records is bounded from below by the plan, and the stated delta holds"
        " from there on.",
        why="The paper's delta is not defined, and depends on the number of records.",
    ),
    _FLOOR,
)
