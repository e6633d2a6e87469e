"""What a plan declares impossible is never drawn, and costs nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hedgerow.errors import SettingError
from hedgerow.methods.weave.weave import Weave
from support.method_battery import busy_table, content, run
from support.tables import table_of

COMBINATION = {"a0": [3, 13], "a1": ["v0", "v1"]}


def drawn(groups):
    codes = [r.first[i] for r, i in zip(groups.ranges, groups.index, strict=True)]
    return list(zip(*(column.tolist() for column in codes), groups.classes.tolist(), strict=True))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(20)])
def test_impossible_combinations_are_never_drawn(epsilon):
    schema, rows = busy_table()
    table = table_of(schema, rows * 5)
    for seed in range(5):
        free, _ = run(Weave(), table, epsilon=epsilon, seed=seed)
        kept, ledger = run(Weave(impossible=[COMBINATION]), table, epsilon=epsilon, seed=seed)
        assert any(3 <= a <= 13 and b <= 1 for a, b, *_ in drawn(free))
        assert not any(3 <= a <= 13 and b <= 1 for a, b, *_ in drawn(kept))
        assert kept.counts.sum() > 0
        assert ledger.settled()


def test_the_class_may_be_part_of_a_combination():
    schema, rows = busy_table()
    impossible = [{"class": ["v2"], "a2": [0, 6]}]
    groups, _ = run(Weave(impossible=impossible), table_of(schema, rows))
    assert 2 not in groups.classes.tolist()


def test_nothing_declared_changes_nothing():
    schema, rows = busy_table()
    table = table_of(schema, rows)
    assert content(run(Weave(impossible=[]), table)[0]) == content(run(Weave(), table)[0])


@pytest.mark.parametrize(
    ("combination", "match"),
    [
        ({}, "names no attribute"),
        ({"b": [1, 2]}, "does not use"),
        ({"a0": [5]}, "lowest and a highest"),
        ({"a0": [9, 5]}, "not in order"),
        ({"a0": [0, 400]}, "outside"),
        ({"a1": ["nobody"]}, "not a value"),
    ],
)
def test_a_combination_that_makes_no_sense_is_refused(combination, match):
    schema, _ = busy_table()
    with pytest.raises(SettingError, match=match):
        Weave(impossible=[combination]).validate(schema, Fraction(1))
