from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.methods.hedge import budget as hedge_budget
from hedgerow.methods.hedge import marginals
from hedgerow.methods.hedge.budget import CLASSIFYING, DESCRIBING, HedgeBudget, HedgeShape
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.locate import box_of
from hedgerow.model.placed import Borders
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy
from hedgerow.trees.axes import Axis, split_positions
from hedgerow.trees.box_scores import (
    BOX_SCORES,
    GINI,
    NCP,
    SKEW,
    UNIT,
    Children,
    splits_at_borders,
    splits_into_children,
    unsplit_units,
)
from hedgerow.trees.leaves import consistent, tree_levels
from hedgerow.trees.topdown import grow
from support.tables import encoded_tables, grid, schema_of, table_of, values

ONE = Fraction(1)


def run(table, *, score=GINI, epsilon=ONE, seed=1):
    ledger = PathLedger(epsilon)
    groups = Hedge(score=score).publish(
        Run(
            engine=MemoryEngine(table=table),
            epsilon=epsilon,
            ledger=ledger,
            source=SeededSource(seed),
        )
    )
    return groups, ledger


def go_deep(patch):
    """Let small tables grow trees: the public rules are made for large ones."""
    patch.setattr(hedge_budget, "RECORDS_PER_LEVEL", 0.05)
    patch.setattr(hedge_budget, "RECORDS_PER_BOX", 0.02)
    patch.setattr("hedgerow.methods.hedge.hedge.STOP_BELOW", 0.01)


@pytest.fixture
def deep(monkeypatch):
    go_deep(monkeypatch)


# ---------------------------------------------------------------- scores


@st.composite
def candidates(draw):
    """One candidate to split a box into up to four children."""
    n_classes = draw(st.integers(1, 3))
    n = draw(st.integers(2, 4))
    counts = draw(
        st.lists(
            st.lists(st.integers(0, 30), min_size=n_classes, max_size=n_classes),
            min_size=n,
            max_size=n,
        )
    )
    widths = draw(st.lists(st.integers(1, 20), min_size=n, max_size=n))
    return np.array(counts), np.array(widths), sum(widths) + draw(st.integers(0, 50))


def scored(score, counts, widths, domain):
    starts = np.array([0, len(widths)])
    return int(score.of(Children(counts=counts, widths=widths, starts=starts, domain=domain))[0])


@pytest.mark.parametrize("score", BOX_SCORES.values(), ids=list(BOX_SCORES))
@given(candidate=candidates())
def test_one_record_moves_a_box_score_by_at_most_its_sensitivity(score, candidate):
    counts, widths, domain = candidate
    before = scored(score, counts, widths, domain)
    for child, label in np.ndindex(counts.shape):
        more = counts.copy()
        more[child, label] += 1
        moved = scored(score, more, widths, domain) - before
        assert abs(moved) <= score.sensitivity
        if score.monotone:
            assert moved >= 0


@given(candidate=candidates())
def test_shared_gains_move_by_at_most_the_sensitivity_up_to_a_common_shift(candidate):
    """The gain of splitting and the nought of not splitting differ by one box's terms."""
    counts, widths, domain = candidate
    box = counts.sum(axis=0, keepdims=True)
    for child, label in np.ndindex(counts.shape):
        more = counts.copy()
        more[child, label] += 1
        split = scored(GINI, more, widths, domain) - scored(GINI, counts, widths, domain)
        stay = int(
            (unsplit_units(GINI, more.sum(axis=0, keepdims=True)) - unsplit_units(GINI, box))[0]
        )
        assert abs(split) <= GINI.sensitivity
        assert abs(stay) <= GINI.sensitivity


def test_scores_of_a_small_box():
    counts, widths = np.array([[8, 0], [0, 2]]), np.array([5, 15])
    assert scored(GINI, counts, widths, 40) == 10 * UNIT
    assert scored(NCP, counts, widths, 40) == (8 * 15 + 2 * 5) * UNIT // 40
    # Evenly spread, 2.5 of ten would lie in the first quarter; 5.5 would have to move.
    assert scored(SKEW, counts, widths, 40) == 5.5 * UNIT


# ---------------------------------------------------------------- candidates to split


@given(
    first=st.lists(st.integers(0, 50), min_size=1, max_size=6),
    length=st.integers(1, 1000),
    even=st.integers(2, 20),
)
def test_split_positions_lie_inside_rise_and_reach_both_ends(first, length, even):
    low = np.array(first, dtype=np.int32)
    borders = split_positions(low, low + np.int32(length), even=even)
    for box, start in enumerate(first):
        mine = borders.values[borders.starts[box] : borders.starts[box + 1]].tolist()
        assert mine == sorted(set(mine))
        assert all(start < position < start + length for position in mine)
        if length > 1:
            assert {start + 1, start + length - 1} <= set(mine)


