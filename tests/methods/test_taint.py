"""No method looks at a raw count outside of the booked mechanisms.

See `taint` for what raises. Three pieces of code look at raw scores and are part of a
mechanism all the same, so they are zones where raw values may be seen and whose results
count as published:

- `JointChoice.choose`, `PrintedChoice._draw` and `choose_splits` gather neighbouring split
  positions of one score into blocks, choose a block by the mechanism, and draw a position from
  it. How blocks lie follows the data; the position drawn has the law of a choice among all
  positions (docs/privacy.md, "Bounded range", Blocks), and nothing else leaves.

In `supermodular` every record chooses its own generalisation by what has been published and
by itself (`choose_cells`), and choices are then counted (`tally_choices`). Both go through
records one by one, so they may see them; what comes out of them is secret still, and only the
noisy counts leave. `truthful` and `sample` publish true counts of a random sample: that is
their mechanism, and there is nothing to watch; their audits are statistical.

Compiled loops cannot carry a mark (`compiled_gini`): what they add up is marked again. They
look at raw counts to divide by them, as the NumPy form beside them does.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.auditing.cases import Unclaimed
from hedgerow.auditing.neighbours import (
    TablePair,
    basket_pairs,
    schema_over,
    table_pairs,
    values,
)
from hedgerow.disclosure.private import supermodular
from hedgerow.methods.diffgen import specialise
from hedgerow.methods.diffmulti import growth as diffmulti_growth
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import hedge
from hedgerow.model import run as model_run
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.domain import DateDomain
from hedgerow.trees import shared_choice
from hedgerow.trees.box_scores import GINI
from support.audited import audited_subjects
from support.taint import (
    Carrier,
    Hidden,
    Secret,
    Tainted,
    Watched,
    WatchedLedger,
    check_public,
    watched,
)

ONE = Fraction(1)
ZONES = (
    (specialise.JointChoice, "choose"),
    (specialise.PrintedChoice, "_draw"),
    (diffmulti_growth, "choose_splits"),
    (supermodular, "choose_cells", lambda made: replace(made, taken=made.taken.view(Hidden))),
    (supermodular, "tally_choices", lambda made: tuple(each.view(Hidden) for each in made)),
    (shared_choice, "compiled_gini", lambda sums: sums.view(Secret)),
)
SAMPLING = ("truthful", "sample")


def methods():
    for subject in audited_subjects(ONE):
        if isinstance(subject, Unclaimed) or not hasattr(subject, "over"):
            continue
        if subject.name.split(",")[0] not in SAMPLING:
            yield pytest.param(subject.method, subject.over, id=subject.name)


def run(method, pair, *, seed=1, epsilon=ONE):
    ledger = WatchedLedger(epsilon)
    with watched(ZONES):
        released = method.publish(
            Run(
                engine=Watched(pair.engine(has_record=True)),
                epsilon=epsilon,
                ledger=ledger,
                source=SeededSource(seed),
            )
        )
    check_public(released)
    return released, ledger


@pytest.fixture
def grows(monkeypatch):
    """Let `hedge` grow a tree on few records."""
    shape = hedge_budget.HedgeShape(shared=1, own=1, most_boxes=50)
    monkeypatch.setattr(hedge.HedgeShape, "of", classmethod(lambda *_: shape))
    monkeypatch.setattr(hedge, "STOP_BELOW", 0.05)


def test_no_method_looks_at_a_raw_count_where_scores_are_compiled(grows, monkeypatch):
    seen = []
    monkeypatch.setattr(shared_choice, "is_loaded", lambda loops: not seen.append(loops))
    method = hedge.Hedge(score=GINI)
    released, ledger = run(method, DATED)
    assert seen
    assert ledger.settled()
    monkeypatch.setattr(shared_choice, "is_loaded", lambda loops: False)
    again, _ = run(method, DATED)
    assert np.array_equal(released.counts, again.counts)


@pytest.mark.parametrize(("method", "pairs"), list(methods()))
def test_no_method_looks_at_a_raw_count(grows, method, pairs):
    for pair in pairs:
        if pair.name in {"T1", "T4", "M", "T6", "T8"}:
            for seed in (1, 2):
                released, ledger = run(method, pair, seed=seed)
                assert ledger.settled()
                again = method.publish(
                    Run(
                        engine=pair.engine(has_record=True),
                        epsilon=ONE,
                        ledger=WatchedLedger(ONE),
                        source=SeededSource(seed),
                    )
                )
                assert np.array_equal(released.counts, again.counts)


CALENDAR = DateDomain.between(dt.date(2019, 6, 15), dt.date(2021, 3, 31), step="month")
DATED = TablePair(
    name="dates",
    about="a date, divided where years, quarters and months begin",
    schema=schema_over(CALENDAR, values(3)),
    rest=tuple((i * 5 % CALENDAR.size, i % 3, i % 2) for i in range(60)),
    record=(CALENDAR.size - 1, 0, 1),
)


def methods_of_classes():
    """Those that publish tables with a class."""
    for each in methods():
        first = each.values[1][0]
        if isinstance(first, TablePair) and first.schema.class_attribute is not None:
            yield pytest.param(each.values[0], id=each.id)


@pytest.mark.parametrize("method", list(methods_of_classes()))
def test_no_method_looks_at_a_raw_count_of_dates(grows, method):
    released, ledger = run(method, DATED)
    assert ledger.settled()
    again = method.publish(
        Run(
            engine=DATED.engine(has_record=True),
            epsilon=ONE,
            ledger=WatchedLedger(ONE),
            source=SeededSource(1),
        )
    )
    assert np.array_equal(released.counts, again.counts)


# The watch itself.


def secret(*values):
    return np.array(values).view(Secret)


def hidden(*values):
    return np.array(values).view(Hidden)


@pytest.mark.parametrize(
    "look",
    [
        lambda: bool(secret(1)),
        lambda: int(secret(1)[0]),
        lambda: float(secret(1, 2).sum()),
        lambda: secret(3, 4).tolist(),
        lambda: secret(3).item(),
        lambda: [1, 2, 3][secret(1)[0]],
        lambda: range(secret(2)[0]),
        lambda: 1 if secret(1, 2).max() > 1 else 0,
        lambda: bool((secret(0, 1) == 0).any()),
        lambda: len(hidden(1, 2)),
        lambda: hidden(1).size,
        lambda: hidden(1).shape,
        lambda: list(hidden(1)),
        lambda: len(np.flatnonzero(secret(0, 1))),
        lambda: len(np.arange(2).view(Carrier)[secret(0, 1) > 0]),
        lambda: len(np.unique(secret(1, 1))),
        lambda: int(np.argmax(secret(1, 2))),
    ],
)
def test_looking_at_a_raw_count_raises(look):
    with pytest.raises(Tainted):
        look()


def test_what_is_computed_from_raw_counts_stays_secret():
    counts = secret(1, 2, 3)
    public = np.zeros(3, dtype=np.int64).view(Carrier)
    assert isinstance(counts + 1, Secret)
    assert isinstance(np.cumsum(counts), Secret)
    assert isinstance(np.where(counts > 1, 1, 0), Secret)
    assert isinstance(np.arange(9).view(Carrier)[counts], Secret)
    assert isinstance(np.concatenate([[0], counts]), Secret)
    assert not isinstance(public + 1, Secret)
    public[1] = counts[0]
    assert isinstance(public, Secret)


def test_raw_counts_are_not_shown():
    assert "7" not in repr(secret(7))
    assert "7" not in str(secret(7))


def test_writing_a_raw_count_where_the_mark_is_lost_raises():
    with pytest.raises(Tainted, match="cannot carry"):
        np.add.at(np.zeros(2), np.array([0]), secret(1))


# Twins.

TABLES = {pair.name: pair for pair in table_pairs()}


def method_named(name):
    return next(each for each in audited_subjects(ONE) if each.name == name).method


def test_a_twin_that_tests_a_true_count_for_zero_is_tainted(monkeypatch):
    growth = diffmulti_growth.PrintedGrowth
    sound = growth._valid

    def spares_empty(self, level):
        if not level.classes().sum():
            return np.zeros(len(level.boxes), dtype=np.bool_)
        return sound(self, level)

    monkeypatch.setattr(growth, "_valid", spares_empty)
    with pytest.raises(Tainted, match="truth"):
        run(method_named("diffmulti, max, faithful"), TABLES["T1"])


def test_a_twin_that_hands_out_h_by_true_counts_is_tainted(monkeypatch):
    growth = diffmulti_growth.JointGrowth

    def exact(self, level):
        nodes = level.boxes.ledger
        self.run.ledger.spend(self.budget.sizes, on="child counts", nodes=nodes)
        return level.classes().sum(axis=1)

    monkeypatch.setattr(growth, "_noisy_sizes", exact)
    with pytest.raises(Tainted):
        run(method_named("diffmulti, max, improved"), TABLES["T1"])


def test_a_twin_that_stops_on_true_sizes_is_tainted(grows, monkeypatch):
    real = model_run.noisy_counts

    def exact(counts, *, spending, per_record=1):
        noisy = real(counts, spending=spending, per_record=per_record)
        return counts if spending.on.startswith("box sizes") else noisy

    monkeypatch.setattr(model_run, "noisy_counts", exact)
    with pytest.raises(Tainted):
        run(method_named("hedge, gini"), TABLES["M"])


class ExactCounts:
    """Publishes the raw counts themselves."""

    def publish(self, run):
        method = method_named("diffgen, h all")
        released = method.publish(run)
        return replace(released, counts=run.engine.place().classes().ravel())


def test_a_twin_that_publishes_raw_counts_is_tainted():
    with pytest.raises(Tainted, match="in the release"):
        run(ExactCounts(), TABLES["T1"])


class LengthOfTheTally:
    """Lists as many groups as are occupied."""

    def publish(self, run):
        method = method_named("basic")
        occupied = len(run.engine.itemsets().keys)
        released = method.publish(run)
        return replace(released, counts=released.counts[:occupied])


def test_a_twin_that_counts_occupied_groups_is_tainted():
    with pytest.raises(Tainted, match="counted"):
        run(LengthOfTheTally(), basket_pairs()[1])
