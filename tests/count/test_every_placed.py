"""A placed record is in one box, and in one bin of every attribute of it, at any size."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from test_every_kernel import package_classes

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.count.memory.table import CompiledPaths
from hedgerow.count.remembered import RememberedCounts
from hedgerow.count.spark import walked as spark_walked
from hedgerow.count.spark.placed import PlacedOnSpark
from hedgerow.count.spark.session import dense_sums
from hedgerow.count.spark.workers import packed_codes
from hedgerow.count.stream.placed import PlacedOnDisk
from hedgerow.count.stream.scratch import Scratch
from hedgerow.count.stream.table import StreamEngine
from hedgerow.count.weighted import WeightedPlaced
from hedgerow.model.nearest import NearestCentre
from hedgerow.model.people import MOST_UNITS
from hedgerow.model.placed import Borders, LevelBins, Routing
from hedgerow.model.table import EncodedTable
from support.kernel_cases import BITS
from support.tables import grid, schema_of, table_of, values

SIZES = [*BITS, 10_000_000]
CLASSES = [None, 257, 65_535]


@pytest.fixture
def scratch():
    scratch = Scratch(None)
    yield scratch
    scratch.close()


@cache
def schema(size, classes):
    return schema_of(grid(size), values(3), classes=classes)


def in_memory(table, compiled, scratch):
    return PlacedInMemory(table, compiled=compiled), 1


def remembered(table, compiled, scratch):
    return RememberedCounts(PlacedInMemory(table, compiled=compiled)), 1


def weighed(table, compiled, scratch):
    return WeightedPlaced([(MOST_UNITS, PlacedInMemory(table, compiled=compiled))]), MOST_UNITS


def on_disk(table, compiled, scratch):
    shelf = scratch.shelf()
    columns = table.codes if table.classes is None else (*table.codes, table.classes)
    paths = CompiledPaths(kernels=compiled, boxes=compiled)
    engine = StreamEngine(table.schema, scratch, shelf, [shelf.put(columns)], paths=paths)
    return engine.place(), 1


def on_spark(table, compiled, scratch):
    columns = table.codes if table.classes is None else (*table.codes, table.classes)

    def sums(counting, size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spark_walked, "boxes_compiled", lambda n: compiled)
            blocks = pa.Table.from_batches(list(counting(iter([packed_codes(columns)]))))
        return dense_sums(blocks, size=size, n_tasks=1)

    return PlacedOnSpark(table.schema, sums), 1


PLACED = {
    PlacedInMemory: in_memory,
    RememberedCounts: remembered,
    WeightedPlaced: weighed,
    PlacedOnDisk: on_disk,
    PlacedOnSpark: on_spark,
}


def test_every_class_that_places_records_has_a_case():
    found = {
        each for each in package_classes() if {"route", "classes", "sum"} <= each.__dict__.keys()
    }
    assert found == set(PLACED)


def cells(counts):
    return {tuple(cell): int(counts[tuple(cell)]) for cell in np.argwhere(counts).tolist()}


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("kind", PLACED, ids=lambda each: each.__name__)
def test_one_record_is_in_one_bin_of_one_box(kind, compiled, scratch):
    for size in SIZES:
        for classes in CLASSES if size < 1000 else CLASSES[:1]:
            label = 0 if classes is None else classes - 1
            row = (size - 1, 2) if classes is None else (size - 1, 2, label)
            table = table_of(schema(size, classes), [row])
            placed, unit = PLACED[kind](table, compiled, scratch)
            level = LevelBins(
                borders={0: Borders.of([[1, size // 2, size - 1]]), 1: Borders.of([[1]])}
            )
            found = placed.sum(level)
            assert cells(found[0]) == {(3, label): unit}
            assert cells(found[1]) == {(1, label): unit}
            assert cells(placed.classes()) == {(0, label): unit}
            for attribute, lists, n_children in ((0, [[size - 1]], 2), (1, [[1], [2]], 4)):
                routing = Routing(
                    attribute=np.full(len(lists), attribute, dtype=np.int32),
                    borders=Borders.of(lists),
                    first_child=np.arange(0, n_children, 2),
                    n_children=n_children,
                )
                placed.route(routing)
            assert cells(placed.classes()) == {(3, label): unit}
            borders = Borders.of([[], [], [], [size // 2, size - 1]])
            assert cells(placed.sum(LevelBins(borders={0: borders}))[0]) == {(5, label): unit}


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("size", [300, 70_000])
def test_many_records_of_a_box_are_in_one_bin_and_class(size, compiled):
    """Boxes of many records are counted in several lanes, those of few are not."""
    classes, n = 21_900, 4 * 4 * 21_900 + 3
    table = EncodedTable.from_codes(
        schema(size, classes),
        [np.full(n, size - 1), np.full(n, 2)],
        np.full(n, classes - 1),
    )
    placed = PlacedInMemory(table, compiled=compiled)
    borders = Borders.of([[1, size // 2, size - 1]])
    assert cells(placed.sum(LevelBins(borders={0: borders}))[0]) == {(3, classes - 1): n}
    assert cells(placed.classes()) == {(0, classes - 1): n}


@pytest.mark.parametrize("classes", [None, 127, 128, 3276, 3277])
def test_a_label_and_a_class_together_make_one_class(classes):
    """20 clusters by class are more than 16 bits hold from 3,277 classes on."""
    n_labels, label = 20, 0 if classes is None else classes - 1
    labels = NearestCentre(distances=(np.eye(n_labels, dtype=np.int64) * -1,))
    table = table_of(
        schema_of(grid(n_labels), classes=classes),
        [(n_labels - 1,) if classes is None else (n_labels - 1, label)],
    )
    assert labels.table(table).classes.tolist() == [(n_labels - 1) * (classes or 1) + label]
