"""Plain records drawn from the groups of a release, for tools that want rows.

Every group gives as many records as its noisy count, each with values drawn uniformly
from the group's ranges. Only published counts are used, so this costs no budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.encode.schema import Schema
from hedgerow.partition.groups import Groups
from hedgerow.privacy.source import RandomSource, below
from hedgerow.release.table import labelled, leaf_labels, text_columns, to_csv
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.grid import EvenGrid

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 1 << 19
MOST_RECORDS = 200_000_000
"""Noise alone can ask for more records than any disk holds; no more are written."""


def record_tables(
    schema: Schema, groups: Groups, *, source: RandomSource, chunk: int = CHUNK
) -> Iterator[pa.Table]:
    """Yield leaf-level records in parts, sorted by group; at least one part, empty or not."""
    last = np.cumsum(groups.counts)
    total = int(last[-1]) if len(last) else 0
    for start in range(0, max(total, 1), chunk):
        numbers = np.arange(start, min(start + chunk, total), dtype=np.int64)
        yield _drawn(schema, groups, np.searchsorted(last, numbers, side="right"), source)


def write_records(schema: Schema, groups: Groups, path: Path, *, source: RandomSource) -> None:
    """Write `records.csv`: the attributes' columns at their finest, and the class."""
    texts = text_columns(list(schema.used()))
    with path.open("wb") as file:
        for part, table in enumerate(record_tables(schema, groups, source=source)):
            to_csv(table, file, texts=texts, header=part == 0)


def _drawn(
    schema: Schema, groups: Groups, group: NDArray[np.int64], source: RandomSource
) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for attribute, ranges, index in zip(
        schema.attributes, groups.ranges, groups.index, strict=True
    ):
        place = index[group]
        width = (ranges.stop - ranges.first).astype(np.int64)[place]
        codes = ranges.first[place] + below(width, source=source)
        columns[attribute.name] = leaf_values(attribute.domain, codes)
    if schema.class_attribute is not None and groups.classes is not None:
        labels = leaf_labels(schema.class_attribute.domain)
        columns[schema.class_attribute.name] = labelled(groups.classes[group], labels)
    return pa.table(columns)


def leaf_values(domain: Domain, codes: NDArray[np.int64]) -> pa.Array:
    """Return the value of each code: a label, or the lower edge of a cell.

    A missing number is null; a missing category has the label of its leaf.
    """
    if isinstance(domain, CategoricalDomain):
        return labelled(codes, leaf_labels(domain))
    return _numbers(domain, codes)


def _numbers(domain: NumericDomain, codes: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    distinct, where = np.unique(codes, return_inverse=True)
    borders = [domain.bounds(code, code + 1)[0] for code in distinct.tolist()]
    values = np.array(borders, dtype=np.int64 if _counts_in_wholes(domain) else np.float64)
    unknown = codes == 0 if domain.missing else None
    return pa.array(values[where], mask=unknown)


def _counts_in_wholes(domain: NumericDomain) -> bool:
    grid = domain.grid
    exact = (grid.low, grid.step) if isinstance(grid, EvenGrid) else grid.edges[:-1]
    return all(number.denominator == 1 for number in exact)
