"""The accounts of a ledger for display: for every data set its balance and its entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from hedgerow.errors import LedgerError
from hedgerow.ledger.file import RECOVER
from hedgerow.ledger.names import shown_name
from hedgerow.ledger.state import AccountBalance, State
from hedgerow.ledger.store import Event

EntryState = Literal["booked", "released", "failed"]

OUTSIDE = "outside hedgerow"

_MAX_NOTE = 500


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One amount of epsilon, and of delta, taken from a data set. It stays spent in every state.

    ``booked`` means that the release was begun and has not been reported as released or failed.
    ``neighbours`` is what it protects, ``None`` if not recorded. ``table`` is the name of the
    table, ``covers`` the part of it that was read, ``parallel`` whether only releases of the same
    part add up with this one. For a new booking, ``head`` is the digest of the chain and ``chain``
    the keyed digest of that.
    """

    id: int
    dataset: str
    epsilon: Fraction
    delta: Fraction
    state: EntryState
    method: str
    plan_digest: str | None
    release_digest: str | None
    booked_at: str
    ended_at: str | None
    note: str | None
    neighbours: str | None = None
    table: str | None = None
    covers: str | None = None
    parallel: bool = False
    head: str | None = field(default=None, compare=False, repr=False)
    chain: str | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the entry for JSON, with epsilon and delta as exact fractions in text."""
        return {
            "id": self.id,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "state": self.state,
            "method": self.method,
            "plan": self.plan_digest,
            "release": self.release_digest,
            "booked": self.booked_at,
            "ended": self.ended_at,
            "note": self.note,
            "neighbours": self.neighbours,
            "table": self.table,
            "covers": self.covers,
            "parallel": self.parallel,
        }


@dataclass(frozen=True, kw_only=True)
class Account(AccountBalance):
    """A data set in the ledger: caps, sums, and everything taken from it, oldest first.

    ``names`` are further names of the account, of data sets that were renamed or joined.
    """

    entries: tuple[Entry, ...] = ()
    names: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the account for JSON, with exact fractions in text."""
        also: dict[str, Any] = {"also": list(self.names)} if self.names else {}
        if self.people:
            also["tables"] = self.tables()
        entries = [entry.as_dict() for entry in self.entries]
        return {**super().as_dict(), **also, "entries": entries}

    def tables(self) -> list[dict[str, Any]]:
        """Return the tables from which releases were made, each with its total cost.

        This is a plain sum, whatever parts the releases cover.
        """
        spent: dict[str, list[Fraction]] = {}
        for entry in self.entries:
            spent.setdefault(entry.table or self.name, []).append(entry.epsilon)
        return [
            {"table": name, "releases": len(each), "epsilon": str(sum(each, Fraction(0)))}
            for name, each in sorted(spent.items())
        ]


def accounts_of(events: Iterable[Event], state: State) -> tuple[Account, ...]:
    """Return all data sets by name, each with its entries."""
    try:
        return _accounts(events, state)
    except (ValueError, KeyError, TypeError, ArithmeticError):
        raise LedgerError(
            "The ledger cannot be trusted: an event is invalid.", where="ledger", do=RECOVER
        ) from None


def _accounts(events: Iterable[Event], state: State) -> tuple[Account, ...]:
    entries: dict[int, Entry] = {}
    for event in events:
        fields = event.fields
        if fields["kind"] in {"booked", "outside"}:
            entries[event.seq] = entry_of(fields, None, state)
        elif fields["kind"] in {"released", "failed"}:
            entry = int(fields["entry"])
            entries[entry] = ended(entries[entry], fields)
    taken: dict[str, list[Entry]] = {name: [] for name in state.names()}
    for each in entries.values():
        taken[each.dataset].append(each)
    also = state.other_names()
    return tuple(
        Account(
            **vars(known(state, name)),
            entries=tuple(taken[name]),
            names=tuple(sorted(other for other, called in also.items() if called == name)),
        )
        for name in taken
    )


def known(state: State, name: str) -> AccountBalance:
    """Return the balance of a data set that must exist."""
    balance = state.find(name)
    if balance is None:
        have = ", ".join(repr(other) for other in state.names()) or "none yet"
        raise LedgerError(
            "The ledger does not have this data set.",
            where=f"data set {shown_name(name)}",
            do=f"It has: {have}. Add one with: hedgerow ledger cap NAME EPSILON --new --reason WHY",
        )
    return balance


def entry_of(fields: dict[str, Any], end: dict[str, Any] | None, state: State) -> Entry:
    """Return the entry of a booking, with its end if it has ended."""
    outside = fields["kind"] == "outside"
    entry = Entry(
        id=fields["seq"],
        dataset=state.called(fields["dataset"]),
        epsilon=Fraction(fields["epsilon"]),
        delta=Fraction(fields.get("delta", 0)),
        state="released" if outside else "booked",
        method=OUTSIDE if outside else fields["method"],
        plan_digest=fields.get("plan"),
        release_digest=None,
        booked_at=fields["at"],
        ended_at=fields["at"] if outside else None,
        note=fields.get("note"),
        neighbours=fields.get("neighbours"),
        table=_table(fields, state),
        covers=_covers(fields),
        parallel="cover_key" in fields,
    )
    return entry if end is None else ended(entry, end)


def _table(fields: dict[str, Any], state: State) -> str | None:
    """Return the table name of a booking: an account that was joined had its own."""
    booked_as: str = fields["dataset"]
    return fields.get("table", None if state.called(booked_as) == booked_as else booked_as)


def _covers(fields: dict[str, Any]) -> str | None:
    if "cover_column" not in fields:
        return None
    return f"{fields['cover_column']}: {fields['cover_values']}"


def ended(entry: Entry, fields: dict[str, Any]) -> Entry:
    """Return an entry after the event that ended it."""
    if fields["kind"] == "released":
        digest = fields["release"]
        return replace(entry, state="released", release_digest=digest, ended_at=fields["at"])
    return replace(entry, state="failed", note=fields["reason"], ended_at=fields["at"])


def one_line(text: str) -> str:
    """Return ``text`` as a note stores it: one line, printable, at most 500 characters."""
    line = " ".join(text.split())
    return "".join(c for c in line if c.isprintable())[:_MAX_NOTE]


def reason_text(text: str, what: str) -> str:
    """Return a reason as one line; refuse an empty one."""
    line = one_line(text)
    if not line:
        raise LedgerError(f"The {what} is empty.", where="ledger", do=f"Give a {what} of one line.")
    return line
