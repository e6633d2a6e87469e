"""The record of disclosures to recipients: an append-only chain of events in SQLite.

Every event has a keyed digest of its text, its generalisations and the previous digest; a second
table holds the number of events and the last digest. Changed, deleted and truncated events are
therefore detected. The key is in the same file: it protects keys of records against casual reading
and events against accidents, but not against theft of the file. Everything here is confidential;
the file has mode 0600.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError
from hedgerow.ledger.chain import ChainRules, EventChain
from hedgerow.ledger.file import create
from hedgerow.ledger.sqlite import ChainTable, SqliteChain, begun, committed

_APPLICATION_ID = 0x48676976  # "Hgiv", in the header of the file
_FORMAT = 1
_SECRET_BYTES = 32
_TABLE = ChainTable(number="number", attachment="forms")
_SECONDS = 30.0
"""Seconds to wait for another process that is writing."""

_RECOVER = (
    "Restore a backup. Disclosures since then must be counted, too: disclose nothing to their"
    " recipients before that."
)

_STRANGERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MemoryEvent:
    """An event: its number, its fields, and its packed generalisations."""

    number: int
    fields: dict[str, Any]
    forms: bytes


class MemoryFile:
    """The chain of events in one file; each connection lasts for one read or one write."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Return whether the file exists."""
        return os.path.lexists(self.path)

    def make(self) -> None:
        """Create a file without events, completely or not at all."""
        with self._explained():
            create(self.path, _script(secrets.token_bytes(_SECRET_BYTES)))

    def read(self) -> tuple[bytes, list[MemoryEvent]]:
        """Return the key for records, and all events after verification."""
        with self._opened(write=False) as (secret, chain):
            events = _events(chain)
        return hmac.digest(secret, b"records", "sha256"), events

    def append(
        self,
        fields: dict[str, Any],
        forms: bytes,
        *,
        check: Callable[[list[MemoryEvent]], None] | None = None,
    ) -> int:
        """Append an event, durable when this returns, and return its number.

        ``check`` is called with the events so far while the file is locked, and may raise.
        """
        with self._opened(write=True) as (_, chain):
            events = _events(chain)
            if check is not None:
                check(events)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            body = json.dumps({"at": now, **fields}, ensure_ascii=False, sort_keys=True)
            return chain.append(body, forms).number

    @contextmanager
    def _opened(self, *, write: bool) -> Iterator[tuple[bytes, EventChain]]:
        """Yield the secret of the file and its chain, within one transaction."""
        with self._explained():
            self._check_place()
            connection = begun(
                self.path,
                write=write,
                timeout=_SECONDS,
                check=self._check_kind,
                no_locks=lambda: self._broken("files cannot be locked on this file system"),
            )
            with committed(connection):
                secret = connection.execute("SELECT key FROM head").fetchone()[0]
                if not isinstance(secret, bytes) or len(secret) != _SECRET_BYTES:
                    raise self._broken("its key is damaged")
                yield secret, EventChain(SqliteChain(connection, _TABLE), self._rules(secret))

    def _rules(self, secret: bytes) -> ChainRules:
        return ChainRules(
            genesis="",
            digest=lambda previous, body, forms: _digest(secret, previous, body, forms),
            damaged=self._broken,
        )

    def _check_place(self) -> None:
        if not self.path.is_file() or not self.path.stat().st_size:
            raise self._broken("it is empty or not a file")
        if os.name == "posix" and self.path.stat().st_mode & _STRANGERS:
            raise ReleaseError(
                "The record of disclosures is accessible to other users.",
                where=str(self.path),
                do="Restrict it with: chmod 600 FILE",
            )

    def _check_kind(self, connection: sqlite3.Connection) -> None:
        kind, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if kind != _APPLICATION_ID:
            raise self._broken("it is a database of another program")
        if version != _FORMAT:
            raise ReleaseError(
                f"This file has format {version}, this hedgerow knows {_FORMAT}.",
                where=str(self.path),
                do="Use the version of hedgerow that wrote it, or a newer one.",
            )

    def _broken(self, how: str) -> ReleaseError:
        return ReleaseError(
            f"The record of disclosures cannot be trusted: {how}.",
            where=str(self.path),
            do=_RECOVER,
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise ReleaseError(
                    "Another process has been writing to it for too long.",
                    where=str(self.path),
                    do="Wait until it has ended, and try again.",
                ) from None
            raise self._broken("it is damaged, or not a database") from None
        except OSError as error:
            raise ReleaseError(
                f"The disclosure cannot be recorded: {(error.strerror or 'no access').lower()}.",
                where=str(self.path),
                do="Name a file in a folder that you can write to: 'disclose: {memory: FILE}'.",
            ) from error


def _digest(key: bytes, previous: str, body: str, forms: bytes) -> str:
    content = f"{previous}\n{body}\n{hashlib.sha256(forms).hexdigest()}"
    return hmac.digest(hmac.digest(key, b"chain", "sha256"), content.encode(), "sha256").hex()


def _events(chain: EventChain) -> list[MemoryEvent]:
    return [
        MemoryEvent(number=link.number, fields=json.loads(link.body), forms=link.attachment)
        for link in chain.all()
    ]


def _script(secret: bytes) -> str:
    chain = _TABLE.script(application_id=_APPLICATION_ID, genesis="", key=secret)
    return f"{chain}PRAGMA user_version = {_FORMAT};\n"
