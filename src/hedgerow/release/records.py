"""Synthetic records sampled from the groups of a release, for tools that need rows.

Every group yields as many records as its noisy count, with values sampled from the group's ranges:
by the release's noisy marginals if it has them, otherwise uniformly. Only published figures are
used, so this costs no budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import Groups
from hedgerow.model.labels import leaf_labels
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import RandomSource, below
from hedgerow.release.table import label_columns, labelled, to_csv
from hedgerow.taxonomy.calendar import CalendarGrid
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, Domain, NumericDomain
from hedgerow.taxonomy.grid import EvenGrid

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 1 << 19
FROM_BOXES = (
    "Records sampled from boxes keep what the boxes keep: inside a box, columns are independent, so"
    " counts of two or more columns can be far off. For rows that others analyse use the method"
    " weave."
)
"""Notice where records are sampled from a generalised table."""

MOST_RECORDS = 200_000_000
"""Maximum number of records to write; noise alone can make counts exceed any disk."""


def record_tables(
    schema: Schema, groups: Groups, *, source: RandomSource, chunk: int = CHUNK
) -> Iterator[pa.Table]:
    """Yield records at the finest level in parts, sorted by group; at least one part."""
    last = np.cumsum(groups.counts)
    total = int(last[-1]) if len(last) else 0
    for start in range(0, max(total, 1), chunk):
        numbers = np.arange(start, min(start + chunk, total), dtype=np.int64)
        yield _drawn(schema, groups, np.searchsorted(last, numbers, side="right"), source)


def write_records(schema: Schema, groups: Groups, path: Path, *, source: RandomSource) -> None:
    """Write `records.csv`: the attributes at their finest level, and the class."""
    texts = label_columns(list(schema.used()))
    with path.open("wb") as file:
        for part, table in enumerate(record_tables(schema, groups, source=source)):
            to_csv(table, file, texts=texts, header=part == 0)


def _drawn(
    schema: Schema, groups: Groups, group: NDArray[np.int64], source: RandomSource
) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
    classes = None if groups.classes is None else groups.classes[group]
    for at, (attribute, ranges, index) in enumerate(
        zip(schema.attributes, groups.ranges, groups.index, strict=True)
    ):
        first, stop = ranges.first[index[group]], ranges.stop[index[group]]
        if groups.marginals is None:
            codes = uniform_codes(first, stop, source=source)
        else:
            weights = groups.marginals[at]
            codes = weighted_codes(first, stop, weights, classes=classes, source=source)
        columns[attribute.name] = leaf_values(attribute.domain, codes)
    if schema.class_attribute is not None and groups.classes is not None:
        labels = leaf_labels(schema.class_attribute.domain)
        columns[schema.class_attribute.name] = labelled(groups.classes[group], labels)
    return pa.table(columns)


def uniform_codes(
    first: NDArray[np.int32], stop: NDArray[np.int32], *, source: RandomSource
) -> NDArray[np.int64]:
    """Return one code per range ``[first, stop)``, uniformly distributed."""
    return first + below((stop - first).astype(np.int64), source=source)


def weighted_codes(
    first: NDArray[np.int32],
    stop: NDArray[np.int32],
    weights: NDArray[np.float64],
    *,
    classes: NDArray[np.int32] | None,
    source: RandomSource,
) -> NDArray[np.int64]:
    """Return one code per range ``[first, stop)``, sampled in proportion to ``weights``.

    ``weights`` has one row per code and one column per class, or a single column. Each range uses
    the column of its class, and the uniform distribution if that has no weight in the range.
    """
    n_codes, n_columns = weights.shape
    ends = np.concatenate([[0.0], np.cumsum(weights.T.ravel())])
    column = 0 if n_columns == 1 or classes is None else classes.astype(np.int64) * n_codes
    low, high = ends[first + column], ends[stop + column]
    # Invert the cumulative weights; rounding must not move a draw to the next range.
    at = low + (source.words(len(first)) >> np.uint64(11)) * 2.0**-53 * (high - low)
    at = np.minimum(at, np.nextafter(high, -np.inf))
    codes: NDArray[np.int64] = np.searchsorted(ends, at, side="right") - 1 - column
    empty = np.flatnonzero(~(high > low))
    codes[empty] = uniform_codes(first[empty], stop[empty], source=source)
    return codes


def leaf_values(domain: Domain, codes: NDArray[np.int64]) -> pa.Array:
    """Return the value of each code: a label, or the lower edge of a cell.

    Dates are the first day of their step. Missing numbers and dates are null; a missing category
    has the label of its leaf.
    """
    if isinstance(domain, CategoricalDomain):
        return labelled(codes, leaf_labels(domain))
    return _dates(domain, codes) if isinstance(domain, DateDomain) else _numbers(domain, codes)


def _dates(domain: DateDomain, codes: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    days = domain.grid.begins[np.maximum(codes - domain.missing, 0)].astype(np.int32)
    unknown = codes == 0 if domain.missing else None
    return pa.array(days, pa.int32(), mask=unknown).view(pa.date32())


def _numbers(domain: NumericDomain, codes: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    distinct, where = np.unique(codes, return_inverse=True)
    borders = [domain.bounds(code, code + 1)[0] for code in distinct.tolist()]
    values = np.array(borders, dtype=np.int64 if in_wholes(domain) else np.float64)
    unknown = codes == 0 if domain.missing else None
    return pa.array(values[where], mask=unknown)


def in_wholes(domain: NumericDomain) -> bool:
    """Return whether records of a domain are integers."""
    grid = domain.grid
    if isinstance(grid, CalendarGrid):
        return True
    exact = (grid.low, grid.step) if isinstance(grid, EvenGrid) else grid.edges[:-1]
    return all(number.denominator == 1 for number in exact)
