"""The best node of every record of a table: distinct problems are solved once.

ARUBA solves all problems of a table as arrays, in parallel by compiled code.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.consistency import SIMILAR_FROM, Consistency, match_counter
from hedgerow.disclosure.lattice.dictionary import Dictionary, DistinctRecords
from hedgerow.disclosure.lattice.lattice import Chains, Levels, Parts
from hedgerow.disclosure.lattice.matches import MatchCounter
from hedgerow.disclosure.lattice.packed import (
    Found,
    PackedProblems,
    Question,
    pack,
    strides_of,
    utility_profiles,
)
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import (
    Balance,
    MaximiseUtility,
    MinimiseRisk,
    Objective,
    RecordLandscape,
)
from hedgerow.disclosure.solvers.aruba import Moves
from hedgerow.disclosure.solvers.solve import Search, solve
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Codes, Floats
from hedgerow.model.table import EncodedTable

WALK_UP_TO = 1 << 24
"""Maximum number of nodes of a record's lattice in arrays, of 17 bytes a node."""

_BLOCKS = 32  # pieces of work per core, so that none is idle for long at the end


def is_walkable(columns: Sequence[Codes], chains: Sequence[Chains]) -> bool:
    """Return whether the lattices of all records are small enough to be walked over arrays."""
    if not columns:
        return False
    n_nodes = np.ones(len(columns[0]))
    for column, chain in zip(columns, chains, strict=True):
        n_nodes *= chain.heights[column] + 1.0
    return bool(n_nodes.max(initial=1.0) <= WALK_UP_TO)


def walk_records(
    columns: Sequence[Codes],
    dictionary: Dictionary,
    *,
    utility: Parts,
    weights: Parts,
    personal: Floats | None,
    model: RiskModel,
    objective: MinimiseRisk | MaximiseUtility,
    known: Levels | None = None,
    workers: int | None = None,
) -> Found:
    """Return the best node of every record, with columns of codes and equal records adjacent.

    ``utility`` and ``weights`` are tables over codes and levels, ``personal`` one factor per
    record and attribute, ``known`` the levels that a recipient already has of each record.
    """
    from hedgerow.disclosure.solvers.compiled.walk import solve_problems

    rows, hierarchy, entries = pack(
        columns, dictionary, utility=utility, weights=weights, known=known
    )
    profile = utility_profiles(columns, dictionary.chains, utility)
    order = np.argsort(profile, kind="stable")
    heights = hierarchy.heights[rows]
    problems = PackedProblems(
        rows=rows,
        heights=heights,
        strides=strides_of(heights),
        profile=profile,
        personal=np.ones(rows.shape) if personal is None else personal,
        limit=_limits(columns, utility, objective),
    ).part(order)
    question = Question(
        generalises=isinstance(objective, MinimiseRisk),
        weighed=model.personal,
        exposure=model.exposure(dictionary.n_records),
    )
    if not question.generalises:
        hierarchy = hierarchy.turned()
    found = Found.nothing(*rows.shape)

    def solve_block(block: slice) -> None:
        arrays = problems.part(block), hierarchy, entries, question, found.part(block)
        solve_problems(*map(tuple, arrays))

    n_workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(n_workers) as pool:
        list(pool.map(solve_block, _blocks(len(rows), n_workers * _BLOCKS)))
    return found.part(np.argsort(order))


def _limits(
    columns: Sequence[Codes], utility: Parts, objective: MinimiseRisk | MaximiseUtility
) -> Floats:
    """Return the limit of each record's climb."""
    n_records = len(columns[0])
    if isinstance(objective, MaximiseUtility):
        return np.full(n_records, float(objective.at_most))
    if not objective.of_most:
        return np.full(n_records, -float(objective.at_least))
    most = np.zeros(n_records)
    for column, table in zip(columns, utility, strict=True):
        most += table[column, 0]
    return -objective.at_least * most


