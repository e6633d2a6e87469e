"""Information loss against a loop over records."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.evaluation.loss import losses_of_groups, losses_of_records
from hedgerow.evaluation.placing import places
from hedgerow.methods.diffgen.diffgen import DiffGen
from hedgerow.methods.hedge.hedge import Hedge
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.box_scores import GINI
from hedgerow.trees.scores import SCORES
from support.tables import encoded_tables, grid, schema_of, table_of

METHODS = [
    DiffGen(specialisations=3, score=SCORES["max"], faithful=False),
    Hedge(score=GINI),
]


def published(method, table, seed):
    return method.publish(
        Run.start(MemoryEngine(table=table), epsilon=Fraction(8), source=SeededSource(seed))
    )


def by_loop(groups, table):
    place = places(groups, table)
    boxes, cells = defaultdict(Counter), []
    for row, label in zip(place.tolist(), table.classes.tolist(), strict=True):
        boxes[tuple(row)][label] += 1
        for at, range_ in enumerate(row):
            width = int(groups.ranges[at].stop[range_] - groups.ranges[at].first[range_])
            size = table.schema.attributes[at].domain.size
            cells.append((0 if width == 1 else width / size, (width - 1) / max(size - 1, 1)))
    ncp, lm = np.array(cells).mean(axis=0)
    sizes = [sum(box.values()) for box in boxes.values()]
    wrong = sum(size - max(box.values()) for size, box in zip(sizes, boxes.values(), strict=True))
    return sum(size**2 for size in sizes), ncp, lm, wrong / len(table), len(boxes)


@pytest.mark.parametrize("method", METHODS, ids=["cut", "tree"])
@settings(max_examples=25)
@given(table=encoded_tables(min_records=1), seed=st.integers(0, 99))
def test_losses_of_records_are_those_of_a_loop(method, table, seed):
    groups = published(method, table, seed)
    found = losses_of_records(groups, table)
    dm, ncp, lm, wrong, boxes = by_loop(groups, table)
    assert found.discernibility == dm
    assert found.ncp == pytest.approx(ncp)
    assert found.lm == pytest.approx(lm)
    assert found.classification_metric == pytest.approx(wrong)
    assert found.n_boxes == boxes


def truthful(table) -> Groups:
    """The true counts of halves of the first attribute."""
    half = (table.codes[0] >= 3).astype(int)
    counts = np.bincount(half * 2 + table.classes, minlength=4)
    kept = np.flatnonzero(counts)
    return Groups(
        ranges=(Ranges.of([(0, 3), (3, 6)]), Ranges.of([(0, 5)])),
        index=((kept // 2).astype(np.int32), np.zeros(len(kept), np.int32)),
        classes=(kept % 2).astype(np.int32),
        counts=counts[kept],
        is_cut=True,
    )


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    rows = zip(*[rng.integers(0, n, 60).tolist() for n in (6, 5, 2)], strict=True)
    return table_of(schema_of(grid(6), grid(5)), list(rows))


def test_a_truthful_release_loses_the_same_by_its_counts_as_by_the_records(table):
    groups = truthful(table)
    assert losses_of_groups(groups, table.schema, n_records=60) == losses_of_records(groups, table)


def test_suppressed_records_count_as_saying_nothing(table):
    groups = truthful(table)
    found = losses_of_groups(groups, table.schema, n_records=80)
    plain = losses_of_groups(groups, table.schema)
    assert found.discernibility == plain.discernibility + 20 * 80
    assert found.ncp == pytest.approx((plain.ncp * 60 + 20) / 80)
    assert found.lm > plain.lm


def test_records_as_they_are_lose_nothing(table):
    every = Groups(
        ranges=tuple(Ranges.of([(c, c + 1) for c in range(n)]) for n in (6, 5)),
        index=tuple(codes.astype(np.int32) for codes in table.codes),
        classes=table.classes.astype(np.int32),
        counts=np.ones(60, dtype=np.int64),
        is_cut=False,
    )
    found = losses_of_groups(every, table.schema)
    assert (found.ncp, found.lm) == (0.0, 0.0)
