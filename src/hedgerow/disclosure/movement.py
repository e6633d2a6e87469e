"""The change in risk that a disclosure causes, and the condition on it.

The figures here are confidential: risks are computed from raw records and personal weights. The
certificate states them in coarse steps; rows and cells are counted in the disclosed table, which
its recipients have anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.disclosure.lattice.matches import row_keys
from hedgerow.errors import RefusedError
from hedgerow.model.arrays import Floats
from hedgerow.model.certificate import DisclosedRisk
from hedgerow.model.table import EncodedTable

THRESHOLD = Fraction(1, 2)
"""Maximum part of the original records' mean risk that a disclosure may leave."""

CROWD = 20
"""Mean number of people with the same values at which there is no risk to lower."""

STEPS = tuple(Fraction(1, n) for n in (100, 50, 20, 10, 5, 2, 1))
"""Parts of the original risk that a certificate can state as its upper bound."""


class RiskNotLoweredError(RefusedError):
    """The risk did not fall as far as a disclosure requires, and nobody accepted that.

    ``movement`` is confidential: for the data's owner, never part of the message.
    """

    def __init__(self, movement: RiskMovement) -> None:
        self.movement = movement
        super().__init__(
            f"the mean risk would stay above {THRESHOLD} of that of the original records;"
            " nothing was written",
            where="disclose",
            do="Require less utility, weigh risk more (--lambda), limit it (--at-most), or drop"
            " attributes. If the data owner accepts the risk, use --accept-risk"
            " (in Python accept_risk=True); the certificate says so.",
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskMovement:
    """Mean and maximum risk before and after, and statistics of the disclosed rows; confidential.

    Risks are those of all records; a withheld record has no risk except that of what its
    recipient received before. ``crowd`` is the number of dictionary records with the same values
    as a record, as the harmonic mean over records. ``unique`` rows differ from all other
    disclosed rows; ``verbatim`` is the part of cells that show the recorded value itself.
    """

    mean: tuple[float, float]
    largest: tuple[float, float]
    crowd: float
    n_rows: int
    unique: int
    verbatim: float

    @property
    def lowered(self) -> bool:
        """True if risk fell below the threshold, or was low from the beginning."""
        before, after = self.mean
        return after <= float(THRESHOLD) * before or self.crowd >= CROWD * (1 - 1e-9)

    def certified(self, *, accepted: bool) -> DisclosedRisk:
        """Return the certificate's facts: coarse risk, and counts of the disclosed table."""
        return DisclosedRisk(
            threshold=THRESHOLD,
            lowered=self.lowered,
            accepted=accepted,
            mean_left=_step(*self.mean),
            largest_left=_step(*self.largest),
            unique_rows=self.unique,
            verbatim=round(self.verbatim, 3),
        )


def movement_of(
    *,
    before: Floats,
    after: Floats,
    matches: NDArray[np.int64],
    nodes: list[NDArray[np.int32]],
    chains: tuple[Chains, ...],
    classes: NDArray[np.integer] | None,
    already: Floats | None = None,
) -> RiskMovement:
    """Return the change in risk, from the risks of all records and the nodes that are shown.

    ``after`` is NaN for withheld records, which then have the risk of what the recipient has
    ``already``, or none. ``matches`` is the number of dictionary records with the same values as
    each record, ``classes`` the disclosed class.
    """
    left = np.where(np.isnan(after), 0.0 if already is None else already, after)
    n_rows = len(before)
    alone = 1.0 / np.maximum(matches, 1)
    return RiskMovement(
        mean=(_mean(before), _mean(left)),
        largest=(float(before.max(initial=0.0)), float(left.max(initial=0.0))),
        crowd=1.0 / _mean(alone) if n_rows else float("inf"),
        n_rows=n_rows,
        unique=_n_unique(nodes, chains, classes, n_rows),
        verbatim=_verbatim(nodes, chains),
    )


def shown_classes(table: EncodedTable, feasible: NDArray[np.bool_]) -> NDArray[np.integer] | None:
    """Return the class that each row shows, and one more than the last for withheld rows."""
    target = table.schema.class_attribute
    if target is None or table.classes is None:
        return None
    return np.where(feasible, table.classes, target.domain.size)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _step(before: float, after: float) -> Fraction | None:
    """Return the smallest step that bounds the remaining risk, or ``None`` if risk grew."""
    for step in STEPS:
        if after <= float(step) * before * (1 + 1e-9):
            return step
    return None


def _n_unique(
    nodes: list[NDArray[np.int32]],
    chains: tuple[Chains, ...],
    classes: NDArray[np.integer] | None,
    n_rows: int,
) -> int:
    """Return the number of unique rows; nodes of the same codes have the same label."""
    columns, sizes = [], []
    for column, chain in zip(nodes, chains, strict=True):
        tree = chain.taxonomy
        spans = tree.first.astype(np.int64) * (tree.n_leaves + 1) + tree.stop
        kinds, kind = np.unique(spans, return_inverse=True)
        columns.append(kind[column])
        sizes.append(len(kinds))
    if classes is not None:
        columns.append(classes.astype(np.int64))
        sizes.append(int(classes.max(initial=0)) + 1)
    if not n_rows or not columns:
        return min(n_rows, 1)
    _, many = np.unique(row_keys(columns, sizes, n_rows), return_counts=True)
    return int((many == 1).sum())


def _verbatim(nodes: list[NDArray[np.int32]], chains: tuple[Chains, ...]) -> float:
    single = [
        float(((chain.taxonomy.stop - chain.taxonomy.first)[column] == 1).mean())
        for column, chain in zip(nodes, chains, strict=True)
        if len(column)
    ]
    return float(np.mean(single)) if single else 0.0
