"""A database and what it is asked: the whole of a table, or a query of the owner's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import SettingError

_NAME = r'"(?:[^"]|"")+"'
_WHOLE_TABLE = re.compile(rf"SELECT \* FROM {_NAME}(?:\.{_NAME})*")  # noqa: S608 - matched, never run


@dataclass(frozen=True, kw_only=True)
class Database:
    """A database by its URL, which may hold a password, and the query that gives the table."""

    url: str
    query: str

    def __repr__(self) -> str:
        return "Database(...)"


def select_all(table: str) -> str:
    """Return the query for a whole table; ``schema.table`` names one in a schema.

    >>> print(select_all("people"), select_all("ward.people"))
    SELECT * FROM "people" SELECT * FROM "ward"."people"
    """
    parts = table.split(".")
    if not all(parts) or "\0" in table:
        raise SettingError(
            "is not the name of a table",
            where="table",
            do="Give NAME or SCHEMA.NAME; for any other name give a query.",
        )
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return f"SELECT * FROM {quoted}"  # noqa: S608 - the name is quoted


def takes_whole_table(query: str) -> bool:
    """Return whether a query is one that `select_all` writes: it computes and selects nothing.

    >>> takes_whole_table(select_all("ward.people")), takes_whole_table("SELECT 1")
    (True, False)
    """
    return _WHOLE_TABLE.fullmatch(query) is not None


def asked_of(data: Any, *, query: str | None = None, table: str | None = None) -> Any:
    """Return ``data``, together with the query or the table that is asked of it, if one is."""
    if query is None and table is None:
        return data
    if table is None:
        asked = query or ""
    elif query is None:
        asked = select_all(table)
    else:
        raise SettingError(
            "query and table are both given", where="table", do="Keep one of the two."
        )
    if not isinstance(data, str):
        raise SettingError(
            "only a database can be asked a query or for a table",
            where="table" if query is None else "query",
            do="Give the database URL as data, such as sqlite:///FILE.",
        )
    return Database(url=data, query=asked)
