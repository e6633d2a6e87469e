"""Settings of hedge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class HedgeSettings(PrivateSettings):
    """hedge: boxes grown together and then apart, for any purpose."""

    method: Literal["hedge"] = Field("hedge", description="the publishing method: hedge")
    purpose: Literal["classification", "clustering", "counting", "general", "table"] | None = Field(
        None,
        alias="for",
        description="what the release is for: classification, clustering, counting, general, or"
        " table (a generalised table to read); classification where there is a class, else general",
    )
    score: Literal["gini", "ncp", "skew"] | None = Field(
        None, description="how splits are compared: gini, ncp or skew; by the purpose"
    )

    def class_needed(self) -> bool:
        """Return true if the settings make no sense without a class."""
        return self.purpose == "classification" or self.score == "gini"

    def score_name(self, *, has_class: bool) -> str:
        """The score that is used: the one given, or the purpose's own."""
        if self.score is not None:
            return self.score
        purpose = self.purpose
        if purpose is None or purpose == "table":
            purpose = "classification" if has_class else "general"
        scores = {"classification": "gini", "general": "ncp"}
        return scores.get(purpose, "skew")

    def refuses_people(self, *, has_class: bool) -> None:
        """Offer ``count: people``: every score of boxes is Lipschitz in the counts."""

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.methods.hedge.hedge import Hedge
        from hedgerow.trees.box_scores import BOX_SCORES

        return Hedge(score=BOX_SCORES[self.score_name(has_class=has_class)])
