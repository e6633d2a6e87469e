"""The battery of table methods, for weave."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SettingError
from hedgerow.methods.weave import weighing
from hedgerow.methods.weave.weave import Weave
from support.method_battery import (
    EPSILONS,
    busy_table,
    check_budget,
    check_other_seeds,
    check_outline,
    check_ranges,
    check_same_seed,
    content,
    run,
)
from support.tables import encoded_tables, grid, schema_of, table_of, values

METHODS = {
    "general": Weave(),
    "classification": Weave(purpose="classification"),
    "counting": Weave(purpose="counting"),
    "clustering": Weave(purpose="clustering"),
    "with a leaf table": Weave(leaf_table=True),
}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))


@every_method
@settings(max_examples=25, deadline=None)
@given(table=encoded_tables(), epsilon=st.sampled_from(EPSILONS), seed=st.integers(0, 2**32))
def test_no_path_of_weave_exceeds_epsilon_and_none_falls_short(method, table, epsilon, seed):
    check_budget(method, table, epsilon=epsilon, seed=seed)
    check_outline(method, table.schema, epsilon=epsilon)


@every_method
def test_the_same_seed_gives_the_same_weave_whatever_counts_the_records(method, monkeypatch):
    check_same_seed(method, monkeypatch)


@pytest.mark.parametrize("has_compiler", [True, False])
def test_compiled_loops_change_no_byte(has_compiler, monkeypatch):
    """Sums of weights depend on their order: both forms add in the same one."""
    schema, rows = busy_table()
    table = table_of(schema, rows * 20)
    plain = content(run(Weave(leaf_table=True), table, epsilon=Fraction(5))[0])
    monkeypatch.setattr(weighing, "COMPILED_FROM", 0)
    if not has_compiler:
        monkeypatch.setattr(weighing, "has_compiler", lambda: False)
        monkeypatch.setattr(weighing, "is_loaded", lambda _: False)
    assert content(run(Weave(leaf_table=True), table, epsilon=Fraction(5))[0]) == plain


@every_method
def test_another_seed_gives_another_weave(method):
    check_other_seeds(method)


@every_method
def test_drawn_records_lie_in_their_domains(method):
    check_ranges(method, tile=False)


def test_weave_runs_without_a_class():
    schema = schema_of(grid(9), values(5), classes=None)
    table = table_of(schema, [(i % 9, i * i % 5) for i in range(300)])
    groups, ledger = run(Weave(), table)
    assert groups.classes is None
    assert ledger.settled()
    check_outline(Weave(), schema, epsilon=Fraction(1))


@every_method
def test_weave_keeps_about_as_many_records_as_there_are(method):
    schema, rows = busy_table()
    groups, _ = run(method, table_of(schema, rows * 20), epsilon=Fraction(5))
    assert abs(int(groups.counts.sum()) - 20 * len(rows)) < 600


def test_a_budget_too_small_to_draw_with_is_refused():
    schema, _ = busy_table()
    with pytest.raises(SettingError, match="too small"):
        Weave().validate(schema, Fraction(1, 10**10))


def test_every_table_is_published_with_its_share_and_booked_under_its_name():
    schema, rows = busy_table()
    epsilon = Fraction(5)
    groups, ledger = run(Weave(), table_of(schema, rows * 20), epsilon=epsilon)
    kinds = ("table", "marginal", "join: ", "all codes")
    booked = [line for line in ledger.bookings if any(kind in line.on for kind in kinds)]
    tables = [line for line in booked if not line.on.startswith("choice")]
    released = [*groups.tables, *([] if groups.leaves is None else [groups.leaves])]
    assert sum(line.times for line in tables) == len(released)
    shares = sorted(line.share for line in tables for _ in range(line.times))
    assert shares == sorted(table.share for table in released)
    for table in groups.tables:
        sizes = tuple(int(each.max()) + 1 for each in table.groups)
        assert table.counts.shape == sizes
        assert table.counts.dtype == np.int64
