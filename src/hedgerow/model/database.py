"""A database and the table or query to read."""

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
    """Return the query for a whole table; ``schema.table`` is a table of a schema.

    >>> print(select_all("people"), select_all("ward.people"))
    SELECT * FROM "people" SELECT * FROM "ward"."people"
    """
    parts = table.split(".")
    if not all(parts) or "\0" in table:
        raise SettingError(
            "This is not the name of a table.",
            where="table",
            do="Give NAME or SCHEMA.NAME; for any other name give a query.",
        )
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    return f"SELECT * FROM {quoted}"  # noqa: S608 - the name is quoted


def takes_whole_table(query: str) -> bool:
    """Return whether a query is one of `select_all`: it computes and selects nothing.

    >>> takes_whole_table(select_all("ward.people")), takes_whole_table("SELECT 1")
    (True, False)
    """
    return _WHOLE_TABLE.fullmatch(query) is not None


def asked_of(data: Any, *, query: str | None = None, table: str | None = None) -> Any:
    """Return ``data``, with its query or table if one is set."""
    if query is None and table is None:
        return data
    if table is None:
        statement = query or ""
    elif query is None:
        statement = select_all(table)
    else:
        raise SettingError(
            "'query' and 'table' are both set.", where="table", do="Keep one of the two."
        )
    if not isinstance(data, str):
        raise SettingError(
            "Only a database can have a query or a table.",
            where="table" if query is None else "query",
            do="Give the database URL as data, such as sqlite:///FILE.",
        )
    return Database(url=data, query=statement)
