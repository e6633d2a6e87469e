"""The settings that all publishing methods share."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from hedgerow.plan.fields import Epsilon, PlanModel

Publishes: TypeAlias = Literal["table", "baskets", "sequences"]
"""Input of a method: attributes of a table, sets of items, or sequences of items."""


class MethodSettings(PlanModel):
    """Settings of a release: the method, and its own settings."""

    needs_class: ClassVar[bool] = False
    """True if some attribute must have the role ``class``."""

    publishes: ClassVar[Publishes] = "table"
    """Input of the method: attributes of a table, sets of items, or sequences of them."""

    method: str = Field(description="the publishing method")

    @classmethod
    def name(cls) -> str:
        """Name of the method in plans."""
        return str(cls.model_fields["method"].default)

    def build(self, *, has_class: bool) -> Any:
        """Return the method with these settings, for data with or without a class."""
        raise NotImplementedError

    def class_needed(self) -> bool:
        """Return whether the settings need a class."""
        return self.needs_class

    def applying(self) -> dict[str, Any]:
        """Return the settings that the method uses, in the spelling of plans."""
        return self.model_dump(mode="json", by_alias=True)


class PrivateSettings(MethodSettings):
    """The settings of a differentially private method."""

    epsilon: Epsilon = Field(description="the privacy budget: a number or a fraction such as '1/2'")

    def refuses_people(self, *, has_class: bool) -> str | None:
        """Return why ``count: people`` is not offered with these settings, or ``None`` if it is."""
        return "its choices are not proved to follow the weight of a record"
