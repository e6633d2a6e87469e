"""Marginals of all codes: what is counted, how levels are combined, and what follows from them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.weave.axes import CellAxis, cell_axis
from hedgerow.methods.weave.codes import (
    LEAST_PART,
    MOST_CELLS,
    MOST_PART,
    PARTS,
    CodeCounts,
    CodeLevels,
    code_part,
)
from hedgerow.methods.weave.one_way import code_counts
from hedgerow.methods.weave.pieces import averaged
from hedgerow.methods.weave.refinement import estimated, refined_axis
from hedgerow.methods.weave.weave import Weave
from hedgerow.methods.weave.within import CodeLaw, CountedLaw
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy
from support.method_battery import run
from support.tables import grid, schema_of, table_of, values


def chapters(n_chapters, n_blocks, n_codes):
    """A taxonomy of three levels: chapters, blocks and codes."""
    nested = {
        f"c{c}": {f"c{c}b{b}": [f"c{c}b{b}k{k}" for k in range(n_codes)] for b in range(n_blocks)}
        for c in range(n_chapters)
    }
    return CategoricalDomain(taxonomy=Taxonomy.from_nested("Any", nested))


DOMAINS = {
    "short grid": grid(30),
    "grid": grid(1024),
    "long grid": grid(1025),
    "longer grid": grid(70_000),
    "longest grid": grid(1_000_000),
    "values": values(3000),
    "taxonomy": chapters(10, 12, 20),
    "large taxonomy": chapters(20, 40, 20),
}


@pytest.mark.parametrize("domain", [grid(24), values(9, 3), values(256)])
def test_codes_that_are_cells_already_are_not_counted_twice(domain):
    assert CodeLevels.of(domain, cell_axis(domain)) is None


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_level_is_a_partition_that_refines_the_one_before(name, seed):
    domain = DOMAINS[name]
    axis = cell_axis(domain)
    levels = CodeLevels.of(domain, axis)
    rng = np.random.default_rng(seed)
    edges, wide = levels.first, None
    for level in range(1, levels.n_levels + 1):
        assert (edges[0], edges[-1]) == (0, domain.size)
        assert (np.diff(edges) > 0).all()
        assert set(axis.edges.tolist()) <= set(edges.tolist())
        assert len(edges) - 1 <= MOST_CELLS
        if wide is not None:
            assert set(wide.tolist()) <= set(edges.tolist())
        if level < levels.n_levels:
            counts = np.where(rng.random(len(edges) - 1) < 0.1, 100.0, -3.0)
            wide, edges = edges, levels.divided(edges, counts, 1.0, level)
            kept = np.isin(wide[:-1][counts < 0] + 1, edges) & (np.diff(wide)[counts < 0] > 1)
            assert not kept.any()  # a cell that noise hides is not divided


@pytest.mark.parametrize("name", DOMAINS)
def test_a_heavy_code_is_alone_at_the_last_level(name):
    """Levels are enough to divide the cells around one code down to it."""
    domain = DOMAINS[name]
    levels = CodeLevels.of(domain, cell_axis(domain))
    code = domain.size * 5 // 7
    edges = levels.first
    for level in range(1, levels.n_levels):
        held = np.zeros(len(edges) - 1)
        held[np.searchsorted(edges, code, "right") - 1] = 1000.0
        edges = levels.divided(edges, held, 1.0, level)
    assert {code, code + 1} <= set(edges.tolist())


def test_a_large_taxonomy_is_counted_by_chapters_blocks_and_codes():
    domain = chapters(20, 40, 20)
    levels = CodeLevels.of(domain, cell_axis(domain))
    assert levels.n_levels == 3
    assert len(levels.first) - 1 == 20
    assert [len(each) - 1 for each in levels.finer] == [800, 16_000]


def test_no_level_has_more_cells_than_are_allowed_and_the_heaviest_are_divided_first():
    levels = CodeLevels.of(grid(1_000_000), cell_axis(grid(1_000_000)))
    counts = np.arange(len(levels.first) - 1, 0, -1) * 1000.0
    once = levels.divided(levels.first, counts, 1.0, 1)
    counts = np.full(len(once) - 1, 100.0) + np.arange(len(once) - 1, 0, -1)
    twice = levels.divided(once, counts, 1.0, 2)
    assert len(once) - 1 <= MOST_CELLS
    assert len(once) - 1 > MOST_CELLS - 512
    assert MOST_CELLS - 8 < len(twice) - 1 <= MOST_CELLS
    assert np.diff(once)[0] < np.diff(levels.first)[40]
    assert np.diff(twice)[-1] == np.diff(once)[-1] == np.diff(levels.first)[-1]


@given(st.floats(0, 1e9))
def test_the_part_of_the_codes_is_none_or_between_its_bounds(strength):
    part = Fraction(code_part(strength), PARTS)
    assert part == 0 or LEAST_PART <= part <= MOST_PART
    assert code_part(2 * strength) >= code_part(strength)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_one_record_moves_one_cell_of_every_level_by_one(data):
    """Sensitivity: with the edges given, which earlier noisy counts decide."""
    size = data.draw(st.sampled_from([26, 200, 3000]))
    schema = schema_of(grid(size), grid(40), classes=2)
    rows = data.draw(
        st.lists(st.tuples(*(st.integers(0, n - 1) for n in (size, 40, 2))), max_size=12)
    )
    row = data.draw(st.tuples(*(st.integers(0, n - 1) for n in (size, 40, 2))))
    inner = data.draw(st.sets(st.integers(1, size - 1), max_size=8))
    edges = {0: np.array([0, *sorted(inner), size]), 1: np.arange(41)}
    with_it, without = (
        code_counts(MemoryEngine(table=table_of(schema, each)), edges)
        for each in ([*rows, row], rows)
    )
    for a in edges:
        moved = with_it[a] - without[a]
        assert moved.sum() == np.abs(moved).sum() == 1


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_combined_as_least_squares_combine_them(seed):
    rng = np.random.default_rng(seed)
    coarse, parts = np.array([0, 4, 5, 9]), np.array([0, 1, 2, 3, 4, 5, 7, 9])
    first, second = rng.integers(-5, 60, 3), rng.integers(-5, 60, 7)
    found = CodeCounts.of(coarse, first, 2.0).refined(parts, second)
    place = np.searchsorted(coarse, parts[:-1], "right") - 1
    design = np.vstack([(place == np.arange(3)[:, None]).astype(float), np.eye(7)])
    expected = np.linalg.lstsq(design, np.concatenate([first, second]), rcond=None)[0]
    assert found.counts == pytest.approx(expected)
    covariance = 8.0 * np.linalg.inv(design.T @ design)
    assert found.variances == pytest.approx(np.diag(covariance))


def brute_force(values, widths, weights, price):
    m = len(values)
    best, fitted = np.inf, None
    for n_cuts in range(m):
        for cuts in combinations(range(1, m), n_cuts):
            bounds = [0, *cuts, m]
            cost, found = price * n_cuts, np.empty(m)
            for low, high in pairwise(bounds):
                w, v = weights[low:high], values[low:high]
                cost += (w * (v - (w * v).sum() / w.sum()) ** 2).sum()
                found[low:high] = (v * widths[low:high]).sum() / widths[low:high].sum()
            if cost < best - 1e-9:
                best, fitted = cost, found
    return fitted


@pytest.mark.parametrize("seed", range(12))
def test_pieces_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    widths = rng.integers(1, 4, 8).astype(float)
    values = np.repeat(rng.normal(0, 20, 4), 2) + rng.normal(0, 3, 8)
    weights = widths**2
    scale, total = 2.0, 1e6
    price = 0.35 * (scale * np.log(8)) ** 2
    found = averaged(values, widths, weights, scale=scale, total=total)
    assert found == pytest.approx(brute_force(values, widths, weights, price))


def counted(truth, scale, seed):
    rng = np.random.default_rng(seed)
    noise = rng.geometric(1 / (1 + scale), len(truth)) - rng.geometric(1 / (1 + scale), len(truth))
    return CodeCounts.of(np.arange(len(truth) + 1), np.rint(truth + noise).astype(np.int64), scale)


def hours():
    """Working hours: a spike of half of all records at 40, and little around it."""
    truth = np.full(99, 60.0)
    truth[[40, 50, 60]] = [14_000, 3000, 1500]
    return truth


@pytest.mark.parametrize("seed", range(5))
def test_a_spike_stays_a_spike_and_what_noise_hides_is_averaged(seed):
    truth, axis = hours(), cell_axis(grid(99))
    found = counted(truth, 40.0, seed)
    records = estimated(found, axis, truth.sum())
    assert records.sum() == pytest.approx(truth.sum())
    assert (records >= 0).all()
    assert records[40] == pytest.approx(14_000, rel=0.05)
    assert np.abs(records - truth).sum() < 0.6 * np.abs(found.counts - truth).sum()


def test_frequent_codes_become_cells_and_heavy_cells_are_divided():
    truth, axis = hours(), cell_axis(grid(99))
    found = counted(truth, 1.0, 1)
    cells = refined_axis(grid(99), axis, found, truth, scale=1.0)
    for code in (40, 50, 60):
        assert {code, code + 1} <= set(cells.edges.tolist())
    even = np.full(99, 100.0)
    assert (
        refined_axis(grid(99), axis, found, even, scale=1.0).edges.tolist() == axis.edges.tolist()
    )
    low = np.full(99, 1.0)
    low[[1, 2, 3, 4]] = 300.0  # in one even cell
    coarse = CellAxis(edges=np.array([0, 50, 99]), ordered=True, depths=None)
    divided = refined_axis(grid(99), coarse, found, low, scale=100.0).edges
    assert len(divided) > 4


def test_frequent_values_of_a_taxonomy_become_cells():
    domain = chapters(10, 12, 20)
    axis = cell_axis(domain)
    truth = np.full(domain.size, 1.0)
    truth[[77, 1234]] = 900.0
    cells = refined_axis(domain, axis, counted(truth, 1.0, 1), truth, scale=1.0)
    assert set(np.setdiff1d(cells.edges, axis.edges).tolist()) <= {77, 78, 1234, 1235}
    assert cells.depths.shape == (cells.n_cells, cells.n_cells)
    assert not cells.ordered


@pytest.mark.parametrize("ordered", [True, False])
def test_codes_inside_a_cell_are_drawn_by_their_own_counts(ordered):
    axis = CellAxis(edges=np.array([0, 8, 16]), ordered=ordered, depths=None)
    truth = np.array([1000, *[20.0] * 7, *[300.0] * 8])
    law = CountedLaw.of(axis, np.array([1140.0, 2400.0]), 1.0, counted(truth, 1.0, 3))
    cells = np.repeat([0, 1], [1140, 2400]).astype(np.int32)
    codes = law.drawn(cells, np.random.default_rng(2))
    assert np.array_equal(np.searchsorted(axis.edges, codes, "right") - 1, cells)
    assert np.bincount(codes, minlength=16) == pytest.approx(truth, abs=30)


def test_codes_of_wide_finest_cells_lie_in_them_and_follow_the_law_between_cells():
    axis = CellAxis(edges=np.array([0, 300, 600, 900]), ordered=True, depths=None)
    edges = np.array([0, 100, 300, 400, 401, 600, 900])
    noisy = np.array([2000, 1000, 500, 400, 100, 40])
    found = CodeCounts.of(edges, noisy, 1.0)
    law = CountedLaw.of(axis, np.array([3000.0, 1000.0, 40.0]), 1.0, found)
    cells = np.repeat([0, 1, 2], [3000, 1000, 40]).astype(np.int32)
    codes = law.drawn(cells, np.random.default_rng(2))
    held = np.bincount(np.searchsorted(edges, codes, "right") - 1, minlength=6)
    assert held == pytest.approx(noisy, abs=60)


def test_records_of_a_cell_are_spread_over_finer_ones_by_its_law():
    axis = CellAxis(edges=np.array([0, 3, 6, 9]), ordered=True, depths=None)
    masses = np.array([2400, 300, 37.5])
    parts = CodeLaw.of(axis, masses, 1.0).spread(masses, np.arange(10))
    assert parts[:3].sum() == pytest.approx(2400)
    assert parts[3:6] == pytest.approx(300 * np.array([4, 2, 1]) / 7)
    assert CodeLaw.of(axis, masses, 1.0).spread(masses, np.array([0, 3, 4, 6, 9]))[1:3] == (
        pytest.approx([300 * 4 / 7, 300 * 3 / 7])
    )


def test_a_release_has_the_spikes_of_the_data_and_every_level_as_a_table():
    rng = np.random.default_rng(1)
    n = 6000
    hours = np.where(rng.random(n) < 0.5, 40, rng.integers(0, 99, n))
    money = np.where(rng.random(n) < 0.9, 0, 5000 + rng.integers(0, 50, n) * 100)
    schema = schema_of(grid(99), grid(100_000), values(3), classes=2)
    rows = np.stack([hours, money, rng.integers(0, 3, n), hours == 40], axis=1)
    groups, ledger = run(Weave(), table_of(schema, rows.tolist()), epsilon=Fraction(5))
    found = np.repeat(groups.ranges[0].first[groups.index[0]], groups.counts)
    assert (found == 40).sum() == pytest.approx((hours == 40).sum(), rel=0.05)
    counted = [table for table in groups.tables if table.kind == "codes"]
    assert [table.attributes for table in counted] == [(0,), (1,), (1,)]
    assert [len(table.groups[0]) for table in counted] == [99, 100_000, 100_000]
    booked = [line for line in ledger.bookings if line.on.startswith("all codes")]
    assert sorted(line.share for line in booked) == sorted(table.share for table in counted)
    assert counted[1].share == counted[2].share
