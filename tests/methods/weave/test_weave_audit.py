"""No answer of weave tells two neighbouring tables apart by more than epsilon; twins do.

The public rules of weave are made for large tables, so tests give it a shape: two joins, a
further table and a leaf table. Transcripts are exact: see `exact_transcripts`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.neighbours import TablePair, line, schema_over, values
from hedgerow.methods.weave import candidates, run, shape, weave
from hedgerow.methods.weave.shape import WeaveShape
from hedgerow.methods.weave.weave import Weave
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from support.broken_twins import TABLES, outcome
from support.exact_transcripts import Leak, Noisy, World, drawn, wild
from support.taint import Tainted, Watched, WatchedLedger, check_public, watched

SLACK = 1e-9
EPSILON = Fraction(8)
BINARY = schema_over(values(2), values(3), values(2))
NUMBERS = schema_over(line(3), line(3))
PAIRS = {
    "one or none": ((), (1, 2, 1, 1)),
    "three or two": (((0, 0, 0, 0), (1, 1, 0, 1)), (1, 2, 1, 0)),
    "all alike": (((1, 1, 1, 1),) * 9, (1, 1, 1, 1)),
    "one apart": (((0, 0, 0, 0),) * 8, (1, 1, 0, 0)),
}


def pair_named(name):
    rest, record = PAIRS[name]
    return TablePair(name=name, about="", schema=BINARY, rest=rest, record=record)


def shaped(monkeypatch, *, joins, further, leaves, orders=0, one_way=Fraction(1, 4)):
    found = WeaveShape(joins=joins, further=further, one_way=one_way, leaves=leaves, orders=orders)
    monkeypatch.setattr(weave.WeaveShape, "of", classmethod(lambda *_, **__: found))


@pytest.fixture
def woven(monkeypatch):
    """Let weave count all kinds of tables, however few records there are."""
    shaped(monkeypatch, joins=2, further=1, leaves=True)


@pytest.fixture
def joined(monkeypatch):
    """Let weave choose one table and count it."""
    shaped(monkeypatch, joins=1, further=0, leaves=False)


@pytest.fixture
def ordered(monkeypatch):
    """Let weave choose one table, count it, and count how two numbers rise together."""
    shaped(monkeypatch, joins=1, further=0, leaves=False, orders=1)


def content(released):
    tables = [(t.kind, t.attributes, t.counts.tolist(), t.share) for t in released.tables]
    leaves = None if released.leaves is None else released.leaves.counts.tolist()
    codes = [released.counts.tolist(), *(index.tolist() for index in released.index)]
    return tables, leaves, codes


def world(pair, epsilon=EPSILON):
    return World(
        method=Weave(),
        epsilon=epsilon,
        engines=(lambda: pair.engine(has_record=True), lambda: pair.engine(has_record=False)),
        content=content,
    )


@pytest.mark.parametrize("name", PAIRS)
def test_no_transcript_of_all_steps_exceeds_epsilon(woven, name):
    rng = np.random.default_rng(3)
    worst = 0.0
    for at in range(12):
        pick = wild(rng) if at % 2 else drawn(rng)
        ratio, play = world(pair_named(name)).log_ratio(pick, seed=at, first=at % 2)
        assert {question[0] for question in play.questions} == {"counts", "choice"}
        worst = max(worst, abs(ratio))
    assert 0 < worst <= float(EPSILON) * (1 + SLACK)


def dearest(name):
    """The largest log-ratio where all counts come out high or low, over all choices."""
    return dearest_of(pair_named(name))


def dearest_of(pair):
    worst = 0.0
    n_candidates = 1
    at = 0
    while at < n_candidates:
        for away in (-30, 30):
            for first in (0, 1):

                def pick(question, law, _, away=away, at=at):
                    nonlocal n_candidates
                    if isinstance(law, Noisy):
                        return tuple((law.counts + away).tolist())
                    n_candidates = len(law.chances[0])
                    return (at % n_candidates,)

                ratio, _ = world(pair).log_ratio(pick, seed=1, first=first)
                worst = max(worst, abs(ratio))
        at += 1
    return worst


@pytest.mark.parametrize("name", PAIRS)
def test_the_dearest_transcripts_of_a_join_do_not_exceed_epsilon(joined, name):
    assert 0.9 * float(EPSILON) < dearest(name) <= float(EPSILON) * (1 + SLACK)


APART = TablePair(
    name="one score rises and one falls",
    about="The first two attributes agree and the third never does, so that a record of three"
    " zeros takes the table of the first two further from the model and the others nearer to it.",
    schema=schema_over(values(2), values(2), values(2)),
    rest=((0, 0, 1, 0), (1, 1, 0, 0)) * 200,
    record=(0, 0, 0, 0),
)


def test_a_record_moves_the_scores_of_two_candidates_in_opposite_directions(joined, monkeypatch):
    seen = []
    scored = run.TableChoice._scores

    def noted(self, model):
        seen.append(scored(self, model))
        return seen[-1]

    monkeypatch.setattr(run.TableChoice, "_scores", noted)
    ratio, _ = world(APART).log_ratio(drawn(np.random.default_rng(1)), seed=1)
    more, fewer = seen
    moved = more - fewer
    assert ratio != 0
    assert moved.max() > 0 > moved.min()


def test_a_choice_between_a_score_that_rises_and_one_that_falls_costs_its_share(joined):
    """The dearest transcript spends all other shares and four fifths of that of the choice."""
    assert 0.98 * float(EPSILON) < dearest_of(APART) <= float(EPSILON) * (1 + SLACK)


def test_a_twin_that_chooses_at_the_monotone_rate_exceeds_epsilon(joined, monkeypatch):
    """Half the sensitivity at the general rate is the monotone rate."""
    monkeypatch.setattr(run, "sensitivity", lambda each: candidates.sensitivity(each) // 2)
    assert max(dearest(name) for name in PAIRS) <= float(EPSILON) * (1 + SLACK)  # not seen there
    share = float(EPSILON * Fraction(49, 50) * Fraction(8, 100))
    assert dearest_of(APART) > float(EPSILON) + 0.5 * share


ORDERED_PAIRS = {
    "one or none": ((), (2, 2, 1)),
    "two or one": (((0, 0, 0),), (2, 1, 1)),
    "one apart": (((0, 0, 0),) * 8, (2, 2, 0)),
}


def ordered_pair(name):
    rest, record = ORDERED_PAIRS[name]
    return TablePair(name=name, about="", schema=NUMBERS, rest=rest, record=record)


def dearest_ordered(name):
    """The largest log-ratio of transcripts with a 2 x 2 marginal, counts all high or all low."""
    worst = 0.0
    for away in (-30, 30):
        for first in (0, 1):

            def pick(question, law, _, away=away):
                if isinstance(law, Noisy):
                    return tuple((law.counts + away).tolist())
                return (0,)

            ratio, _ = world(ordered_pair(name)).log_ratio(pick, seed=1, first=first)
            worst = max(worst, abs(ratio))
    return worst


@pytest.mark.parametrize("name", ORDERED_PAIRS)
def test_transcripts_with_order_tables_do_not_exceed_epsilon(ordered, name):
    assert 0.8 * float(EPSILON) < dearest_ordered(name) <= float(EPSILON) * (1 + SLACK)


@pytest.mark.audit
def test_a_twin_that_books_no_order_table_exceeds_epsilon(ordered, monkeypatch):
    def unbooked(self, counts, share, on):
        if on.startswith("2 x 2 marginal"):
            free = replace(self.run, ledger=PathLedger(10 * share))
            free.noisy(counts, share=10 * share, on=on)
        return booked(self, counts, share, on)

    booked = run.WeaveRun.noisy
    monkeypatch.setattr(run.WeaveRun, "noisy", unbooked)
    assert max(map(dearest_ordered, ORDERED_PAIRS)) > float(EPSILON) * (1 + SLACK)


@pytest.mark.audit
def test_a_twin_whose_model_is_taken_from_the_data_exceeds_epsilon(joined, monkeypatch):
    def own_model(self, model):
        found = []
        for at in range(len(self.layout.candidates)):
            table = self.layout.table(self.counts, at).astype(np.float64)
            rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
            own = rows * columns / np.maximum(rows.sum(axis=0), 1)
            found.append(round(float(np.abs(table - own).sum()) * candidates.UNIT))
        return np.array(found) * self.layout.weights

    monkeypatch.setattr(run.TableChoice, "_scores", own_model)
    assert max(dearest(name) for name in PAIRS) > float(EPSILON) * (1 + SLACK)


@pytest.mark.audit
def test_a_twin_whose_threshold_follows_the_data_exceeds_epsilon(joined, monkeypatch):
    def follows(counts, model, starts, *, noise):
        h = np.where(counts > 0, 0.0, np.abs(counts - model))  # a threshold of its own if empty
        away = np.maximum(np.abs(counts - model) - h, 0.0)
        return np.rint(np.add.reduceat(away, starts) * candidates.UNIT).astype(np.int64)

    monkeypatch.setattr(candidates, "score_units", follows)
    assert max(dearest(name) for name in PAIRS) > float(EPSILON) * (1 + SLACK)


def drawn_twice(self, counts, share, on):
    """Book a table once and draw it twice."""
    once = self.run.noisy(counts, share=share, on=on)
    again = replace(self.run, ledger=PathLedger(share)).noisy(counts, share=share, on=on)
    return (once + again) // 2


@pytest.mark.audit
def test_a_twin_that_draws_a_table_twice_for_one_booking_exceeds_epsilon(joined, monkeypatch):
    monkeypatch.setattr(run.WeaveRun, "noisy", drawn_twice)
    assert max(dearest(name) for name in PAIRS) > 1.5 * float(EPSILON)


# Marginals of all codes.

CODES = schema_over(line(30), line(2000))
CODE_PAIRS = {
    "one or none": ((), (29, 1999, 1)),
    "two or one": (((0, 0, 0),), (12, 700, 1)),
    "nine or eight": (((12, 700, 0),) * 8, (12, 700, 1)),
}


def code_pair(name):
    rest, record = CODE_PAIRS[name]
    return TablePair(name=name, about="", schema=CODES, rest=rest, record=record)


@pytest.fixture
def by_codes(monkeypatch):
    """Let weave count all codes, however few records there are, and no pair."""
    shaped(monkeypatch, joins=0, further=0, leaves=False, one_way=Fraction(1))
    monkeypatch.setattr(shape, "code_part", lambda _: 250)


def dearest_codes(name):
    """The largest log-ratio of transcripts whose counts are all high, or all low."""
    worst = 0.0
    for away in (-60, 60):
        for first in (0, 1):

            def pick(question, law, _, away=away):
                return tuple((law.counts + away).tolist())

            ratio, _ = world(code_pair(name)).log_ratio(pick, seed=1, first=first)
            worst = max(worst, abs(ratio))
    return worst


@pytest.mark.parametrize("name", CODE_PAIRS)
def test_transcripts_with_code_counts_reach_epsilon_and_do_not_exceed_it(by_codes, name):
    assert 0.99 * float(EPSILON) < dearest_codes(name) <= float(EPSILON) * (1 + SLACK)


@pytest.mark.parametrize("name", CODE_PAIRS)
def test_no_transcript_with_code_counts_exceeds_epsilon(by_codes, name):
    rng = np.random.default_rng(5)
    for at in range(8):
        pick = wild(rng) if at % 2 else drawn(rng)
        ratio, play = world(code_pair(name)).log_ratio(pick, seed=at, first=at % 2)
        asked = [question[1].split(":")[0] for question in play.questions]
        assert asked.count("all codes, level 1") == 2
        assert asked.count("all codes, level 2") == 1
        assert abs(ratio) <= float(EPSILON) * (1 + SLACK)


@pytest.mark.parametrize("name", CODE_PAIRS)
def test_code_counts_are_looked_at_with_noise_alone(by_codes, name):
    released, ledger = watched_run(code_pair(name), seed=1)
    assert ledger.settled()
    assert [table.kind for table in released.tables] == ["codes"] * 3 + ["one-way"] * 2


@pytest.mark.audit
def test_a_twin_whose_cells_follow_from_true_counts_is_caught(by_codes, monkeypatch):
    """A code that one record alone has becomes a cell, and the question tells that there is one."""

    def true_cells(self, a, codes):
        counts = run.code_counts(self.run.engine, {a: codes.edges})[a].astype(np.float64)
        domain = self.run.engine.schema.attributes[a].domain
        return run.refined_axis(domain, self.axes[a], codes, counts, scale=1e-3)

    monkeypatch.setattr(run.WeaveRun, "_refined", true_cells)
    with pytest.raises(Leak):
        dearest_codes("two or one")
    with pytest.raises(Tainted):
        watched_run(code_pair("two or one"), seed=1)


@pytest.mark.audit
def test_a_twin_that_draws_a_level_twice_for_one_booking_exceeds_epsilon(by_codes, monkeypatch):
    booked = run.WeaveRun.noisy

    def twice(self, counts, share, on):
        if on.startswith("all codes, level 1"):
            return drawn_twice(self, counts, share, on)
        return booked(self, counts, share, on)

    monkeypatch.setattr(run.WeaveRun, "noisy", twice)
    share = float(EPSILON * Fraction(49, 50) / 4 / 4)
    assert max(map(dearest_codes, CODE_PAIRS)) > float(EPSILON) + share


# Taint.


def watched_run(pair, *, seed):
    ledger = WatchedLedger(Fraction(2))
    with watched(()):
        released = Weave().publish(
            Run(
                engine=Watched(pair.engine(has_record=True)),
                epsilon=Fraction(2),
                ledger=ledger,
                source=SeededSource(seed),
            )
        )
    check_public(released)
    return released, ledger


@pytest.mark.parametrize("name", PAIRS)
def test_weave_looks_at_no_raw_count(woven, name):
    for seed in (1, 2):
        released, ledger = watched_run(pair_named(name), seed=seed)
        assert ledger.settled()
        assert len(released.tables) == 6
        assert released.leaves is not None


def test_a_twin_that_leaves_noise_out_is_tainted(woven, monkeypatch):
    def exact(self, counts, share, on):
        self.run._spending(share, on).book()
        return counts

    monkeypatch.setattr(run.WeaveRun, "noisy", exact)
    with pytest.raises(Tainted):
        watched_run(pair_named("three or two"), seed=1)


# Statistics.


@pytest.mark.audit
def test_runs_of_weave_refute_nothing(joined):
    told = outcome(Weave(), TABLES["T1"], TABLES["M"], TABLES["T14"], runs=400, name="weave")
    assert told != "refuted"


@pytest.mark.parametrize("name", ORDERED_PAIRS)
def test_order_tables_are_made_of_noisy_counts_alone(ordered, name):
    released, ledger = watched_run(ordered_pair(name), seed=1)
    assert ledger.settled()
    assert released.tables[-1].kind == "order"
    assert released.tables[-1].counts.shape == (2, 2)
