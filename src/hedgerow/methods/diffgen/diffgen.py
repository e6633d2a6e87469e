"""DiffGen: a generalised table by top-down specialisation of one cut [DiffGen].

Two passes over the data, whatever the number of specialisations: a candidate's score
needs only its attribute's class histogram, and all of those come from one pass; the
second pass counts the final groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median_low
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.kernels import ClassHistograms
from hedgerow.errors import InternalError
from hedgerow.methods.diffgen.adaptive import AUTO, SIZE, Course
from hedgerow.methods.diffgen.budget import DiffGenBudget
from hedgerow.methods.diffgen.departures import COMMON, IMPROVED
from hedgerow.methods.diffgen.specialise import ChoiceMaker, Chooser, JointChoice, PrintedChoice
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
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

EXAMPLE_RECORDS = 30_000
"""Number of records that an outline assumes if none is set."""


@dataclass(frozen=True, kw_only=True)
class DiffGen:
    """Grow a cut by private specialisations, then publish noisy counts of its groups.

    ``specialisations`` is the paper's h; ``None`` goes down to the leaves, where no
    choice is made, and ``"auto"`` buys a noisy number of records and takes as many as they
    are worth. ``faithful`` runs [DiffGen, Alg. 1] as printed; otherwise attribute
    and split are chosen jointly, by permute-and-flip at the score's own rate, and the
    counts are projected on the simplex of a noisy total. A cut has ``most_boxes`` at the
    most, where that is given.

    Privacy: neighbours differ in one record. All choices and the counts lie on one
    path, the whole data set; their shares add up to epsilon (sequential composition),
    and the groups are disjoint (parallel composition).
    """

    specialisations: int | Literal["auto"] | None
    score: Score
    faithful: bool
    most_boxes: int | None = None

    @property
    def about(self) -> About:
        """Description of the method for the certificate."""
        return About(
            name="diffgen",
            faithful=self.faithful,
            departures=COMMON if self.faithful else COMMON + IMPROVED,
            chosen={"score": self.score.name},
            details=self._details(),
        )

    def _details(self) -> dict[str, str]:
        """Details of the choices for the certificate."""
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
        return self.outline_of(schema, epsilon, EXAMPLE_RECORDS)

    def outline_of(self, schema: Schema, epsilon: Fraction, n_records: int) -> Outline:
        """Return what a run will spend; ``n_records`` matters to an adaptive one."""
        if self.specialisations == AUTO:
            planned = self._settled(schema, epsilon, n_records).outline(schema, _rest(epsilon))
            bought = Step(on="number of records", share=epsilon * SIZE, times=1)
            return replace(planned, steps=(bought, *planned.steps))
        budget = self.budget(schema, epsilon)
        n_groups = self._typical_groups(schema, budget)
        counts = budget.counts - budget.total(n_groups)
        steps = budget.steps(n_groups)
        return Outline(
            steps=steps, counts=counts, n_groups=n_groups, notes=self._notes(schema, budget)
        )

    def _notes(self, schema: Schema, budget: DiffGenBudget) -> tuple[str, ...]:
        """Return a note if fewer specialisations may be made than are set."""
        limit = self.specialisations
        if not isinstance(limit, int):
            return ()
        cut, n_cuts = Cut.topmost(schema), 0
        while n_cuts < limit and (candidates := self._candidates(cut, budget)):
            widest = max(candidates, key=lambda part: self._grown(cut, part))
            middle = (widest.first + widest.stop) // 2 if widest.is_numeric else None
            cut, n_cuts = cut.specialise(widest, middle), n_cuts + 1
        if n_cuts == limit:
            return ()
        return (
            f"From about {n_cuts:,} to {limit:,} specialisations will be made: more would make"
            " a cut too large to publish, or there are no more. The certificate says how many.",
        )

    def _grown(self, cut: Cut, part: Part) -> int:
        """Return how many groups the cut has with a part specialised."""
        ranges = cut.ranges()
        n = len(ranges[part.attribute])
        n_children = 2 if part.is_numeric else len(cut.bounds(part)) - 1
        return n_groups_of(ranges, cut.schema) // n * (n - 1 + n_children)

    def _settled(self, schema: Schema, epsilon: Fraction, n_records: int) -> DiffGen:
        """Return the method with its specialisations, from a public or noisy number of records."""
        counts = replace(self, specialisations=1).budget(schema, _rest(epsilon)).counts
        course = Course.of(counts, n_records)
        return replace(self, specialisations=course.specialisations, most_boxes=course.most_boxes)

    def budget(self, schema: Schema, epsilon: Fraction) -> DiffGenBudget:
        """Return the split of epsilon, from public settings alone."""
        steps = self.specialisations
        return DiffGenBudget.of(
            epsilon,
            n_numeric=sum(a.domain.kind == "numeric" for a in schema.attributes),
            specialisations=steps if isinstance(steps, int) else None,
            faithful=self.faithful,
        )

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise where the settings cannot work, before any budget is spent."""
        require_domains(schema)
        top = Cut.topmost(schema).ranges() if self.specialisations is not None else None
        n_groups = n_groups_of(top or leaf_ranges(schema), schema)
        if not counts_fit(
            n_groups, epsilon=self.budget(schema, epsilon).counts, keep_all=self.faithful
        ):
            refuse_too_many(n_groups)

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the noisy groups of the final cut [DiffGen, Alg. 1]."""
        schema = run.engine.schema
        if self.specialisations is None:
            return self._counted(run, leaf_ranges(schema), self.budget(schema, run.epsilon))
        histograms = class_histograms(run)
        settled, epsilon = self, run.epsilon
        if self.specialisations == AUTO:
            size = run.noisy_total(histograms[0], share=epsilon * SIZE, on="number of records")
            settled, epsilon = self._settled(schema, epsilon, size), _rest(epsilon)
        budget = settled.budget(schema, epsilon)
        cut, n_cuts = settled._specialised(run, histograms, budget)
        groups = settled._counted(run, cut.ranges(), budget)
        return replace(groups, course=settled._course(n_cuts, auto=settled is not self))

    def _specialised(
        self, run: Run[Engine], histograms: list[NDArray[np.int64]], budget: DiffGenBudget
    ) -> tuple[Cut, int]:
        """Return the cut after at most ``specialisations`` private steps, and their number."""
        cut = Cut.topmost(run.engine.schema)  # lines 1-2
        steps = self.specialisations
        if not isinstance(steps, int):
            raise InternalError("DiffGen specialises a number of times.")
        if not steps:
            return cut, 0
        chooser = self._chooser(cut, run, histograms, budget)
        chooser.begin(self._candidates(cut, budget))  # line 4
        for step in range(1, steps + 1):  # line 6
            run.progress("specialising", step / steps)
            candidates = self._candidates(cut, budget)
            if not candidates:
                return cut, step - 1
            part, position = chooser.choose(cut, candidates, step)  # line 7
            children = cut.children(part, position)
            cut = cut.specialise(part, position)  # line 8
            chooser.follow(list(children), step)  # line 9
        return cut, steps

    def _counted(
        self, run: Run[Engine], ranges: tuple[Ranges, ...], budget: DiffGenBudget
    ) -> Groups:
        """Return the groups of a cut with their noisy counts [DiffGen, Alg. 1, line 12]."""
        run.progress("counting groups", None)
        if not self.faithful:
            total = budget.total(n_groups_of(ranges, run.engine.schema))
            return noisy_groups(run, ranges, total_share=total)
        groups = printed_groups(run, ranges, share=budget.counts)
        if run.left():
            run.spend_rest(on="left unused, as printed")
        return groups

    def _course(self, n_cuts: int, *, auto: bool) -> Mapping[str, str]:
        """Number of specialisations of the run, for the certificate."""
        text = f"{n_cuts} of {self.specialisations}"
        if auto:
            text += ", by a noisy number of records"
        if n_cuts != self.specialisations:
            text += "; every further one would make a cut too large, or none was left"
        return {"specialisations": text}

    def _typical_groups(self, schema: Schema, budget: DiffGenBudget) -> int:
        """Return the median number of groups of cuts grown blindly: no data is involved."""
        steps = self.specialisations
        if not isinstance(steps, int):
            return n_groups_of(leaf_ranges(schema), schema)
        sizes = []
        for seed in range(BLIND_CUTS):
            rng = np.random.default_rng(seed)
            cut = Cut.topmost(schema)
            for _ in range(steps):
                candidates = self._candidates(cut, budget)
                if not candidates:
                    break
                part = candidates[int(rng.integers(len(candidates)))]
                position = int(rng.integers(part.first + 1, part.stop)) if part.is_numeric else None
                cut = cut.specialise(part, position)
            sizes.append(n_groups_of(cut.ranges(), schema))
        return median_low(sizes)

    def _chooser(
        self,
        cut: Cut,
        run: Run[Engine],
        histograms: list[NDArray[np.int64]],
        budget: DiffGenBudget,
    ) -> Chooser:
        choices = ChoiceMaker(
            run=run,
            scored=ScoredParts(histograms, self.score),
            score=self.score,
            share=budget.choice,
        )
        if not self.faithful:
            return JointChoice(choices=choices)
        sensitivity = printed_sensitivity(self.score, run.engine.schema.n_classes)
        return PrintedChoice(choices=choices, cut=cut, sensitivity=sensitivity)

    def _candidates(self, cut: Cut, budget: DiffGenBudget) -> list[Part]:
        """Return the parts that may be specialised, by public rules alone.

        A specialisation that would make the release too large to publish is not a
        candidate; that depends on the domains and on choices already made privately.
        """
        return [
            part
            for part in cut.specialisable()
            if self._fits(self._grown(cut, part), cut.schema, budget)
        ]

    def _fits(self, n_groups: int, schema: Schema, budget: DiffGenBudget) -> bool:
        if self.most_boxes is not None and n_groups > self.most_boxes * n_groups_of((), schema):
            return False
        return counts_fit(n_groups, epsilon=budget.counts, keep_all=self.faithful)


def class_histograms(run: Run[Engine]) -> list[NDArray[np.int64]]:
    """Return every attribute's class histogram, from one pass over the data (confidential)."""
    schema = run.engine.schema
    if schema.class_attribute is None:
        raise InternalError("DiffGen was asked to specialise without a class.")
    run.progress("counting classes", None)
    sizes = tuple(attribute.domain.size for attribute in schema.attributes)
    kernel = ClassHistograms(sizes=sizes, n_classes=schema.n_classes)
    return kernel.split(run.engine.sum(kernel))


def _rest(epsilon: Fraction) -> Fraction:
    """Return what an adaptive run has left after its noisy number of records."""
    return epsilon * (1 - SIZE)


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
