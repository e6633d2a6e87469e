"""The canonical order is that of tuples of codes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.model.baskets import offsets_of
from hedgerow.model.order import canonical_order


@settings(max_examples=60)
@given(
    records=st.lists(st.lists(st.sampled_from([0, 1, 2**20]), max_size=9), max_size=30),
    wide=st.booleans(),
)
def test_records_come_in_the_order_of_their_codes_and_equal_ones_are_told(records, wide):
    """With wide codes three go into a word, else many: ties end within one and at its border."""
    if not wide:
        records = [[code % 3 for code in record] for record in records]
    offsets = offsets_of(np.array([len(each) for each in records], dtype=np.int64))
    items = np.array([code for each in records for code in each], dtype=np.int64)
    order, new = canonical_order(offsets, items)
    made = [tuple(records[place]) for place in order]
    assert made == sorted(map(tuple, records))
    assert sorted(order.tolist()) == list(range(len(records)))
    assert new.tolist() == [k == 0 or made[k] != made[k - 1] for k in range(len(made))]
