"""Tables that are read with their rows' places and with numbers beside them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_accompanied, encode_table
from hedgerow.errors import DataError
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table

SCHEMA = schema_of(
    plan_of(
        {
            "attributes": {
                "age": {"numeric": [0, 9]},
                "ward": {"values": ["A", "B"]},
                "sick": {"role": "class", "values": ["no", "yes"]},
            }
        }
    )
)


def table(**changes):
    columns = {
        "age": [1, 2, None, 4, 5, 6],
        "ward": ["A", "?", "B", "B", "A", "B"],
        "sick": ["no", "no", "no", "yes", None, "no"],
        "w": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
        "v": ["1", "2", "3", " 4 ", "5", "6e0"],
    }
    return pa.table({**columns, **changes})


@pytest.mark.parametrize("rows_per_batch", [1, 2, 4, 10])
def test_what_is_left_out_of_the_table_is_left_out_of_rows_and_numbers(rows_per_batch):
    pieces = pa.Table.from_batches(table().to_batches(max_chunksize=rows_per_batch))
    read = encode_accompanied(open_table(pieces), SCHEMA, numbers=["v", "w"])
    plain = encode_table(open_table(table()), SCHEMA)
    assert read.n_read == 6
    assert read.rows.tolist() == [0, 3, 5]
    assert read.numbers.tolist() == [[1, 0.5], [4, 3.5], [6, 5.5]]
    assert [codes.tolist() for codes in read.table.codes] == [c.tolist() for c in plain.codes]
    assert read.table.classes.tolist() == plain.classes.tolist()


def test_no_numbers_may_be_asked_for():
    read = encode_accompanied(open_table(table().slice(0, 0)), SCHEMA)
    assert (len(read.table), read.n_read, read.numbers.shape) == (0, 0, (0, 0))


def test_a_number_that_is_missing_matters_only_where_the_record_is_kept():
    gaps = table(w=[0.5, None, None, 3.5, None, 5.5])
    assert len(encode_accompanied(open_table(gaps), SCHEMA, numbers=["w"]).rows) == 3
    gap = table(v=["1", "2", "3", "SECRET77", "5", "6"])
    with pytest.raises(DataError, match="Record 4, column 'v'") as refused:
        encode_accompanied(open_table(gap), SCHEMA, numbers=["v"])
    assert "SECRET77" not in str(refused.value)


@pytest.mark.parametrize("kind", [pa.int8(), pa.decimal128(5, 2), pa.float32(), pa.uint64()])
def test_numbers_of_any_kind_are_taken(kind):
    column = pa.array([1, 2, 3, 4, 5, 6]).cast(pa.int8()).cast(kind)
    read = encode_accompanied(open_table(table(w=column)), SCHEMA, numbers=["w"])
    assert read.numbers.tolist() == [[1], [4], [6]]
