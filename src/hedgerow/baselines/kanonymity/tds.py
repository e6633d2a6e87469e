"""TDS: one k-anonymous cut by top-down specialisation [TDS].

The baseline of [DiffGen, Fig. 4], of which DiffGen is the private version: the most general cut is
specialised, best value first, while every box that has records keeps k of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.promise import check_k, cut_groups, refuse_few, statement_of
from hedgerow.count.distinct import DistinctRows, distinct_rows
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Departure
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress
from hedgerow.trees.candidates import ScoredParts
from hedgerow.trees.cut import Cut, Part
from hedgerow.trees.scores import INFOGAIN

_DEPARTURES = (
    Departure(
        paper="TDS (ICDE 2005)",
        what="All attributes except the class form a single quasi-identifier.",
        why="A plan does not state which attributes an attacker knows, so all are assumed.",
    ),
    Departure(
        paper="TDS (ICDE 2005)",
        what="Intervals are split at positions of the plan's grid.",
        why="The release's ranges are ranges of the public grid.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class TopDownSpecialisation:
    """Specialise one cut while every box with records keeps ``k`` [TDS, Alg. 1].

    Privacy: none in the sense of differential privacy; every box has ``k`` records or none.
    """

    k: int

    def __post_init__(self) -> None:
        check_k(self.k)

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="tds",
            faithful=True,
            departures=_DEPARTURES,
            details={"score": "information gain per loss of anonymity"},
        )

    @property
    def statement(self) -> str:
        """Guarantee of the method and its limits, for the certificate."""
        return statement_of(self.k)

    def validate(self, schema: Schema) -> None:
        """Raise if the settings cannot work, before anything is read."""
        require_domains(schema)
        if schema.class_attribute is None:
            raise SettingError(
                "Specialisations are compared by the classes, and no attribute is the class.",
                where="publish.method",
                do="Give an attribute the role 'class', or another method.",
            )

    def publish(
        self, engine: Engine, *, source: RandomSource, progress: Progress = no_progress
    ) -> Groups:
        """Return the groups of the final cut with exact counts; no random number is drawn."""
        progress("counting rows", None)
        rows = distinct_rows(engine)
        refuse_few(int(rows.counts.sum()), self.k)
        search = _Search.of(rows, engine.schema, k=self.k)
        cut = Cut.topmost(engine.schema)
        step = 0
        while (best := search.best(cut)) is not None:
            step += 1
            progress(f"specialisation {step}", None)
            cut = search.specialised(cut, best)
        return cut_groups(cut.ranges(), rows, engine.schema)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Candidate:
    """A part with its split, its gain, and the size of the smallest resulting group."""

    part: Part
    position: int | None
    gain: int
    smallest: int


@dataclass(kw_only=True, eq=False, repr=False)
class _Search:
    """The groups of the present cut, over distinct rows, and facts about its parts.

    ``group`` numbers the box of each row. A part that cannot be specialised is never tried
    again: groups only become smaller [TDS].
    """

    rows: DistinctRows
    k: int
    scored: ScoredParts
    classes: list[NDArray[np.int64]]
    group: NDArray[np.int64]
    smallest: int
    hopeless: set[Part] = field(default_factory=set)

    @classmethod
    def of(cls, rows: DistinctRows, schema: Schema, *, k: int) -> _Search:
        """Return the search at the most general cut: one group of all records."""
        histograms = []
        for codes, attribute in zip(rows.codes, schema.attributes, strict=True):
            histogram = np.zeros((attribute.domain.size, rows.counts.shape[1]), dtype=np.int64)
            np.add.at(histogram, codes, rows.counts)
            histograms.append(histogram)
        return cls(
            rows=rows,
            k=k,
            scored=ScoredParts(histograms, INFOGAIN),
            classes=histograms,
            group=np.zeros(len(rows), dtype=np.int64),
            smallest=int(rows.counts.sum()),
        )

    def best(self, cut: Cut) -> _Candidate | None:
        """Return the valid and beneficial candidate of the highest score [TDS, Alg. 1, line 4]."""
        found, highest = None, -1.0
        for part in cut.specialisable():
            candidate = None if part in self.hopeless else self._candidate(cut, part)
            if candidate is None:
                self.hopeless.add(part)
                continue
            loss = self.smallest - candidate.smallest
            score = candidate.gain / loss if loss else float(candidate.gain)  # Score(v)
            if score > highest:
                found, highest = candidate, score
        return found

    def specialised(self, cut: Cut, chosen: _Candidate) -> Cut:
        """Return the cut after the chosen specialisation, and divide its groups."""
        inside, child, n_children = self._children(cut, chosen.part, chosen.position)
        group = self.group * n_children
        group[inside] += child
        _, self.group = np.unique(group, return_inverse=True)
        self.smallest = chosen.smallest
        return cut.specialise(chosen.part, chosen.position)

    def _candidate(self, cut: Cut, part: Part) -> _Candidate | None:
        """Return the part's specialisation, unless it is useless or not k-anonymous."""
        here = self.classes[part.attribute][part.first : part.stop]
        if np.count_nonzero(here.sum(axis=0)) < 2:  # not beneficial
            return None
        blocks = self.scored.blocks(cut, part)
        occupied = part.first + np.flatnonzero(here.sum(axis=1))
        lowest, highest = int(occupied[0]), int(occupied[-1])
        # Both sides of an interval's split must have records; a block is a run of positions.
        divides = (blocks.positions <= highest) & (blocks.positions + blocks.lengths > lowest + 1)
        if part.is_numeric and not divides.any():
            return None
        best = int(np.where(divides | (not part.is_numeric), blocks.scores, -1).argmax())
        position = max(int(blocks.positions[best]), lowest + 1) if part.is_numeric else None
        smallest = self._smallest_after(cut, part, position)
        if smallest < self.k:  # not valid
            return None
        gain = int(blocks.scores[best])
        return _Candidate(part=part, position=position, gain=gain, smallest=smallest)

    def _smallest_after(self, cut: Cut, part: Part, position: int | None) -> int:
        """Return A_v(QID) of [TDS]: the smallest group after the specialisation."""
        inside, child, n_children = self._children(cut, part, position)
        keys = self.group[inside] * n_children + child
        sizes = np.bincount(keys, weights=self.rows.sizes[inside]).astype(np.int64)
        return min(self.smallest, int(sizes[sizes > 0].min()))

    def _children(
        self, cut: Cut, part: Part, position: int | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Return the rows in a part, the child of each, and the number of children."""
        codes = self.rows.codes[part.attribute]
        inside = np.flatnonzero((codes >= part.first) & (codes < part.stop))
        children = cut.children(part, position)
        borders = np.array([child.first for child in children[1:]], dtype=np.int64)
        child = np.searchsorted(borders, codes[inside], side="right")
        return inside, child, len(children)
