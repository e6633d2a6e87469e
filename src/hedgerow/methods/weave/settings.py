"""Settings of weave."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from hedgerow.methods.weave.purpose import Purpose
from hedgerow.model.method import TableMethod
from hedgerow.plan.settings import PrivateSettings


class WeaveSettings(PrivateSettings):
    """weave: records that keep the relations between columns, from a few noisy tables."""

    method: Literal["weave"] = Field("weave", description="the publishing method: weave")
    purpose: Purpose = Field(
        "general",
        alias="for",
        description="what the release is for: general, classification, counting or clustering",
    )
    leaf_table: StrictBool | None = Field(
        None,
        description="true to count the leaves of a class tree as well, false not to; by default"
        " where there is a class and epsilon times records per column is 225 or more",
    )

    impossible: (
        tuple[dict[StrictStr, tuple[StrictStr | StrictInt | StrictFloat, ...]], ...] | None
    ) = Field(
        None,
        description="combinations of values that cannot occur, each a range of numbers or a list"
        " of values by attribute; they are never drawn",
    )

    def class_needed(self) -> bool:
        """Return true if the settings make no sense without a class."""
        return self.purpose == "classification" or self.leaf_table is True

    def refuses_people(self, *, has_class: bool) -> None:
        """Offer ``count: people``: its scores are sums of Lipschitz functions of the counts."""

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.methods.weave.weave import Weave

        return Weave(
            purpose=self.purpose, leaf_table=self.leaf_table, impossible=self.impossible or ()
        )
