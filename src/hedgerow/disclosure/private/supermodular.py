"""`supermodular`: every record's own best generalisation, under pure epsilon.

The corrected form of [TKDE, Alg. 2] that keeps its purpose: each person's record is disclosed at
the generalisation that is best for that person, weighing low risk against utility. A private
synopsis estimates how many records match each generalisation; every record then chooses for
itself; and the choices are counted with noise (docs/privacy.md, "Methods").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.private import departures
from hedgerow.disclosure.private.choice import Choices, choose_cells
from hedgerow.disclosure.private.loose import level_groups, level_threshold
from hedgerow.disclosure.private.sampling import amplified_epsilon, kept_of_each
from hedgerow.disclosure.private.synopsis import SIZE, Synopsis
from hedgerow.disclosure.private.terms import Layout, People, Terms
from hedgerow.errors import InternalError, SettingError
from hedgerow.model.arrays import Ints
from hedgerow.model.engine import Engine
from hedgerow.model.groups import CountOrigin, Groups
from hedgerow.model.method import About, Outline, Step
from hedgerow.model.run import Run
from hedgerow.model.schema import Schema
from hedgerow.model.sizes import require_domains

EXAMPLE_RECORDS = 30_000
"""Number of records assumed by an outline, which must not read the data."""

LEAST_SHARE = Fraction(1, 10**8)
"""Noise for a smaller share would be larger than any table."""


@dataclass(frozen=True, kw_only=True)
class SupermodularDisclosure:
    """Publish every record at the generalisation that is best for it, with noisy counts.

    ``share`` of epsilon is spent on the synopsis, the rest on the counts. With ``rate``, only that
    part of the records is used, a secret random sample, inside which more may then be spent.

    Privacy: neighbours differ in one record. The synopsis costs its share. Given it, what a
    record chooses is a function of that record alone, so one record is in one group of what
    is counted, and the counts cost the rest (sequential composition). What costs ε' on a
    Poisson sample of a table costs ``ln(1 + rate (e^ε' - 1))`` on the table.
    """

    terms: Terms
    share: Fraction
    threshold: int
    rate: Fraction | None

    @property
    def about(self) -> About:
        """The certificate's facts about the method."""
        return About(
            name="supermodular",
            departures=departures.SUPERMODULAR,
            details=self._details(),
        )

    def _details(self) -> dict[str, str]:
        """Return the method's additions to the certificate."""
        of = "all records" if self.rate is None else "a secret sample of the records"
        return {
            **self.terms.details(),
            "boxes": "generalised records, which may overlap",
            "counts": f"noisy numbers of records, of {of}",
        }

    def inner_epsilon(self, epsilon: Fraction) -> Fraction:
        """Return the joint cost of synopsis and counts on the records that are used."""
        return epsilon if self.rate is None else amplified_epsilon(epsilon, self.rate)

    def validate(self, schema: Schema, epsilon: Fraction) -> None:
        """Raise if the settings do not fit the schema, before any budget is spent."""
        require_domains(schema)
        inner = self.inner_epsilon(epsilon)
        synopsis = inner * self.share
        smallest = min(
            synopsis * SIZE,
            synopsis * (1 - SIZE) / len(self.terms.measured(schema)),
            inner * (1 - self.share),
        )
        if smallest < LEAST_SHARE:
            raise SettingError(
                "A share of the budget is too small for any noise.",
                where="publish.share",
                do="Give a larger epsilon, or a share nearer to one half.",
            )

    def outline(self, schema: Schema, epsilon: Fraction) -> Outline:
        """Return what is spent; the number of groups depends on the data."""
        inner = self.inner_epsilon(epsilon)
        steps = (
            *synopsis_steps(self.terms, schema, inner * self.share),
            Step(on="counts", share=inner * (1 - self.share), times=1),
        )
        notes = self.terms.layout(schema).notes()
        if self.rate is not None:
            notes = (*notes, sampling_note(self.rate, inner))
            steps = (Step(on="all steps on a secret sample", share=epsilon, times=1),)
        return Outline(
            steps=steps,
            counts=inner * (1 - self.share),
            n_groups=self._typical_groups(schema, inner),
            notes=notes,
        )

    def _typical_groups(self, schema: Schema, inner: Fraction) -> int:
        """Return the number of groups that the example's records fill at the minimum size."""
        layout = self.terms.layout(schema)
        n_cells = int(layout.space.n_cells[-1]) * layout.n_classes
        least = level_threshold(
            n_cells, epsilon=inner * (1 - self.share), n_records=EXAMPLE_RECORDS
        )
        return min(n_cells, EXAMPLE_RECORDS // least)

    def publish(self, run: Run[Engine]) -> Groups:
        """Return the generalised records with noisy counts."""
        schema = run.engine.schema
        layout = self.terms.layout(schema)
        people, inner = self._sampled(run, layout.read(run.engine))
        run.progress("measuring the synopsis", None)
        synopsis = Synopsis.measure(
            inner,
            layout.space,
            self.terms.measured(schema),
            people.kinds,
            share=inner.epsilon * self.share,
        )
        run.progress("choosing generalisations", None)
        choices = own_choices(layout, synopsis, people, threshold=self.threshold)
        run.progress("counting groups", None)
        groups = _counted(inner, layout, choices, people, synopsis.n_records)
        if not inner.settled():
            raise InternalError("Private disclosure did not spend exactly its epsilon.")
        return groups

    def _sampled(self, run: Run[Engine], people: People) -> tuple[People, Run[Engine]]:
        """Return the people used, and the run that may spend the epsilon of a secret sample."""
        if self.rate is None:
            return people, run
        inner = run.part(
            run.epsilon,
            on="all steps on a secret sample",
            epsilon=self.inner_epsilon(run.epsilon),
        )
        many = kept_of_each(people.kinds.many, rate=self.rate, source=run.source)
        return people.with_many(many), inner


def synopsis_steps(terms: Terms, schema: Schema, epsilon: Fraction) -> tuple[Step, ...]:
    """Return what the synopsis measures with its share."""
    n_measured = len(terms.measured(schema))
    return (
        Step(on="number of records", share=epsilon * SIZE, times=1),
        Step(on="counts by levels", share=epsilon * (1 - SIZE) / n_measured, times=n_measured),
    )


def sampling_note(rate: Fraction, inner: Fraction) -> str:
    """Return a sentence about a secret sample."""
    return (
        f"Each record is used with probability {float(rate):g}, and the choice is secret; on the"
        f" records used, {float(inner):.4g} is spent."
    )


def own_choices(layout: Layout, synopsis: Synopsis, people: People, *, threshold: int) -> Choices:
    """Return the choice of every kind of record, from the synopsis and itself."""
    return choose_cells(
        layout.space,
        synopsis.layers(threshold=threshold),
        people.kinds,
        n_records=synopsis.n_records,
        worth=layout.worth,
        personal=people.personal,
    )


def tally_choices(
    layout: Layout, choices: Choices, classes: Ints, many: Ints
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of records per offered cell and class: occupied groups, and counts.

    Adding or removing a record moves one count by 1.
    """
    groups = choices.taken * layout.n_classes + classes
    keys, place = np.unique(groups, return_inverse=True)
    counts = np.zeros(len(keys), dtype=np.int64)
    np.add.at(counts, place, many)
    return keys, counts


def _counted(
    run: Run[Engine], layout: Layout, choices: Choices, people: People, n_records: int
) -> Groups:
    """Give every offered cell and class its noisy count, and list the large ones.

    Privacy: costs what the run has left; offered cells that no record took get noise, too.
    """
    keys, counts = tally_choices(layout, choices, people.classes, people.kinds.many)
    n_groups = len(choices.offered) * layout.n_classes
    share = run.left()
    least = level_threshold(n_groups, epsilon=share, n_records=n_records)
    groups, noisy = run.noisy_above(
        keys, counts, n_groups=n_groups, threshold=least, share=share, on="counts"
    )
    has_class = layout.schema.class_attribute is not None
    return level_groups(
        layout.schema,
        layout.space,
        choices.offered[groups // layout.n_classes],
        noisy,
        classes=groups % layout.n_classes if has_class else None,
        origin=CountOrigin(share=share, threshold=least, lowered_by=None),
    )
