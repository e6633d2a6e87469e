"""Excel workbooks: each cell by itself, one sheet, and what is refused."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile

import pytest

from hedgerow.errors import DataError, MissingExtraError
from hedgerow.model.reading import Reading
from hedgerow.read import workbook_parts
from hedgerow.read.open import open_table
from support.file_kinds import rewritten, write_sheet

SECRET = "SECRET123"


def rows_of(source, columns=None):
    asked = columns or source.columns
    return [tuple(row.values()) for batch in source.batches(asked) for row in batch.to_pylist()]


def test_cells_are_spelt_one_by_one(tmp_path):
    rows = [
        ["age", "job", "born"],
        [17, "shop", dt.date(2001, 2, 3)],
        [17.5, " 17 ", dt.datetime(2001, 2, 3, 4, 5)],
        ["17", True, "=1+0"],
        [None, None, None],
        [None, 0.1, 2**40],
    ]
    source = open_table(write_sheet(tmp_path / "t.xlsx", rows))
    assert source.columns == ("age", "job", "born")
    assert rows_of(source) == [
        ("17", "shop", "2001-02-03"),
        ("17.5", " 17 ", "2001-02-03T04:05:00"),
        ("17", "true", "1"),
        (None, "0.1", "1099511627776"),
    ]
    assert rows_of(source, ["job"])[0] == ("shop",)


def test_batches_of_any_size_are_the_same_table(tmp_path):
    rows = [["n"], *([i] for i in range(10))]
    source = open_table(write_sheet(tmp_path / "t.xlsx", rows))
    whole = rows_of(source)
    object.__setattr__(source, "batch_rows", 3)
    assert rows_of(source) == whole == [(str(i),) for i in range(10)]


def test_blank_rows_and_columns_in_front_of_the_table_do_not_shift_it(tmp_path):
    rows = [[], [None, "age", "job"], [None, 17, "shop"]]
    source = open_table(write_sheet(tmp_path / "t.xlsx", rows))
    assert source.columns == ("", "age", "job")
    assert rows_of(source, ["age", "job"]) == [("17", "shop")]


def test_the_plan_names_the_columns_of_a_sheet_without_a_header(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [[None, 17], [None, 18]])
    source = open_table(path, reading=Reading(header=("age", "n")))
    assert rows_of(source) == [(None, "17"), (None, "18")]


def test_one_of_several_sheets_must_be_named(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]], others=["Notes"])
    with pytest.raises(DataError, match="several sheets"):
        open_table(path)
    with pytest.raises(DataError, match="lacks this sheet"):
        open_table(path, reading=Reading(sheet="data"))
    assert rows_of(open_table(path, reading=Reading(sheet="Data"))) == [("1",)]
    with pytest.raises(DataError, match="The sheet is empty"):
        open_table(path, reading=Reading(sheet="Notes"))


def test_a_row_beyond_the_named_columns_is_malformed(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a", "b"], [1, 2], [3, 4, SECRET], [5, 6]])
    with pytest.raises(DataError, match="row 3") as raised:
        rows_of(open_table(path))
    assert SECRET not in str(raised.value)
    source = open_table(path, reading=Reading(malformed="drop"))
    assert rows_of(source) == [("1", "2"), ("5", "6")]


def test_numbers_that_excel_cannot_tell_apart_are_refused(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [2.0**53]])
    with pytest.raises(DataError, match="more digits"):
        rows_of(open_table(path))


@pytest.mark.parametrize("prefix", ["", "x:"])
@pytest.mark.parametrize("chunk", [1 << 20, 300])
def test_formulas_without_a_stored_value_are_refused(tmp_path, monkeypatch, prefix, chunk):
    monkeypatch.setattr(workbook_parts, "_CHUNK", chunk)
    rows = [["a", "b"], *([i, "x"] for i in range(50)), ["=1+0", "x"], [1, "y"]]
    path = write_sheet(tmp_path / "t.xlsx", rows)
    assert rows_of(open_table(path))[50] == ("1", "x")
    rewritten(path, r"(<f>[^<]*</f>)<v>1</v>", r"\1")
    if prefix:
        rewritten(path, r"<(/?)(c|f|v)([ >/])", rf"<\1{prefix}\2\3")
        rewritten(
            path,
            "<worksheet ",
            '<worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ',
        )
    with pytest.raises(DataError, match="formulas without a stored value"):
        open_table(path)


def test_merged_cells_are_refused(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a", "b"], [1, 2]])
    rewritten(path, "</sheetData>", '</sheetData><mergeCells><mergeCell ref="A2:A3"/></mergeCells>')
    with pytest.raises(DataError, match="merged cells"):
        open_table(path)


def test_an_error_in_a_cell_is_a_missing_value(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a", "b"], [1, "x"], ["=1", "y"]])
    rewritten(path, r'<c r="A3"><f>1</f><v>1</v></c>', '<c r="A3" t="e"><f>1</f><v>#DIV/0!</v></c>')
    assert rows_of(open_table(path)) == [("1", "x"), (None, "y")]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.xlsx", b"PK\x03\x04 and then nothing"),
        ("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + SECRET.encode()),
        ("t.csv", b"PK\x03\x04" + SECRET.encode()),
        ("t.ods", b"PK\x03\x04" + SECRET.encode()),
    ],
)
def test_what_is_no_workbook_is_refused_without_a_word_of_it(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError) as raised:
        open_table(path)
    assert SECRET not in str(raised.value)


def test_a_cell_far_away_does_not_take_all_memory(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]])
    rewritten(
        path, "</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    )
    with pytest.raises(DataError, match="more memory"):
        open_table(path)


def test_cells_without_a_place_are_counted_too(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]])
    rewritten(
        path, "</sheetData>", '<row r="1048576">' + "<c><v>1</v></c>" * 99 + "</row></sheetData>"
    )
    with pytest.raises(DataError, match="more memory"):
        open_table(path)


def test_a_part_that_holds_more_than_it_says_is_refused(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], *([i] for i in range(3000))])
    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo("xl/worksheets/sheet1.xml")
    data = bytearray(path.read_bytes())
    central = data.rfind(b"PK\x01\x02", 0, data.rfind(b"xl/worksheets/sheet1.xml"))
    assert int.from_bytes(data[central + 24 : central + 28], "little") == part.file_size
    data[central + 24 : central + 28] = (1000).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(DataError, match="more memory"):
        open_table(path)


def test_a_workbook_without_the_extra_names_it(tmp_path, monkeypatch):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"hedgerow\[excel\]"):
        open_table(path)
