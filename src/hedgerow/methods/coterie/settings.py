"""Settings of coterie."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hedgerow.plan.fields import Length
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import BasketMethod


class CoterieSettings(PrivateSettings):
    """Coterie: synthetic baskets that keep items, pairs and combinations of the frequent ones."""

    publishes: ClassVar[Literal["table", "baskets"]] = "baskets"

    method: Literal["coterie"] = Field("coterie", description="the publishing method: coterie")
    frequent: Length | None = Field(
        None,
        description="among how many of the most frequent items combinations are measured, 2 to"
        " 400; by default 100",
    )

    def build(self, *, has_class: bool) -> BasketMethod:
        """Return the method with these settings."""
        from hedgerow.methods.coterie.coterie import Coterie

        return Coterie(frequent=self.frequent)
