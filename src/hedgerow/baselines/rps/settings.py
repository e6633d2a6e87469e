"""Settings of RPS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hedgerow.plan.fields import Height
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class RpsSettings(PrivateSettings):
    """RPS: boxes by recursive private medians of attributes taken at random."""

    method: Literal["rps"] = Field("rps", description="the publishing method: rps")
    height: Height = Field(8, description="how often a box is halved, from 1 to 16")

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.rps.rps import RecursiveMedians

        return RecursiveMedians(height=self.height)
