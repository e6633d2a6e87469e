"""Labels of records by a public rule: the nearest of some public centres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.arrays import Codes
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import flat
from hedgerow.taxonomy.domain import CategoricalDomain, code_dtype

AT_ONCE = 1 << 16
"""Number of records labelled at once, whose distances to all centres are in memory."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NearestCentre:
    """A label for every record: the number of its nearest centre.

    ``distances`` has, for each attribute, integers (codes, centres) that add up to the distance of
    a record; of equal distances the first centre is taken. All of it is public, and sums of
    integers are the same everywhere, so that a record's label is a function of its own codes on any
    engine.
    """

    distances: tuple[NDArray[np.int64], ...]

    @property
    def n_labels(self) -> int:
        """Number of centres."""
        return int(self.distances[0].shape[1])

    def of(self, codes: tuple[Codes, ...]) -> NDArray[np.int64]:
        """Return the label of every record (confidential)."""
        n_records = len(codes[0])
        labels = np.empty(n_records, dtype=np.int64)
        for start in range(0, n_records, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            away = [t[column[part]] for t, column in zip(self.distances, codes, strict=True)]
            labels[part] = np.argmin(np.sum(away, axis=0), axis=1)
        return labels

    def schema(self, schema: Schema) -> Schema:
        """Return the schema of labelled records: their class is the label, then the old class."""
        names = [str(i) for i in range(self.n_labels * schema.n_classes)]
        domain = CategoricalDomain.over(flat(names), other=None, missing=None)
        return Schema(
            attributes=schema.attributes,
            class_attribute=Attribute(name="cluster", domain=domain),
            missing=schema.missing,
            missing_values=schema.missing_values,
        )

    def columns(self, columns: tuple[Codes, ...], schema: Schema) -> tuple[Codes, ...]:
        """Return the columns of records with the labelled class, which is last, in its place."""
        n_attributes, n_classes = len(schema.attributes), schema.n_classes
        codes = columns[:n_attributes]
        joined = self.of(codes) * n_classes
        if len(columns) > n_attributes:
            joined += columns[n_attributes]
        return (*codes, joined.astype(code_dtype(self.n_labels * n_classes)))

    def table(self, table: EncodedTable) -> EncodedTable:
        """Return a table with labelled classes."""
        old = table.codes if table.classes is None else (*table.codes, table.classes)
        columns = self.columns(old, table.schema)
        return EncodedTable(
            schema=self.schema(table.schema), codes=columns[:-1], classes=columns[-1]
        )
