"""The search for the worst event."""

from __future__ import annotations

import numpy as np

from hedgerow.auditing.events import Combination, Fact, facts_of, learnt_events
from hedgerow.auditing.subject import columns_of, joined, some_runs

NAN = float("nan")


def noise(n, seed):
    return np.random.default_rng(seed).normal(size=n)


def test_a_fact_is_never_true_of_a_run_that_lacks_the_feature():
    columns = columns_of([{"x": 3.0}, {}, {"x": 1.0}])
    assert Fact(feature="x", test="at least", value=2).holds(columns).tolist() == [
        True,
        False,
        False,
    ]
    assert Fact(feature="x", test="is", value=1).holds(columns).tolist() == [False, False, True]
    assert Fact(feature="x", test="there", value=0).holds(columns).tolist() == [True, False, True]
    assert Fact(feature="y", test="there", value=0).holds(columns).tolist() == [False] * 3


def test_a_combination_says_what_it_asks():
    event = Combination(
        facts=(
            Fact(feature="rows", test="at least", value=2.5),
            Fact(feature="a cut", test="there", value=0),
        ),
        negated=(False, True),
    )
    assert str(event) == "rows >= 2.5 and not (a cut is there)"


def test_parts_of_runs_are_joined_with_gaps_for_what_is_missing():
    both = joined([columns_of([{"x": 1.0}]), columns_of([{"y": 2.0}, {"y": 3.0}])])
    assert np.isnan(both["x"]).tolist() == [False, True, True]
    assert some_runs(both, 1, 3)["y"].tolist() == [2.0, 3.0]


def test_facts_leave_constant_features_alone():
    assert facts_of({"same": np.ones(9)}) == []
    names = {fact.test for fact in facts_of({"x": np.array([1.0, 2, 3, NAN])})}
    assert names == {"at least", "is", "there"}


def test_an_event_that_happens_on_one_table_only_is_found():
    n = 300
    rare = np.where(np.arange(n) % 10 == 0, 7.0, 1.0)
    events = learnt_events(
        {"a": noise(n, 1), "b": rare}, {"a": noise(n, 2), "b": np.ones(n)}, most=3
    )
    assert events[0].on_record
    assert events[0].event.holds({"a": noise(2, 3), "b": np.array([7.0, 1.0])}).tolist() == [
        True,
        False,
    ]


def test_a_combination_is_found_where_no_single_fact_tells():
    rng = np.random.default_rng(5)
    n = 1500
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    c = rng.integers(0, 2, n)
    same = {"a": a.astype(float), "b": a.astype(float)}
    other = {"a": b.astype(float), "b": c.astype(float)}
    best = learnt_events(same, other)[0]
    assert best.promise > 1
    judged = best.event.holds({"a": np.array([0.0, 0, 1, 1]), "b": np.array([0.0, 1, 0, 1])})
    assert judged.sum() in {1, 2, 3}


def test_a_classifier_adds_up_small_differences():
    n = 1200
    rng = np.random.default_rng(6)
    names = [f"x{i}" for i in range(8)]
    moved = {name: rng.normal(0.25, 1, n) for name in names}
    plain = {name: rng.normal(0.0, 1, n) for name in names}
    single = learnt_events({"x0": moved["x0"]}, {"x0": plain["x0"]})[0]
    together = learnt_events(moved, plain)[0]
    assert together.promise > single.promise + 0.2
    assert "classifier" in str(together.event)


def test_equal_tables_promise_nothing():
    n = 1000
    events = learnt_events(
        {f"x{i}": noise(n, i) for i in range(10)}, {f"x{i}": noise(n, 50 + i) for i in range(10)}
    )
    assert all(event.promise < 0.35 for event in events)


def test_nothing_to_see_gives_no_event():
    assert learnt_events({}, {}) == []
    assert learnt_events({"x": np.ones(10)}, {"x": np.ones(10)}) == []
