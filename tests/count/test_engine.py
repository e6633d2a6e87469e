from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.count.kernels import ClassHistograms, GroupCounts
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.model.engine import Batch, SparseCounts
from support.tables import encoded_tables, grid, schema_of, table_of, values


def whole_batch(table, *, compiled):
    return Batch(codes=table.codes, classes=table.classes, n_records=len(table), compiled=compiled)


def naive_histograms(table):
    """Count by a loop over records, the way nobody should."""
    n_classes = table.schema.class_attribute.domain.size
    sums = [np.zeros((a.domain.size, n_classes), dtype=np.int64) for a in table.schema.attributes]
    for record in range(len(table)):
        for attribute, codes in enumerate(table.codes):
            sums[attribute][codes[record], table.classes[record]] += 1
    return sums


def histogram_kernel(table):
    return ClassHistograms(
        sizes=tuple(a.domain.size for a in table.schema.attributes),
        n_classes=table.schema.class_attribute.domain.size,
    )


@st.composite
def tables_with_cuts(draw):
    table = draw(encoded_tables())
    places = []
    for attribute in table.schema.attributes:
        borders = draw(
            st.lists(
                st.booleans(),
                min_size=attribute.domain.size - 1,
                max_size=attribute.domain.size - 1,
            )
        )
        places.append(np.cumsum([0, *borders]).astype(np.int32))
    kernel = GroupCounts(
        places=tuple(places),
        n_ranges=tuple(int(place[-1]) + 1 for place in places),
        n_classes=table.schema.class_attribute.domain.size,
    )
    return table, kernel


def naive_groups(table, kernel):
    """Rank each record's group by mixed radix, one record at a time."""
    counts = Counter()
    for record in range(len(table)):
        rank = 0
        for codes, places, n in zip(table.codes, kernel.places, kernel.n_ranges, strict=True):
            rank = rank * n + int(places[codes[record]])
        counts[rank * kernel.n_classes + int(table.classes[record])] += 1
    return dict(sorted(counts.items()))


@pytest.mark.parametrize("compiled", [False, True])
@given(table=encoded_tables())
def test_class_histograms_equal_a_naive_count(compiled, table):
    kernel = histogram_kernel(table)
    parts = kernel.split(kernel.count(whole_batch(table, compiled=compiled)))
    for part, expected in zip(parts, naive_histograms(table), strict=True):
        assert part.tolist() == expected.tolist()


@pytest.mark.parametrize("compiled", [False, True])
@given(case=tables_with_cuts())
def test_group_counts_equal_a_naive_count(compiled, case):
    table, kernel = case
    tally = kernel.count(whole_batch(table, compiled=compiled))
    expected = naive_groups(table, kernel)
    assert dict(zip(tally.keys.tolist(), tally.counts.tolist(), strict=True)) == expected
    assert tally.keys.tolist() == sorted(expected)


@given(case=tables_with_cuts())
def test_very_many_groups_are_tallied_by_sorting_with_the_same_result(case):
    from unittest import mock

    table, kernel = case
    batch = whole_batch(table, compiled=False)
    dense = kernel.count(batch)
    with mock.patch("hedgerow.count.kernels.DENSE_UP_TO", 0):
        sparse = kernel.count(batch)
    assert (dense.keys.tolist(), dense.counts.tolist()) == (
        sparse.keys.tolist(),
        sparse.counts.tolist(),
    )


@given(case=tables_with_cuts(), piece=st.integers(1, 9))
def test_pieces_of_any_size_give_the_same_sums(case, piece):
    table, kernel = case
    whole, parts = MemoryEngine(table=table), MemoryEngine(table=table, piece=piece)
    histograms = histogram_kernel(table)
    assert whole.sum(histograms).tolist() == parts.sum(histograms).tolist()
    one, many = whole.tally(kernel), parts.tally(kernel)
    assert (one.keys.tolist(), one.counts.tolist()) == (many.keys.tolist(), many.counts.tolist())


def test_keys_beyond_32_bits_are_ranked_rightly():
    schema = schema_of(*[grid(1000)] * 6)
    table = table_of(schema, [(999,) * 6 + (1,), (0, 0, 0, 0, 0, 1, 0)])
    kernel = GroupCounts(
        places=tuple(np.arange(1000, dtype=np.int32) for _ in range(6)),
        n_ranges=(1000,) * 6,
        n_classes=2,
    )
    tally = MemoryEngine(table=table).tally(kernel)
    assert tally.keys.tolist() == [2, 10**18 * 2 - 1]


def test_kernels_can_be_sent_to_another_process():
    schema = schema_of(values(3), grid(4))
    table = table_of(schema, [(0, 1, 0), (2, 3, 1)])
    kernel = pickle.loads(pickle.dumps(histogram_kernel(table)))
    assert MemoryEngine(table=table).sum(kernel).sum() == 4


def test_merging_nothing_gives_nothing():
    assert len(SparseCounts.merged([]).keys) == 0


def test_nothing_confidential_is_shown():
    table = table_of(schema_of(values(3)), [(0, 0)] * 7)
    engine = MemoryEngine(table=table)
    tally = engine.tally(
        GroupCounts(places=(np.zeros(0, dtype=np.int32),), n_ranges=(1,), n_classes=2)
    )
    for shown in (repr(engine), repr(table), repr(tally)):
        assert "7" not in re.sub("0x[0-9a-f]+", "", shown)


def test_counting_a_small_table_does_not_load_the_compiler():
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from support.tables import *\nfrom hedgerow.count.memory.table import MemoryEngine\n"
        "from hedgerow.count.kernels import ClassHistograms\n"
        "table = table_of(schema_of(values(3)), [(0, 0)])\n"
        "MemoryEngine(table=table).sum(ClassHistograms(sizes=(3,), n_classes=2))\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
