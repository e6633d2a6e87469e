"""DPCube: cells, a partition that sees nothing else, and joined counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.dpcube.dpcube import CELLS, TwoPhaseCube, noisy_cube
from hedgerow.baselines.dpcube.partition import Cube, EvenBoxes, gain_of_noise, split_gains
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import SettingError
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource
from hedgerow.progress import no_progress
from hedgerow.trees.coarsening import fitted
from hedgerow.trees.topdown import grow
from support.method_battery import busy_table, run
from support.tables import grid, schema_of, table_of, values

SCHEMA = schema_of(grid(8), values(6))


def cube_of(noisy, schema=SCHEMA, share=Fraction(1, 2)):
    return Cube.of(fitted(schema, most_boxes=10_000), noisy, share)


def partition(cube, rows=(), schema=SCHEMA):
    strategy = EvenBoxes(cube=cube, progress=no_progress)
    engine = MemoryEngine(table=table_of(schema, list(rows)))
    return grow(Run.start(engine, epsilon=Fraction(1), source=SeededSource(1)), strategy), strategy


def deviation(cells):
    return ((cells - cells.mean(axis=0)) ** 2).sum() if len(cells) else 0.0


@given(seed=st.integers(0, 2**32), n_boxes=st.integers(1, 4))
@settings(max_examples=50)
def test_a_gain_is_how_much_squared_deviation_a_split_takes_away(seed, n_boxes):
    rng = np.random.default_rng(seed)
    box, place = rng.integers(0, n_boxes, 40), rng.integers(0, 5, 40).astype(np.int32)
    noisy = rng.integers(-20, 20, (40, 2)).astype(np.float64)
    for b, border, gain in zip(*split_gains(box, place, noisy, size=5), strict=True):
        mine = box == b
        left, right = mine & (place < border), mine & (place >= border)
        assert left.any()
        assert right.any()
        fallen = deviation(noisy[mine]) - deviation(noisy[left]) - deviation(noisy[right])
        assert gain == pytest.approx(fallen, abs=1e-6)


def test_every_border_inside_a_box_is_offered_once():
    box = np.array([0, 0, 0, 1, 1])
    place = np.array([0, 2, 3, 1, 1], dtype=np.int32)
    owner, border, _ = split_gains(box, place, np.zeros((5, 1)), size=4)
    assert (owner.tolist(), border.tolist()) == ([0, 0], [2, 3])


def test_even_cells_are_left_together_and_a_step_is_found():
    even = np.full((48, 2), 300, dtype=np.int64)
    assert len(partition(cube_of(even))[0].leaves) == 1
    step = even.copy().reshape(8, 6, 2)
    step[5:, :, 1] = 10
    grown, _ = partition(cube_of(step.reshape(48, 2)))
    assert sorted(zip(grown.leaves.first[:, 0], grown.leaves.stop[:, 0], strict=True)) == [
        (0, 5),
        (5, 8),
    ]


def test_noise_alone_hardly_ever_splits_a_box():
    split = 0
    for seed in range(60):
        share = Fraction(1, 2)
        noise = discrete_laplace(96, epsilon=share, source=SeededSource(seed)).reshape(48, 2)
        split += len(partition(cube_of(noise, share=share))[0].leaves) > 1
    assert split <= 9  # about 3 are expected
    assert gain_of_noise(np.array([1, 100]), n_classes=2, variance=8.0).tolist() == sorted(
        gain_of_noise(np.array([1, 100]), n_classes=2, variance=8.0).tolist()
    )


def test_the_partition_looks_at_nothing_but_noisy_cells():
    schema, rows = busy_table()
    engine = MemoryEngine(table=table_of(schema, rows))
    cells = fitted(schema, most_boxes=500)
    source = SeededSource(3)
    epsilon = 20 / CELLS
    run = Run(engine=engine, epsilon=epsilon, ledger=PathLedger(epsilon), source=source)
    cube = noisy_cube(run, cells)
    trees = [partition(cube, some, schema)[0] for some in (rows, rows[:7], [])]
    assert len(trees[0].leaves) > 1
    for other in trees[1:]:
        for name in ("parent", "attribute", "first", "stop"):
            assert np.array_equal(getattr(trees[0], name), getattr(other, name))


def test_boxes_keep_the_sums_of_their_noisy_cells_by_how_sure_they_are():
    noisy = np.zeros((8, 6, 2), dtype=np.int64)
    noisy[:2, :, 0] = 500
    grown, strategy = partition(cube_of(noisy.reshape(48, 2)))
    assert len(grown.leaves) == 2
    found = {}
    for paid in strategy.measured.counts:
        for node, sums in zip(paid.tree.tolist(), paid.noisy.tolist(), strict=True):
            at = grown.leaves.tree.tolist().index(node)
            n_cells = 6 * int(grown.leaves.stop[at, 0] - grown.leaves.first[at, 0])
            assert float(paid.share) == pytest.approx(0.5 / n_cells**0.5, rel=1e-4)
            found[n_cells] = sums
    assert found == {12: [6000, 0], 36: [0, 0]}


def test_the_cells_cost_half_and_every_box_the_rest():
    schema, rows = busy_table()
    _, ledger = run(TwoPhaseCube(cells=2000), table_of(schema, rows), epsilon=Fraction(3))
    first = ledger.bookings[0]
    assert (first.on, first.share) == ("cells", Fraction(3, 2))
    assert {line.share for line in ledger.bookings if line.on == "counts"} == {Fraction(3, 2)}


def test_fewer_cells_than_classes_are_refused():
    with pytest.raises(SettingError, match="classes"):
        TwoPhaseCube(cells=2).validate(schema_of(grid(4), classes=3), Fraction(1))


def test_the_gain_of_noise_is_the_bound_of_laurent_and_massart():
    n_splits, n_classes, variance = np.array([1, 9, 500]), 3, 2.5
    x = np.log(n_splits / 0.05)
    wanted = variance * (n_classes + 2 * np.sqrt(n_classes * x) + 2 * x)
    found = gain_of_noise(n_splits, n_classes=n_classes, variance=variance)
    np.testing.assert_allclose(found, wanted)


def test_the_outline_adds_up_to_epsilon():
    schema, _ = busy_table()
    outline = TwoPhaseCube(cells=2000).outline_of(schema, Fraction(1, 3), 20_000)
    assert sum(step.share * step.times for step in outline.steps) == Fraction(1, 3)
    assert outline.counts == outline.steps[-1].share
