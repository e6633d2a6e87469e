"""A table is known again by its columns, whatever order, file or engine it comes in."""

from __future__ import annotations

import hmac
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.count.stream.scratch import Scratch
from hedgerow.count.stream.table import StreamEngine
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.schema import schema_of
from hedgerow.encode.sums import ITEMS, LENGTHS, MODULUS, ColumnSums, column_of, label_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import universe_of
from hedgerow.plan.load import plan_of
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table

KEY = bytes(range(32))
PLAN = plan_of(
    {
        "attributes": {
            "age": {"numeric": [0, 99]},
            "ward": {"values": ["A", "B"], "other": "else"},
            "sick": {"role": "class", "values": ["no", "yes"]},
        },
        "missing": "value",
    }
)

words = st.one_of(
    st.text(max_size=4),
    st.integers(-5, 5000).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["?", " NA ", "17.0", "17", "1.7e1", "é", "e\u0301"]),
)


def one_by_one(column, values):
    """Add the hash of every record's label: what the sum says, done plainly."""
    key = hmac.digest(KEY, column.encode(), "sha256")
    labels = [label_of(value) for value in values if value is not None]
    hashes = [hmac.digest(key, label, "sha256") for label in labels if label is not None]
    return sum(int.from_bytes(value, "big") for value in hashes) % MODULUS


def sums_of(**columns):
    sums = ColumnSums(KEY)
    for name, values in columns.items():
        sums.add_column(name, values)
    return sums.totals


@given(values=st.lists(st.one_of(st.none(), words), max_size=30), cut=st.integers(0, 30))
def test_a_sum_is_that_of_all_labels_one_by_one_however_it_is_cut(values, cut):
    array = pa.array(values, pa.string())
    sums = ColumnSums(KEY)
    sums.add_column("a", array[:cut])
    sums.add_column("a", array[cut:].dictionary_encode())
    assert sums.totals == {"a": one_by_one("a", values)}
    backwards = pa.array(values[::-1], pa.string())
    assert sums_of(a=backwards) == sums.totals


@given(values=st.lists(st.one_of(st.none(), st.floats()), max_size=30))
def test_numbers_have_the_sum_of_their_texts(values):
    texts = [None if value is None else repr(value) for value in values]
    numbers = pa.array(values, pa.float64())
    assert sums_of(a=numbers) == sums_of(a=pa.array(texts, pa.string()))
    assert sums_of(a=numbers.dictionary_encode()) == sums_of(a=numbers)


def test_a_long_list_of_distinct_numbers_in_text_is_no_exception():
    values = np.linspace(-7, 90_000, 5000)
    texts = pa.array([repr(float(value)) for value in values])
    assert sums_of(a=texts) == sums_of(a=pa.array(values))
    doubled = pa.concat_arrays([texts, texts[:100]])
    assert sums_of(a=doubled) == sums_of(a=pa.array([*values, *values[:100]]))


@pytest.mark.parametrize(
    "stored",
    [
        pa.array([17, 4, None, 0], pa.int8()),
        pa.array([17, 4, None, 0], pa.uint64()),
        pa.array([17.0, 4.0, float("nan"), -0.0], pa.float64()),
        pa.array([17.0, 4.0, None, 0.0], pa.float32()),
        pa.array([Decimal("17.00"), Decimal(4), None, Decimal(0)], pa.decimal128(9, 2)),
        pa.array(["17", " 4.0", "?", "0"]),
        pa.array(["17.0", "4", "", "-0"], pa.large_string()),
        pa.array(["017", "4", "NaN", "0e5"]).dictionary_encode(),
    ],
    ids=lambda stored: str(stored.type),
)
def test_a_column_that_was_converted_has_the_same_sum(stored):
    assert sums_of(a=stored) == {"a": one_by_one("a", ["17", "4", "0"])}


def test_a_number_of_32_bits_agrees_with_its_text_and_with_64():
    exact = np.random.default_rng(12).normal(50_000, 20_000, 3000).round(2)
    texts = pa.array([repr(float(value)) for value in exact])
    assert sums_of(a=pa.array(exact.astype(np.float32))) == sums_of(a=texts)


