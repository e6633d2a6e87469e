"""ARUBA for a whole table: its problems as arrays, solved in parallel by compiled code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Chains, Levels, Parts
from hedgerow.disclosure.lattice.packed import (
    Found,
    PackedProblems,
    Question,
    pack,
    strides_of,
    utility_profiles,
)
from hedgerow.disclosure.lattice.risk import RiskModel
from hedgerow.disclosure.lattice.threshold import MaximiseUtility, MinimiseRisk
from hedgerow.model.arrays import Codes, Floats

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
