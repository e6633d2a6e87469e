"""`truthful`: true generalisations of a random sample, with a delta that can be proved.

All published records are real and no count is noisy: generalised records of people in the table
are published. Every record chooses its generalisation by a private synopsis as in `supermodular`;
then each is kept at random, and groups with too few kept records are omitted. The closest relative
of [TKDE, Alg. 2] with a meaningful guarantee (docs/privacy.md, "Truthful samples"; Li, Qardaji
and Su 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.disclosure.private import departures
from hedgerow.disclosure.private.loose import level_groups
from hedgerow.disclosure.private.sampling import kept_of_each
from hedgerow.disclosure.private.supermodular import (
    EXAMPLE_RECORDS,
    LEAST_SHARE,
    own_choices,
    synopsis_steps,
    tally_choices,
)
from hedgerow.disclosure.private.synopsis import SIZE, Synopsis
from hedgerow.disclosure.private.terms import Terms
from hedgerow.disclosure.private.truthful_delta import check_rate, largest_rate, smallest_group
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains


@dataclass(frozen=True, kw_only=True)
class TruthfulDisclosure:
    """Publish true generalisations of sampled records, in groups that are large enough.

    Privacy: neighbours differ in one record. The synopsis costs ``share`` of epsilon. Given
    it, what a record chooses is a function of that record alone, so one record changes the
    size of one group by 1; keeping records at ``rate`` and leaving out groups of fewer than
    the smallest size costs the rest of epsilon, and ``delta_given``.
    """

    terms: Terms
    share: Fraction
    threshold: int
    rate: Fraction | None
    delta_given: Fraction

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="truthful",
            departures=departures.TRUTHFUL,
            details={
                **self.terms.details(),
                "boxes": "generalised records, which may overlap",
                "counts": "true counts of sampled records; groups that are too small are left out",
            },
        )

    def delta(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return the delta that the plan allows, which the minimum group size satisfies."""
        return self.delta_given

    def caveat(self, schema: Schema, epsilon: Fraction) -> str | None:
        """Return the condition of the guarantee."""
        rate, smallest = self.rate_for(epsilon), self.smallest_for(epsilon)
        return (
            f"Each record was published with probability {float(rate):g}, and groups of fewer"
            f" than {smallest} sampled records were omitted. The guarantee holds only if nobody"
            " learns whose records were sampled."
        )

    def rate_for(self, epsilon: Fraction) -> Fraction:
        """Return the probability of each record to be kept."""
        rest = epsilon * (1 - self.share)
        return largest_rate(rest) if self.rate is None else check_rate(self.rate, rest)

    def smallest_for(self, epsilon: Fraction) -> int:
        """Return the minimum number of sampled records of a published group."""
        rest = epsilon * (1 - self.share)
        return smallest_group(rate=self.rate_for(epsilon), epsilon=rest, delta=self.delta_given)

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise if the settings do not fit, before any budget is spent."""
        require_domains(schema)
        measured = self.terms.measured(schema)
        synopsis = epsilon * self.share
        if min(synopsis * SIZE, synopsis * (1 - SIZE) / len(measured)) < LEAST_SHARE:
            raise SettingError(
                "The synopsis' share of the budget is too small for any noise.",
                where="publish.share",
                do="Give a larger epsilon or share.",
            )
        if self.rate_for(epsilon) <= 0:
            raise SettingError(
                "The sample's share of the budget is too small to keep any record.",
                where="publish.share",
                do="Give a larger epsilon, or a smaller share to the synopsis.",
            )
        self.smallest_for(epsilon)

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what is spent; the number of groups depends on the data."""
        rest, smallest = epsilon * (1 - self.share), self.smallest_for(epsilon)
        note = (
            f"Keeps each record with probability {float(self.rate_for(epsilon)):g} and omits"
            f" groups of fewer than {smallest} kept records, for delta"
            f" {float(self.delta_given):g}. Counts are true."
        )
        return Outline(
            steps=(
                *synopsis_steps(self.terms, schema, epsilon * self.share),
                Step(on="sample", share=rest, times=1),
            ),
            counts=rest,
            n_groups=max(1, int(EXAMPLE_RECORDS * self.rate_for(epsilon) / smallest)),
            notes=(*self.terms.layout(schema).notes(), note),
            true_counts=True,
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the generalised records of the sample, with true counts."""
        schema = run.engine.schema
        layout = self.terms.layout(schema)
        people = layout.read(run.engine)
        run.progress("measuring the synopsis", None)
        synopsis = Synopsis.measure(
            run,
            layout.space,
            self.terms.measured(schema),
            people.kinds,
            share=run.epsilon * self.share,
        )
        run.progress("choosing generalisations", None)
        choices = own_choices(layout, synopsis, people, threshold=self.threshold)
        run.progress("drawing the sample", None)
        run.spend_rest(on="sample")
        rate = self.rate_for(run.epsilon)
        kept = kept_of_each(people.kinds.many, rate=rate, source=run.source)
        groups, counts = tally_choices(layout, choices, people.classes, kept)
        large = np.flatnonzero(counts >= self.smallest_for(run.epsilon))
        has_class = layout.schema.class_attribute is not None
        return level_groups(
            layout.schema,
            layout.space,
            choices.offered[groups[large] // layout.n_classes],
            counts[large],
            classes=groups[large] % layout.n_classes if has_class else None,
            origin=None,
        )
