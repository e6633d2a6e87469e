"""Append-only chain of events, independent of the store that keeps its rows.

Every event carries a digest of its text, of its attachment and of the digest before it; the head
holds the number of events and the last digest. A modified, removed or cut-off event is detected.
The ledger and the memory of recipients are such chains. `ChainRows` is what a store must
provide for one; `LedgerRows` adds the tables that the ledger keeps beside its chain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class ChainLink:
    """One event of a chain: its number, its text, bytes that belong to it, and its digest."""

    number: int
    body: str
    attachment: bytes = b""
    digest: str


class ChainRows(Protocol):
    """Rows of one chain, within one transaction of a store. Nothing in them is checked yet."""

    def head(self) -> tuple[Any, Any] | None:
        """Return the number of events and the last digest; ``None`` if the head is damaged."""

    def between(self, first: int, last: int) -> Sequence[tuple[Any, Any, Any, Any]]:
        """Return number, body, attachment and digest of events ``first`` to ``last``, in order."""

    def n_rows(self) -> int:
        """Return the number of stored events."""

    def last_number(self) -> int:
        """Return the highest number of a stored event, 0 without events."""

    def add(self, link: ChainLink) -> None:
        """Store an event and make it the head."""


class LedgerRows(ChainRows, Protocol):
    """Chain of a ledger and the tables beside it, within one transaction of a store."""

    def damage(self) -> str | None:
        """Return what the store's own check of the file finds, or ``None``."""

    def format(self) -> int:
        """Return the format of the ledger."""

    def set_format(self, number: int) -> None:
        """Set the format of the ledger."""

    def add_tables(self) -> None:
        """Create the tables beside the chain, which formats 1 and 2 do not have."""

    def state(self) -> Sequence[tuple[Any, Any]]:
        """Return the rows of the state: keys and values."""

    def put_state(self, key: str, value: str | None) -> None:
        """Set one row of the state, or remove it with ``None``."""

    def ends(self) -> Mapping[int, int]:
        """Return which event ended each booking."""

    def end_of(self, entry: int) -> int | None:
        """Return which event ended one booking."""

    def add_end(self, entry: int, number: int) -> None:
        """Store which event ended a booking."""

    def keys(self) -> Mapping[str, str]:
        """Return the names of the column keys, each with its mark."""

    def put_key(self, name: str, mark: str) -> None:
        """Store a column key, in place of what is stored under its name."""

    def columns_of(self, table: int) -> Mapping[str, str]:
        """Return the digests of a table's columns by name."""

    def tables_with(self, digest: str) -> Sequence[tuple[int, str]]:
        """Return the tables with a column of this digest, and their data sets."""

    def tables_of(self, dataset: str) -> Sequence[tuple[int, str, str]]:
        """Return table, column and digest for every column of a data set's tables."""

    def add_table(self, dataset: str, digests: Mapping[str, str]) -> None:
        """Store the column digests of a new table of a data set."""

    def move_tables(self, old: str, new: str) -> None:
        """Assign the tables of one data set to another."""

    def forget_tables(self) -> None:
        """Remove all column digests and column keys."""


@dataclass(frozen=True, kw_only=True)
class ChainRules:
    """Digests and reports of damage of a kind of chain.

    ``digest`` takes the previous digest, the body and the attachment. ``genesis`` is the digest
    before the first event. ``damaged`` makes the error from a clause that says what is wrong.
    """

    genesis: str
    digest: Callable[[str, str, bytes], str]
    damaged: Callable[[str], Exception]


class EventChain:
    """Checked reading of a chain, and appending to it, within one transaction."""

    def __init__(self, rows: ChainRows, rules: ChainRules) -> None:
        self._rows = rows
        self._rules = rules
        self.n_events, self.last_digest = -1, ""
        n_events, last = rows.head() or (None, None)
        if isinstance(n_events, int) and isinstance(last, str):
            self.n_events, self.last_digest = n_events, last

    def all(self) -> list[ChainLink]:
        """Return every event, after checking the chain and its length."""
        links = self.between(0, self.n_events)
        if self._rows.n_rows() != self.n_events:
            raise self._cut()
        return links

    def between(self, start: int, end: int) -> list[ChainLink]:
        """Return the events after ``start`` up to ``end``, each checked against its predecessor."""
        rows = list(self._rows.between(max(start, 1), end))
        previous = self._rules.genesis
        if start:
            if not rows or rows[0][0] != start:
                raise self._rules.damaged(f"event {start} is missing")
            previous = rows.pop(0)[3]
        links = []
        for place, row in enumerate(rows, start=start + 1):
            links.append(self._checked(place, previous, row))
            previous = links[-1].digest
        if len(links) != end - start or (end == self.n_events and previous != self.last_digest):
            raise self._cut()
        return links

    def check_last(self) -> None:
        """Check that no event is stored after the head."""
        if self._rows.last_number() != self.n_events:
            raise self._cut()

    def append(self, body: str, attachment: bytes = b"") -> ChainLink:
        """Append an event; it is durable once the transaction is committed."""
        digest = self._rules.digest(self.last_digest, body, attachment)
        link = ChainLink(number=self.n_events + 1, body=body, attachment=attachment, digest=digest)
        self._rows.add(link)
        self.n_events, self.last_digest = link.number, digest
        return link

    def _checked(self, place: int, previous: str, row: tuple[Any, Any, Any, Any]) -> ChainLink:
        number, body, attachment, digest = row
        intact = number == place and isinstance(body, str) and isinstance(attachment, bytes)
        if not intact or digest != self._rules.digest(previous, body, attachment):
            raise self._rules.damaged(f"event {place} was modified or removed")
        return ChainLink(number=number, body=body, attachment=attachment, digest=digest)

    def _cut(self) -> Exception:
        return self._rules.damaged("events at its end were cut off or added by other means")