def _blocks(n_records: int, n_blocks: int) -> list[slice]:
    ends = np.linspace(0, n_records, min(n_records, n_blocks) + 1).astype(int).tolist()
    return [slice(*ends[i : i + 2]) for i in range(len(ends) - 1)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Answers:
    """The disclosed level of every record; confidential.

    If nothing is feasible, ``feasible`` is false, all levels are 0, and risk and utility are
    NaN. For ``n_visited`` and ``exact`` see
    :class:`~hedgerow.disclosure.lattice.threshold.Answer`.
    """

    levels: Levels
    feasible: NDArray[np.bool_]
    risk: Floats
    utility: Floats
    n_visited: NDArray[np.int64]
    exact: bool

    def __len__(self) -> int:
        return len(self.levels)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecordSolver:
    """The problem of every record, and the method that solves it.

    ``utility`` holds the tables of :func:`~hedgerow.disclosure.lattice.utility.utility_tables`.
    ``known``, if any, holds for each record the levels that the recipient already knows; the risk
    is then that of the meet of these and the node (:mod:`~hedgerow.disclosure.lattice.known`).
    ARUBA runs compiled on ``workers`` cores, by default all, unless ``moves`` are the printed
    ones; the other methods solve one distinct problem after another.
    """

    dictionary: Dictionary
    utility: Parts
    severities: Severities
    model: RiskModel
    objective: Objective
    method: Search = "aruba"
    consistency: Consistency = "hierarchical"
    similar_from: float = SIMILAR_FROM
    known: Levels | None = None
    moves: Moves = "squares"
    workers: int | None = None

    def solve(self, records: EncodedTable, *, first: int = 0) -> Answers:
        """Return the best node of every record; ``first`` is the row of the first record's weights.

        Records with the same values, weights and known levels are solved once.
        """
        if records.schema.attributes != self.dictionary.schema.attributes:
            raise SettingError(
                "The records and the dictionary have different attributes.",
                where="disclose > against",
                do="Read both with the same attributes.",
            )
        personal = self._personal(first, len(records))
        known = None if self.known is None else self.known[first : first + len(records)]
        distinct = distinct_problems(records, personal, known)
        columns = [column[distinct.first] for column in records.codes]
        found = self._found(columns, personal, distinct.first, first).part(distinct.kind)
        return Answers(
            levels=found.levels,
            feasible=found.feasible,
            risk=found.risk,
            utility=found.utility,
            n_visited=found.n_visited,
            exact=self.monotone or self.method == "brute-force",
        )

    @property
    def monotone(self) -> bool:
        """True if no generalisation increases the risk, as the searches assume."""
        return self.model.monotone and self.consistency == "hierarchical"

    def _personal(self, first: int, n_records: int) -> Floats | None:
        if self.severities.personal is None or not self.model.personal:
            return None
        personal = self.severities.personal[first : first + n_records]
        if len(personal) < n_records:
            raise SettingError(
                "There are fewer rows of weights than records.",
                where="risk > weights",
                do="Give one row of weights for each record, in the same order.",
            )
        return personal

    def _found(
        self,
        columns: Sequence[Codes],
        personal: Floats | None,
        chosen: NDArray[np.int64],
        first: int,
    ) -> Found:
        walks = self.method == "aruba" and self.moves == "squares" and self.monotone
        if isinstance(self.objective, Balance) or not (
            walks and is_walkable(columns, self.dictionary.chains)
        ):
            return self._one_by_one(columns, first + chosen)
        return walk_records(
            columns,
            self.dictionary,
            utility=self.utility,
            weights=self.severities.tables,
            personal=None if personal is None else personal[chosen],
            model=self.model,
            objective=self.objective,
            known=None if self.known is None else self.known[first + chosen],
            workers=self.workers,
        )

    def _counter(self, record: Sequence[int]) -> MatchCounter:
        return match_counter(
            record,
            self.dictionary,
            consistency=self.consistency,
            similar_from=self.similar_from,
        )

    def _one_by_one(self, columns: Sequence[Codes], persons: NDArray[np.int64]) -> Found:
        found = Found.nothing(len(persons), len(columns))
        for job, person in enumerate(persons):
            record = [int(column[job]) for column in columns]
            landscape = RecordLandscape.of(
                record,
                self._counter(record),
                utility=self.utility,
                severities=self.severities,
                model=self.model,
                person=int(person),
                known=None if self.known is None else self.known[person],
            )
            answer = solve(landscape, self.objective, self.method, moves=self.moves)
            found.n_visited[job] = answer.n_visited
            if answer.node is not None:
                found.feasible[job] = True
                found.levels[job] = answer.node
                found.risk[job], found.utility[job] = answer.risk, answer.utility
        return found


def distinct_problems(
    records: EncodedTable, personal: Floats | None, known: Levels | None = None
) -> DistinctRecords:
    """Return the groups of records with the same values, weights and known levels.

    Those of equal values are adjacent, and among them those of equal known levels.
    """
    distinct = DistinctRecords.of(records)
    for rows in (known, personal):
        if rows is not None:
            kinds, kind = np.unique(rows, axis=0, return_inverse=True)
            distinct = DistinctRecords.of_keys(distinct.kind * len(kinds) + kind.reshape(-1))
    return distinct
