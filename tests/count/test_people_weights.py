"""A person never counts for more than one, however many records are kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.count.kernels import ClassHistograms
from hedgerow.count.settings import EngineSettings
from hedgerow.encode.schema import schema_of
from hedgerow.model.people import MOST_RECORDS, MOST_UNITS, KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.open import open_engine
from hedgerow.pipeline.place import DataPlace
from hedgerow.plan.load import plan_of
from hedgerow.progress import no_progress

KEY = SampleKey(words=(3, 5))
BOUNDS = [*range(1, 13), 16, 17, 839, 840, 841, MOST_RECORDS]


def rule_of(most):
    return PeopleRule(columns=("who",), most=most, counted="people")


def test_no_number_of_kept_records_weighs_more_than_a_person():
    for most in range(1, MOST_RECORDS + 1):
        rule = rule_of(most)
        kept, weights = np.arange(most + 1), rule.weights()
        assert rule.cost == rule.unit <= MOST_UNITS
        assert (weights * kept <= rule.unit).all()
        assert (weights[1:] * kept[1:] > rule.unit - kept[1:]).all()  # and no less than must be


@pytest.mark.parametrize("kind", ["memory", "stream"])
@pytest.mark.parametrize("most", BOUNDS)
def test_what_is_counted_of_a_person_is_at_most_the_unit_that_noise_is_drawn_for(most, kind):
    """Bounds of 9 and 11 do not divide 840 units: weights rounded up would count for more."""
    n_records = sorted({1, 2, 3, 5, 7, 9, 11, max(most - 1, 1), most, most + 1, most + 9})
    people = np.repeat(np.arange(len(n_records)), n_records)
    table = pa.table({"who": [f"p{i}" for i in people], "a": people})
    schema = schema_of(plan_of({"attributes": {"a": {"numeric": [0, len(n_records) - 1]}}}))
    rule = rule_of(most)
    held = open_engine(
        schema,
        DataPlace(data=table),
        settings=EngineSettings(kind=kind),
        progress=no_progress,
        people=KeyedRule(rule=rule, key=KEY),
    )
    try:
        engine = held.bounded(rule)
        counted = engine.sum(ClassHistograms(sizes=(len(n_records),), n_classes=1))
        assert engine.unit == rule.unit
    finally:
        held.close()
    kept = np.minimum(n_records, most)
    assert (counted <= rule.unit).all()
    assert counted.tolist() == (kept * (rule.unit // kept)).tolist()
