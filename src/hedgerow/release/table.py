"""The groups of a release as a table: generalised labels, the class, and `count` last."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups
from hedgerow.model.labels import count_column, leaf_labels, range_labels
from hedgerow.model.schema import Attribute, Schema

if TYPE_CHECKING:
    import pyarrow as pa

# Texts that a spreadsheet executes: those that begin with an equals sign, and those that begin
# with another sign and call a function or refer to a cell, a sheet, a file or a program, full-width
# forms included. A sign alone executes nothing: '- 50000.' is a label. Leading apostrophes are part
# of the pattern, so that no two texts become the same one.
_FORMULA = re.compile(
    r"'*([=\uff1d\t\r\n]|[+@\uff0b\uff20\uff0d-].*"
    r"([=(|!#\[\uff1d\uff08\uff5c\uff01\uff03\uff3b]|(?<![A-Za-z0-9_])[A-Za-z]{1,3}\$?[0-9]+(?![A-Za-z0-9_])))",
    re.DOTALL,
)

# Characters that need quotes in a CSV file.
_SPECIAL = re.compile('[,"\\n\\r]')

_ROWS = 1 << 16  # rows written at a time

_FUSED = 1 << 12  # maximum number of texts of columns that are written as one

# Texts that earlier versions put an apostrophe before: every sign but that of a negative number.
_SHIELDED_ONCE = re.compile(
    r"'*([=+@\t\r\n\uff1d\uff0b\uff20\uff0d]|-(?!\d+([.,]\d+)*([eE][+-]?\d+)?%?\Z))", re.ASCII
)


def integers(values: NDArray[Any], kind: type[np.signedinteger[Any]]) -> pa.Array:
    """Return integers as an Arrow column with memory of its own.

    ``pyarrow.array`` would load pandas if it is installed.
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
    """Return a dictionary column from indices and the labels that they refer to."""
    import pyarrow as pa

    places = integers(index, np.int32) if isinstance(index, np.ndarray) else index
    return pa.DictionaryArray.from_arrays(places, strings(labels))


def groups_table(schema: Schema, groups: Groups) -> pa.Table:
    """Return one row per group, in the groups' own order."""
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
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
    """Return ``text`` in a form that no spreadsheet executes.

    Texts that begin with ``=``, or with ``+``, ``-`` or ``@`` and hold ``(``, ``|``, ``!``,
    ``#``, ``[`` or the name of a cell, get a leading apostrophe. All others are unchanged, so that
    programs read the original label.

    >>> spreadsheet_safe("=SUM(A1)"), spreadsheet_safe("- 50000."), spreadsheet_safe("-5+cmd|x!A0")
    ("'=SUM(A1)", '- 50000.', "'-5+cmd|x!A0")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def shielded_once(text: str) -> str:
    """Return ``text`` as versions before this rule wrote it."""
    return f"'{text}" if _SHIELDED_ONCE.match(text) else text


def label_columns(attributes: Collection[Attribute]) -> set[str]:
    """Return the columns whose labels are free texts and must be made spreadsheet-safe."""
    return {each.name for each in attributes if each.domain.kind == "categorical"}


def to_csv(
    table: pa.Table, file: Path | IO[bytes], *, texts: Collection[str], header: bool = True
) -> None:
    """Write ``table`` as UTF-8 CSV, quoted where needed, with ``texts`` columns made safe."""
    names = [csv_cell(spreadsheet_safe(name)) for name in table.column_names]
    cells = [
        _cells(column.combine_chunks(), safe=spreadsheet_safe if name in texts else str)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    with file.open("wb") if isinstance(file, Path) else nullcontext(file) as out:
        if header:
            out.write((",".join(names) + "\n").encode())
        cells = _fused(cells)
        for start in range(0, table.num_rows, _ROWS):
            out.write(_lines([column.slice(start, _ROWS) for column in cells]))


def csv_cell(text: str) -> str:
    """Return ``text`` as a cell of a CSV file, in quotes if it needs them or is empty.

    >>> csv_cell("[1, 2)"), csv_cell('a"b'), csv_cell(""), csv_cell("plain")
    ('"[1, 2)"', '"a""b"', '""', 'plain')
    """
    if text and not _SPECIAL.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _cells(column: pa.Array, *, safe: Callable[[str], str]) -> pa.Array:
    """Return a column's cells as a file has them: texts, or a dictionary of texts."""
    import pyarrow as pa

    if pa.types.is_floating(column.type) or pa.types.is_string(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    labels = [csv_cell(safe(str(label))) for label in column.dictionary.to_pylist()]
    return labelled(column.indices, labels)


def _fused(cells: list[pa.Array]) -> list[pa.Array]:
    """Return the cells with neighbouring columns of few distinct texts combined into one column.

    Each row is then written with one lookup instead of one per column.
    """
    fused = cells[:1]
    for column in cells[1:]:
        both = fused[-1], column
        if all(_has_few(each) for each in both):
            first, second = both
            n = len(second.dictionary)
            if len(first.dictionary) * n <= min(_FUSED, len(column) // 8):
                labels = [
                    f"{one},{other}"
                    for one in first.dictionary.to_pylist()
                    for other in second.dictionary.to_pylist()
                ]
                places = _indices(first) * np.int32(n) + _indices(second)
                fused[-1] = labelled(places, labels)
                continue
        fused.append(column)
    return fused


def _has_few(column: pa.Array) -> bool:
    """Return whether a column is a dictionary of few texts without nulls."""
    import pyarrow as pa

    kind = column.type
    return (
        bool(pa.types.is_dictionary(kind))
        and kind.index_type == pa.int32()
        and not column.null_count
    )


def _indices(column: pa.DictionaryArray) -> NDArray[np.int32]:
    """Return the dictionary index of each cell of a column, from its own memory.

    ``to_numpy`` would load pandas if it is installed.
    """
    places = column.indices
    memory = np.frombuffer(places.buffers()[1], dtype=np.int32)
    return memory[places.offset : places.offset + len(places)]


def _lines(cells: Sequence[pa.Array]) -> memoryview:
    """Return the rows of columns of cells, each with its line end."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # Use scalars from a column: ``pyarrow.scalar`` would load pandas.
    comma, nothing, end = strings([",", "", "\n"])
    *columns, last = [column.cast(pa.string()) for column in cells]
    ended = pc.binary_join_element_wise(
        last, nothing, end, null_handling="replace", null_replacement=""
    )
    rows = pc.binary_join_element_wise(
        *columns, ended, comma, null_handling="replace", null_replacement=""
    )
    return memoryview(rows.buffers()[2] or b"")
