"""DiffGen: a generalised table by top-down specialisation of one cut [DiffGen].

Two passes over the data, whatever the number of specialisations: a candidate's score
needs only its attribute's class histogram, and all of those come from one pass; the
second pass counts the final groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.count.kernels import ClassHistograms
from hedgerow.errors import InternalError
from hedgerow.methods.diffgen.budget import DiffGenBudget
from hedgerow.methods.diffgen.departures import COMMON, IMPROVED
from hedgerow.methods.diffgen.specialise import ChoiceMaker, Chooser, JointChoice, PrintedChoice
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.method import About, Outline
from hedgerow.model.schema import Schema
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress
from hedgerow.trees.candidates import ScoredParts
from hedgerow.trees.counts import (
    counts_fit,
    noisy_groups,
    printed_groups,
    refuse_too_many,
)
from hedgerow.trees.cut import Cut, Part, leaf_ranges
from hedgerow.trees.scores import INFOGAIN, INFORMATION_UNIT, Score

BLIND_CUTS = 15
"""Cuts grown at random to tell a typical number of groups."""


@dataclass(frozen=True, kw_only=True)
class DiffGen:
    """Grow a cut by private specialisations, then publish noisy counts of its groups.

    ``specialisations`` is the paper's h; ``None`` goes down to the leaves, where no
    choice is made. ``faithful`` runs [DiffGen, Alg. 1] as printed; otherwise attribute
    and split are chosen jointly, by permute-and-flip at the score's own rate, and the
    counts are projected on the simplex of a noisy total.

    Privacy: neighbours differ in one record. All choices and the counts lie on one
    path, the whole data set; their shares add up to epsilon (sequential composition),
    and the groups are disjoint (parallel composition).
    """

    specialisations: int | None
    score: Score
    faithful: bool

    @property
    def about(self) -> About:
        """What the certificate says of the method."""
        return About(
            name="diffgen",
            faithful=self.faithful,
            departures=COMMON if self.faithful else COMMON + IMPROVED,
            chosen={"score": self.score.name},
            details=self._details(),
        )

    def _details(self) -> dict[str, str]:
        """What the certificate adds about the choices."""
        rule = "exponential mechanism" if self.faithful else "permute-and-flip"
        rate = "share / sensitivity" if self.score.monotone else "share / (2 sensitivity)"
        return {
            "sensitivity": self._sensitivity_words(),
            "choice": rule,
            "rate": "share / (2 sensitivity)" if self.faithful else rate,
        }

    def _sensitivity_words(self) -> str:
        if self.score != INFOGAIN:
            return "1 record"
        return "log2 of the number of classes, in bits" if self.faithful else "1 bit"

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what a run will spend and how many groups to expect, without any data."""
        budget = self.budget(schema, epsilon)
        n_groups = self._typical_groups(schema, budget)
        counts = budget.counts - budget.total(n_groups)
        return Outline(steps=budget.steps(n_groups), counts=counts, n_groups=n_groups)

    def budget(self, schema: Schema, epsilon: Fraction) -> DiffGenBudget:
        """Return the split of epsilon, from public settings alone."""
        return DiffGenBudget.of(
            epsilon,
            n_numeric=sum(a.domain.kind == "numeric" for a in schema.attributes),
            specialisations=self.specialisations,
            faithful=self.faithful,
        )

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        top = Cut.topmost(schema).ranges() if self.specialisations is not None else None
        n_groups = n_groups_of(top or leaf_ranges(schema), schema)
        if not self._fits(n_groups, self.budget(schema, epsilon)):
            refuse_too_many(n_groups)

    def publish(
        self,
        engine: Engine,
        *,
        epsilon: Fraction,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> Groups:
        """Return the noisy groups of the final cut [DiffGen, Alg. 1]."""
        schema = engine.schema
        budget = self.budget(schema, epsilon)
        if self.specialisations is None:
            ranges = leaf_ranges(schema)
        else:
            ranges = self._grow(engine, budget, ledger, source, progress).ranges()
        progress("counting groups", None)
        if self.faithful:
            groups = printed_groups(
                engine, ranges, epsilon=budget.counts, ledger=ledger, source=source
            )
            if ledger.left():
                ledger.spend_rest(on="left unused, as printed")
            return groups
        total = budget.total(n_groups_of(ranges, schema))
        return noisy_groups(engine, ranges, total_epsilon=total, ledger=ledger, source=source)

    def _grow(
        self,
        engine: Engine,
        budget: DiffGenBudget,
        ledger: PathLedger,
        source: RandomSource,
        progress: Progress,
    ) -> Cut:
        """Return the cut after at most ``specialisations`` private steps."""
        cut = Cut.topmost(engine.schema)  # lines 1-2
        steps = self.specialisations or 0
        if steps == 0:
            return cut
        progress("counting classes", None)
        chooser = self._chooser(cut, engine, budget, ledger, source)
        chooser.begin(self._candidates(cut, budget))  # line 4
        for step in range(1, steps + 1):  # line 6
            progress("specialising", step / steps)
            candidates = self._candidates(cut, budget)
            if not candidates:
                break
            part, position = chooser.choose(cut, candidates, step)  # line 7
            children = cut.children(part, position)
            cut = cut.specialise(part, position)  # line 8
            chooser.follow(list(children), step)  # line 9
        return cut

    def _typical_groups(self, schema: Schema, budget: DiffGenBudget) -> int:
        """Return the median number of groups of cuts grown blindly: no data is involved."""
        if self.specialisations is None:
            return n_groups_of(leaf_ranges(schema), schema)
        sizes = []
        for seed in range(BLIND_CUTS):
            rng = np.random.default_rng(seed)
            cut = Cut.topmost(schema)
            for _ in range(self.specialisations):
                candidates = self._candidates(cut, budget)
                if not candidates:
                    break
                part = candidates[int(rng.integers(len(candidates)))]
                position = int(rng.integers(part.first + 1, part.stop)) if part.is_numeric else None
                cut = cut.specialise(part, position)
            sizes.append(n_groups_of(cut.ranges(), schema))
        return sorted(sizes)[len(sizes) // 2]

    def _chooser(
        self,
        cut: Cut,
        engine: Engine,
        budget: DiffGenBudget,
        ledger: PathLedger,
        source: RandomSource,
    ) -> Chooser:
        classes = engine.schema.class_attribute
        if classes is None:
            raise InternalError("DiffGen was asked to specialise without a class")
        sizes = tuple(attribute.domain.size for attribute in engine.schema.attributes)
        kernel = ClassHistograms(sizes=sizes, n_classes=classes.domain.size)
        choices = ChoiceMaker(
            scored=ScoredParts(kernel.split(engine.sum(kernel)), self.score),
            score=self.score,
            share=budget.choice,
            ledger=ledger,
            source=source,
        )
        if not self.faithful:
            return JointChoice(choices=choices)
        sensitivity = printed_sensitivity(self.score, classes.domain.size)
        return PrintedChoice(choices=choices, cut=cut, sensitivity=sensitivity)

    def _candidates(self, cut: Cut, budget: DiffGenBudget) -> list[Part]:
        """Return the parts that may be specialised, by public rules alone.

        A specialisation that would make the release too large to publish is not a
        candidate; that depends on the domains and on choices already made privately.
        """
        ranges = cut.ranges()
        n_groups = n_groups_of(ranges, cut.schema)
        fitting = []
        for part in cut.specialisable():
            n = len(ranges[part.attribute])
            n_children = 2 if part.is_numeric else len(cut.bounds(part)) - 1
            if self._fits(n_groups // n * (n - 1 + n_children), budget):
                fitting.append(part)
        return fitting

    def _fits(self, n_groups: int, budget: DiffGenBudget) -> bool:
        return counts_fit(n_groups, epsilon=budget.counts, keep_all=self.faithful)


def n_groups_of(ranges: tuple[Ranges, ...], schema: Schema) -> int:
    """Return the number of groups of a cut: boxes times classes."""
    classes = 1 if schema.class_attribute is None else schema.class_attribute.domain.size
    return math.prod((len(each) for each in ranges), start=classes)


def printed_sensitivity(score: Score, n_classes: int) -> Fraction:
    """Return the sensitivity that the paper states, in the score's units, rounded up.

    log2 of the number of classes for information gain, 1 for Max [DiffGen, Sec. 4.2].
    """
    if score != INFOGAIN:
        return score.sensitivity
    stated = math.ceil(float(np.log2(max(n_classes, 2))) / float(INFORMATION_UNIT)) + 2
    return max(score.sensitivity, Fraction(stated))
