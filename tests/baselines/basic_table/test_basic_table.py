"""The contingency table with noise on every cell."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from hedgerow.baselines.basic_table.basic_table import BasicTable
from hedgerow.errors import SettingError
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.trees.scores import SCORES
from support.method_battery import busy_table, content, run
from support.tables import grid, schema_of, table_of, values


def test_it_is_the_cut_that_diffgen_reaches_without_a_choice():
    schema, rows = busy_table()
    table = table_of(schema, rows)
    leaves = DiffGen(specialisations=None, score=SCORES["max"], faithful=False)
    assert content(run(BasicTable(cells=None), table)[0]) == content(run(leaves, table)[0])


def test_cells_without_records_are_listed_like_any_other():
    table = table_of(schema_of(grid(60), values(60)), [])
    seeds = [run(BasicTable(cells=None), table, seed=seed)[0] for seed in range(5)]
    assert any(len(groups) for groups in seeds)


def test_a_sparse_table_of_very_many_cells_is_published_without_writing_them_out():
    schema = schema_of(grid(100_000), grid(100_000), values(10))
    table = table_of(schema, [(5, 7, 3, 1)] * 5000)
    groups, ledger = run(BasicTable(cells=None), table)
    assert groups.is_cut
    assert ledger.settled()
    here = np.flatnonzero((groups.index[0] == 5) & (groups.index[1] == 7))
    assert groups.counts[here].sum() > 4000
    assert groups.origin.threshold > 1


def test_more_cells_than_can_be_numbered_are_refused_with_a_way_out():
    schema = schema_of(*[grid(10_000)] * 5)
    with pytest.raises(SettingError, match="too many to publish") as refused:
        BasicTable(cells=None).validate(schema, Fraction(1))
    assert "cells" in refused.value.do
    BasicTable(cells=65536).validate(schema, Fraction(1))


def test_with_a_number_of_cells_attributes_are_coarsened_to_it():
    schema = schema_of(*[grid(10_000)] * 5, classes=3)
    table = table_of(schema, [(i, i, i, i, i, i % 3) for i in range(900)])
    method = BasicTable(cells=3000)
    groups, _ = run(method, table)
    n_groups = prod((len(ranges) for ranges in groups.ranges), start=3)
    assert 300 < n_groups <= 3000
    assert n_groups == method.n_groups(schema) == method.outline(schema, Fraction(1)).n_groups


@pytest.mark.parametrize(("n_groups", "has_total"), [(4_998, False), (5_000, True)])
def test_a_total_is_counted_from_five_thousand_groups_on(n_groups, has_total):
    schema = schema_of(grid(n_groups // 2))
    outline = BasicTable(cells=None).outline(schema, Fraction(1))
    assert (len(outline.steps) > 1) is has_total
