"""The aggregate model for whole tables of records with small lattices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Levels, Parts
from hedgerow.disclosure.lattice.packed import pack, strides_of
from hedgerow.disclosure.solvers.bracket import MARGIN
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Codes, Floats, Ints

_BLOCKS = 8  # pieces of work per core, so that none is idle for long at the end


@dataclass(frozen=True, kw_only=True)
class AggregateSettings:
    """The weights of the aggregate model; see ``AggregateObjective``.

    Without ``weighed``, Φ is 1 for everybody; with weights there must be a ``floor``.
    """

    risk_weight: float
    power: float
    floor: float
    weighed: bool

    def __post_init__(self) -> None:
        if self.constant <= 0:
            raise SettingError.out_of_range("floor", self.floor, "a number above 0")

    @property
    def constant(self) -> float:
        """The part of Φ that is the same for every node."""
        return self.floor + (0.0 if self.weighed else 1.0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AggregateAnswers:
    """The best node of each record, its matches, utility and severity; confidential."""

    levels: Levels
    n_matches: Ints
    utility: Floats
    severity: Floats
    n_nodes: Ints


def best_of_records(
    columns: Sequence[Codes],
    dictionary: Dictionary,
    settings: AggregateSettings,
    *,
    utility: Parts,
    weights: Parts,
    personal: NDArray[np.float64] | None,
    known: Levels | None = None,
    workers: int | None = None,
) -> AggregateAnswers:
    """Return the best node of every record, all of whose lattices are small.

    Adjacent records with the same values are counted once. ``known`` are the levels that a
    recipient already has of each record; matches and severity are those of the meet of the
    node and these levels.

    Privacy: none. The answers are functions of the records and of the raw dictionary.
    """
    from hedgerow.disclosure.solvers.compiled.cubes import maximise_problems

    rows, hierarchy, entries = pack(
        columns, dictionary, utility=utility, weights=weights, known=known
    )
    heights = hierarchy.heights[rows]
    strides = strides_of(heights)
    own = np.ones(rows.shape) if personal is None else np.ascontiguousarray(personal)
    levels = np.zeros(rows.shape, dtype=np.uint8)
    n_matches = np.zeros(len(rows), dtype=np.int64)
    worth, burden = np.zeros(len(rows)), np.zeros(len(rows))
    weighing = (
        float(settings.risk_weight),
        float(settings.power),
        float(settings.constant),
        MARGIN,
        settings.weighed,
    )

    def solve_block(part: slice) -> None:
        maximise_problems(
            (rows[part], heights[part], strides[part], own[part]),
            (hierarchy.first, hierarchy.stop, hierarchy.utility, hierarchy.weights),
            (entries.places, entries.many, entries.n_places),
            weighing,
            (levels[part], n_matches[part], worth[part], burden[part]),
        )

    n_workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(n_workers) as pool:
        list(pool.map(solve_block, _blocks(len(rows), n_workers * _BLOCKS)))
    n_nodes = strides[:, 0] * (heights[:, 0] + 1)
    return AggregateAnswers(
        levels=levels, n_matches=n_matches, utility=worth, severity=burden, n_nodes=n_nodes
    )


def _blocks(n_records: int, n_blocks: int) -> list[slice]:
    ends = np.linspace(0, n_records, min(n_records, n_blocks) + 1).astype(int).tolist()
    return [slice(*ends[i : i + 2]) for i in range(len(ends) - 1)]
