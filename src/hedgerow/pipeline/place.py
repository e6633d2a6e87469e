"""Location of the confidential data, and settings for opening them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.count.settings import DEFAULT_MEMORY, EngineSettings
from hedgerow.errors import PlanError
from hedgerow.model.people import KeyedRule
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.plan.model import Plan
from hedgerow.progress import Progress

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums


@dataclass(frozen=True, kw_only=True, repr=False)
class DataPlace:
    """Location of the confidential data: a file, a URL or a dataframe, and a database's query.

    ``reading`` sets how the bytes of a file are parsed into records.
    """

    data: object
    query: str | None = None
    base: Path = Path()
    reading: Reading = PLAIN

    @classmethod
    def of(cls, plan: Plan, data: object = None) -> DataPlace:
        """Return ``data``, or what the plan names."""
        if data is not None:
            return cls(data=data, reading=plan.how_to_read())
        if plan.data is None:
            raise PlanError(
                "The plan names no data.",
                where="data",
                do="Name a file there, or give --data FILE.",
            )
        return cls(
            data=plan.data, query=plan.table_query, base=plan.base, reading=plan.how_to_read()
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Opening:
    """Settings for opening a place: the engine that counts, and what else is read for.

    ``sums`` receive the checksums that identify the data. With ``people`` the engine holds all
    records and selects those that count once the bound is set.
    """

    place: DataPlace
    settings: EngineSettings
    progress: Progress
    sums: ColumnSums | None = None
    people: KeyedRule | None = None

    @property
    def memory(self) -> int:
        """Bytes of memory that a streamed engine may use."""
        return self.settings.memory or DEFAULT_MEMORY

    def reading(self, share: float | None) -> None:
        """Report how much has been read."""
        self.progress("reading", share)
