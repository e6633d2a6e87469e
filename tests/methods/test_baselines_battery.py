"""The battery of table methods, for the differentially private baselines."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.baselines.dpcube.dpcube import TwoPhaseCube
from hedgerow.baselines.privbayes.privbayes import BayesianNetwork
from hedgerow.baselines.rps.rps import RecursiveMedians
from hedgerow.errors import SettingError
from support.method_battery import (
    EPSILONS,
    busy_table,
    check_budget,
    check_other_seeds,
    check_outline,
    check_ranges,
    check_same_seed,
    run,
)
from support.tables import encoded_tables, grid, schema_of, table_of, values

METHODS = {
    "basic-table": BasicTable(cells=None),
    "basic-table of few cells": BasicTable(cells=30),
    "rps": RecursiveMedians(height=4),
    "rps of one level": RecursiveMedians(height=1),
    "dpcube": TwoPhaseCube(cells=5000),
    "dpcube of few cells": TwoPhaseCube(cells=24),
    "privbayes": BayesianNetwork(degree=2),
    "privbayes of one parent": BayesianNetwork(degree=1),
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


@every_method
@settings(max_examples=25)
@given(table=encoded_tables(), epsilon=st.sampled_from(EPSILONS), seed=st.integers(0, 2**32))
def test_no_path_of_a_baseline_exceeds_epsilon_and_none_falls_short(method, table, epsilon, seed):
    check_budget(method, table, epsilon=epsilon, seed=seed)
    check_outline(method, table.schema, epsilon=epsilon)


@every_method
def test_the_same_seed_gives_the_same_baseline_whatever_counts_the_records(method, monkeypatch):
    check_same_seed(method, monkeypatch)


@every_method
def test_another_seed_gives_another_baseline(method):
    check_other_seeds(method)


@every_method
def test_boxes_of_a_baseline_hold_ranges_of_their_domains(method):
    check_ranges(method, tile=method.about.name != "privbayes")


@every_method
def test_a_baseline_runs_without_a_class(method):
    schema = schema_of(grid(9), values(5), classes=None)
    table = table_of(schema, [(i % 9, i * i % 5) for i in range(300)])
    groups, ledger = run(method, table)
    assert groups.classes is None
    assert ledger.settled()
    check_outline(method, schema, epsilon=Fraction(1))


@every_method
def test_a_baseline_keeps_about_as_many_records_as_there_are(method):
    schema, rows = busy_table()
    groups, _ = run(method, table_of(schema, rows * 20), epsilon=Fraction(5))
    assert abs(int(groups.counts.sum()) - 20 * len(rows)) < 600


@every_method
def test_a_baseline_says_what_it_does_differently(method):
    assert method.about.departures
    assert not method.about.faithful
    assert method.about.details["sensitivity"]
    assert all(each.paper and each.what and each.why for each in method.about.departures)


@every_method
def test_a_budget_too_small_to_draw_with_is_refused(method):
    schema, _ = busy_table()
    with pytest.raises(SettingError, match="too small"):
        method.validate(schema, Fraction(1, 10**10))