@given(
    values=st.lists(st.sampled_from("abcd"), min_size=1, max_size=12),
    place=st.integers(0, 11),
    new=st.sampled_from("abcd"),
)
def test_one_changed_record_changes_the_sum(values, place, new):
    changed = [new if at == place % len(values) else old for at, old in enumerate(values)]
    same = sorted(values) == sorted(changed)
    assert (sums_of(a=pa.array(values)) == sums_of(a=pa.array(changed))) == same


def test_columns_and_keys_are_told_apart():
    values = pa.array(["x", "y"])
    assert sums_of(a=values)["a"] != sums_of(b=values)["b"]
    other = ColumnSums(KEY[::-1])
    other.add_column("a", values)
    assert other.totals != sums_of(a=values)
    assert "x" not in repr(other)


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(7)
    ages = draw.integers(0, 120, 400)
    return pl.DataFrame(
        {
            "age": [None if age > 110 else int(age) for age in ages],
            "ward": draw.choice(["A", "B", "C"], 400).tolist(),
            "sick": draw.choice(["no", "yes"], 400).tolist(),
        }
    )


def file_of(frame, folder, suffix):
    path = folder / f"table.{suffix}"
    if suffix == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, null_value="?")
    return path


def table_sums(source, **settings):
    sums = ColumnSums(KEY)
    encode_table(source, schema_of(PLAN), sums=sums, **settings)
    return sums.totals


def test_file_dataframe_and_engine_make_no_difference(frame, tmp_path):
    expected = {
        column_of(name): one_by_one(column_of(name), [None if v is None else str(v) for v in held])
        for name, held in frame.to_dict(as_series=False).items()
    }
    assert table_sums(open_table(file_of(frame, tmp_path, "csv"))) == expected
    assert table_sums(open_table(file_of(frame, tmp_path, "parquet"))) == expected
    assert table_sums(open_table(frame.sample(fraction=1, shuffle=True, seed=1))) == expected
    sums = ColumnSums(KEY)
    scratch = Scratch(tmp_path)
    StreamEngine.read(
        open_table(file_of(frame, tmp_path, "csv")),
        schema_of(PLAN),
        scratch=scratch,
        memory=1 << 30,
        report=lambda *_: None,
        sums=sums,
    ).close()
    assert sums.totals == expected


def test_a_plan_with_other_domains_makes_no_difference(frame):
    other = plan_of(
        {
            "attributes": {
                "age": {"numeric": [18, 65], "step": 5},
                "ward": {"values": ["A", "B", "C"]},
                "sick": {"role": "class", "values": ["yes", "no"]},
            },
            "missing": "drop",
        }
    )
    sums = ColumnSums(KEY)
    encode_table(open_table(frame), schema_of(other), sums=sums)
    assert sums.totals == table_sums(open_table(frame))


def test_baskets_are_known_by_their_words_and_lengths(tmp_path):
    lines = [["1", "2"], ["3"], ["1", "4", "5"], ["9", "2"]]
    (tmp_path / "shop.dat").write_text("".join(" ".join(line) + "\n" for line in lines))
    lists = pa.table({"items": lines})
    rows = [(n, item) for n, line in enumerate(lines) for item in line]
    long = pa.table({"who": [n for n, _ in rows], "items": [item for _, item in rows]})
    expected = {
        ITEMS: one_by_one(ITEMS, [item for line in lines for item in line]),
        LENGTHS: one_by_one(LENGTHS, [str(len(line)) for line in lines]),
    }
    for data, place in (
        (tmp_path / "shop.dat", {}),
        (lists, {"column": "items"}),
        (long, {"column": "items", "record": "who"}),
    ):
        plan = plan_of({"items": {"universe": [1, 5], **place}})
        universe = universe_of(plan)
        sums = ColumnSums(KEY)
        encode_baskets(open_items(data, universe.place), universe, sums=sums)
        assert sums.totals == expected
