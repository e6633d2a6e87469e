"""Full-domain k-anonymity: every attribute at one level of its taxonomy [Samarati01; Incognito].

One vector of levels recodes all records: a value is always published at the same level. The
cheapest vector that is k-anonymous is found among all of them or, if there are too many, one
that is minimal: no attribute can be made more specific. A minimal vector is found by descent: from
full generalisation, the attribute whose specialisation by one level makes the release cheapest is
specialised, until none can be. A step that breaks k-anonymity does so from any lower vector too
(monotonicity), so it is never tried again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.level_search import Cost, measured
from hedgerow.baselines.kanonymity.levels import AttributeLevels, levels_of
from hedgerow.baselines.kanonymity.promise import check_k, cut_groups, refuse_few, statement_of
from hedgerow.count.distinct import DistinctRows, distinct_rows, row_ranks
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.method import About, Departure
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.budget import upward_text
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Table:
    """The rows at every level of every attribute, and the cost of vectors (confidential)."""

    places: list[list[NDArray[np.int64]]]
    levels: tuple[AttributeLevels, ...]
    sizes: NDArray[np.int64]
    n_records: int

    @classmethod
    def of(cls, rows: DistinctRows, levels: tuple[AttributeLevels, ...]) -> _Table:
        places = []
        for codes, each in zip(rows.codes, levels, strict=True):
            at = [codes]
            for parents in each.parents[1:]:
                at.append(parents[at[-1]])
            places.append(at)
        sizes = rows.sizes
        return cls(places=places, levels=levels, sizes=sizes, n_records=int(sizes.sum()))

    def figures(self, vector: NDArray[np.int64], *, k: int) -> tuple[int, int, float]:
        """Return suppressed records, discernibility and penalty of a vector."""
        columns = tuple(at[level] for at, level in zip(self.places, vector, strict=True))
        n_ranges = tuple(
            len(each.ranges[level]) for each, level in zip(self.levels, vector, strict=True)
        )
        ranks, n_classes = row_ranks(columns, n_ranges)
        sizes = np.bincount(ranks, weights=self.sizes, minlength=n_classes).astype(np.int64)
        kept = sizes >= k
        gone = int(sizes[~kept].sum())
        losses = np.zeros(len(ranks))
        for each, level, column in zip(self.levels, vector, columns, strict=True):
            losses += each.penalties[level][column]
        lost = float((losses * self.sizes)[kept[ranks]].sum()) + gone * len(columns)
        return gone, int((sizes[kept] ** 2).sum()) + gone * self.n_records, lost


def descend(
    rows: DistinctRows,
    levels: tuple[AttributeLevels, ...],
    *,
    k: int,
    cost: Cost,
    suppression: Fraction,
) -> NDArray[np.int64]:
    """Return a vector that is k-anonymous except for a share of the records, and minimal."""
    table = _Table.of(rows, levels)
    limit = int(suppression * table.n_records)
    vector = np.array([len(each) - 1 for each in levels], dtype=np.int64)
    hopeful = {a for a, level in enumerate(vector) if level > 0}
    while hopeful:
        found: list[tuple[float, int]] = []
        for a in sorted(hopeful):
            gone, discernibility, penalty = table.figures(_lowered(vector, a), k=k)
            if gone > limit:
                hopeful.discard(a)
            else:
                found.append((penalty if cost == "ncp" else float(discernibility), a))
        if not found:
            break
        _, best = min(found)
        vector = _lowered(vector, best)
        if vector[best] == 0:
            hopeful.discard(best)
    return vector


def _lowered(vector: NDArray[np.int64], attribute: int) -> NDArray[np.int64]:
    lower = vector.copy()
    lower[attribute] -= 1
    return lower


MOST_VECTORS = 100_000
"""Maximum number of vectors of levels for measuring all of them."""

FAN_OUT = 2
"""Default number of cells or runs of a grid that are merged at the next level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FullDomainCut:
    """A k-anonymous recoding: the level of each attribute and the ranges it has there.

    Level 0 has the values themselves. Records in boxes of fewer than ``k`` records must be
    suppressed; without a suppression limit there are none.
    """

    k: int
    levels: tuple[int, ...]
    ranges: tuple[Ranges, ...]

    def generalise(self, table: EncodedTable) -> tuple[NDArray[np.int32], ...]:
        """Return, per attribute, the range of each record of ``table``.

        Privacy: none is added. The result is as confidential as ``table``.
        """
        return tuple(
            each.partition_of(attribute.domain.size)[codes]
            for each, attribute, codes in zip(
                self.ranges, table.schema.attributes, table.codes, strict=True
            )
        )


