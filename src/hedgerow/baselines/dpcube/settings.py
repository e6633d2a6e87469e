"""Settings of DPCube."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hedgerow.plan.fields import Cells
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class DPCubeSettings(PrivateSettings):
    """DPCube: noisy cells, a kd-tree over them, and fresh counts of its boxes."""

    method: Literal["dpcube"] = Field("dpcube", description="the publishing method: dpcube")
    cells: Cells = Field(
        65536,
        description="the most cells of the first phase, classes included; attributes are"
        " coarsened to fit",
    )

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.dpcube.dpcube import TwoPhaseCube

        return TwoPhaseCube(cells=self.cells)
