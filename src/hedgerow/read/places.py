"""Where set-valued data keeps its items; light, so that plans can be checked without Arrow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ItemsPlace:
    """Where the items lie: in a column, in the rows of a long table, or on the lines of a file.

    ``separators`` are the bytes that stand between the items of a line, ``skip_header``
    says that lines up to the last comment (``%``) at the top are none of the records.
    """

    column: str | None = None
    record: str | None = None
    separators: bytes = b" ,\t"
    skip_header: bool = False
