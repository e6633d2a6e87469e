"""Small workbooks and SPSS and Stata files, written for a test."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import xlsxwriter

Rows = Sequence[Sequence[Any]]


def write_sheet(path: Path, rows: Rows, *, sheet: str = "Data", others: Sequence[str] = ()) -> Path:
    """Write rows from A1 on; a date becomes a date cell, and '=...' a formula worth 1."""
    options = {"in_memory": True, "strings_to_numbers": False, "nan_inf_to_errors": True}
    with xlsxwriter.Workbook(str(path), options) as book:
        cells = book.add_worksheet(sheet)
        as_date = book.add_format({"num_format": "yyyy-mm-dd"})
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                _write(cells, i, j, value, as_date)
        for name in others:
            book.add_worksheet(name)
    return path


def _write(cells: Any, i: int, j: int, value: Any, as_date: Any) -> None:
    if value is None:
        return
    if isinstance(value, dt.date):
        cells.write_datetime(i, j, value, as_date)
    elif isinstance(value, str) and value.startswith("="):
        cells.write_formula(i, j, value, None, 1)
    elif isinstance(value, bool):
        cells.write_boolean(i, j, value)
    elif isinstance(value, str):
        cells.write_string(i, j, value)
    else:
        cells.write_number(i, j, value)


def rewritten(path: Path, pattern: str, by: str, *, part: str = "xl/worksheets/sheet1.xml") -> Path:
    """Replace a pattern in a part of a workbook, as another program would have written it."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    before = parts[part].decode()
    parts[part] = re.sub(pattern, by, before).encode()
    assert parts[part].decode() != before
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def write_labelled(path: Path, columns: dict[str, list[Any]], **settings: Any) -> Path:
    """Write an SPSS or Stata file; ``labels`` are those of the columns' values."""
    import pyreadstat

    labels = settings.pop("labels", {})
    frame = pa.table(columns).to_pandas()
    if path.suffix == ".zsav":
        settings["compress"] = True
    write = pyreadstat.write_dta if path.suffix == ".dta" else pyreadstat.write_sav
    write(frame, str(path), variable_value_labels=labels, **settings)
    return path
