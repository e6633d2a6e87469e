"""Settings of PrivBayes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hedgerow.plan.fields import Degree
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class PrivBayesSettings(PrivateSettings):
    """PrivBayes: synthetic records from a Bayesian network with noisy marginals."""

    method: Literal["privbayes"] = Field(
        "privbayes", description="the publishing method: privbayes"
    )
    degree: Degree = Field(3, description="the most parents of an attribute, from 1 to 4")

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.privbayes.privbayes import BayesianNetwork

        return BayesianNetwork(degree=self.degree)
