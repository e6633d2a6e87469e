"""Settings of the k-anonymity baselines, none of which is differentially private."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.plan.fields import Anonymity, FanOut, Share, mistake
from hedgerow.plan.settings import MethodSettings

if TYPE_CHECKING:
    from hedgerow.model.method import PlainMethod


class KAnonymousSettings(MethodSettings):
    """Settings of a method that puts every record in a box with at least k records."""

    k: Anonymity = Field(description="the least number of records in a box, from 1")


class MondrianSettings(KAnonymousSettings):
    """Mondrian: k-anonymous boxes that are cut separately in every region."""

    method: Literal["mondrian"] = Field("mondrian", description="the publishing method: mondrian")
    purpose: Literal["general", "classification"] = Field(
        "general",
        alias="for",
        description="what the release is for: general, cut at medians, or classification, cut by"
        " information gain",
    )
    relaxed: StrictBool = Field(
        False, description="true to share out the records of the median, else false"
    )
    categories: Literal["taxonomy", "order"] = Field(
        "taxonomy",
        description="how categories are cut: taxonomy, into a node's children, or order, as"
        " numbers are",
    )

    @model_validator(mode="after")
    def _check_variant(self) -> Self:
        if self.relaxed and self.purpose == "classification":
            raise mistake(
                "Records are distributed at medians, which cuts by information gain do not use.",
                "Give for: general, or omit relaxed.",
                key=("relaxed",),
            )
        return self

    def class_needed(self) -> bool:
        """Return whether the settings need a class."""
        return self.purpose == "classification"

    def build(self, *, has_class: bool) -> PlainMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.kanonymity.mondrian import Mondrian

        return Mondrian(
            k=self.k,
            relaxed=self.relaxed,
            by_class=self.purpose == "classification",
            ordered=self.categories == "order",
        )


class TdsSettings(KAnonymousSettings):
    """TDS: one k-anonymous cut by top-down specialisation."""

    needs_class: ClassVar[bool] = True

    method: Literal["tds"] = Field("tds", description="the publishing method: tds")
    purpose: Literal["classification"] = Field(
        "classification", alias="for", description="what the release is for: classification"
    )

    def build(self, *, has_class: bool) -> PlainMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.kanonymity.tds import TopDownSpecialisation

        return TopDownSpecialisation(k=self.k)


class FullDomainSettings(KAnonymousSettings):
    """Full-domain k-anonymity: every attribute at one level of its taxonomy."""

    method: Literal["full-domain"] = Field(
        "full-domain", description="the publishing method: full-domain"
    )
    score: Literal["discernibility", "ncp", "height"] = Field(
        "discernibility",
        description="what is made least: discernibility, ncp or height, the sum of the levels",
    )
    suppression: Share = Field(
        Fraction(0), description="the share of the records that may be left out, from 0, below 1"
    )
    fan_out: FanOut = Field(
        2, description="how many runs of a grid make one of the next level, 2 to 20"
    )

    def build(self, *, has_class: bool) -> PlainMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.kanonymity.full_domain import FullDomain

        return FullDomain(
            k=self.k, cost=self.score, suppression=self.suppression, fan_out=self.fan_out
        )
