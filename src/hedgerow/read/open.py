"""Open the confidential table: a file, a folder, a dataframe or a database."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, SettingError
from hedgerow.model.database import Database
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.lines import ZSTD
from hedgerow.read.marks import marked
from hedgerow.read.source import LABELLED, Source

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=//)|(sqlite):")
_HEAD = 16

# Files that are recognised by their first bytes rather than by their name.
_NOT_TABLES = (
    (
        b"PK\x03\x04",
        "a ZIP archive, or a spreadsheet whose name does not end in .xlsx",
        "Save the sheet as .xlsx or CSV (UTF-8).",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "an old spreadsheet, or one with a password",
        "Save it as .xlsx without a password.",
    ),
    (b"$FL2", "an SPSS file whose name does not end in .sav", "Rename it."),
    (b"$FL3", "an SPSS file whose name does not end in .sav or .zsav", "Rename it."),
    (b"<stata_dta>", "a Stata file whose name does not end in .dta", "Rename it."),
    (b"%PDF", "a PDF document", "Export the table as CSV or Parquet."),
    (b"FEA1", "a Feather file of version 1", "Write it again as Feather 2 or Parquet."),
    (b"BZh", "compressed with bzip2", "Decompress it, or compress it with gzip."),
    (b"\xfd7zXZ", "compressed with xz", "Decompress it, or compress it with gzip."),
    (b"SQLite format 3", "a SQLite database", "Give sqlite:///FILE and a query."),
    (b"\xff\xfe", "text in UTF-16", "Save it as UTF-8."),
    (b"\xfe\xff", "text in UTF-16", "Save it as UTF-8."),
)


_COLUMNS = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")
_WORKBOOKS = (".xlsx", ".xlsm")


def open_table(
    data: str | Path | Any,
    *,
    query: str | None = None,
    base: Path = Path(),
    reading: Reading = PLAIN,
) -> Source:
    """Return the table in ``data``, opened far enough to know its columns.

    ``data`` is the path of a CSV, TSV, JSON lines, Excel, SPSS, Stata, Parquet or Arrow file
    or of a folder of Parquet files, a database URL (with ``query``), a `Database`, or any
    dataframe. Relative paths start from ``base``. The kind of a file follows from its name and
    its first bytes; ``reading`` sets the format of a text file and the limits of a database.
    """
    source = _opened(data, query, base, reading)
    return source if reading.has_plain_marks else marked(source, reading)


def _opened(data: str | Path | Any, query: str | None, base: Path, reading: Reading) -> Source:
    if isinstance(data, Database):
        query = data.query if query is None else query
        data = data.url
    if not isinstance(data, str | Path):
        _refuse_query(query)
        from hedgerow.read.frames import open_frame

        return open_frame(data)
    url = _URL.match(data) if isinstance(data, str) else None
    if url:
        return _open_database(str(data), (url[1] or url[2]).lower(), query, base, reading)
    _refuse_query(query)
    if data == "":
        raise DataError("No file is named.", where="data", do="Give the path of the data.")
    return _open_path(base / data, reading)


def is_url(data: str | Path) -> bool:
    """Return whether data are given as a URL instead of a path."""
    return isinstance(data, str) and _URL.match(data) is not None


def _refuse_query(query: str | None) -> None:
    if query is not None:
        raise SettingError(
            "A query needs a database.",
            where="query",
            do="Remove the query, or give a database URL such as sqlite:///FILE.",
        )


def _open_database(
    url: str, scheme: str, query: str | None, base: Path, reading: Reading
) -> Source:
    if scheme not in ("sqlite", "postgresql", "postgres"):
        raise DataError(
            "The URL does not name a database that can be read.",
            where="data",
            do="Give sqlite:///FILE or postgresql://HOST/NAME, or export the table to a file.",
        )
    if query is None or not query.strip():
        raise SettingError(
            "A database needs a query or the name of a table.",
            where="query",
            do="Give the SELECT statement that returns the table, or name it: table.",
        )
    if scheme == "sqlite":
        from hedgerow.read.sqlite import open_sqlite

        return open_sqlite(url, query, base=base, reading=reading)
    from hedgerow.read.postgres import open_postgres

    return open_postgres(url, query, reading=reading)


def _open_path(path: Path, reading: Reading) -> Source:
    from hedgerow.read.columnar import open_arrow, open_parquet
    from hedgerow.read.delimited import open_delimited

    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it takes any name
        return open_parquet(_parquet_files(path), name=path.name)
    head = _first_bytes(path)
    if head.startswith(b"PAR1"):
        return open_parquet([path], name=path.name)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return open_arrow(path)
    if is_workbook(path, head):
        from hedgerow.read.workbook import open_workbook

        return open_workbook(path, reading)
    if path.name.lower().endswith(LABELLED):
        from hedgerow.read.labelled import open_labelled

        return open_labelled(path, reading)
    _refuse_not_text(head, path)
    if reading.holds_objects(path):
        from hedgerow.read.jsonlines import open_json_lines

        return open_json_lines(path, reading)
    return open_delimited(path, reading)


def is_workbook(path: Path, head: bytes | None = None) -> bool:
    """Return whether a file is an Excel workbook: by its name, and by its first bytes.

    Both must agree: the first record of a text file may look like the start of anything.
    """
    if not path.name.lower().endswith(_WORKBOOKS):
        return False
    return (_first_bytes(path) if head is None else head).startswith(b"PK\x03\x04")


def holds_text(path: Path) -> bool:
    """Return whether a file holds a table as text; refuse a file without a table."""
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it takes any name
        return False
    head = _first_bytes(path)
    if is_workbook(path, head) or path.name.lower().endswith(LABELLED):
        return False
    _refuse_not_text(head, path)
    return not head.startswith(_COLUMNS)


def check_text_file(path: Path, *, do: str) -> None:
    """Refuse what is not a text file, plain or compressed; ``do`` is for tables with columns."""
    if os.path.isdir(path):  # noqa: PTH112 - unlike Path.is_dir it takes any name
        raise DataError("This is a folder.", where=path.name, do=do)
    head = _first_bytes(path, of_an_empty_file="Give a file with one record per line.")
    if head.startswith(_COLUMNS) or path.name.lower().endswith((*_WORKBOOKS, *LABELLED)):
        raise DataError("The file is a table of columns.", where=path.name, do=do)
    _refuse_not_text(head, path)


def _refuse_not_text(head: bytes, path: Path) -> None:
    for magic, what, do in _NOT_TABLES:
        if head.startswith(magic):
            raise DataError(f"The file is {what}.", where=path.name, do=do)
    if head.startswith(ZSTD) and not path.name.lower().endswith(".zst"):
        raise DataError(
            "The file is compressed with Zstandard.",
            where=path.name,
            do="End its name in .zst, or decompress it.",
        )


_NAMES_FIRST = "It must begin with a line of column names."


def _first_bytes(path: Path, *, of_an_empty_file: str = _NAMES_FIRST) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise DataError("This is not a regular file.", where=path.name, do="Name a file.")
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        raise DataError(
            "The file does not exist.", where=path.name, do="Check the path of the data."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be opened"
        raise DataError(reason, where=path.name[:100], do="Name a file that can be read.") from None
    if not head:
        raise DataError("The file is empty.", where=path.name, do=of_an_empty_file)
    return head


def _parquet_files(folder: Path) -> list[Path]:
    files = sorted(
        path for path in folder.glob("*.parquet") if not path.name.startswith((".", "_"))
    )
    if any("=" in path.name for path in folder.iterdir() if path.is_dir()):
        raise DataError(
            "The folder stores columns in the names of its subfolders.",
            where=folder.name,
            do="Read it with pyarrow.dataset and give that table to hedgerow.publish.",
        )
    if not files:
        raise DataError(
            "The folder contains no Parquet file.",
            where=folder.name,
            do="Name a file, or a folder of files whose names end in .parquet.",
        )
    return files
