"""Wrong inputs: one clear error each, with the file's name and never with a value."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import DataError, InputError
from hedgerow.read.open import open_table

SECRET = "SECRET123"


def put(content: str | bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content)


def folder_of_csv(path: Path) -> None:
    path.mkdir()
    (path / "a.csv").write_text(f"a\n{SECRET}\n")


def parquet_with_columns_of_one_name(path: Path) -> None:
    columns = [pa.array([SECRET]), pa.array([SECRET])]
    pq.write_table(pa.Table.from_arrays(columns, names=[SECRET, SECRET]), path)


def read_all(path: Path) -> None:
    source = open_table(path)
    for _ in source.batches(source.columns):
        pass


ROW = f"1,{SECRET}\n"

# What to put there, and what the message must say.
BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "no file": (lambda path: None, "file does not exist"),
    "a folder without Parquet": (folder_of_csv, "no Parquet file"),
    "a device": (os.mkfifo, "not a regular file"),
    "empty": (put(""), "empty"),
    "blank lines only": (put("\n\n  \n"), "empty"),
    "a byte order mark only": (put(b"\xef\xbb\xbf"), "empty"),
    "empty gzip": (put(gzip.compress(b"", mtime=0)), "empty"),
    "cut gzip": (
        put(gzip.compress(b"a,b\n" * 99 + SECRET.encode(), mtime=0)[:-12]),
        "truncated or damaged",
    ),
    "gzip with a wrong checksum": (
        put(gzip.compress(ROW.encode(), mtime=0)[:-8] + b"SECRET12"),
        "damaged",
    ),
    "gzip with more behind it": (
        put(gzip.compress(b"a,b\n", mtime=0) + SECRET.encode()),
        "damaged",
    ),
    "ragged, too short": (put("a,b\n1,2\n" + SECRET + "\n"), "line 3: The record has 1 fields"),
    "ragged, too long": (put("a,b\n" + ROW.strip() + ",x\n"), "line 2: The record has 3 fields"),
    "a blank line with spaces": (put("a,b\n1,2\n  \n" + ROW), "line 3: The record has 1 fields"),
    "unclosed quote": (put(f'a,b\n1,"{SECRET}\n2,3\n'), "line 2: .*not closed"),
    "unclosed quote in the header": (put(f'a,"b\n1,{SECRET}\n'), "line 1: .*not closed"),
    "columns of one name": (put(f"{SECRET},b, {SECRET} \n1,2,3\n"), "Columns 1 and 3"),
    "two columns without a name": (put(f"a,,\n1,{SECRET},3\n"), "Columns 2 and 3"),
    "too many columns": (put(",".join(map(str, range(10_001)))), "more than 10,000 columns"),
    "a name too long": (put(SECRET * 20_000 + ",b\n1,2\n"), "line of column names"),
    "NUL bytes": (put(f"a,b\n1,{SECRET}\0\n"), "line 2: .*may not be text"),
    "random bytes": (put(bytes(range(256)) * 9), "may not be text"),
    "lines that end in CR": (put(f"a,b\r1,{SECRET}\r"), "CR alone"),
    "two encodings": (put(b"a\n\xc3\xa9\n" + SECRET.encode() + b"\xe9\n"), "line 3: .*not utf-8"),
    "UTF-16": (put(f"a,b\n{ROW}".encode("utf-16")), "UTF-16"),
    "a spreadsheet": (put(b"PK\x03\x04" + SECRET.encode()), "spreadsheet"),
    "an old spreadsheet": (put(b"\xd0\xcf\x11\xe0" + SECRET.encode()), "spreadsheet"),
    "a PDF": (put("%PDF-1.7 " + SECRET), "PDF"),
    "Zstandard": (put(b"(\xb5/\xfd" + SECRET.encode()), "Zstandard"),
    "a SQLite file": (put(b"SQLite format 3\0" + SECRET.encode()), "SQLite"),
    "Parquet in name only": (put("PAR1" + SECRET), "damaged"),
    "Arrow in name only": (put("ARROW1\0\0" + SECRET), "damaged"),
    "an Arrow stream in name only": (put(b"\xff\xff\xff\xff" + SECRET.encode()), "damaged"),
    "Parquet with columns of one name": (parquet_with_columns_of_one_name, "Columns 1 and 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_input_is_refused_with_one_message_that_shows_no_value(tmp_path, case):
    make, message = BAD[case]
    path = tmp_path / "input.data"
    make(path)
    with pytest.raises(DataError, match=rf"(?s)input\.data.*{message}") as caught:
        read_all(path)
    error = caught.value
    assert "SECRET" not in str(error) + repr(error)
    assert str(tmp_path) not in str(error), "the name of the file is enough"
    assert error.do, "the message says what to do"
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__


@pytest.mark.parametrize("path", ["x\0y.csv", "x" * 5000, ""])
def test_paths_that_cannot_be_are_refused(path):
    with pytest.raises(InputError):
        open_table(path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "input.csv"
    path.write_text("a\n1\n")

    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied", SECRET)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"input\.csv: Permission denied") as caught:
        open_table(path)
    assert SECRET not in str(caught.value)
