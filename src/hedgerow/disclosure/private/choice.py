"""Every record's own best generalisation among those that a synopsis offers.

``g(a) = argmax λ ρ̃(x) / Φ(x) + u(x)^κ`` over the generalisations x of the record a that the
synopsis offers [TKDE, Eq. (2)]. Given the synopsis, it is a function of the record alone and of no
other record (docs/privacy.md, "Methods").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.disclosure.private.synopsis import Kinds, Layer
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Columns, Floats, Ints


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Worth:
    """The value of a generalisation to a record, by public tables.

    ``severity`` and ``utility`` hold, per attribute, rows of one number per code for every
    cut. Without the former Φ is 1. ``risk_weight`` is the paper's λ times the number of
    records, ``power`` is κ, and ``floor`` is added to Φ.
    """

    utility: tuple[Floats, ...]
    severity: tuple[Floats, ...] | None
    risk_weight: float
    power: float
    floor: float

    def __post_init__(self) -> None:
        if self.severity is not None and self.floor <= 0:
            raise SettingError(
                "The fully generalised record would have severity 0, and always be the best.",
                where="publish.floor",
                do="Give a floor above 0.",
            )

    @property
    def most_utility(self) -> float:
        """Maximum utility of any record, disclosed as finely as allowed."""
        return float(sum(table.max() for table in self.utility))

    def severities(self, vector: Ints, columns: Columns, personal: Floats | None) -> Floats:
        """Return Φ of each record's cell of a level vector."""
        if self.severity is None:
            return np.ones(len(columns[0]))
        total = _summed(self.severity, vector, columns)
        return self.floor + (total if personal is None else total * personal)

    def utilities(self, vector: Ints, columns: Columns) -> Floats:
        """Return the utility of each record's cell of a level vector."""
        return _summed(self.utility, vector, columns)

    def values(
        self, vector: Ints, columns: Columns, fraction: Floats, personal: Floats | None
    ) -> Floats:
        """Return the aggregate f, if a fraction of all records matches each record's cell."""
        risk_part = self.risk_weight * fraction / self.severities(vector, columns, personal)
        values: Floats = risk_part + self.utilities(vector, columns) ** self.power
        return values


def _summed(tables: tuple[Floats, ...], vector: Ints, columns: Columns) -> Floats:
    total = np.zeros(len(columns[0]))
    for table, at, column in zip(tables, vector.tolist(), columns, strict=True):
        total += table[at][column]
    return total


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Choices:
    """The offered cells, and the cell that every kind of record takes.

    ``offered`` are the increasing keys of cells; they follow from the synopsis and may be
    published. ``taken`` is the index among them for each kind; confidential.
    """

    offered: Ints
    taken: Ints


def choose_cells(
    space: LevelSpace,
    layers: Iterable[Layer],
    kinds: Kinds,
    *,
    n_records: int,
    worth: Worth,
    personal: Floats | None,
) -> Choices:
    """Return every kind's best cell among those offered, the first among equals.

    The fully generalised cell is always offered. ``personal`` is one factor on the severity per
    kind, which must be a function of the record alone.
    Privacy: what is offered is post-processing of the synopsis, and what a record takes
    depends on the synopsis and on the record itself; adding or removing a record changes
    nobody else's choice.
    """
    offered: list[Ints] = []
    best = np.full(len(kinds), -np.inf)
    taken = np.full(len(kinds), space.offsets[0])
    for layer in layers:
        vector = space.vectors[layer.vector]
        listed = space.new_cells(vector) & (layer.estimates >= layer.least)
        if layer.vector == 0:
            listed[:] = True
        offered.append(space.offsets[layer.vector] + np.flatnonzero(listed))
        if not listed.any() or not len(kinds):
            continue
        cells = space.cells_of(vector, kinds.columns)
        values = worth.values(vector, kinds.columns, layer.estimates[cells] / n_records, personal)
        better = listed[cells] & (values > best)
        best[better] = values[better]
        taken[better] = space.offsets[layer.vector] + cells[better]
    keys = np.concatenate(offered)
    return Choices(offered=keys, taken=np.searchsorted(keys, taken))
