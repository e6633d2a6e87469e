"""The folder `tables` of a release: its index, and reading all of it back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hedgerow.errors import ReleaseError
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups, LeafTable
from hedgerow.model.measured import Kind, MeasuredTable
from hedgerow.model.schema import Schema
from hedgerow.release.folder import vouch
from hedgerow.release.reading import read_release_text
from hedgerow.release.recoding import Recoding

FOLDER = "tables"
STORED = "index.json"
LEAVES = "leaves.csv"
LEAF_RECODING = "leaves.json"


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StoredTable(_Stored):
    """A table without its counts: runs (group, number of codes) for each column."""

    file: str
    kind: Kind
    attributes: tuple[int, ...] = Field(min_length=1)
    groups: tuple[tuple[tuple[int, int], ...], ...]
    share: Fraction


class StoredTables(_Stored):
    """The whole file."""

    format_version: Literal[1] = Field(alias="format-version")
    tables: tuple[StoredTable, ...]
    leaves: Fraction | None


def index_text(files: Sequence[str], groups: Groups) -> str:
    """Return the text of `index.json`: one table per line."""
    lines = [
        json.dumps(
            {
                "file": file,
                "kind": table.kind,
                "attributes": table.attributes,
                "groups": [_runs(each) for each in table.groups],
                "share": str(table.share),
            }
        )
        for file, table in zip(files, groups.tables, strict=False)
    ]
    share = None if groups.leaves is None else str(groups.leaves.share)
    body = ",\n".join(f"    {line}" for line in lines)
    return (
        f'{{\n  "format-version": 1,\n  "leaves": {json.dumps(share)},\n'
        f'  "tables": [\n{body}\n  ]\n}}\n'
    )


def read_measured(
    folder: Path, certificate: Certificate, schema: Schema
) -> tuple[tuple[MeasuredTable, ...], LeafTable | None]:
    """Return the tables of a release folder and its leaf table, if the certificate lists them."""
    if f"{FOLDER}/{STORED}" not in certificate.files:
        return (), None
    place = folder / FOLDER
    text = _vouched(place / STORED, certificate)
    try:
        stored = StoredTables.model_validate_json(text)
        tables = tuple(_table(place, each, schema, certificate) for each in stored.tables)
        if stored.leaves is None:
            return tables, None
        return tables, _leaves(place, stored.leaves, schema, certificate)
    except (ValidationError, ValueError, IndexError) as error:
        raise ReleaseError(
            "The tables do not have the content of such release files.",
            where=str(place),
            do="Give a release folder that `hedgerow publish` wrote.",
        ) from error


def read_leaf_recoding(folder: Path, certificate: Certificate) -> Recoding | None:
    """Return the recoding of the leaf table, if the certificate lists one."""
    path = folder / FOLDER / LEAF_RECODING
    if f"{FOLDER}/{LEAF_RECODING}" not in certificate.files:
        return None
    return Recoding.from_json(_vouched(path, certificate), where=str(path))


def _table(
    place: Path, stored: StoredTable, schema: Schema, certificate: Certificate
) -> MeasuredTable:
    used = list(schema.used())
    groups = tuple(_codes(runs) for runs in stored.groups)
    sizes = [used[a].domain.size for a in stored.attributes]
    if min(stored.attributes) < 0 or sizes != [len(each) for each in groups]:
        raise ValueError("the groups of a table do not fit the domains")
    shape = tuple(int(each.max()) + 1 for each in groups)
    return MeasuredTable(
        kind=stored.kind,
        attributes=stored.attributes,
        groups=groups,
        counts=_counts(place, stored.file, certificate).reshape(shape),
        share=stored.share,
    )


def _leaves(place: Path, share: Fraction, schema: Schema, certificate: Certificate) -> LeafTable:
    recoding = read_leaf_recoding(place.parent, certificate)
    if recoding is None or recoding.tree is None:
        raise ValueError("a leaf table has no tree")
    n_classes = schema.n_classes
    counts = _counts(place, LEAVES, certificate).reshape(-1, n_classes)
    if len(counts) != int(recoding.tree.box.max()) + 1:
        raise ValueError("a leaf table and its tree have different numbers of boxes")
    return LeafTable(tree=recoding.tree, counts=counts, share=share)


def _counts(place: Path, name: str, certificate: Certificate) -> NDArray[np.int64]:
    """Return the last column of a table's file."""
    import pyarrow as pa
    from pyarrow import csv

    path = place / Path(name).name
    vouch(path, certificate, name=f"{FOLDER}/{path.name}")
    try:
        table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))
        counts: NDArray[np.int64] = table.columns[-1].cast(pa.int64()).to_numpy()
    except (pa.ArrowException, OSError) as error:
        raise ValueError("a table cannot be read") from error
    return counts


def _vouched(path: Path, certificate: Certificate) -> str:
    vouch(path, certificate, name=f"{FOLDER}/{path.name}")
    return read_release_text(path)


def _runs(groups: NDArray[np.int32]) -> list[list[int]]:
    """Return runs of equal groups: the group, and the number of codes in the run."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    lengths = np.diff(np.append(starts, len(groups)))
    return [[int(g), int(n)] for g, n in zip(groups[starts], lengths, strict=True)]


def _codes(runs: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    pairs: Any = np.array(runs, dtype=np.int64).reshape(-1, 2)
    if not len(pairs) or pairs.min() < 0:
        raise ValueError("a column of a table has no groups")
    return np.repeat(pairs[:, 0], pairs[:, 1]).astype(np.int32)