def test_splits_at_borders_and_into_children_equal_a_naive_split():
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 9, (7, 2))  # bins of three boxes: 3 + 1 + 3
    borders = Borders.of([[2, 5], [], [12, 13]])
    first, stop = np.array([0, 4, 10], dtype=np.int32), np.array([8, 5, 20], dtype=np.int32)
    pairs = splits_at_borders(counts, borders, first, stop, domain=20)
    assert (
        pairs.counts.tolist()
        == np.concatenate(
            [
                [counts[0], counts[0] + counts[1], counts[4], counts[4] + counts[5]],
                [counts[1] + counts[2], counts[2], counts[5] + counts[6], counts[6]],
            ]
        ).tolist()
    )
    assert pairs.widths.tolist() == [2, 5, 2, 3, 6, 3, 8, 7]
    boxes, children = splits_into_children(counts, borders, first, stop, domain=20)
    assert boxes.tolist() == [0, 2]
    assert children.widths.tolist() == [2, 3, 3, 2, 1, 7]
    assert children.counts.tolist() == counts[[0, 1, 2, 4, 5, 6]].tolist()


def test_an_axis_finds_nodes_and_their_children():
    axis = Axis.of(values(7, 3))
    nodes = axis.node_of(np.array([0, 0, 3], dtype=np.int32), np.array([7, 2, 6], dtype=np.int32))
    assert nodes[1] == -1  # no node has the range [0, 2)
    borders = axis.child_borders(nodes)
    assert np.split(borders.values, borders.starts[1:-1])[0].tolist() == [3, 6]
    assert np.split(borders.values, borders.starts[1:-1])[2].tolist() == [4, 5]


# ---------------------------------------------------------------- consistency


@given(seed=st.integers(0, 2**32))
def test_consistent_counts_are_the_weighted_least_squares(seed):
    rng = np.random.default_rng(seed)
    parent = [-1]
    for node in range(rng.integers(1, 12)):
        parent += [node] * (rng.integers(0, 4) if node < len(parent) else 0)
    parent = np.array(parent, dtype=np.int32)
    n = len(parent)
    leaf = ~np.isin(np.arange(n), parent)
    precision = np.where(leaf | (rng.random(n) < 0.5), rng.random(n) + 0.1, 0)
    noisy = rng.normal(size=(n, 2)) * 5
    estimates, sure = consistent(parent, noisy * precision[:, None], precision)
    below = np.zeros((n, leaf.sum()))
    for column, leaf_node in enumerate(np.flatnonzero(leaf)):
        above = leaf_node
        while above >= 0:
            below[above, column] = 1
            above = parent[above]
    information = below.T @ (precision[:, None] * below)
    best = np.linalg.solve(information, below.T @ (precision[:, None] * noisy))
    assert estimates == pytest.approx(below @ best, abs=1e-8)
    assert sure == pytest.approx(1 / np.linalg.inv(information).sum())


def test_levels_of_a_tree():
    parent = np.array([-1, 0, 0, 2, 1, 3], dtype=np.int32)
    assert [level.tolist() for level in tree_levels(parent)] == [[0], [1, 2], [3, 4], [5]]


# ---------------------------------------------------------------- the method


