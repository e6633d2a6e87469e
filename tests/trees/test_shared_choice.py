"""Splits of all boxes at once, against one box and one border at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hedgerow.count.memory.placed import PlacedInMemory
from hedgerow.model.placed import Borders, Routing
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.trees.axes import axes_of, offered
from hedgerow.trees.box_scores import BOX_SCORES, Children, unsplit_units
from hedgerow.trees.shared_choice import _ranges_of, shared_candidates
from hedgerow.trees.topdown import Boxes, Level

SIZES = (40, 12)
CUT = 17


def two_boxes(compiled: bool) -> tuple[Level, list[EncodedTable]]:
    """Return a level of two boxes, divided by the number, and the records of each."""
    rng = np.random.default_rng(5)
    labels = [f"v{i}" for i in range(SIZES[1])]
    schema = Schema(
        attributes=(
            Attribute(name="number", domain=NumericDomain.even(low=0, high=39, step=1)),
            Attribute(
                name="word", domain=CategoricalDomain(taxonomy=context_free(labels, fan_out=4))
            ),
        ),
        class_attribute=Attribute(
            name="class",
            domain=CategoricalDomain(taxonomy=context_free(["a", "b", "c"], fan_out=4)),
        ),
    )
    codes = [rng.integers(0, size, 300) for size in SIZES]
    table = EncodedTable.from_codes(schema, codes, rng.integers(0, 3, 300))
    placed = PlacedInMemory(table, compiled=compiled)
    one = np.zeros(1, dtype=np.int64)
    cut = Routing(
        attribute=np.zeros(1, dtype=np.int32),
        borders=Borders.of([[CUT]]),
        first_child=one,
        n_children=2,
    )
    placed.route(cut)
    boxes = Boxes(
        first=np.array([[0, 0], [CUT, 0]], dtype=np.int32),
        stop=np.array([[CUT, 12], [40, 12]], dtype=np.int32),
        ledger=np.arange(2),
        tree=np.arange(2),
    )
    sides = (codes[0] < CUT, codes[0] >= CUT)
    parts = [
        EncodedTable.from_codes(schema, [each[side] for each in codes], table.classes[side])
        for side in sides
    ]
    return Level(depth=1, boxes=boxes, axes=axes_of(schema), placed=placed), parts


def gain(score, part, a, edges, domain):
    """Return what one box gains if its range is cut at the inner edges."""
    counts = [
        np.bincount(part.classes[(part.codes[a] >= low) & (part.codes[a] < high)], minlength=3)
        for low, high in itertools.pairwise(edges)
    ]
    whole = np.sum(counts, axis=0, keepdims=True)
    children = Children(
        counts=np.array(counts),
        widths=np.diff(edges),
        starts=np.array([0, len(counts)]),
        domain=domain,
    )
    return int(score.of(children)[0] - unsplit_units(score, whole)[0])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("score", BOX_SCORES.values(), ids=list(BOX_SCORES))
def test_gains_of_all_boxes_equal_those_of_one_box_at_a_time(score, compiled):
    level, parts = two_boxes(compiled)
    shared = shared_candidates(level, score, most_boxes=100)
    expected = {}
    for a, axis in enumerate(level.axes):
        for box, part in enumerate(parts):
            span = level.boxes.first[box : box + 1, a], level.boxes.stop[box : box + 1, a]
            ends = int(span[0][0]), int(span[1][0])
            values = offered(axis, *span).values.tolist()
            for borders in [[value] for value in values] if axis.numeric else [values]:
                key = (a, *ends, tuple(borders))
                edges = np.array([ends[0], *borders, ends[1]])
                found = gain(score, part, a, edges, axis.size)
                expected[key] = expected.get(key, 0) + found
    told = {
        (int(a), int(first), int(stop), tuple(borders.tolist())): int(gained)
        for a, first, stop, borders, gained in zip(
            shared.attribute, shared.first, shared.stop, shared.borders, shared.scores, strict=True
        )
    }
    assert told == expected
    assert len(told) == len(shared.scores)


def test_a_split_that_makes_too_many_boxes_is_not_offered():
    level, _ = two_boxes(compiled=False)
    score = BOX_SCORES["gini"]
    assert set(shared_candidates(level, score, most_boxes=3).attribute.tolist()) == {0}
    assert not len(shared_candidates(level, score, most_boxes=2).scores)


def test_boxes_of_different_ranges_are_never_taken_for_one():
    ranges = list(itertools.combinations(range(6), 2))  # every range of five values
    first, stop = (np.array(side, dtype=np.int32)[:, None] for side in zip(*ranges, strict=True))
    boxes = Boxes(first=first, stop=stop, ledger=np.arange(15), tree=np.arange(15))
    example, which = _ranges_of(boxes, 0, 5)
    assert len(example) == len(ranges)
    assert example[which].tolist() == list(range(15))
