"""`sample`: [TKDE, Alg. 2] as printed, to show what it guarantees.

Line 6 is drawn exactly from a list of generalisations, which the paper allows for few attributes;
Algorithm 3, its alternative, is not run here (it is in the experiments). A floor is added to Φ,
without which the algorithm is not defined, and the output is sorted. What can be proved is in
:mod:`hedgerow.disclosure.private.printed_delta` (privacy) and
:mod:`hedgerow.disclosure.private.printed_utility`; the certificate states it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.disclosure.private import departures
from hedgerow.disclosure.private.loose import level_groups
from hedgerow.disclosure.private.printed import Sampler, Version
from hedgerow.disclosure.private.printed_delta import PrintedTerms, ProvedDelta, proved_delta
from hedgerow.disclosure.private.printed_utility import most_promised
from hedgerow.disclosure.private.terms import Layout, Terms
from hedgerow.errors import SettingError
from hedgerow.model.engine import Engine
from hedgerow.model.groups import Groups
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains
from hedgerow.privacy.budget import upward_text


@dataclass(frozen=True, kw_only=True)
class PrintedSample:
    """Publish random frequent generalisations of a random sample [TKDE, Alg. 2].

    Departs: see :data:`~hedgerow.disclosure.private.departures.SAMPLE`.

    Privacy: (epsilon, delta) with the delta of Theorem B1 for tables of at least
    ``least_records``; it is hundreds to thousands of times what publishing one raw record
    picked at random would cost.
    """

    terms: Terms
    version: Version
    at_least: Fraction
    beta: Fraction
    theta: Fraction
    least_records: int

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="sample",
            faithful=True,
            departures=departures.SAMPLE,
            details={
                **self.terms.details(),
                "boxes": "generalised records, which may overlap",
                "counts": "true counts of sampled records, and one fully generalised record",
            },
        )

    def delta(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Return the delta that can be proved, from public numbers."""
        return self._proved(schema, epsilon).total

    def caveat(self, schema: Schema, epsilon: Fraction) -> str | None:
        """Return the qualification that this delta needs."""
        delta = float(self.delta(schema, epsilon))
        times = delta * self.least_records
        return (
            "This is no meaningful protection. The delta is proved for tables of at least"
            f" {self.least_records:,} records, and it is {times:,.0f} times that of publishing one"
            " random record in full. No settings of this algorithm bring delta below the reciprocal"
            " of the number of records. The paper's own claim, a negligible delta, is wrong. Use"
            " supermodular or truthful to protect people."
            f"{self._utility_words(schema, epsilon)}"
        )

    def _utility_words(self, schema: Schema, epsilon: Fraction) -> str:
        """Return the paper's guarantee of utility with these settings, for any table."""
        if self.version == "risk":
            return ""
        cuts = self.terms.layout(schema).space.cuts
        promised = most_promised(
            self._settings(schema, epsilon),
            n_attributes=len(cuts),
            height=max(max(len(cut) for cut in cuts) - 1, 1),
        )
        if promised.void:
            return (
                " The paper's Theorem 3(ii) guarantees no utility at these settings: its"
                f" exponent would have to exceed {promised.needed:.3g}, and is at most"
                f" {upward_text(promised.exponent)}."
            )
        return (
            " The paper's Theorem 3(ii) guarantees a utility of at most"
            f" {upward_text(100 * promised.part)}% of the best at these settings."
        )

    def _settings(self, schema: Schema, epsilon: Fraction) -> PrintedTerms:
        layout = self.terms.layout(schema)
        least, most = _severity_bounds(layout)
        shift = most if self.version == "risk" else 2 * (layout.worth.risk_weight / least + 1)
        return PrintedTerms(
            epsilon=epsilon,
            beta=self.beta,
            theta=self.theta,
            least_records=self.least_records,
            n_nodes=layout.space.n_vectors,
            reach=most if self.version == "risk" else shift / 2,
            shift=shift,
        )

    def _proved(self, schema: Schema, epsilon: Fraction) -> ProvedDelta:
        return proved_delta(self._settings(schema, epsilon))

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise if nothing at all can be proved, before any budget is spent."""
        require_domains(schema)
        if schema.class_attribute is not None:
            raise SettingError(
                "The algorithm has no class, and publishing one would invalidate its delta.",
                where=f"attributes.{schema.class_attribute.name}.role",
                do="Make the class a predictor, or drop it.",
            )
        worth = self.terms.layout(schema).worth
        needed = worth.most_utility**worth.power
        if self.version == "utility" and needed > self.least_records:
            raise SettingError(
                "Utility to the power kappa may exceed the number of records, and then nothing"
                " is proved.",
                where="publish.kappa",
                do="Give a smaller kappa.",
            )
        if self.least_records < 3 or self.delta(schema, epsilon) >= 1:
            raise SettingError(
                "No delta below 1 can be proved for this number of records and generalisations.",
                where="publish.least-records",
                do="Give a larger number if that is known to hold, fewer levels, or another theta.",
            )

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return the single spending and its guarantee."""
        delta = float(self.delta(schema, epsilon))
        return Outline(
            steps=(Step(on="algorithm 2", share=epsilon, times=1),),
            counts=epsilon,
            n_groups=1,
            notes=(
                *self.terms.layout(schema).notes(),
                f"The delta that can be proved is {delta:.3g}:"
                f" {delta * self.least_records:,.0f} times that of publishing one random"
                " record. This is no meaningful protection."
                f"{self._utility_words(schema, epsilon)}",
            ),
            true_counts=True,
        )

    def publish(self, run: Run[Engine]) -> Groups:
        """Return random generalisations of sampled records, and one full generalisation."""
        schema = run.engine.schema
        layout = self.terms.layout(schema)
        people = layout.read(run.engine)
        run.spend_rest(on="algorithm 2")
        run.progress("drawing generalisations", None)
        sampler = Sampler(
            space=layout.space,
            worth=layout.worth,
            settings=self._settings(schema, run.epsilon),
            version=self.version,
            at_least=float(self.at_least),
        )
        keys = sampler.draw(people.kinds, people.personal, source=run.source)
        distinct, counts = np.unique(keys, return_counts=True)
        return level_groups(
            schema,
            layout.space,
            distinct,
            counts.astype(np.int64),
            classes=None,
            origin=None,
        )


def _severity_bounds(layout: Layout) -> tuple[float, float]:
    """Return the minimum and maximum severity of any generalisation of any possible record."""
    worth = layout.worth
    if worth.severity is None:
        return 1.0, 1.0
    largest = 1.0 if layout.factors is None else float(layout.factors.max())
    most = sum(float(table.max()) for table in worth.severity)
    return worth.floor, worth.floor + largest * most