def full_domain_cuts(
    engine: Engine,
    *,
    ks: Sequence[int],
    cost: Cost = "discernibility",
    suppression: Fraction = Fraction(0),
    fan_out: int = FAN_OUT,
) -> dict[int, FullDomainCut]:
    """Return the cheapest k-anonymous recoding for each of ``ks``.

    All vectors of levels are measured once, whatever the number of ks: 1 to 100 take as long
    as one. ``suppression`` is the share of the records that may be suppressed. If there are
    more than ``MOST_VECTORS``, each k has a minimal vector of its own instead.

    Privacy: none. The choice of a vector depends on the data without noise.

    Example: ``full_domain_cuts(engine, ks=range(1, 101))[5].generalise(table)``.
    """
    check_k(min(ks, default=0))
    rows = distinct_rows(engine)
    refuse_few(int(rows.counts.sum()), max(ks))
    levels = levels_of(engine.schema, fan_out=fan_out)
    chosen = _vectors(rows, levels, ks=ks, cost=cost, suppression=suppression)
    return {k: _cut(k, vector, levels) for k, vector in chosen.items()}


def n_vectors(levels: tuple[AttributeLevels, ...]) -> int:
    """Return the number of vectors of levels."""
    return prod(len(each) for each in levels)


def _vectors(
    rows: DistinctRows,
    levels: tuple[AttributeLevels, ...],
    *,
    ks: Sequence[int],
    cost: Cost,
    suppression: Fraction,
) -> dict[int, NDArray[np.int64]]:
    if n_vectors(levels) > MOST_VECTORS:
        return {k: descend(rows, levels, k=k, cost=cost, suppression=suppression) for k in ks}
    # Every table is 1-anonymous without recoding; a search for k = 1 would prune nothing.
    above = [k for k in ks if k > 1]
    chosen = {k: np.zeros(len(levels), dtype=np.int64) for k in ks if k == 1}
    if above:
        figures = measured(rows, levels, ks=above, suppression=suppression)
        chosen |= {k: figures.best(k, cost=cost, suppression=suppression) for k in above}
    return chosen


def _cut(k: int, vector: NDArray[np.int64], levels: tuple[AttributeLevels, ...]) -> FullDomainCut:
    chosen = tuple(int(level) for level in vector)
    ranges = tuple(each.ranges[level] for each, level in zip(levels, chosen, strict=True))
    return FullDomainCut(k=k, levels=chosen, ranges=ranges)


@dataclass(frozen=True, kw_only=True)
class FullDomain:
    """Generalise every attribute to one level so that every box keeps ``k`` records.

    ``cost`` is the measure to minimise. Records in boxes of fewer than ``k`` are suppressed, at
    most the share ``suppression`` of all. ``fan_out`` defines the levels of grids.

    Privacy: none in the sense of differential privacy; every box has ``k`` records or none.
    """

    k: int
    cost: Cost
    suppression: Fraction
    fan_out: int

    def __post_init__(self) -> None:
        check_k(self.k)
        if not 0 <= self.suppression < 1:
            raise SettingError.out_of_range("suppression", self.suppression, "from 0, below 1")
        if self.fan_out < 2:
            raise SettingError.out_of_range("fan_out", self.fan_out, "at least 2")

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="full-domain",
            departures=(
                Departure(
                    paper="Incognito (SIGMOD 2005)",
                    what="The cheapest k-anonymous generalisation by one measure is published.",
                    why="The paper lists all k-anonymous generalisations and leaves the choice.",
                ),
            ),
            details={
                "search": f"all combinations of levels, if at most {MOST_VECTORS:,}, else a"
                " minimal one"
            },
        )

    @property
    def statement(self) -> str:
        """Guarantee of the method and its limits, for the certificate."""
        kept = statement_of(self.k)
        if not self.suppression:
            return kept
        share = f"{upward_text(100 * self.suppression)} %"
        return f"{kept} Records without k similar ones were suppressed, at most {share} of all."

    def validate(self, schema: Schema) -> None:
        """Raise if an attribute has more values than can be numbered."""
        require_domains(schema)

    def publish(
        self, engine: Engine, *, source: RandomSource, progress: Progress = no_progress
    ) -> Groups:
        """Return the groups of the cheapest recoding, with exact counts; nothing is drawn."""
        progress("counting rows", None)
        rows = distinct_rows(engine)
        refuse_few(int(rows.counts.sum()), self.k)
        levels = levels_of(engine.schema, fan_out=self.fan_out)
        progress("comparing levels", None)
        chosen = _vectors(rows, levels, ks=[self.k], cost=self.cost, suppression=self.suppression)
        cut = _cut(self.k, chosen[self.k], levels)
        return cut_groups(cut.ranges, rows, engine.schema, at_least=self.k)
