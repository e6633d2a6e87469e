"""Settings of basic-table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from hedgerow.plan.fields import Cells
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import TableMethod


class BasicTableSettings(PrivateSettings):
    """Noise on every cell of the contingency table."""

    method: Literal["basic-table"] = Field(
        "basic-table", description="the publishing method: basic-table"
    )
    cells: Cells | None = Field(
        None, description="the most cells, classes included; attributes are coarsened to fit"
    )

    def refuses_people(self, *, has_class: bool) -> None:
        """Offer ``count: people``: there are counts alone."""

    def build(self, *, has_class: bool) -> TableMethod:
        """Return the method with these settings."""
        from hedgerow.baselines.basic_table.basic_table import BasicTable

        return BasicTable(cells=self.cells)
