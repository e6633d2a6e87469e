"""Excel workbooks (.xlsx, .xlsm): one sheet, with each cell read by its own type.

A column of a sheet has no type, so every cell is formatted separately and all columns come as
text: the number 17 as ``17``, a date as ``2011-08-21``. The whole sheet is held in memory.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError, HedgerowError, MissingExtraError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.source import ReadProgress, check_columns, places_of
from hedgerow.read.text import InexactError, spell
from hedgerow.read.workbook_parts import check_parts

_ROWS = 16_384  # rows in a batch: cells are Python objects before they are text
_OR_DROP = " With 'malformed: drop' in the plan's reading, such rows are dropped."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SheetSource:
    """A sheet of a workbook; see :class:`hedgerow.read.source.Source`."""

    path: Path
    sheet: str
    columns: tuple[str, ...]
    header_rows: int
    reading: Reading
    batch_rows: int = _ROWS

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns, all of them as dictionary-encoded text."""
        places = places_of(columns, self)
        with _readable(self.path):
            sheet = _sheet(self.path, self.sheet)
            total, done, held = max(1, sheet.total_height or 1), 0, []
            for row, cells in self._records(sheet):
                record = self._texts(cells, places, row=row)
                if record is not None:
                    held.append(record)
                if len(held) >= self.batch_rows:
                    yield _batch(held, columns)
                    held, done = [], row
                    if progress:
                        progress(min(1.0, done / total))
            if held:
                yield _batch(held, columns)
        if progress:
            progress(1.0)

    def _records(self, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
        """Yield the non-blank rows after the header, each with its number from 1."""
        for row, cells in _rows(sheet):
            if row > self.header_rows and any(cell != "" for cell in cells):
                yield row, cells

    def _texts(
        self, cells: list[Any], places: Sequence[int], *, row: int
    ) -> list[str | None] | None:
        """Return the requested cells as text, or ``None`` if the row is dropped."""
        width = len(self.columns)
        try:
            if any(cell != "" for cell in cells[width:]):
                raise _Wrong("the row has cells beyond the last named column")
            return [_spelt(cells[place]) if place < len(cells) else None for place in places]
        except _Wrong as wrong:
            if self.reading.malformed == "drop":
                return None
            raise DataError(
                str(wrong),
                where=f"{self.name}, row {row}",
                do="Correct the row; one row names the columns, and every other one is a record."
                + _OR_DROP,
            ) from None


class _Wrong(Exception):
    """A row is not a record; the message is the reason, without its content."""


def _spelt(cell: Any) -> str | None:
    """Return one cell as text; ``None`` if it is empty or holds an error.

    >>> _spelt(17.0), _spelt(" x "), _spelt(""), _spelt(dt.timedelta(hours=30))
    ('17', ' x ', None, '30:00:00')
    """
    if cell == "":
        return None
    if isinstance(cell, dt.timedelta):
        minutes, seconds = divmod(int(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    try:
        return spell(cell)
    except InexactError:
        raise _Wrong("a number has more digits than Excel keeps") from None
    except (pa.ArrowException, ValueError, OverflowError):
        raise _Wrong("a cell has no text form") from None


def _batch(records: Sequence[list[str | None]], columns: Sequence[str]) -> pa.RecordBatch:
    values = zip(*records, strict=True) if columns else ()
    arrays = [pa.array(column, pa.string()).dictionary_encode() for column in values]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def open_workbook(path: Path, reading: Reading = PLAIN) -> SheetSource:
    """Return a sheet, opened far enough to know its columns.

    The plan names it if there are several; its first non-blank row names the columns, or the
    plan does.
    """
    with _readable(path):
        names = sheet_names(path)
        sheet = reading.sheet or (names[0] if len(names) == 1 else None)
        if sheet is None or sheet not in names:
            raise DataError(
                "The workbook lacks this sheet." if sheet else "The workbook has several sheets.",
                where=path.name,
                do="Name the sheet with the table in the plan: 'reading: {sheet: NAME}'.",
            )
        check_parts(path, sheet, most_bytes=reading.most_bytes)
        opened = _sheet(path, sheet)
        if opened.merged_cell_ranges:
            raise DataError(
                "The sheet has merged cells, whose value does not belong to a single record.",
                where=path.name,
                do="Unmerge them and fill every cell.",
            )
        columns, header_rows = _header(opened, reading, path)
    return SheetSource(
        path=path,
        sheet=sheet,
        columns=check_columns(columns, name=path.name),
        header_rows=header_rows,
        reading=reading,
    )


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets with cells, including hidden ones, in order."""
    with _readable(path):
        calamine = _library()
        check_parts(path, None, most_bytes=PLAIN.most_bytes)
        with calamine.load_workbook(str(path)) as book:
            cells = calamine.SheetTypeEnum.WorkSheet
            return [sheet.name for sheet in book.sheets_metadata if sheet.typ == cells]


def _header(sheet: Any, reading: Reading, path: Path) -> tuple[list[str], int]:
    if isinstance(reading.header, tuple):
        return list(reading.header), 0
    for row, cells in _rows(sheet):
        named = [(_spelt(cell) or "").strip() for cell in cells]
        if any(named):
            last = max(place for place, name in enumerate(named) if name)
            return named[: last + 1], row
    raise DataError(
        "The sheet is empty.", where=path.name, do="It must begin with a row of column names."
    )


def _rows(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield all rows with their number from 1, each from column A on."""
    if sheet.start is None:
        return
    left = [""] * sheet.start[1]
    for row, cells in enumerate(sheet.iter_rows(), start=1):
        yield row, list(chain(left, cells))


def _sheet(path: Path, name: str) -> Any:
    with _library().load_workbook(str(path)) as book:
        return book.get_sheet_by_name(name)


def _library() -> Any:
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError("Reading an Excel workbook", extra="excel") from None
    return python_calamine


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Replace the library's messages about a file, which may quote cells, by our own."""
    try:
        yield
    except (HedgerowError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the library's panic is not an Exception
        is_panic = type(error).__name__ == "PanicException"
        if not isinstance(error, Exception) and not is_panic:
            raise
        raise DataError(
            "The workbook is damaged, or of a kind that cannot be read.",
            where=path.name,
            do="Open it in Excel or LibreOffice and save it again as .xlsx, without a password.",
        ) from None
