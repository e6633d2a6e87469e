"""What the events of a ledger add up to: for every data set a cap, entries and sums."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from hedgerow.errors import LedgerError
from hedgerow.privacy.ledger_store import RECOVER, Event

State = Literal["booked", "released", "failed"]

OUTSIDE = "outside hedgerow"

_MAX_NAME = 100
_MAX_NOTE = 500


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One amount of epsilon, and of delta, taken from a data set. It stays spent in every state.

    ``booked`` means that the release was begun and has not been heard of since.
    """

    id: int
    dataset: str
    epsilon: Fraction
    delta: Fraction
    state: State
    method: str
    plan_digest: str | None
    release_digest: str | None
    booked_at: str
    ended_at: str | None
    note: str | None

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
        }


@dataclass(frozen=True, kw_only=True)
class Account:
    """A data set in the ledger: its caps and everything taken from it, oldest first.

    ``delta_cap`` is the most delta of all releases together: with 0, only releases of pure
    epsilon are booked.
    """

    name: str
    cap: Fraction
    entries: tuple[Entry, ...]
    delta_cap: Fraction = Fraction(0)

    @property
    def spent(self) -> Fraction:
        """The exact sum of all entries: by composition, what all releases cost together."""
        return sum((entry.epsilon for entry in self.entries), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What may still be booked: 0 if the cap was lowered below what is spent."""
        return max(self.cap - self.spent, Fraction(0))

    @property
    def delta_spent(self) -> Fraction:
        """The exact sum of the deltas of all entries (basic composition)."""
        return sum((entry.delta for entry in self.entries), Fraction(0))

    @property
    def delta_left(self) -> Fraction:
        """What delta may still be booked."""
        return max(self.delta_cap - self.delta_spent, Fraction(0))

    def as_dict(self) -> dict[str, Any]:
        """Return the account for JSON, with exact fractions in text."""
        return {
            "dataset": self.name,
            "cap": str(self.cap),
            "spent": str(self.spent),
            "left": str(self.left),
            "delta-cap": str(self.delta_cap),
            "delta-spent": str(self.delta_spent),
            "delta-left": str(self.delta_left),
            "entries": [entry.as_dict() for entry in self.entries],
        }


class Accounts:
    """All data sets of a ledger, after its events were played back in order."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._caps: dict[str, Fraction] = {}
        self._delta_caps: dict[str, Fraction] = {}
        self._entries: dict[int, Entry] = {}
        for event in events:
            try:
                self._play(event)
            except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
                # The chain fits, so whoever wrote this wrote all of it.
                raise LedgerError(
                    f"the ledger cannot be trusted: event {event.seq} makes no sense",
                    where="ledger",
                    do=RECOVER,
                ) from None

    def names(self) -> tuple[str, ...]:
        """Return the names of the data sets, sorted."""
        return tuple(sorted(self._caps))

    def find(self, name: str) -> Account | None:
        """Return the account of a data set, or ``None`` if the ledger does not have it."""
        if name not in self._caps:
            return None
        entries = tuple(entry for entry in self._entries.values() if entry.dataset == name)
        return Account(
            name=name, cap=self._caps[name], entries=entries, delta_cap=self._delta_caps[name]
        )

    def known(self, name: str) -> Account:
        """Return the account of a data set that must be there."""
        account = self.find(name)
        if account is None:
            have = ", ".join(repr(known) for known in self.names()) or "none yet"
            raise LedgerError(
                "the ledger has no such data set",
                where=f"data set {name!r}",
                do=f"It has: {have}. Add one with: hedgerow ledger cap NAME EPSILON --new"
                " --reason WHY",
            )
        return account

    def entry(self, entry_id: int) -> Entry:
        """Return the entry with that number."""
        if entry_id not in self._entries:
            raise LedgerError("the ledger has no such entry", where=f"entry {entry_id}")
        return self._entries[entry_id]

    def check_new_name(self, name: str) -> None:
        """Raise if ``name`` could be taken for that of another data set.

        Two names for one data set would be two budgets for it.
        """
        for other in self.names():
            if _sound(other) == _sound(name):
                raise LedgerError(
                    f"the ledger has a data set of nearly the same name, {other!r}",
                    where=f"data set {name!r}",
                    do="If it is the same, use that name; if not, choose one that nobody"
                    " can confuse with it.",
                )

    def _play(self, event: Event) -> None:
        match event.fields:
            case {"kind": "dataset" | "cap", "dataset": name, "cap": cap} as fields:
                self._caps[name] = Fraction(cap)
                # Events of format 1 say nothing of delta: there was none.
                self._delta_caps[name] = Fraction(fields.get("delta_cap", 0))
            case {"kind": "booked" | "outside"} as fields:
                self._entries[event.seq] = _entry(event.seq, fields)
            case {"kind": "released", "entry": at, "release": digest, "at": when}:
                self._end(int(at), state="released", release_digest=digest, ended_at=when)
            case {"kind": "failed", "entry": at, "reason": reason, "at": when}:
                self._end(int(at), state="failed", note=reason, ended_at=when)
            case _:
                raise ValueError("an event of an unknown kind")

    def _end(self, entry_id: int, **changes: Any) -> None:
        self._entries[entry_id] = replace(self._entries[entry_id], **changes)


def check_name(name: str) -> str:
    """Return ``name`` if it can name a data set: 1 to 100 printable characters."""
    fits = 1 <= len(name) <= _MAX_NAME and name.isprintable() and name == name.strip()
    if not fits:
        raise LedgerError(
            f"the name of a data set is 1 to {_MAX_NAME} printable characters",
            where="ledger: dataset",
            do="Give a short name without control characters or blanks at its ends,"
            " such as 'adult-2026'.",
        )
    return unicodedata.normalize("NFC", name)


def one_line(text: str) -> str:
    """Return ``text`` as a note can hold it: one line, printable, at most 500 characters."""
    line = " ".join(text.split())
    return "".join(c for c in line if c.isprintable())[:_MAX_NOTE]


def _sound(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _entry(entry_id: int, fields: dict[str, Any]) -> Entry:
    outside = fields["kind"] == "outside"
    return Entry(
        id=entry_id,
        dataset=fields["dataset"],
        epsilon=Fraction(fields["epsilon"]),
        delta=Fraction(fields.get("delta", 0)),
        state="released" if outside else "booked",
        method=OUTSIDE if outside else fields["method"],
        plan_digest=fields.get("plan"),
        release_digest=None,
        booked_at=fields["at"],
        ended_at=fields["at"] if outside else None,
        note=fields.get("note"),
    )