@settings(max_examples=150)
@given(
    table=encoded_tables(),
    score=st.sampled_from(sorted(BOX_SCORES)),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_every_path_pays_exactly_epsilon(table, score, epsilon, seed):
    with pytest.MonkeyPatch.context() as patch:
        go_deep(patch)
        groups, ledger = run(table, score=BOX_SCORES[score], epsilon=epsilon, seed=seed)
    assert ledger.settled()
    assert ledger.worst_path() == epsilon
    assert (groups.counts > 0).all()
    rows = list(zip(*(index.tolist() for index in (*groups.index, groups.classes)), strict=True))
    assert rows == sorted(set(rows))


def test_trees_do_grow_in_these_tests(deep):
    table = table_of(
        schema_of(grid(12), values(6, 2)), [(i % 12, i % 6, i % 2) for i in range(900)]
    )
    groups, ledger = run(table)
    assert len(groups.boxes[0]) > 8
    assert {line.on.rstrip(" 0123456789") for line in ledger.bookings} == {
        "number of records",
        "marginal",
        "shared choice",
        "box sizes",
        "own choice",
        "counts",
    }


def test_every_record_has_one_box_and_boxes_tile_the_domain(deep):
    schema = schema_of(grid(7), values(6, 2), grid(5))
    table = table_of(schema, [(i % 7, i % 6, i % 5, i % 2) for i in range(200)])
    groups, _ = run(table)
    everything = [codes.ravel() for codes in np.indices((7, 6, 5))]
    box = box_of(groups.tree, everything)
    for codes, ranges, index in zip(everything, groups.ranges, groups.boxes, strict=True):
        assert (ranges.first[index[box]] <= codes).all()
        assert (codes < ranges.stop[index[box]]).all()
    assert set(box.tolist()) == set(range(len(groups.boxes[0])))


def test_the_order_of_records_and_the_way_of_counting_do_not_show(deep, monkeypatch):
    schema = schema_of(grid(12), values(6, 2), classes=3)
    rows = [(i * 7 % 12, i * 5 % 6, i % 3) for i in range(150)]
    first, _ = run(table_of(schema, rows))
    second, _ = run(table_of(schema, rows[::-1]))
    monkeypatch.setattr("hedgerow.count.memory.placed.COMPILED_FROM", 0)
    third, _ = run(table_of(schema, rows))
    for other in (second, third):
        assert first.counts.tolist() == other.counts.tolist()
        assert [i.tolist() for i in first.index] == [i.tolist() for i in other.index]
        assert first.tree.parent.tolist() == other.tree.parent.tolist()


def test_counts_without_noise_are_the_records(deep, monkeypatch):
    zeros = lambda n, **_: np.zeros(n, dtype=np.int64)  # noqa: E731
    monkeypatch.setattr("hedgerow.privacy.mechanisms.discrete_laplace", zeros)
    table = table_of(schema_of(grid(12), values(6, 2)), [(i % 12, i % 6, i % 2) for i in range(80)])
    groups, _ = run(table)
    box = box_of(groups.tree, table.codes)
    truth = np.bincount(box * 2 + table.classes, minlength=2 * len(groups.boxes[0]))
    assert sorted(groups.counts.tolist()) == sorted(truth[truth > 0].tolist())
    assert groups.tree.sizes[0] == 80


@pytest.mark.parametrize("classes", [None, 1, 2, 100])
@pytest.mark.parametrize("n_records", [0, 1, 100])
@pytest.mark.parametrize(
    "domains",
    [[grid(50)], [values(9, 3)], [grid(30), values(5)] * 25],
    ids=["one", "tree", "fifty"],
)
def test_any_table_can_be_published(domains, n_records, classes):
    schema = schema_of(*domains, classes=classes)
    rng = np.random.default_rng(1)
    rows = [
        tuple(int(rng.integers(attribute.domain.size)) for attribute in schema.used())
        for _ in range(n_records)
    ]
    for score in (GINI, NCP, SKEW) if classes else (NCP, SKEW):
        groups, ledger = run(table_of(schema, rows), score=score)
        assert ledger.settled()
        assert (groups.classes is None) == (classes is None)


def test_the_depth_follows_epsilon_and_the_noisy_size():
    shapes = [HedgeShape.of(Fraction(1), n) for n in (0, 100, 1000, 10_000, 10**7)]
    assert [shape.shared for shape in shapes] == sorted(shape.shared for shape in shapes)
    assert shapes[0].shared == shapes[0].own == 0
    assert shapes[-1].own == hedge_budget.MOST_OWN
    for shape, shares in product(shapes, (CLASSIFYING, DESCRIBING)):
        steps = HedgeBudget(epsilon=Fraction(1, 3), shape=shape, shares=shares).steps()
        assert sum(step.share * step.times for step in steps) == Fraction(1, 3)
        assert all(step.share > 0 for step in steps)


def test_a_score_sent_to_another_process_is_the_same_score():
    classes = np.array([[3, 1], [0, 0]])
    for score in (GINI, NCP, SKEW):
        sent = pickle.loads(pickle.dumps(score))
        assert unsplit_units(sent, classes).tolist() == unsplit_units(score, classes).tolist()
        assert Hedge(score=sent).shares == Hedge(score=score).shares


def test_budgets_differ_by_what_a_release_is_for():
    assert Hedge(score=GINI).shares == CLASSIFYING
    assert Hedge(score=SKEW).shares == Hedge(score=NCP).shares == DESCRIBING


def test_grown_leaves_hold_all_records(deep):
    table = table_of(schema_of(grid(12)), [(i % 12, i % 2) for i in range(40)])
    from hedgerow.methods.hedge.hedge import _Growth

    run = Run.start(MemoryEngine(table=table), epsilon=ONE, source=SeededSource(2))
    strategy = _Growth(run=run, score=GINI, shares=CLASSIFYING)
    grown = grow(run, strategy)
    assert grown.counts.sum() == 40


def test_every_value_of_a_taxonomy_is_counted_by_itself():
    taxonomy = Taxonomy.flat(("a", "b", "c", "d"))
    axis = Axis.of(CategoricalDomain.over(taxonomy, other=None, missing=None))
    assert marginals._bins(axis).values.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("epsilon", "n", "most"), [(1, 30_000, 1500), (1, 0, 2), (Fraction(1, 10), 30_000, 150)]
)
def test_boxes_grow_in_number_with_epsilon_and_records(epsilon, n, most):
    assert HedgeShape.of(Fraction(epsilon), n).most_boxes == most
