"""The public universe of items of set-valued data, and the place of the items in the data."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.model.reading import DEFAULT_MARKERS
from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True)
class ItemsPlace:
    """The place of the items: a column, the rows of a long table, or the lines of a file.

    ``separators`` are the bytes between the items of a line, ``missing_values`` the texts that
    identify nobody in the columns of a person. ``ordered`` records are sequences: order and repeats
    are kept, and ``order`` is the column with the position of a row of a long table in its record.
    """

    column: str | None = None
    record: str | None = None
    order: str | None = None
    ordered: bool = False
    separators: bytes = b" ,\t"
    missing_values: tuple[str, ...] = DEFAULT_MARKERS


@dataclass(frozen=True, kw_only=True)
class Universe:
    """All possible items, as leaves of a taxonomy, and the place of the items in the data."""

    taxonomy: Taxonomy
    place: ItemsPlace

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.taxonomy.n_leaves
