"""The groups of a release as a table: generalised labels, the class, and `count` last."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups
from hedgerow.model.labels import count_column, leaf_labels, range_labels
from hedgerow.model.schema import Attribute, Schema

if TYPE_CHECKING:
    import pyarrow as pa

# What a spreadsheet runs: what begins with an equals sign, and what begins with another sign and
# calls a function or reaches a cell, a sheet, a file or a program, full-width forms included. A
# sign by itself runs nothing: '- 50000.' is a label. Apostrophes before it are part of the
# pattern, so that no two texts become the same one.
_FORMULA = re.compile(
    r"'*([=\uff1d\t\r\n]|[+@\uff0b\uff20\uff0d-].*"
    r"([=(|!#\[\uff1d\uff08\uff5c\uff01\uff03\uff3b]|(?<![A-Za-z0-9_])[A-Za-z]{1,3}\$?[0-9]+(?![A-Za-z0-9_])))",
    re.DOTALL,
)

# What a CSV file has in quotes.
_SPECIAL = re.compile('[,"\\n\\r]')

_BATCH = 1 << 14  # rows that are written at a time

# What earlier releases put an apostrophe before: every sign but that of a negative number.
_SHIELDED_ONCE = re.compile(
    r"'*([=+@\t\r\n\uff1d\uff0b\uff20\uff0d]|-(?!\d+([.,]\d+)*([eE][+-]?\d+)?%?\Z))", re.ASCII
)


def integers(values: NDArray[Any], kind: type[np.signedinteger[Any]]) -> pa.Array:
    """Return whole numbers as an Arrow column of their own memory.

    ``pyarrow.array`` would do, but it loads pandas wherever that is installed.
    """
    import pyarrow as pa

    flat = np.ascontiguousarray(values, dtype=kind)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(flat.dtype), len(flat), [None, pa.py_buffer(flat)]
    )


def strings(labels: list[str]) -> pa.StringArray:
    """Return texts as an Arrow column, without loading pandas as ``pyarrow.array`` would."""
    import pyarrow as pa

    encoded = [label.encode() for label in labels]
    ends = np.cumsum([0, *(len(text) for text in encoded)], dtype=np.int32)
    content = pa.py_buffer(b"".join(encoded))
    return pa.StringArray.from_buffers(len(labels), pa.py_buffer(ends), content)


def labelled(index: pa.Array | NDArray[Any], labels: list[str]) -> pa.DictionaryArray:
    """Return a dictionary column: each index and the labels it points into."""
    import pyarrow as pa

    places = integers(index, np.int32) if isinstance(index, np.ndarray) else index
    return pa.DictionaryArray.from_arrays(places, strings(labels))


def groups_table(schema: Schema, groups: Groups) -> pa.Table:
    """Return one row per group, in the groups' own order."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for attribute, ranges, index in zip(
        schema.attributes, groups.ranges, groups.index, strict=True
    ):
        columns[attribute.name] = labelled(index, range_labels(attribute.domain, ranges))
    of_class = schema.class_attribute
    if of_class is not None and groups.classes is not None:
        columns[of_class.name] = labelled(groups.classes, leaf_labels(of_class.domain))
    columns[count_column(schema)] = integers(groups.counts, np.int64)
    return pa.table(columns)


def spreadsheet_safe(text: str) -> str:
    """Return ``text`` so that no spreadsheet runs it.

    Texts that begin with ``=``, or with ``+``, ``-`` or ``@`` and hold ``(``, ``|``, ``!``,
    ``#``, ``[`` or the name of a cell, get a leading apostrophe. All others, which no
    spreadsheet would run, are written as they are, so that a program reads back the label.

    >>> spreadsheet_safe("=SUM(A1)"), spreadsheet_safe("- 50000."), spreadsheet_safe("-5+cmd|x!A0")
    ("'=SUM(A1)", '- 50000.', "'-5+cmd|x!A0")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def shielded_once(text: str) -> str:
    """Return ``text`` as releases before this rule have it in their files."""
    return f"'{text}" if _SHIELDED_ONCE.match(text) else text


def label_columns(attributes: Collection[Attribute]) -> set[str]:
    """Return the columns whose labels are free texts, to be kept safe in spreadsheets."""
    return {each.name for each in attributes if each.domain.kind == "categorical"}


def to_csv(
    table: pa.Table, file: Path | IO[bytes], *, texts: Collection[str], header: bool = True
) -> None:
    """Write ``table`` as UTF-8 CSV, quoted where needed, the ``texts`` columns made safe."""
    import polars as pl

    frame = pl.DataFrame(_quoted(table, texts))
    frame.write_csv(
        file,
        include_header=header,
        line_terminator="\n",
        quote_style="never",  # labels have their quotes already, each once
        batch_size=_BATCH,
    )


def quoted(text: str) -> str:
    """Return ``text`` as a cell of a CSV file: in quotes if it needs them, or if it is empty.

    >>> quoted("[1, 2)"), quoted('a"b'), quoted(""), quoted("plain")
    ('"[1, 2)"', '"a""b"', '""', 'plain')
    """
    if text and not _SPECIAL.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _quoted(table: pa.Table, texts: Collection[str]) -> pa.Table:
    """Return the table with quoted, safe labels: dictionaries change, the rows are shared."""
    import pyarrow as pa

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        chunk = column.combine_chunks()
        safe = spreadsheet_safe if name in texts else str
        if pa.types.is_string(chunk.type) or pa.types.is_large_string(chunk.type):
            chunk = chunk.dictionary_encode()
        if pa.types.is_dictionary(chunk.type):
            labels = [quoted(safe(label)) for label in chunk.dictionary.to_pylist()]
            chunk = labelled(chunk.indices, labels)
        columns.append(chunk)
    return pa.table(columns, names=[quoted(spreadsheet_safe(each)) for each in table.column_names])
