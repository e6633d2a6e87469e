"""The public universe of items of set-valued data, and where the data keeps its items."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.taxonomy.tree import Taxonomy


@dataclass(frozen=True, kw_only=True)
class ItemsPlace:
    """Where the items lie: in a column, in the rows of a long table, or on the lines of a file.

    ``separators`` are the bytes that stand between the items of a line, ``missing_values`` the
    texts that name nobody where the data say whose a record is. ``ordered`` records are sequences:
    order and repeats are kept, and ``order`` is the column that says where in its record a row
    of a long table belongs.
    """

    column: str | None = None
    record: str | None = None
    order: str | None = None
    ordered: bool = False
    separators: bytes = b" ,\t"
    missing_values: tuple[str, ...] = ("", "?")


@dataclass(frozen=True, kw_only=True)
class Universe:
    """All items that may occur, as leaves of a taxonomy, and where the data keeps them."""

    taxonomy: Taxonomy
    place: ItemsPlace

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.taxonomy.n_leaves
