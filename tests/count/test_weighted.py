"""Weighed engines count as if every record stood as often as it weighs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.count.memory.table import MemoryEngine
from hedgerow.count.people import PeopleInMemory
from hedgerow.count.weighted import WeightedEngine
from hedgerow.encode.people import Gathered
from hedgerow.encode.schema import schema_of
from hedgerow.model.people import PeopleRule
from hedgerow.model.run import Run
from hedgerow.model.table import EncodedTable
from hedgerow.plan.load import plan_of
from hedgerow.privacy.source import SeededSource

PLAN = {
    "attributes": {
        "a": {"numeric": [0, 30]},
        "b": {"values": ["x", "y", "z"]},
        "c": {"role": "class", "values": ["n", "y"]},
    },
}
WEIGHTS = (12, 6, 4, 3)


def table(n: int, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 31, n)
    return EncodedTable.from_codes(
        schema_of(plan_of(PLAN)), [a, rng.integers(0, 3, n)], (a + rng.integers(0, 9, n)) // 20
    )


def repeated(tables: list[EncodedTable]) -> EncodedTable:
    def column(place: int) -> np.ndarray:
        columns = [(*each.codes, each.classes)[place] for each in tables]
        return np.concatenate(
            [np.repeat(each, weight) for each, weight in zip(columns, WEIGHTS, strict=True)]
        )

    return EncodedTable.from_codes(tables[0].schema, [column(0), column(1)], column(2))


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "hedge"},
        {"method": "weave"},
        {"method": "diffgen", "h": 3},
        {"method": "diffmulti", "h": 6, "score": "max"},
        {"method": "basic-table"},
    ],
    ids=lambda each: each["method"],
)
def test_a_method_sees_as_many_records_as_they_weigh(settings):
    tables = [table(n, seed) for seed, n in enumerate((700, 300, 90, 200))]
    publish = plan_of({**PLAN, "publish": {**settings, "epsilon": 1}}).publish
    assert publish is not None
    method = publish.build(has_class=True)
    parts = [
        (weight, MemoryEngine(table=each)) for weight, each in zip(WEIGHTS, tables, strict=True)
    ]
    found = []
    for engine in (
        WeightedEngine(parts=parts, unit=12),
        MemoryEngine(table=repeated(tables), unit=12),
    ):
        epsilon = Fraction(1, 12)
        groups = method.publish(Run.start(engine, epsilon=epsilon, source=SeededSource(4)))
        found.append((groups.counts.tolist(), [each.tolist() for each in groups.index]))
    assert found[0] == found[1]
    assert sum(found[0][0]) > 0


def test_an_engine_of_a_single_weight_has_the_name_of_its_engine():
    engine = WeightedEngine(parts=[(12, MemoryEngine(table=table(10, 0)))], unit=12)
    assert engine.name == "memory"


@pytest.mark.parametrize(("most", "sizes"), [(2, [0, 1, 1]), (4, [0, 1, 0, 1, 0])])
def test_sizes_of_weighted_people_have_one_place_for_each_number_up_to_the_bound(most, sizes):
    gathered = Gathered(
        persons=np.array([0, 0, 1, 0]), hashes=np.zeros(4, dtype=np.uint64), codes=()
    )
    rule = PeopleRule(columns=("id",), most=most)
    people = PeopleInMemory(schema_of(plan_of(PLAN)), gathered, rule)
    assert people.sizes(most).tolist() == sizes
