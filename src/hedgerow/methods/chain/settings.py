"""Settings of chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from hedgerow.plan.fields import Length
from hedgerow.plan.settings import PrivateSettings, Publishes

if TYPE_CHECKING:
    from hedgerow.model.method import BasketMethod


class ChainSettings(PrivateSettings):
    """chain: sequences by two trees of prefixes and a histogram of their lengths."""

    publishes: ClassVar[Publishes] = "sequences"

    method: Literal["chain"] = Field("chain", description="the publishing method: chain")
    max_length: Length = Field(
        3000, description="the most items of a published sequence; longer ones are cut"
    )

    def build(self, *, has_class: bool) -> BasketMethod:
        """Return the method with these settings."""
        from hedgerow.methods.chain.chain import SequenceChain

        return SequenceChain(max_length=self.max_length)
