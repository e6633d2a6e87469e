"""Re-identification risk against its definition, record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InternalError
from hedgerow.evaluation.risk import risk_of, risk_of_records, risk_of_release
from hedgerow.model.groups import Groups, Ranges
from support.tables import encoded_tables, grid, schema_of, table_of

boxes = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20)), min_size=1, max_size=8)


@settings(max_examples=50)
@given(pairs=boxes)
def test_risks_are_those_of_guessing_among_the_records_of_a_box(pairs):
    sizes = np.array([size for size, _ in pairs])
    people = np.array([size + more for size, more in pairs])
    found = risk_of(sizes, people)
    records = [1 / size for size, _ in pairs for _ in range(size)]
    known = [1 / (size + more) for size, more in pairs for _ in range(size)]
    assert found.prosecutor.highest == max(records)
    assert found.prosecutor.mean == pytest.approx(np.mean(records))
    assert found.prosecutor.at_risk == pytest.approx(np.mean(np.array(records) > 0.2))
    assert found.journalist.highest == max(known)
    assert found.marketer == pytest.approx(np.mean(known))
    assert found.journalist.mean == pytest.approx(max(np.mean(known), len(pairs) / people.sum()))
    assert found.journalist.at_risk == pytest.approx(np.mean(np.array(known) > 0.2))
    assert found.uniques == pytest.approx(np.mean(np.array(records) == 1))
    assert found.smallest_box == sizes.min()


def test_without_a_population_the_journalist_is_a_prosecutor():
    found = risk_of(np.array([5, 0, 20]))
    assert found.prosecutor == found.journalist
    assert found.prosecutor.highest == 0.2
    assert found.prosecutor.at_risk == 0.0
    assert risk_of(np.zeros(2, dtype=np.int64)) is None


def test_population_sizes_go_with_boxes():
    with pytest.raises(InternalError):
        risk_of(np.array([1, 2]), np.array([3]))


def test_a_release_is_placed_in_the_population_by_its_boxes():
    schema = schema_of(grid(4))
    people = table_of(schema, [(0, 0)] * 6 + [(1, 1)] * 4 + [(3, 0)] * 8)
    release = Groups(
        ranges=(Ranges.of([(0, 2), (2, 4)]),),
        index=(np.array([0, 0, 1], np.int32),),
        classes=np.array([0, 1, 0], np.int32),
        counts=np.array([3, 2, 8], np.int64),
        is_cut=True,
    )
    found = risk_of_release(release, people)
    assert found.smallest_box == 5  # both classes of a box together
    assert found.prosecutor.highest == 1 / 5
    assert found.journalist.highest == 1 / 8
    assert found.marketer == pytest.approx((5 / 10 + 8 / 8) / 13)


@settings(max_examples=25)
@given(table=encoded_tables(min_records=1))
def test_raw_records_are_as_unique_as_their_predictors(table):
    rows = list(zip(*[codes.tolist() for codes in table.codes], strict=True))
    found = risk_of_records(table)
    assert found.uniques == pytest.approx(np.mean([rows.count(row) == 1 for row in rows]))
