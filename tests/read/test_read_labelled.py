"""SPSS and Stata files: labels in place of codes, dates, missing values, and refusals."""

from __future__ import annotations

import datetime as dt
import struct
import sys
from types import SimpleNamespace

import pandas as pd
import pyreadstat
import pytest

from hedgerow.errors import DataError, MissingExtraError
from hedgerow.model.reading import Reading
from hedgerow.read import labelled
from hedgerow.read.labelled import value_labels
from hedgerow.read.open import open_table
from hedgerow.read.spss_parts import check_dictionary
from support.file_kinds import write_labelled

SEX = {1: "male", 2: "female", 3: "other"}
KINDS = pytest.mark.parametrize("name", ["t.sav", "t.zsav", "t.dta"])


def rows_of(source, columns=None, text=()):
    asked = columns or source.columns
    return [
        tuple(row.values())
        for batch in source.batches(asked, text=text)
        for row in batch.to_pylist()
    ]


def some(path, **settings):
    columns = {
        "sex": [1.0, 2.0, None, 9.0],
        "wage": [2.5, 17.0, 0.1, None],
        "town": ["Köln", "", "m", "x"],
        "born": [dt.date(2001, 2, 3), None, dt.date(1940, 1, 1), dt.date(1999, 12, 31)],
    }
    return write_labelled(path, columns, labels={"sex": SEX}, **settings)


@KINDS
def test_text_comes_with_labels_and_numbers_as_they_are(tmp_path, name):
    source = open_table(some(tmp_path / name))
    assert source.columns == ("sex", "wage", "town", "born")
    assert rows_of(source, ["sex", "wage"], text=["sex"]) == [
        ("male", 2.5),
        ("female", 17.0),
        (None, 0.1),
        ("9", None),
    ]
    assert rows_of(source, ["sex"])[0] == (1.0,)
    born = ["2001-02-03", None, "1940-01-01", "1999-12-31"]
    assert rows_of(source, ["born"], text=["born"]) == [(day,) for day in born]
    assert [town or "" for (town,) in rows_of(source, ["town"])] == ["Köln", "", "m", "x"]


@KINDS
def test_labels_are_public_structure_and_may_be_ignored(tmp_path, name):
    path = some(tmp_path / name)
    assert value_labels(open_table(path)) == {"sex": {"1": "male", "2": "female", "3": "other"}}
    plain = open_table(path, reading=Reading(value_labels="ignore"))
    assert value_labels(plain) == {}
    assert rows_of(plain, ["sex"], text=["sex"])[0] == ("1",)


def test_equal_labels_are_told_apart_by_their_values(tmp_path):
    path = write_labelled(
        tmp_path / "t.sav", {"a": [1.0, 2.0]}, labels={"a": {1: " yes", 2: "yes ", 3: " "}}
    )
    source = open_table(path)
    assert rows_of(source, text=["a"]) == [("yes (1)",), ("yes (2)",)]


@KINDS
def test_pieces_of_any_size_are_the_same_table(tmp_path, name):
    path = write_labelled(tmp_path / name, {"n": [float(i) for i in range(10)]})
    source = open_table(path)
    for rows in (1, 3, 5, 10, 11):
        object.__setattr__(source, "batch_rows", rows)
        assert rows_of(source) == [(float(i),) for i in range(10)]


def test_values_that_the_file_calls_missing_are_missing(tmp_path):
    path = write_labelled(
        tmp_path / "t.sav",
        {"a": [1.0, 98.0, 99.0]},
        labels={"a": {99: "refused"}},
        missing_ranges={"a": [{"lo": 98, "hi": 99}]},
    )
    assert rows_of(open_table(path), text=["a"]) == [("1",), (None,), (None,)]


def test_numbers_that_a_double_cannot_tell_apart_are_refused_as_text(tmp_path):
    path = write_labelled(tmp_path / "t.sav", {"a": [2.0**53]}, labels={"a": {1: "one"}})
    with pytest.raises(DataError, match="more digits"):
        rows_of(open_table(path), text=["a"])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.sav", b"$FL2SECRET123"),
        ("t.sav", b"SECRET123"),
        ("t.dta", b"<stata_dta>SECRET123"),
        ("t.dta", b"SECRET123"),
        ("t.csv", b"$FL2SECRET123\nSECRET123"),
        ("t.csv", b"<stata_dta>SECRET123"),
    ],
)
def test_what_is_no_such_file_is_refused_without_a_word_of_it(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as raised:
        open_table(path)
    assert "SECRET" not in str(raised.value)


@KINDS
def test_a_file_that_is_cut_off_is_refused(tmp_path, name):
    path = write_labelled(tmp_path / name, {"n": [float(i) for i in range(1000)]})
    path.write_bytes(path.read_bytes()[:-1500])
    with pytest.raises(DataError):
        rows_of(open_table(path))


def test_without_the_extra_the_message_names_it(tmp_path, monkeypatch):
    path = some(tmp_path / "t.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtraError, match=r"hedgerow\[spss\]"):
        open_table(path)


def test_a_dictionary_that_contradicts_itself_is_refused_before_the_library_reads_it(tmp_path):
    """ReadStat ends the whole process there."""
    path = tmp_path / "t.sav"
    frame = pd.DataFrame({"age": [1.0, 2.0], "job": ["a" * 300, "b"]})
    labels = {"age": {1: "one"}, "job": {"b": "bee"}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, note="a note")
    check_dictionary(path)
    content = path.read_bytes()
    labelled = struct.pack("<3i", 4, 1, 1)
    assert content.count(labelled) == 1
    # The second segment of the long text is 4: no variable begins there.
    for wrong in (0, -1, 4, 257, 2**31 - 1):
        path.write_bytes(content.replace(labelled, struct.pack("<3i", 4, 1, wrong)))
        with pytest.raises(DataError, match="damaged"):
            open_table(path)
    # The first variable as a text whose further segments are missing, or that is too wide.
    begins = content.index(b"AGE     ") - 24
    for width in (9, 127, 14080, -1, -2):
        path.write_bytes(content[: begins + 4] + struct.pack("<i", width) + content[begins + 8 :])
        with pytest.raises(DataError, match="damaged"):
            open_table(path)
    for end in (100, 300, len(content) // 3):
        path.write_bytes(content[:end])
        with pytest.raises(DataError, match="damaged"):
            open_table(path)


@pytest.mark.parametrize("name", ["", None])
def test_a_file_with_an_unnamed_column_is_refused(tmp_path, monkeypatch, name):
    path = tmp_path / "t.sav"
    some(path)
    facts = SimpleNamespace(column_names=["sex", name], variable_value_labels={}, number_rows=4)
    monkeypatch.setattr(labelled, "_reader", lambda path: lambda *_, **__: ({}, facts))
    with pytest.raises(DataError, match=r"(?i)column 2 has no name"):
        open_table(path)
