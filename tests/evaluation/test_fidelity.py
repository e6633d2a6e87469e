"""Neutral measures: cells that the raw data alone define, held against naive loops."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.evaluation.fidelity import fidelity
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.evaluation.moments import number_errors
from hedgerow.evaluation.neutral_cells import neutral_cells, value_cells
from hedgerow.evaluation.spread import Spread
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.domain import NumericDomain
from support.loose_groups import KINDS, SCHEMA, density
from support.tables import encoded_tables, grid, schema_of, values

CELL = [st.integers(0, attribute.domain.size - 1) for attribute in SCHEMA.used()]
TABLES = st.lists(st.tuples(*CELL), min_size=1, max_size=25).map(
    lambda rows: table_of_columns(SCHEMA, *np.array(rows).T)
)


def table_of_columns(schema, *columns):
    """Return a table of columns of codes, the class last where there is one."""
    n = len(schema.attributes)
    classes = columns[n] if schema.class_attribute is not None else None
    return EncodedTable.from_codes(schema, [np.asarray(each) for each in columns[:n]], classes)


def points(schema, *columns):
    """Return synthetic records as groups of single codes."""
    ranges = tuple(
        Ranges.of([(code, code + 1) for code in range(attribute.domain.size)])
        for attribute in schema.attributes
    )
    return Groups(
        ranges=ranges,
        index=tuple(np.asarray(each, np.int32) for each in columns),
        classes=None,
        counts=np.ones(len(columns[0]), np.int64),
        is_cut=False,
    )


def naive_variation(first: dict, second: dict) -> float:
    total = sum(first.values()), sum(second.values())
    if min(total) <= 0:
        return 0.0 if max(total) <= 0 else 1.0
    keys = set(first) | set(second)
    return sum(abs(first.get(k, 0) / total[0] - second.get(k, 0) / total[1]) for k in keys) / 2


def naive_marginal(whole: np.ndarray, attributes, places) -> dict:
    found: dict = {}
    for at in product(*(range(size) for size in whole.shape)):
        key = tuple(int(places[a][at[a]]) for a in attributes)
        found[key] = found.get(key, 0.0) + whole[at]
    return found


@settings(max_examples=60)
@given(groups=KINDS)
def test_the_weight_of_every_code_is_that_of_spreading_every_group(groups):
    spread, whole = Spread.of_groups(groups, SCHEMA), density(groups)
    for at in range(4):
        others = tuple(each for each in range(4) if each != at)
        assert np.allclose(spread.code_weights(at), whole.sum(axis=others))


@settings(max_examples=30, deadline=None)
@given(groups=KINDS, table=TABLES)
def test_all_measures_equal_naive_loops_over_the_whole_domain(groups, table):
    whole = density(groups)
    true = np.zeros(whole.shape)
    np.add.at(true, tuple(each.astype(int) for each in (*table.codes, table.classes)), 1.0)
    found = fidelity(groups, table, with_class=True)
    places = [np.arange(size) for size in whole.shape]  # few values have a cell each
    for each in found.columns:
        at = (each.attribute,)
        ours, theirs = naive_marginal(whole, at, places), naive_marginal(true, at, places)
        assert each.error == pytest.approx(naive_variation(ours, theirs))
        assert each.even == pytest.approx(naive_variation(dict.fromkeys(ours, 1.0), theirs))
        total = sum(ours.values())
        occurring = sum(count for key, count in ours.items() if theirs[key] > 0)
        assert each.occurs == pytest.approx(occurring / total)
        assert each.top == pytest.approx(2 * each.error, abs=1e-9) or len(ours) > 10
        if each.number is not None:
            codes = np.arange(whole.shape[each.attribute])
            for weights, mean, deviation in (
                (theirs, each.number.true_mean, each.number.true_deviation),
                (ours, each.number.mean, each.number.deviation),
            ):
                share = np.array([weights[(int(code),)] for code in codes])
                share = share / share.sum()
                assert mean == pytest.approx(share @ codes)
                assert deviation == pytest.approx(np.sqrt(share @ codes**2 - mean**2), abs=1e-6)
    for pair, each in zip(combinations(range(4), 2), found.pairs, strict=True):
        assert each.attributes == pair
        error = naive_variation(
            naive_marginal(whole, pair, places), naive_marginal(true, pair, places)
        )
        assert each.error == pytest.approx(error)


@settings(max_examples=40)
@given(seed=st.integers(0, 999), n=st.integers(1, 400), size=st.integers(21, 400))
def test_merged_cells_equal_a_loop_over_sorted_records(seed, n, size):
    rng = np.random.default_rng(seed)
    records = np.minimum(rng.geometric(0.02, n) - 1, size - 1)
    counts = np.bincount(records, minlength=size).astype(float)
    cells = neutral_cells(counts, NumericDomain.even(low=0, high=size - 1, step=1), most=20)
    assert cells.max() < 20
    assert set(cells) == set(range(int(cells.max()) + 1))
    if len(set(records.tolist())) < 20:
        assert len({int(cells[code]) for code in records}) == len(set(records.tolist()))
        return
    frequent = {code for code in set(records.tolist()) if counts[code] > n / 20}
    for code in frequent:
        assert (cells == cells[code]).sum() == 1
    rest = sorted(code for code in records.tolist() if code not in frequent)
    k = 20 - len(frequent)
    cuts = sorted({rest[int(np.ceil(len(rest) * j / k - 1e-9)) - 1] for j in range(1, k)})
    expected = [sum(code > cut for cut in cuts) for code in rest]
    ours = [int(cells[code]) for code in rest]
    assert [a < b for a, b in pairwise(ours)] == [a < b for a, b in pairwise(expected)]


def test_rare_values_of_a_taxonomy_share_a_cell_and_ties_go_by_code():
    domain = values(400)
    counts = np.ones(400)
    counts[7] = 50
    cells = value_cells(counts, domain)
    assert cells.max() + 1 == 200
    assert [int((cells == cells[code]).sum()) for code in (7, 0, 198, 199, 399)] == [
        1,
        1,
        1,
        201,
        201,
    ]


def test_a_missing_value_is_no_neighbour_of_the_lowest():
    domain = NumericDomain.even(low=0, high=99, step=1, missing=True)
    counts = np.ones(101)
    cells = neutral_cells(counts, domain, most=20)
    assert (cells == cells[0]).sum() == 1


def test_a_spike_lost_inside_a_cell_is_seen_by_the_neutral_measure_alone():
    """40 hours of work, spread evenly over the cell [37, 43) of the 16 equal ones."""
    schema = schema_of(grid(96), grid(4), classes=None)
    rng = np.random.default_rng(7)
    hours = np.where(rng.random(4000) < 0.5, 40, rng.integers(0, 96, 4000))
    other = rng.integers(0, 4, 4000)
    inside = (hours >= 36) & (hours < 42)
    smooth = np.where(inside, rng.integers(36, 42, 4000), hours)
    table, release = table_of_columns(schema, hours, other), points(schema, smooth, other)
    for ways in (1, 2):
        assert marginal_errors(release, table, ways=ways).mean == 0
    found = fidelity(release, table)
    first, second = found.columns
    assert found.worst_column is first
    assert first.error > 0.3
    assert first.top > 0.3
    assert second.error == 0
    assert found.pairs[0].error > 0.3


@settings(max_examples=40, deadline=None)
@given(groups=KINDS, table=TABLES, data=st.data())
def test_the_order_of_records_changes_nothing(groups, table, data):
    order = np.array(data.draw(st.permutations(range(len(table)))))
    moved = EncodedTable.from_codes(
        SCHEMA, [each[order] for each in table.codes], table.classes[order]
    )
    first, second = (fidelity(groups, each, with_class=True) for each in (table, moved))
    assert first.columns == second.columns
    assert first.pairs == second.pairs
    for ours, theirs in zip(first.correlations, second.correlations, strict=True):
        assert (ours.attributes, ours.release) == (theirs.attributes, theirs.release)
        assert ours.records == pytest.approx(theirs.records, abs=1e-9)  # sums of floats


@settings(max_examples=40, deadline=None)
@given(table=encoded_tables(min_records=1))
def test_a_copy_of_the_data_has_no_error(table):
    found = fidelity(table, table, with_class=True)
    assert found.one_way == 0
    assert all(each.error == 0 for each in found.pairs)
    assert all(each.top == 0 and each.occurs == 1 for each in found.columns)
    numbers = [each.number for each in found.columns if each.number is not None]
    assert all(
        each.mean_error == each.deviation_error == each.quantile_error == 0 for each in numbers
    )
    assert all(each.release == each.records for each in found.correlations)


def test_a_release_without_records_has_every_record_wrong():
    table = table_of_columns(SCHEMA, [0, 5], [1, 2], [0, 1], np.array([0, 1]))
    empty = Groups(
        ranges=tuple(Ranges.of([(0, 1)]) for _ in SCHEMA.attributes),
        index=tuple(np.zeros(0, np.int32) for _ in SCHEMA.attributes),
        classes=np.zeros(0, np.int32),
        counts=np.zeros(0, np.int64),
        is_cut=False,
    )
    found = fidelity(empty, table, with_class=True)
    assert {each.error for each in (*found.columns, *found.pairs)} == {1.0}
    assert {(each.occurs, each.number) for each in found.columns} == {(None, None)}


def test_people_weigh_one_whatever_their_records():
    schema = schema_of(grid(30), values(2), classes=None)
    table = table_of_columns(schema, [0, 0, 0, 7], [0, 0, 0, 1])
    release = points(schema, [0, 7], [0, 1])
    weights = np.array([1 / 3, 1 / 3, 1 / 3, 1.0])
    assert fidelity(release, table, weights=weights).one_way == pytest.approx(0, abs=1e-12)
    assert fidelity(release, table).one_way == pytest.approx(0.25)


def test_numbers_are_compared_in_deviations_of_the_raw_column():
    domain = NumericDomain.even(low=0, high=100, step=1, missing=True)
    true, ours = np.zeros(102), np.zeros(102)
    true[[0, 41, 61]] = 7, 5, 5  # missing, 40 and 60
    ours[[51, 71]] = 1, 1
    found = number_errors(domain, ours, true)
    assert (found.true_mean, found.mean) == (50, 60)
    assert (found.true_deviation, found.mean_error, found.deviation_error) == (10, 1.0, 0.0)
    assert found.quantile_error == pytest.approx(1.0)
    assert found.middle == 0
    assert number_errors(values(3), np.ones(3), np.ones(3)) is None


def test_pairs_are_sampled_with_the_seed_where_there_are_many():
    schema = schema_of(*[values(2) for _ in range(12)], classes=None)
    rng = np.random.default_rng(7)
    table = table_of_columns(schema, *rng.integers(0, 2, (12, 50)))
    found = [fidelity(table, table, most_pairs=20, seed=seed) for seed in (1, 1, 2)]
    assert [len(each.pairs) for each in found] == [20, 20, 20]
    assert found[0].n_possible == 66
    assert found[0] == found[1] != found[2]


def test_boxes_are_spread_in_expectation():
    schema = schema_of(grid(10), values(2), classes=None)
    table = table_of_columns(schema, np.repeat(np.arange(10), 3), np.zeros(30, int))
    box = Groups(
        ranges=(Ranges.of([(0, 10)]), Ranges.of([(0, 1)])),
        index=(np.zeros(1, np.int32), np.zeros(1, np.int32)),
        classes=None,
        counts=np.array([7]),
        is_cut=True,
    )
    found = fidelity(box, table)
    assert found.exact
    assert found.one_way == pytest.approx(0, abs=1e-12)
    assert found.columns[0].number.mean_error == pytest.approx(0, abs=1e-12)
