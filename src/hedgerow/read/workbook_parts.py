"""The parts of an .xlsx file, checked before it is read: their size, and missing values.

A workbook is a ZIP archive of XML. The library that reads it uses memory for every cell up to
the last row and column, and returns an empty cell for a formula without a stored value; both are
checked here, in one pass over the sheet's bytes.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from hedgerow.errors import DataError

CELL_BYTES = 64
"""Approximate memory of a cell in bytes."""

_CHUNK = 1 << 20
_MOST_INDEX = 1 << 22
_MOST_PARTS = 100_000
_MOST_COLUMNS = 16_384
_LONGEST_CELL = 1 << 24
_SMALL = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
_COLUMN = re.compile(rb"<(?:\w+:)?c\s[^>]*?\br=\"([A-Z]{1,4})")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_ROW = re.compile(rb"<(?:\w+:)?row\b")
_ROW_NUMBER = re.compile(rb"<(?:\w+:)?row\s[^>]*?\br=\"([0-9]{1,9})\"")
_UNSTORED = re.compile(
    rb"<(?:\w+:)?c\b[^>]*>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*</(?:\w+:)?c>"
)
_DECLARED = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def check_parts(path: Path, sheet: str | None, *, most_bytes: int) -> None:
    """Refuse a workbook that would need too much memory, or whose formulas were not computed.

    With ``sheet``, that sheet is examined; without it, only the archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > most_bytes or len(parts) > _MOST_PARTS:
                raise _too_large(path)
            if sheet is None:
                for part in parts:
                    if part.filename.lower().endswith((".xml", ".rels")):
                        deque(_unpacked(path, part), maxlen=0)
            else:
                _check_sheet(archive, path, sheet, most_bytes)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, EOFError) as error:
        raise _unreadable(path, error) from None
    except (NotImplementedError, RuntimeError, struct.error, ElementTree.ParseError) as error:
        raise _unreadable(path, error) from None


def _check_sheet(archive: zipfile.ZipFile, path: Path, sheet: str, most_bytes: int) -> None:
    columns: set[bytes] = set()
    n_rows = last_row = n_cells = n_placed = 0
    for chunk in _whole_cells(path, archive.getinfo(_part_of(archive, sheet))):
        placed = _COLUMN.findall(chunk)
        columns.update(placed)
        n_placed += len(placed)
        n_cells += len(_CELL.findall(chunk))
        n_rows += len(_ROW.findall(chunk))
        last_row = max([last_row, *map(int, _ROW_NUMBER.findall(chunk))])
        if _UNSTORED.search(chunk):
            raise DataError(
                "The sheet has formulas without a stored value.",
                where=path.name,
                do="Open it in Excel or LibreOffice, which compute them, and save it again.",
            )
    width = max(map(_number_of, columns), default=1)
    if n_placed < n_cells:  # a cell without a position follows the one before it
        width = max(width, min(n_cells, _MOST_COLUMNS))
    if max(n_rows, last_row) * width * CELL_BYTES > most_bytes:
        raise _too_large(path)


def _whole_cells(path: Path, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a sheet in blocks that end after a cell."""
    rest = b""
    for data in _unpacked(path, part):
        joined = rest + data
        if _DECLARED.search(joined):
            raise zipfile.BadZipFile  # no spreadsheet declares entities
        found = ((joined.rfind(end), len(end)) for end in (b"</c>", b":c>", b"</row>"))
        cut = max(place + length if place >= 0 else 0 for place, length in found)
        rest = joined[cut:]
        if len(rest) > _LONGEST_CELL:
            raise _too_large(path)
        yield joined[:cut]
    yield rest


def _unpacked(path: Path, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a part, and refuse one with more of them than it declares."""
    if part.flag_bits & 1 or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile
    is_packed = part.compress_type == zipfile.ZIP_DEFLATED
    inflate = zlib.decompressobj(-15) if is_packed else None
    left, packed = part.file_size, part.compress_size
    with path.open("rb") as file:
        file.seek(part.header_offset)
        before = struct.unpack("<26xHH", file.read(30))
        file.seek(sum(before), 1)
        while packed and (data := file.read(min(_CHUNK // 4, packed))):
            packed -= len(data)
            while data:
                inflated = data if inflate is None else inflate.decompress(data, _CHUNK)
                left -= len(inflated)
                if left < 0:
                    raise _too_large(path)
                yield inflated
                data = b"" if inflate is None else inflate.unconsumed_tail


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the name of the part of a sheet."""
    book, links = (_index(archive, name) for name in _SMALL)
    wanted = next(
        (
            value
            for each in book.iter()
            if each.tag.endswith("}sheet") and each.get("name") == sheet
            for key, value in each.attrib.items()
            if key.endswith("}id")
        ),
        None,
    )
    target = next(each.get("Target") for each in links if each.get("Id") == wanted)
    if target is None:
        raise KeyError(sheet)
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _index(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if archive.getinfo(name).file_size > _MOST_INDEX:
        raise zipfile.BadZipFile
    with archive.open(name) as file:
        data = file.read(_MOST_INDEX)
    if _DECLARED.search(data):
        raise zipfile.BadZipFile
    return ElementTree.fromstring(data)  # noqa: S314 - without declarations there is no bomb


def _number_of(letters: bytes) -> int:
    """Return the number of a column from 1.

    >>> _number_of(b"A"), _number_of(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _too_large(path: Path) -> DataError:
    return DataError(
        "The workbook would need more memory than the plan allows.",
        where=path.name,
        do="Delete cells beyond the table, save it as CSV, or allow more in the plan:"
        " 'reading: {megabytes: 8192}'.",
    )


def _unreadable(path: Path, error: Exception) -> DataError:
    what = "the workbook is damaged, or of a kind that cannot be read"
    if isinstance(error, OSError) and error.strerror:
        what = error.strerror
    return DataError(
        what,
        where=path.name,
        do="Open it in Excel or LibreOffice and save it again as .xlsx, without a password.",
    )
