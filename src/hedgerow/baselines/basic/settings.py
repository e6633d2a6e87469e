"""Settings of basic."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import BasketMethod


class BasicSettings(PrivateSettings):
    """Basic: noise on the count of every possible basket, for small universes."""

    publishes: ClassVar[Literal["table", "baskets"]] = "baskets"

    method: Literal["basic"] = Field("basic", description="the publishing method: basic")

    def build(self, *, has_class: bool) -> BasketMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.basic.basic import Basic

        return Basic()
