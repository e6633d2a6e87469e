"""Bounds on what files may claim or hold, at their very borders."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.model.universe import ItemsPlace
from hedgerow.read import columnar, labelled, workbook, workbook_parts
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from hedgerow.read.source import MAX_COLUMNS, check_columns
from hedgerow.read.sqlite import SqliteSource
from hedgerow.read.text import as_text
from support.file_kinds import write_labelled, write_sheet


def test_a_parquet_file_may_hold_as_many_records_as_its_bytes_or_a_public_number_allow(
    tmp_path, monkeypatch
):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": np.zeros(3000)}), path)
    assert path.stat().st_size < 3000 < 20 * path.stat().st_size
    assert open_table(path).columns == ("a",)  # few records, however small the file
    monkeypatch.setattr(columnar, "MOST_ROWS", 10)
    assert open_table(path).columns == ("a",)  # its bytes allow them
    monkeypatch.setattr(columnar, "MOST_ROWS_PER_BYTE", 1)
    with pytest.raises(DataError, match="records per byte"):
        open_table(path)


def test_a_file_of_spss_may_hold_as_many_records_as_its_bytes_or_a_public_number_allow(
    tmp_path, monkeypatch
):
    path = write_labelled(tmp_path / "t.zsav", {"a": [1.0] * 3000}, labels={})
    size = path.stat().st_size
    assert size + 20 < 3000 < 20 * size
    monkeypatch.setattr(labelled, "_MOST_ROWS", 10)
    assert open_table(path).columns == ("a",)
    monkeypatch.setattr(labelled, "_MOST_ROWS_PER_BYTE", 1)
    with pytest.raises(DataError):
        open_table(path)


def test_a_table_may_have_the_most_columns_and_not_one_more():
    names = [f"c{n}" for n in range(MAX_COLUMNS)]
    assert check_columns(names, name="t") == tuple(names)
    with pytest.raises(DataError, match="more than"):
        check_columns([*names, "last"], name="t")


def test_the_last_moment_of_the_calendar_has_a_text_and_the_next_has_none():
    last = int(np.datetime64("9999-12-31T23:59:59.999999", "us").astype(np.int64))
    column = pa.array([last], pa.timestamp("us"))
    assert as_text(column, where="t").to_pylist() == ["9999-12-31T23:59:59.999999"]
    with pytest.raises(DataError, match="no text form"):
        as_text(pa.array([last + 1], pa.timestamp("us")), where="t")


def test_a_missing_list_is_no_record_and_a_value_among_lists_is_refused():
    place = ItemsPlace(column="items")
    frame = pd.DataFrame({"items": [["a", 1], None, ["b"]]})
    words = [batch.words.to_pylist() for batch in open_items(frame, place).batches()]
    assert [word for each in words for word in each] == ["a", "1", "b"]
    mixed = pd.DataFrame({"items": [["a"], 7]})
    with pytest.raises(DataError):
        list(open_items(mixed, place).batches())


def test_whatever_the_library_of_workbooks_raises_becomes_our_own_error():
    for error in (ValueError("SECRET"), type("PanicException", (BaseException,), {})("SECRET")):
        with pytest.raises(DataError) as raised, workbook._readable(Path("t.xlsx")):
            raise error
        assert "SECRET" not in str(raised.value)

    class Stopped(BaseException):
        pass

    with pytest.raises(Stopped), workbook._readable(Path("t.xlsx")):
        raise Stopped


def test_a_sheet_of_one_cell_takes_the_memory_of_one(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]])
    most = 1 << 20
    workbook_parts.check_parts(path, None, most_bytes=most)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    workbook_parts.check_parts(path, None, most_bytes=unpacked)
    with pytest.raises(DataError, match="more memory"):
        workbook_parts.check_parts(path, None, most_bytes=unpacked - 1)


def test_a_part_that_holds_more_than_it_says_is_refused_before_it_is_read(tmp_path):
    path = write_sheet(tmp_path / "t.xlsx", [["a"], [1]])
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        sheet = next(each for each in archive.infolist() if "sheet1" in each.filename)
    # The size that the directory at the end gives for the sheet: 24 bytes into its entry.
    at = data.find(b"PK\x01\x02", data.rfind(sheet.filename.encode()) - 60)
    data[at + 24 : at + 28] = (3).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(DataError):
        workbook_parts.check_parts(path, None, most_bytes=1 << 20)


def test_a_cell_of_the_greatest_length_is_read_and_a_longer_one_refused(tmp_path, monkeypatch):
    path = tmp_path / "sheet.zip"
    body = b"<c>" + b"x" * 97
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("sheet.xml", body)
    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo("sheet.xml")
    monkeypatch.setattr(workbook_parts, "_LONGEST_CELL", len(body))
    assert b"".join(workbook_parts._whole_cells(path, part)) == body
    monkeypatch.setattr(workbook_parts, "_LONGEST_CELL", len(body) - 1)
    with pytest.raises(DataError, match="more memory"):
        list(workbook_parts._whole_cells(path, part))


class Cursor:
    """Gives rows of one long value each, and notes how many were asked for at once."""

    def __init__(self, n, size):
        self.left, self.size, self.asked = n, size, []

    def fetchmany(self, n):
        self.asked.append(n)
        given = min(n, self.left)
        self.left -= given
        return [(f"{n}".ljust(self.size),) for n in range(given)]


def test_rows_of_a_database_are_taken_few_at_a_time_where_values_may_be_long():
    def pieces(megabytes, *, n_columns, rows=64, size=1 << 16):
        cursor = Cursor(rows, size)
        source = SqliteSource(
            path=Path("t.db"), query="", columns=("a",), reading=Reading(megabytes=megabytes)
        )
        held = [len(each) for each in source._pieces(cursor, n_columns)]
        assert sum(held) == rows
        return max(cursor.asked), held

    assert pieces(16, n_columns=1)[0] == 16
    assert pieces(16, n_columns=4)[0] == 4
    assert pieces(16, n_columns=100)[0] == 1
    assert pieces(4096, n_columns=1)[0] == 64
    # 16 megabytes are full after some 256 rows of 64 kilobytes.
    assert pieces(16, n_columns=1, rows=600)[1][0] in range(250, 280)
