"""What the settings of all publishing methods have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from hedgerow.plan.fields import Epsilon, PlanModel

Publishes: TypeAlias = Literal["table", "baskets", "sequences"]
"""What a method takes: attributes of a table, sets of items, or items in an order."""


class MethodSettings(PlanModel):
    """How to publish: the method, and the settings that this method has."""

    needs_class: ClassVar[bool] = False
    """Whether some attribute must have the role ``class``."""

    publishes: ClassVar[Publishes] = "table"
    """What the method takes: attributes of a table, sets of items, or sequences of them."""

    method: str = Field(description="the publishing method")

    @classmethod
    def name(cls) -> str:
        """The name that plans give the method."""
        return str(cls.model_fields["method"].default)

    def build(self, *, has_class: bool) -> Any:
        """Return the method with these settings, for data with or without a class."""
        raise NotImplementedError

    def class_needed(self) -> bool:
        """Whether the settings make no sense without a class."""
        return self.needs_class

    def applying(self) -> dict[str, Any]:
        """Return the settings that the method makes use of, as plans spell them."""
        return self.model_dump(mode="json", by_alias=True)


class PrivateSettings(MethodSettings):
    """The settings of a differentially private method."""

    epsilon: Epsilon = Field(description="the privacy budget: a number or a fraction such as '1/2'")

    def refuses_people(self, *, has_class: bool) -> str | None:
        """Say why ``count: people`` is not offered with these settings; ``None`` where it is."""
        return "its choices are not shown to follow the weight of a record"
