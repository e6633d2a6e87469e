"""Mondrian: k-anonymous boxes of their own for every region [Mondrian; InfoGain Mondrian].

A baseline of [DiffMulti, Sec. 5]: boxes are cut while every part keeps k records. It is not
differentially private.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.mondrian_growth import MOST_VALUES, MondrianGrowth
from hedgerow.baselines.kanonymity.mondrian_relaxed import relaxed_groups
from hedgerow.baselines.kanonymity.promise import check_k, refuse_few, statement_of
from hedgerow.count.distinct import distinct_rows
from hedgerow.count.kernels import ClassHistograms
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Departure
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress
from hedgerow.trees.leaves import groups_of_leaves
from hedgerow.trees.topdown import grow_exactly

_PAPER = "Mondrian (ICDE 2006)"

_STRICT = (
    Departure(
        paper=_PAPER,
        what="A box is published as the region that was cut, not as the values inside it.",
        why="Regions divide the whole domain, so that other records can be recoded to them, too.",
    ),
    Departure(
        paper=_PAPER,
        what=f"A box with more than {MOST_VALUES:,} values of an attribute offers only that number"
        " of cuts, equally spaced by number of values; fewer if there are very many boxes.",
        why="The counts of a level must fit in memory.",
    ),
)

_COMMON = (
    Departure(
        paper=_PAPER,
        what="If the cut just above the median is not allowable, the one just below it is tried.",
        why="One of the two is allowable if any cut of the attribute is.",
    ),
)

_TAXONOMY = Departure(
    paper=_PAPER,
    what="A category is cut into all children of its taxonomy's node, each with 0 or k records.",
    why="The paper orders all values; a taxonomy states which of them are related.",
)


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Cut boxes while every part keeps ``k`` records [Mondrian, Anonymize].

    ``by_class`` uses the allowable cut that separates the classes best [InfoGain Mondrian];
    otherwise the widest attribute is cut at its median. With ``relaxed``, records with the
    median value are distributed evenly, so boxes may overlap [Mondrian, relaxed
    partitioning]. ``ordered`` cuts categories like numbers, in the order of their codes,
    instead of by their taxonomy.

    Privacy: none in the sense of differential privacy; every box has ``k`` records or none.
    """

    k: int
    relaxed: bool
    by_class: bool
    ordered: bool

    def __post_init__(self) -> None:
        check_k(self.k)
        if self.relaxed and self.by_class:
            raise SettingError(
                "Records are distributed at medians, which cuts by information gain do not use.",
                where="relaxed",
                do="Give by_class=False, or relaxed=False.",
            )

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="mondrian",
            departures=self._departures(),
            details=self._details(),
        )

    def _departures(self) -> tuple[Departure, ...]:
        """Return the departures from the paper as printed."""
        strict = () if self.relaxed else _STRICT if self.by_class else _STRICT + _COMMON
        return strict if self.ordered else (*strict, _TAXONOMY)

    def _details(self) -> dict[str, str]:
        """Return the certificate's additions about the cuts."""
        cut = "least entropy of the classes" if self.by_class else "median of the widest attribute"
        return {"cut": cut, "boxes": "may overlap" if self.relaxed else "divide the domain"}

    @property
    def statement(self) -> str:
        """Guarantee of the method and its limits, for the certificate."""
        return statement_of(self.k)

    def validate(self, schema: Schema) -> None:
        """Raise if the settings cannot work, before anything is read."""
        require_domains(schema)
        if self.by_class and schema.class_attribute is None:
            raise SettingError(
                "Cuts by information gain need a class, and no attribute is the class.",
                where="publish.for",
                do="Give for: general, or an attribute the role 'class'.",
            )

    def publish(
        self, engine: Engine, *, source: RandomSource, progress: Progress = no_progress
    ) -> Groups:
        """Return groups with exact counts; no random number is drawn."""
        if self.relaxed:
            progress("counting rows", None)
            rows = distinct_rows(engine)
            refuse_few(int(rows.counts.sum()), self.k)
            return relaxed_groups(
                rows, engine.schema, k=self.k, ordered=self.ordered, progress=progress
            )
        return self._strict(engine, progress)

    def _strict(self, engine: Engine, progress: Progress) -> Groups:
        schema = engine.schema
        histograms = _histograms(engine)
        n_records = int(histograms[0].sum())
        refuse_few(n_records, self.k)
        growth = MondrianGrowth(
            k=self.k,
            by_class=self.by_class,
            values=tuple(np.flatnonzero(each) for each in histograms),
            ordered=is_ordered(schema, categories=self.ordered),
            n_classes=schema.n_classes,
            n_records=n_records,
            progress=progress,
        )
        grown = grow_exactly(engine, growth)
        has_class = schema.class_attribute is not None
        return groups_of_leaves(grown, grown.counts, None, has_class=has_class)


def is_ordered(schema: Schema, *, categories: bool) -> tuple[bool, ...]:
    """Return which attributes are cut between values: the numeric ones, or all."""
    return tuple(categories or a.domain.kind == "numeric" for a in schema.attributes)


def _histograms(engine: Engine) -> list[NDArray[np.int64]]:
    """Return the number of records with each code, by attribute, from one pass."""
    sizes = tuple(attribute.domain.size for attribute in engine.schema.attributes)
    kernel = ClassHistograms(sizes=sizes, n_classes=engine.schema.n_classes)
    return [each.sum(axis=1) for each in kernel.split(engine.sum(kernel))]
