"""What methods ask the mechanisms: at which share, and at which proved sensitivity.

Transcripts stay within epsilon even where one choice is made at twice its rate, if others do not
need theirs. So every question of a run is held against the outline's share of its step, and every
choice against the sensitivity that docs/privacy.md proves, written down here once more.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hedgerow.auditing.cases import Unclaimed
from hedgerow.auditing.neighbours import BasketPair, TablePair, line, schema_over, values
from hedgerow.auditing.sequences import SequencePair
from hedgerow.methods.diffmulti import clusters, diffmulti
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.methods.weave import run as weave_run
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from hedgerow.trees import counts
from support.audited import audited_subjects
from support.exact_transcripts import World, content

RECORDS = 30_000
"""What the number of records is answered with: enough for every kind of question."""

SCHEMA = schema_over(line(8), values(2), line(4))
TABLE = TablePair(
    name="",
    about="",
    schema=SCHEMA,
    rest=((2, 0, 3, 1), (2, 1, 0, 1), (5, 1, 0, 0)),
    record=(7, 0, 3, 1),
)
BASKETS = BasketPair(
    name="",
    about="",
    taxonomy=context_free([f"i{code}" for code in range(6)], fan_out=3),
    rest=(frozenset({0}), frozenset({1, 5})),
    record=frozenset({0, 1}),
)

FLIP, EXPONENTIAL = "permute-and-flip", "exponential"
THOUSANDTHS, MILLIONTHS, BITS = 1 << 10, 1 << 20, 1 << 30
"""Units to a record, to a 1, to a bit; rounding adds two units where a score is rounded."""

CHOICES = {
    "hedge, gini": (FLIP, False, THOUSANDTHS + 2),
    "hedge, ncp": (FLIP, True, THOUSANDTHS + 2),
    "hedge, skew": (FLIP, False, THOUSANDTHS + 2),
    "diffgen, gini, improved": (FLIP, False, THOUSANDTHS + 2),
    "diffgen, max, improved": (FLIP, True, 1),
    "diffgen, max, faithful": (EXPONENTIAL, False, 1),
    "diffgen, infogain, improved": (FLIP, False, BITS + 2),
    "diffgen, infogain, faithful": (EXPONENTIAL, False, BITS + 2),
    "diffmulti, discernibility, improved": (FLIP, True, MILLIONTHS),
    "diffmulti, discernibility, faithful": (EXPONENTIAL, True, MILLIONTHS),
    "diffmulti, ncp, improved": (FLIP, True, MILLIONTHS),
    "diffmulti, ncp, faithful": (EXPONENTIAL, True, 2 * MILLIONTHS),
    "diffmulti, max, improved": (FLIP, True, 1),
    "diffmulti, max, faithful": (EXPONENTIAL, True, 2),
    "diffmulti, infogain, improved": (FLIP, True, 2 * (BITS + 2)),
    "diffmulti, infogain, faithful": (EXPONENTIAL, True, 2 * (BITS + 2)),
    "diffmulti, distribution even": (FLIP, True, MILLIONTHS),
    "rps": (EXPONENTIAL, True, 1),
    "privbayes": (EXPONENTIAL, False, 2 * MILLIONTHS),
    "weave": (FLIP, False, 13 * THOUSANDTHS),
}
"""Rule, whether at the rate of a monotone score (or of a range), and sensitivity (or range)."""

SAMPLING = ("truthful", "sample")
"""They draw records, not only noise; their law is tested in tests/disclosure/private."""

STEPS = {
    "shared choice": "shared choices",
    "own choice": "own choices",
    "marginal": "marginals",
    "choice of": "choices",
    "specialisation": "choices",
    "first split of": "choices",
    "splits after specialisation": "choices",
    "choice": "choices",
    "parents": "parents",
    "medians": "medians",
    "join": "tables",
    "2 x 2 marginal": "2 x 2 marginals",
    "further table": "tables",
    "1-way marginal": "1-way marginals",
    "all codes": "marginals of all codes",
}
"""By how a question begins, the step of the outline that it belongs to, where names differ."""


def audited():
    for subject in audited_subjects(Fraction(1)):
        if isinstance(subject, Unclaimed) or not hasattr(subject, "over"):
            continue
        if subject.name.split(",")[0] not in SAMPLING:
            yield pytest.param(subject, id=subject.name)


@pytest.fixture
def shallow(monkeypatch):
    """Let `hedge`, whose public rules are made for large tables, grow a tree of depth 2."""
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


def pair_for(subject):
    if isinstance(subject.over[0], SequencePair):
        return subject.over[0]
    return BASKETS if isinstance(subject.over[0], BasketPair) else TABLE


def many_records(seed):
    """Answers by the law, but for the number of records."""
    rng = np.random.default_rng(seed)
    return lambda question, law, at: (
        (RECORDS,) if question[1] == "number of records" else law.draw(rng)
    )


def played(subject):
    """The questions of one run, the release, and the bookings."""
    here = World(
        method=subject.method,
        epsilon=Fraction(1),
        engines=(lambda: pair_for(subject).engine(has_record=True),) * 2,
        content=lambda released: released,
    )
    play, (released, bookings, _) = here.play(0, many_records(2), seed=1)
    return play.questions, released, bookings


def foretold(subject):
    """The outline of what a run spends."""
    pair = pair_for(subject)
    public = pair.schema if isinstance(pair, TablePair) else pair.taxonomy
    return subject.method.outline(public, Fraction(1))


def steps_within(subject):
    """The steps of a release that a run makes for itself, with a share of its epsilon."""
    if getattr(subject.method, "clusters", None) is None:
        return ()
    return clusters.FIRST.outline_of(SCHEMA, clusters.SHARE * Fraction(1), RECORDS).steps


def step_of(on):
    begins = [name for name in STEPS if on.startswith(name)]
    return STEPS[max(begins, key=len)] if begins else on.rstrip(" 0123456789")


@pytest.mark.parametrize("subject", list(audited()))
def test_every_question_is_asked_at_the_share_that_the_outline_tells(shallow, subject):
    questions, *_ = played(subject)
    told, outline = {}, foretold(subject)
    instead = outline.instead.steps if outline.instead else ()
    for step in (*outline.steps, *instead, *steps_within(subject)):
        # hedge tells of all its marginals together
        n = len(SCHEMA.attributes) if subject.name.startswith("hedge, ") else 1
        share = step.share / n if step.on == "marginals" else step.share
        told.setdefault(step.on, set()).add(share)
    for kind, on, share, *_ in questions:
        if kind == "tests":  # on is their rule: all of a path are paid for together
            assert any(
                0.9 * share < on.cost <= share
                for name, shares in told.items()
                if name.startswith("tests")
                for share in shares
            )
        elif kind != "rest":  # the ledger hands out what is left
            assert share in told[step_of(on)], on


@pytest.mark.parametrize("subject", [each for each in audited() if each.id in CHOICES])
def test_every_choice_is_made_at_the_sensitivity_that_is_proved(shallow, subject):
    questions, *_ = played(subject)
    choices = [question[4:7] for question in questions if question[0] == "choice"]
    assert set(choices) == {CHOICES[subject.name]}


@pytest.mark.parametrize("name", ["hedge, gini", "diffmulti, max, improved"])
def test_measured_counts_are_weighed_by_the_shares_that_were_booked(shallow, monkeypatch, name):
    subject = next(each.values[0] for each in audited() if each.id == name)
    module = hedge if name.startswith("hedge") else diffmulti
    publish_leaves, noted = module.publish_leaves, []

    def noting(grown, measured, **asked):
        noted.append(measured)
        return publish_leaves(grown, measured, **asked)

    monkeypatch.setattr(module, "publish_leaves", noting)
    ledger = PathLedger(Fraction(1))
    engine = TABLE.engine(has_record=True)
    subject.method.publish(
        Run(engine=engine, epsilon=Fraction(1), ledger=ledger, source=SeededSource(1))
    )
    booked = {line.on.rstrip(" 0123456789"): line.share for line in ledger.bookings}
    (measured,) = noted
    assert measured.counts
    assert {each.share for each in measured.counts} == {
        booked["box sizes" if module is hedge else "child counts"]
    }
    if module is hedge:
        assert measured.total.share == booked["number of records"]


@pytest.mark.parametrize("subject", list(audited()))
def test_a_release_tells_the_share_and_the_threshold_of_its_counts(shallow, monkeypatch, subject):
    """Weights and error bounds are made of them; below the threshold nothing was kept."""
    monkeypatch.setattr(counts, "DENSE_GROUPS", 4)
    questions, released, bookings = played(subject)
    if released.origin is None:
        return
    shares = {line.share for line in bookings if line.on == "counts"}
    assert released.origin.share == min(shares or {foretold(subject).counts})
    asked = {least for kind, on, *_, least in questions if (kind, on) == ("sparse", "counts")}
    if released.origin.threshold is None:
        return
    assert released.origin.threshold >= 1
    if asked:
        assert released.origin.threshold == min(min(least) for least in asked)


def test_tables_of_weave_tell_the_shares_that_were_booked():
    subject = next(each.values[0] for each in audited() if each.id == "weave")
    _, released, bookings = played(subject)
    measured = ("all codes, ", "1-way marginal: ", "join: ", "further table: ", "2 x 2 marginal: ")
    booked = [line.share for line in bookings if line.on.startswith(measured)]
    assert sorted(table.share for table in released.tables) == sorted(booked)


def test_weave_fits_and_offers_tables_by_the_share_that_they_are_counted_with(monkeypatch):
    told = []

    def telling(of):
        def tell(*given, share, **further):
            told.append(share)
            return of(*given, share=share, **further)

        return tell

    monkeypatch.setattr(weave_run, "Fit", telling(weave_run.Fit))
    monkeypatch.setattr(weave_run, "table_candidates", telling(weave_run.table_candidates))
    subject = next(each.values[0] for each in audited() if each.id == "weave")
    _, _, bookings = played(subject)
    shares = {float(line.share) for line in bookings if line.on.startswith("join: ")}
    assert told == [*shares] * 2


def test_the_leaf_table_of_weave_tells_the_share_that_was_booked():
    subject = next(each.values[0] for each in audited() if each.id == "weave")
    _, released, bookings = played(
        replace(subject, method=replace(subject.method, leaf_table=True))
    )
    booked = {line.on: line.share for line in bookings}
    assert released.leaves.share == booked["leaf table"]


@pytest.mark.parametrize(
    "subject", [each for each in audited() if each.id in {"weave", "privbayes", "supermodular"}]
)
def test_where_many_records_are_told_answers_alone_decide_what_is_asked(subject):
    """Small tables are told to be large, or these methods would not choose anything.

    In the second pair the record makes two attributes depend on each other, and no others.
    """
    second = replace(TABLE, rest=((0, 0, 0, 0),), record=(7, 1, 0, 0))
    for pair in (TABLE, second):
        here = World(
            method=subject.method,
            epsilon=Fraction(1),
            engines=tuple(partial(pair.engine, has_record=has) for has in (True, False)),
            content=content,
        )
        for seed in range(3):
            ratio, play = here.log_ratio(many_records(seed), seed=seed)
            assert abs(ratio) <= 1 + 1e-9
            assert play.answers
