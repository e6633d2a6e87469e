"""The noisy tables that records were sampled from: one CSV file each in the folder `tables`.

`index.csv` lists them for people, `index.json` states the codes in each of their groups, and
`leaves.json` is the recoding of a leaf table.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from pathlib import Path

import numpy as np

from hedgerow.model.groups import Groups, LeafTable
from hedgerow.model.labels import leaf_labels
from hedgerow.model.leaf_groups import leaf_groups
from hedgerow.model.locate import node_bounds
from hedgerow.model.measured import MeasuredTable, group_labels
from hedgerow.model.precision import within
from hedgerow.model.schema import Schema
from hedgerow.release.measured_file import FOLDER, LEAF_RECODING, LEAVES, STORED, index_text
from hedgerow.release.recoding import Recoding
from hedgerow.release.table import integers, labelled, strings, to_csv
from hedgerow.release.write import write_text

INDEX = "index.csv"


def write_measured(folder: Path, schema: Schema, groups: Groups) -> None:
    """Write the tables of a release, and an index with their noise scales, if there are any."""
    if not groups.tables and groups.leaves is None:
        return
    place = folder / FOLDER
    place.mkdir()
    lines: list[tuple[str, str, int, Fraction]] = []
    for number, table in enumerate(groups.tables, start=1):
        name = file_name(schema, table, number)
        _write_table(place / name, schema, table)
        lines.append((name, table.kind, table.counts.size, table.share))
    if groups.leaves is not None:
        _write_leaves(place / LEAVES, schema, groups.leaves)
        write_text(place / LEAF_RECODING, leaf_recoding(schema, groups.leaves).to_json())
        lines.append((LEAVES, "leaves", groups.leaves.counts.size, groups.leaves.share))
    _write_index(place / INDEX, lines)
    write_text(place / STORED, index_text([line[0] for line in lines], groups))


def leaf_recoding(schema: Schema, leaves: LeafTable) -> Recoding:
    """Return the recoding of the boxes of a leaf table."""
    sizes = [attribute.domain.size for attribute in schema.attributes]
    has_class = schema.class_attribute is not None
    return Recoding.of(schema, leaf_groups(leaves, sizes, has_class=has_class))


def file_name(schema: Schema, table: MeasuredTable, number: int) -> str:
    """Return the name of a table's file: its number, its kind and its attributes."""
    used = list(schema.used())
    words = [table.kind, *(used[a].name for a in table.attributes)]
    plain = [re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-").lower()[:24] for word in words]
    return f"{number:03}-{'_'.join(word for word in plain if word)}.csv"


def _write_table(path: Path, schema: Schema, table: MeasuredTable) -> None:
    import pyarrow as pa

    used = list(schema.used())
    cells = np.indices(table.counts.shape).reshape(table.counts.ndim, -1)
    columns: dict[str, pa.Array] = {}
    for a, groups, places in zip(table.attributes, table.groups, cells, strict=True):
        labels = group_labels(used[a].domain, groups)
        columns[used[a].name] = labelled(places.astype(np.int32), labels)
    texts = set(columns)
    columns[_free("count", columns)] = integers(table.counts.ravel(), np.int64)
    to_csv(pa.table(columns), path, texts=texts)


def _write_leaves(path: Path, schema: Schema, leaves: LeafTable) -> None:
    import pyarrow as pa

    n_leaves, n_classes = leaves.counts.shape
    nodes = np.argsort(leaves.tree.box, kind="stable")[-n_leaves:]
    bounds = node_bounds(leaves.tree, [each.domain.size for each in schema.attributes])
    first, stop = (each[nodes] for each in bounds)
    columns: dict[str, pa.Array] = {}
    for a, attribute in enumerate(schema.attributes):
        ranges = zip(first[:, a].tolist(), stop[:, a].tolist(), strict=True)
        labels = [attribute.domain.label(low, high) for low, high in ranges]
        places = np.repeat(np.arange(n_leaves, dtype=np.int32), n_classes)
        columns[attribute.name] = labelled(places, labels)
    if schema.class_attribute is not None:
        classes = np.tile(np.arange(n_classes, dtype=np.int32), n_leaves)
        labels = leaf_labels(schema.class_attribute.domain)
        columns[schema.class_attribute.name] = labelled(classes, labels)
    texts = set(columns)
    columns[_free("count", columns)] = integers(leaves.counts.ravel(), np.int64)
    to_csv(pa.table(columns), path, texts=texts)


def _write_index(path: Path, lines: list[tuple[str, str, int, Fraction]]) -> None:
    import pyarrow as pa

    names, kinds, cells, shares = zip(*lines, strict=True)
    columns = {
        "file": strings(list(names)),
        "kind": strings(list(kinds)),
        "cells": integers(np.array(cells), np.int64),
        "epsilon": strings([str(share) for share in shares]),
        "noise_scale": strings([f"{1 / float(share):.6g}" for share in shares]),
        "within_95": integers(np.array([within(share) for share in shares]), np.int64),
    }
    to_csv(pa.table(columns), path, texts=())


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"noisy_{name}"
    return name
