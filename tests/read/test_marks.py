"""Numbers with commas and marks between thousands: read by public marks, text by text."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.encode.columns import number_in
from hedgerow.errors import PlanError
from hedgerow.model.reading import NumberMarks, Reading
from hedgerow.plan.load import plan_of
from hedgerow.read.marks import DECIMALS, THOUSANDS, plain_number_text
from hedgerow.read.open import open_table

MARKS = [
    NumberMarks(decimal=decimal, thousands=thousands)
    for decimal in DECIMALS
    for thousands in THOUSANDS
    if decimal != thousands
]


@given(
    marks=st.sampled_from(MARKS),
    cents=st.integers(-(10**11), 10**11),
    decimals=st.integers(0, 3),
    is_grouped=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_what_is_written_with_marks_is_read_as_the_number_it_was(
    marks, cents, decimals, is_grouped
):
    number = cents / 10**decimals
    letters = {
        ",": THOUSANDS[marks.thousands][:1] if is_grouped else "",
        ".": DECIMALS[marks.decimal],
    }
    written = "".join(letters.get(letter, letter) for letter in f"{number:,.{decimals}f}")
    assert number_in(plain_number_text(written, marks)) == pytest.approx(number, abs=1e-9)


@pytest.mark.parametrize(
    ("decimal", "thousands", "word", "number"),
    [
        ("comma", "point", "6.893", 6893.0),
        ("comma", "point", "1.234,56", 1234.56),
        ("comma", "point", "6.89", None),
        ("comma", "point", "1.5", None),
        ("comma", "none", "6.893", None),
        ("comma", "none", "6,893", 6.893),
        ("point", "comma", "1,234", 1234.0),
        ("point", "comma", "1,23", None),
        ("point", "comma", "12,34,567", None),
        ("point", "apostrophe", "1'234.5", 1234.5),
        ("point", "apostrophe", "1’234", 1234.0),
        ("comma", "blank", "1\u202f234,5", 1234.5),
        ("comma", "blank", "12 34", None),
        ("comma", "point", "0.123", None),
        ("comma", "point", "unbekannt", None),
        ("comma", "point", "-1.234", -1234.0),
        ("comma", "point", "2,5e3", 2500.0),
    ],
)
def test_a_text_is_one_number_or_none(decimal, thousands, word, number):
    marks = NumberMarks(decimal=decimal, thousands=thousands)
    assert number_in(plain_number_text(word, marks)) == number


def test_dates_and_words_are_left_as_they_are():
    marks = NumberMarks(decimal="comma", thousands="point")
    for word in ("03.04.2021", "2021-04-03", "1.2.3", "A.1", ""):
        assert plain_number_text(word, marks) == word


def column(source, name):
    batches = source.batches([name])
    return [word for batch in batches for word in batch.column(0).to_pylist()]


def test_a_column_may_have_marks_of_its_own(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.234,5;6.893\n2;0.5\n")
    own = (("b", NumberMarks()),)
    reading = Reading(delimiter="semicolon", decimal="comma", thousands="point", columns=own)
    source = open_table(path, reading=reading)
    assert column(source, "a") == ["1234.5", "2"]
    assert column(source, "b") == ["6.893", "0.5"]


def test_texts_of_any_table_are_read_by_marks_and_numbers_are_left_alone():
    frame = pa.table({"text": ["1.234,5", None, "x"], "number": [1.5, 2.5, None]})
    reading = Reading(decimal="comma", thousands="point")
    source = open_table(frame, reading=reading)
    assert column(source, "text") == ["1234.5", None, "x"]
    assert column(source, "number") == [1.5, 2.5, None]


@pytest.mark.parametrize("where", ["reading", "column"])
def test_one_mark_cannot_be_both(where):
    attribute = {"numeric": [0, 9]}
    both = {"decimal": "comma", "thousands": "comma"}
    plan = {"attributes": {"x": attribute | (both if where == "column" else {})}}
    if where == "reading":
        plan["reading"] = both
    with pytest.raises(PlanError, match="A comma is the decimal mark already"):
        plan_of(plan)
