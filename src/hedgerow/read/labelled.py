"""SPSS (.sav, .zsav) and Stata (.dta) files, with the labels that they give to coded values.

Value labels are part of a file's structure, like the names of its columns: whoever has the code
book knows them. In columns that are requested as text, a value comes as its label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError, HedgerowError, MissingExtraError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.source import MAX_COLUMNS, ReadProgress, check_columns, places_of
from hedgerow.read.spss_parts import check_dictionary
from hedgerow.read.text import InexactError, spell, text_columns

_CELLS = 1 << 22  # cells read at a time: each is a Python object for a while
_MOST_ROWS = 100_000_000
_MOST_ROWS_PER_BYTE = 20
_SPSS = (b"$FL2", b"$FL3")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelledSource:
    """An SPSS or Stata file; see :class:`hedgerow.read.source.Source`.

    ``labels`` maps the text of each value of a column to its label, for columns that have labels;
    labels are unique within a column.
    """

    path: Path
    columns: tuple[str, ...]
    labels: Mapping[str, Mapping[str, str]]
    reading: Reading
    batch_rows: int

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
        """Stream the requested columns; those in ``text`` with labels in place of codes."""
        places_of(columns, self)
        done, rows = 0, self.batch_rows
        most = max(_MOST_ROWS, _MOST_ROWS_PER_BYTE * self.path.stat().st_size)
        while columns and rows == self.batch_rows:
            found = self._piece(columns, done)
            arrays = [self._array(found[name], name, name in text) for name in columns]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
            rows = batch.num_rows
            done += rows
            if done > most:
                raise _unreadable(self.path)
            if rows:
                yield text_columns(batch, columns, text, name=self.name)
        if progress:
            progress(1.0)

    def _piece(self, columns: Sequence[str], start: int) -> dict[str, list[Any]]:
        with _readable(self.path):
            found, _ = _reader(self.path)(
                str(self.path),
                usecols=list(columns),
                row_offset=start,
                row_limit=self.batch_rows,
                output_format="dict",
            )
            return {name: list(found[name]) for name in columns}

    def _array(self, values: list[Any], column: str, is_text: bool) -> pa.Array:
        """Return a column, as text if its values are of several types."""
        where = f"{self.name}, column {column!r}"
        labels = self.labels.get(column)
        kinds = set(map(type, values)) - {type(None)}
        try:
            if len(kinds) <= 1 and not (is_text and labels):
                return pa.array(values)
            distinct = {value: spell(value) for value in set(values)}
        except InexactError:
            raise DataError(
                "The column holds integers with more digits than are stored.",
                where=where,
                do="Store it as text.",
            ) from None
        except (pa.ArrowException, ValueError, OverflowError, TypeError):
            raise DataError(
                "The column holds values that have no text form.",
                where=where,
                do="Store it as text, numbers or dates, or drop it in the plan.",
            ) from None
        if is_text and labels:
            distinct = {value: labels.get(word or "", word) for value, word in distinct.items()}
        return pa.array(map(distinct.__getitem__, values), pa.string())


def open_labelled(path: Path, reading: Reading = PLAIN) -> LabelledSource:
    """Return an SPSS or Stata file, opened far enough to know its columns and labels."""
    reader = _reader(path)
    with _readable(path):
        _check_beginning(path)
        _, found = reader(str(path), metadataonly=True, output_format="dict")
        columns = _names(found.column_names, path)
        labels = {str(name): _spelt(one) for name, one in found.variable_value_labels.items()}
        claimed = found.number_rows or 0
    if claimed > max(_MOST_ROWS, _MOST_ROWS_PER_BYTE * path.stat().st_size):
        raise _unreadable(path)
    applied = labels if reading.value_labels == "apply" else {}
    return LabelledSource(
        path=path,
        columns=check_columns(columns, name=path.name),
        labels={name: one for name, one in applied.items() if one},
        reading=reading,
        batch_rows=max(1, _CELLS // max(1, min(len(columns), MAX_COLUMNS))),
    )


def _names(names: Sequence[Any], path: Path) -> list[str]:
    """Return the columns' names; a damaged file may lack one."""
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name:
            raise DataError(
                f"Column {place} has no name.",
                where=path.name,
                do="Save it again from the program that wrote it, or export it as CSV.",
            )
    return list(names)


def value_labels(source: object) -> Mapping[str, Mapping[str, str]]:
    """Return the value labels of a table's file; most kinds of files have none."""
    return getattr(source, "labels", {})


def _spelt(labels: Mapping[Any, str]) -> dict[str, str]:
    """Return labels by the text of their values; equal labels are distinguished by the value.

    >>> _spelt({1.0: "no ", 2.0: "yes", 3.0: "yes"})
    {'1': 'no', '2': 'yes (2)', '3': 'yes (3)'}
    """
    words = {spell(value) or "": " ".join(str(label).split()) for value, label in labels.items()}
    often = Counter(words.values())
    return {
        value: f"{label} ({value})" if often[label] > 1 else label
        for value, label in words.items()
        if label
    }


def _check_beginning(path: Path) -> None:
    if path.suffix.lower() == ".dta":
        return
    with path.open("rb") as file:
        if not file.read(4).startswith(_SPSS):
            raise _unreadable(path)
    check_dictionary(path)


def _reader(path: Path) -> Callable[..., Any]:
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError("Reading an SPSS or Stata file", extra="spss") from None
    is_stata = path.suffix.lower() == ".dta"
    reader: Callable[..., Any] = pyreadstat.read_dta if is_stata else pyreadstat.read_sav
    return reader


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Replace the library's messages about a file, which may quote values, by our own."""
    try:
        yield
    except HedgerowError:
        raise
    except Exception:
        raise _unreadable(path) from None


def _unreadable(path: Path) -> DataError:
    return DataError(
        "The file is damaged, encrypted, or holds values that cannot be read.",
        where=path.name,
        do="Save it again, with dates within the years 1 to 9999, or export it as CSV.",
    )
