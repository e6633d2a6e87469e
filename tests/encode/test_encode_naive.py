"""The encoder against a naive one that takes record after record and value after value."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.encode.table import encode_table
from hedgerow.errors import UnlistedValueError
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.read.frames import open_frame
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

MARKERS = frozenset({"", "?", "-9"})
JOBS = Taxonomy.from_nested("Any", {"Indoor": ["office", "shop", "17"], "Outdoor": ["farm"]})
SIZES = Taxonomy.flat([str(size) for size in range(300)])


def schema_with(*, missing: str, other: str | None) -> Schema:
    kept = missing == "value"
    label = "missing" if kept else None
    return Schema(
        attributes=(
            Attribute(name="job", domain=CategoricalDomain.over(JOBS, other=other, missing=label)),
            Attribute(name="age", domain=NumericDomain.even(low=17, high=90, step=1, missing=kept)),
            Attribute(
                name="rate", domain=NumericDomain.even(low=0, high=1, step="0.1", missing=kept)
            ),
            Attribute(name="pay", domain=NumericDomain.from_edges([0, 10, 99.5], missing=kept)),
            Attribute(name="size", domain=CategoricalDomain.over(SIZES, missing=label)),
        ),
        class_attribute=Attribute(
            name="class", domain=CategoricalDomain(taxonomy=Taxonomy.flat(["no", "yes"]))
        ),
        missing=missing,
        missing_values=MARKERS,
    )


class NaivelyUnlistedError(Exception):
    pass


def naive_code(value: str | None, attribute: Attribute, schema: Schema) -> int | None:
    """The code of one value, or None where the record must go."""
    domain = attribute.domain
    is_class = attribute is schema.class_attribute
    missing = None if schema.missing == "drop" or is_class else domain.missing_code
    text = "" if value is None else value.strip()
    if text in MARKERS:
        return missing
    if isinstance(domain, CategoricalDomain):
        if text.endswith(".0") and text not in domain.taxonomy.leaf_labels:
            text = text[:-2]
        if text in domain.taxonomy.leaf_labels:
            return domain.taxonomy.leaf_labels.index(text)
        if domain.other is None:
            raise NaivelyUnlistedError
        return domain.taxonomy.leaf_labels.index(domain.other)
    try:
        number = float(text)
    except ValueError:
        raise NaivelyUnlistedError from None
    if math.isnan(number) or number == -9:
        return missing
    return naive_cell(number, text, domain)


def naive_cell(number: float, text: str, domain: NumericDomain) -> int:
    if math.isinf(number):
        exact = domain.high if number > 0 else domain.low
    else:
        exact = min(max(Fraction(text), domain.low), domain.high)
    cells = [domain.grid.border(i) for i in range(domain.grid.n_cells)]
    return max(i for i, border in enumerate(cells) if border <= exact) + domain.missing


def naive_codes(rows: list[tuple[str | None, ...]], schema: Schema) -> list[list[int]]:
    encoded = []
    for row in rows:
        codes = [
            naive_code(value, attribute, schema)
            for value, attribute in zip(row, schema.used(), strict=True)
        ]
        if None not in codes:
            encoded.append(codes)
    return encoded


def codes_of(table: EncodedTable) -> list[list[int]]:
    assert table.classes is not None
    return np.column_stack([*table.codes, table.classes]).tolist()


def encoded(rows, schema: Schema, *, size: int, dictionary: bool = True) -> EncodedTable:
    names = [attribute.name for attribute in schema.used()]
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(len(names))]
    if dictionary:
        columns = [column.dictionary_encode() for column in columns]
    table = pa.Table.from_arrays(columns, names=names)
    batches = table.to_batches(max_chunksize=size)
    return encode_table(open_frame(pa.Table.from_batches(batches, schema=table.schema)), schema)


LACKING = [None, "", " ", "?", " ?", "-9"]
JOB = st.sampled_from(["office", " shop ", "farm", "17", "17.0", "missing", *LACKING])
AGE = st.sampled_from(["17", " 40", "41.9", "-3", "1e2", "90", "inf", "nan", "-9.0", *LACKING])
RATE = st.sampled_from(["0", "0.1", "0.3", "0.30", ".7", "0.999", "1", "-1", "2", *LACKING])
PAY = st.sampled_from(["0", "9.99", "10", "99.5", "1000", "+5", *LACKING])
SIZE = st.sampled_from([*map(str, range(0, 300, 13)), *LACKING])
CLASS = st.sampled_from(["yes", "no", " yes", *LACKING])
ROWS = st.lists(st.tuples(JOB, AGE, RATE, PAY, SIZE, CLASS), max_size=30)


@given(
    rows=ROWS,
    missing=st.sampled_from(["drop", "value"]),
    size=st.integers(1, 31),
    dictionary=st.booleans(),
)
def test_the_encoder_agrees_with_a_naive_one(rows, missing, size, dictionary):
    schema = schema_with(missing=missing, other="farm")
    table = encoded(rows, schema, size=size, dictionary=dictionary)
    assert codes_of(table) == naive_codes(rows, schema)
    assert [column.dtype.name for column in table.codes] == ["uint8"] * 4 + ["uint16"]


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["office", "farm", "SECRET1", "Office", *LACKING]),
            st.sampled_from(["17", "SECRET2", "1_0", "0x11", "١٧", *LACKING]),
            RATE,
            PAY,
            st.sampled_from(["0", "299", "300", "007"]),
            st.sampled_from(["yes", "no", "SECRET3", None]),
        ),
        max_size=12,
    ),
    other=st.sampled_from([None, "farm"]),
    size=st.integers(1, 13),
)
def test_a_value_outside_the_domain_is_refused_exactly_when_it_should_be(rows, other, size):
    schema = schema_with(missing="value", other=other)
    # The naive encoder takes Python's numbers, which allow more than ours.
    allowed = [tuple("x" if value in ("1_0", "١٧") else value for value in row) for row in rows]
    try:
        expected = naive_codes(allowed, schema)
    except NaivelyUnlistedError:
        with pytest.raises(UnlistedValueError) as caught:
            encoded(rows, schema, size=size)
        check_refusal(caught.value, rows, allowed, schema)
    else:
        assert codes_of(encoded(rows, schema, size=size)) == expected


def check_refusal(error: UnlistedValueError, rows, allowed, schema: Schema) -> None:
    names = [attribute.name for attribute in schema.used()]
    place = names.index(error.attribute)
    assert rows[error.record - 1][place] == error.value
    with pytest.raises(NaivelyUnlistedError):
        naive_code(allowed[error.record - 1][place], list(schema.used())[place], schema)
    assert "SECRET" not in str(error) + repr(error)
    assert f"Record {error.record}, attribute {error.attribute!r}" in str(error)


NUMBERS = st.lists(st.one_of(st.none(), st.integers(-50, 200)), max_size=20)
STORED = {
    "int64": pa.int64(),
    "int16": pa.int16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(9, 2),
    "text": pa.string(),
}


@given(values=NUMBERS, kind=st.sampled_from(list(STORED)), offset=st.integers(0, 3))
def test_numbers_get_the_same_codes_however_they_are_stored(values, kind, offset):
    schema = Schema(
        attributes=(
            Attribute(name="a", domain=NumericDomain.even(low=17, high=90, step=1, missing=True)),
        ),
        class_attribute=None,
        missing="value",
        missing_values=MARKERS,
    )
    spelt = [None if value is None else str(value) for value in values]
    stored = pa.array(spelt if kind == "text" else values, STORED[kind])
    table = encode_table(open_frame(pa.table({"a": stored}).slice(offset)), schema)
    expected = [naive_code(value, schema.attributes[0], schema) for value in spelt[offset:]]
    assert table.codes[0].tolist() == expected
