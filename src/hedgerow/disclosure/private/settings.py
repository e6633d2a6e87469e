"""Settings of private disclosure: every record is published at its own best generalisation.

Three methods: `supermodular` (pure epsilon), `truthful` (only real records, with a delta)
and `sample` (Algorithm 2 of the paper, with the delta that can be proved for it).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.disclosure.private.weighing import Count, PersonalSettings
from hedgerow.plan.fields import Delta, Factor, Portion

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class SupermodularSettings(PersonalSettings):
    """supermodular: every record's best generalisation by a private synopsis; pure epsilon."""

    method: Literal["supermodular"] = Field(
        "supermodular", description="the publishing method: supermodular"
    )
    share: Portion = Field(
        Fraction(2, 5),
        description="the part of epsilon spent on the synopsis, above 0 and below 1",
    )
    threshold: Count = Field(
        1, description="the least records that a generalisation must seem to fit, from 1 up"
    )
    rate: Portion | None = Field(
        None,
        description="the part of the records to use, chosen at random and kept secret, above 0"
        " and below 1; all, if not given",
    )

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.disclosure.private.supermodular import SupermodularDisclosure
        from hedgerow.disclosure.private.terms import Terms

        return SupermodularDisclosure(
            terms=Terms(plan=self), share=self.share, threshold=self.threshold, rate=self.rate
        )


class TruthfulSettings(PersonalSettings):
    """truthful: true generalisations of a random sample, in groups that are large enough."""

    method: Literal["truthful"] = Field("truthful", description="the publishing method: truthful")
    delta: Delta = Field(
        description="the probability added to the bound of epsilon, above 0 and below 1: a number"
        " such as 1e-6"
    )
    share: Portion = Field(
        Fraction(2, 5),
        description="the part of epsilon spent on the synopsis, above 0 and below 1",
    )
    threshold: Count = Field(
        1, description="the least records that a generalisation must seem to fit, from 1 up"
    )
    rate: Portion | None = Field(
        None,
        description="the part of the records to publish, above 0 and below 1; by default the"
        " largest that the budget allows",
    )

    @model_validator(mode="after")
    def _check_delta(self) -> Self:
        if self.delta == 0:
            raise self.refuse(
                "delta",
                "true records cannot be published with delta 0",
                "Give a small number above 0, such as 1e-6, or use supermodular.",
            )
        return self

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.disclosure.private.terms import Terms
        from hedgerow.disclosure.private.truthful import TruthfulDisclosure

        return TruthfulDisclosure(
            terms=Terms(plan=self),
            share=self.share,
            threshold=self.threshold,
            rate=self.rate,
            delta_given=self.delta,
        )


class SampleSettings(PersonalSettings):
    """sample: Algorithm 2 of the supermodular paper, drawn exactly; next to no guarantee."""

    method: Literal["sample"] = Field("sample", description="the publishing method: sample")
    faithful: StrictBool = Field(
        False, description="true: this method has no improved form, and protects nobody"
    )
    version: Literal["utility", "risk"] = Field(
        "utility",
        description="what generalisations are drawn by: utility, or risk at a utility of at-least",
    )
    at_least: Factor | None = Field(
        None, description="the least utility of a generalisation, from 0; for version risk"
    )
    beta: Portion = Field(
        Fraction(1, 2),
        description="the part of the records that is left out, above e^-epsilon and below 1",
    )
    theta: Portion = Field(
        Fraction(1, 10),
        description="the least part of all records that a generalisation must fit, above 0 and"
        " below 1",
    )
    least_records: Count = Field(
        description="a number that the table surely has more records than, known to the public"
    )

    @model_validator(mode="after")
    def _check_version(self) -> Self:
        if not self.faithful:
            raise self.refuse(
                "faithful",
                "the paper's algorithm gives no meaningful guarantee, so it runs on request only",
                "Give 'faithful: true', or use supermodular or truthful.",
            )
        if (self.version == "risk") != (self.at_least is not None):
            raise self.refuse(
                "at-least",
                "version risk needs it, and version utility has none",
                "Give at-least and 'version: risk', or neither.",
            )
        if self.version == "risk" and self.model == 2:
            raise self.refuse("model", "version risk weighs severities", "Give 1.")
        if self.version == "risk" and self.risk_weight is not None:
            raise self.refuse("lambda", "version risk has no such weight", "Remove it.")
        return self

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.disclosure.private.sample import PrintedSample
        from hedgerow.disclosure.private.terms import Terms

        return PrintedSample(
            terms=Terms(plan=self),
            version=self.version,
            at_least=self.at_least or Fraction(0),
            beta=self.beta,
            theta=self.theta,
            least_records=self.least_records,
        )
