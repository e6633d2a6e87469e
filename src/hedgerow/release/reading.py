"""Release files read back into groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.model.groups import CountOrigin, Groups
from hedgerow.model.labels import count_column, leaf_labels
from hedgerow.model.locate import boxes_of_groups
from hedgerow.release.marginals import Marginals
from hedgerow.release.recoding import Recoding
from hedgerow.release.table import shielded_once, spreadsheet_safe

if TYPE_CHECKING:
    import pyarrow as pa


def read_release_text(path: Path) -> str:
    """Return the text of one small file of a release."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path) from error


def read_groups(
    path: Path,
    recoding: Recoding,
    *,
    origin: CountOrigin | None,
    marginals: Marginals | None = None,
) -> Groups:
    """Return the groups of a `release.csv`, with labels converted back into ranges.

    The rows of a release with a tree must be boxes of that tree.
    """
    schema = recoding.schema
    counts_in = count_column(schema)
    table = _read_csv(path, [each.name for each in schema.used()], counts_in)
    index = tuple(
        _positions(table[attribute.name], labels, attribute.domain.kind == "categorical", path)
        for attribute, labels in zip(schema.attributes, recoding.labels, strict=True)
    )
    target = schema.class_attribute
    classes = (
        None
        if target is None
        else _positions(table[target.name], leaf_labels(target.domain), True, path)
    )
    groups = Groups(
        ranges=recoding.ranges,
        index=index,
        classes=classes,
        counts=table[counts_in].to_numpy(),
        is_cut=recoding.is_cut,
        origin=origin,
        tree=recoding.tree,
        boxes=recoding.boxes,
        marginals=marginals,
    )
    if groups.tree is not None:
        _check_rows(groups, path)
    return groups


def _check_rows(groups: Groups, path: Path) -> None:
    try:
        boxes_of_groups(groups)
    except InternalError as error:
        raise _unreadable(path) from error


def _read_csv(path: Path, names: Sequence[str], counts_in: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.dictionary(pa.int32(), pa.string()) for name in names}
    columns = [*names, counts_in]
    try:
        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=columns, skip_rows=1),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={**types, counts_in: pa.int64()},
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path) from error
    return table.unify_dictionaries().combine_chunks()


def _positions(
    column: pa.ChunkedArray, labels: Sequence[str], is_text: bool, path: Path
) -> NDArray[np.int32]:
    """Return the position of each label in ``labels``, which are as the file has them."""
    import pyarrow as pa

    if not len(column):
        return np.zeros(0, dtype=np.int32)
    chunk = column.combine_chunks()
    if isinstance(chunk, pa.ChunkedArray):
        chunk = chunk.chunk(0)
    written = chunk.dictionary.to_pylist()
    # Earlier versions put an apostrophe before more labels.
    for safe in (spreadsheet_safe, shielded_once) if is_text else (str,):
        place = {safe(label): at for at, label in enumerate(labels)}
        if all(label in place for label in written):
            found = np.array([place[label] for label in written], dtype=np.int32)
            positions: NDArray[np.int32] = found[chunk.indices.to_numpy()]
            return positions
    raise _unreadable(path)


def _unreadable(path: Path) -> ReleaseError:
    return ReleaseError(
        "The file does not have the content of such a release file.",
        where=str(path),
        do="Give a release folder that `hedgerow publish` wrote.",
    )
