"""What the settings of all publishing methods have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from hedgerow.plan.fields import Epsilon, PlanModel


class PublishPlan(PlanModel):
    """How to publish: the method, and the settings that this method has."""

    needs_class: ClassVar[bool] = False
    """Whether some attribute must have the role ``class``."""

    publishes: ClassVar[Literal["table", "baskets"]] = "table"
    """What the method takes: attributes of a table, or sets of items."""

    method: str

    def class_needed(self) -> bool:
        """Whether the settings make no sense without a class."""
        return self.needs_class

    def applying(self) -> dict[str, Any]:
        """Return the settings that the method makes use of, as plans spell them."""
        return self.model_dump(mode="json", by_alias=True)


class PrivatePublishPlan(PublishPlan):
    """The settings of a differentially private method."""

    epsilon: Epsilon = Field(description="the privacy budget: a number or a fraction such as '1/2'")
