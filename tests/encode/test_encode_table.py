"""Encoded tables, and what encoding does besides codes."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.encode.table import encode_table
from hedgerow.errors import DataError, InternalError, UnlistedValueError
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

AGE = Attribute(name="age", domain=NumericDomain.even(low=0, high=99, step=1))
JOB = Attribute(name="job", domain=CategoricalDomain(taxonomy=Taxonomy.flat(["farm", "shop"])))
CLASS = Attribute(name="class", domain=CategoricalDomain(taxonomy=Taxonomy.flat(["no", "yes"])))
SCHEMA = Schema(attributes=(AGE, JOB), class_attribute=CLASS)


def table_of(**columns: object) -> EncodedTable:
    return encode_table(open_table(pa.table(columns)), SCHEMA)


def test_columns_are_found_by_name_in_any_order():
    table = table_of(
        **{"class": ["yes", "no"], "job": ["shop", "farm"], "x": [0, 0], "age": [3, 4]}
    )
    assert table.codes[0].tolist() == [3, 4]
    assert table.codes[1].tolist() == [1, 0]
    assert table.classes is not None
    assert table.classes.tolist() == [1, 0]
    assert len(table) == 2


def test_a_table_without_records_has_columns_of_the_right_type():
    table = table_of(**{"class": pa.array([], pa.string()), "job": pa.nulls(0), "age": pa.nulls(0)})
    assert len(table) == 0
    assert [column.dtype for column in table.codes] == [np.uint8, np.uint8]
    assert table.classes is not None
    assert table.classes.dtype == np.uint8


def test_records_that_lack_a_value_or_their_class_are_left_out():
    table = table_of(
        **{"class": ["yes", None, "no", "no"], "job": ["shop", "farm", None, "farm"],
           "age": [1, 2, 3, None]}
    )  # fmt: skip
    assert len(table) == 1


def test_a_column_that_is_all_null_leaves_no_record():
    assert len(table_of(**{"class": ["yes"], "job": ["shop"], "age": pa.nulls(1)})) == 0


def test_an_absent_column_is_named_and_the_present_ones_are_not():
    with pytest.raises(DataError, match="The column 'job' does not exist") as caught:
        table_of(**{"class": ["yes"], "SECRET": ["shop"], "age": [1]})
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "values", "what"),
    [
        ("job", ["shop", "SECRET"], "not listed in the taxonomy"),
        ("job", pa.array(["shop", "SECRET"]).dictionary_encode(), "not listed in the taxonomy"),
        ("class", ["yes", "SECRET"], "not listed in the taxonomy"),
        ("age", ["1", "SECRET"], "not a number"),
        ("age", [None, True], "not a number"),
        ("age", pa.array([None, 20_000], pa.date32()), "not a number"),
    ],
)
def test_a_value_outside_the_domain_is_kept_from_the_message(column, values, what):
    good = {"class": ["yes", "no"], "job": ["shop", "farm"], "age": [1, 2]}
    with pytest.raises(UnlistedValueError, match=what) as caught:
        table_of(**{**good, column: values})
    error = caught.value
    assert (error.record, error.attribute) == (2, column)
    assert str(error.value) not in str(error) + repr(error)
    assert error.exit_code == 2
    assert "'missing-values'" in (error.do or "")


def test_categories_that_no_record_uses_are_not_looked_at():
    words = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["SECRET", "shop"]))
    table = table_of(**{"class": ["yes", "no"], "job": words, "age": [1, 2]})
    assert table.codes[1].tolist() == [1, 1]


def test_many_distinct_numbers_as_text_are_read_with_and_without_markers():
    numbers = [str(i / 100) for i in range(5000)]
    for extra in ([], [" 7 "], ["1e1"]):
        words = numbers + extra
        table = table_of(
            **{"class": ["no"] * len(words), "job": ["farm"] * len(words), "age": words}
        )
        assert table.codes[0].tolist() == [min(int(float(word)), 99) for word in words]


def test_progress_is_passed_on(tmp_path: Path):
    pq.write_table(pa.table({"age": [1], "job": ["shop"], "class": ["no"]}), tmp_path / "a.parquet")
    shares: list[float] = []
    encode_table(open_table(tmp_path / "a.parquet"), SCHEMA, progress=shares.append)
    assert shares[-1] == 1.0


def test_encoding_holds_codes_and_not_the_table(tmp_path: Path):
    n_records = 400_000
    words = pa.DictionaryArray.from_arrays(
        pa.array(np.tile([0, 1], n_records // 2), pa.int32()), pa.array(["farm", "shop"])
    )
    table = pa.table({"age": np.arange(n_records) % 100, "job": words, "class": ["no"] * n_records})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50_000)
    del table
    source = open_table(tmp_path / "a.parquet")
    tracemalloc.start()
    encoded = encode_table(source, SCHEMA)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(encoded) == n_records
    assert peak < 8 * n_records, "three columns of a byte, a fourth while joining, one batch"


def test_the_repr_shows_the_schema_and_nothing_else():
    table = EncodedTable.from_codes(SCHEMA, [[1, 2, 3], [0, 1, 1]], [0, 0, 1])
    assert repr(table) == "EncodedTable(age, job)"


def test_a_neighbour_lacks_one_record():
    table = EncodedTable.from_codes(SCHEMA, [[1, 2, 3], [0, 1, 1]], [0, 0, 1])
    neighbour = table.without(1)
    assert [column.tolist() for column in neighbour.codes] == [[1, 3], [0, 1]]
    assert neighbour.classes is not None
    assert neighbour.classes.tolist() == [0, 1]
    assert len(table) == 3
    with pytest.raises(IndexError):
        table.without(3)


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ([[100], [0]], [0]),
        ([[1], [-1]], [0]),
        ([[1], [0]], [2]),
        ([[1]], [0]),
        ([[1], [0, 1]], [0]),
        ([[1], [0]], None),
    ],
)
def test_codes_that_do_not_fit_the_schema_are_refused(codes, classes):
    with pytest.raises(InternalError):
        EncodedTable.from_codes(SCHEMA, codes, classes)


def test_a_schema_refuses_attributes_of_one_name_and_a_numeric_class():
    with pytest.raises(InternalError):
        Schema(attributes=(AGE, AGE), class_attribute=None)
    with pytest.raises(InternalError):
        Schema(attributes=(JOB,), class_attribute=AGE)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_reading_a_file_loads_no_dataframe_library(tmp_path: Path, kind: str):
    path = tmp_path / f"people.{kind}"
    table = pa.table({"age": [1, None], "job": ["shop", None], "class": ["no", "yes"]})
    if kind == "csv":
        path.write_text("age,job,class\n1,shop,no\n,,yes\n")
    else:
        pq.write_table(table, path)
    program = (
        "import sys\n"
        "from hedgerow.encode.table import encode_table\n"
        "from hedgerow.encode.schema import schema_of\n"
        "from hedgerow.plan.load import plan_of\n"
        "from hedgerow.read.open import open_table\n"
        "plan = plan_of({'attributes': {'age': {'numeric': [0, 9]}, 'job': {'values': ['shop']},"
        " 'class': {'role': 'class', 'values': ['no', 'yes']}}})\n"
        "encode_table(open_table(sys.argv[1]), schema_of(plan))\n"
        "slow = {'pandas', 'polars', 'narwhals', 'numba', 'pyarrow.compute'} & set(sys.modules)\n"
        "print(sorted(slow))\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
