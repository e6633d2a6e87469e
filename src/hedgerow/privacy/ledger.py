"""The persistent ledger: what all releases from a data set have cost together.

Every release of a data set adds to what can be learnt about the people in it. The
ledger keeps the exact sums of epsilon and delta (basic composition) and refuses to go over
the caps that were agreed on; without a cap for delta, none may be spent. A release books
what it costs *before* noise is drawn; the booking is on the disk when ``book``
returns, and it stays spent whatever happens after.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.errors import CapError, DeltaCapError, LedgerError, RefusedError
from hedgerow.privacy.budget import EpsilonLike, parse_delta, parse_epsilon
from hedgerow.privacy.ledger_accounts import (
    Account,
    Accounts,
    Entry,
    State,
    check_name,
    one_line,
)
from hedgerow.privacy.ledger_store import SCHEMA_VERSION, BookingDraft, LedgerStore

__all__ = ["Account", "Entry", "Ledger", "State", "default_path"]


def default_path() -> Path:
    """Return where the ledger is when nobody says: ``HEDGEROW_LEDGER`` or the user's state."""
    if named := os.environ.get("HEDGEROW_LEDGER"):
        return Path(named).expanduser()
    return _state_folder() / "hedgerow" / "ledger.sqlite"


class Ledger:
    """The ledger in one file; made at first use unless ``create`` is false.

    Any number of processes may use one file at the same time. An instance holds no
    open file; every call reads and checks the whole ledger again.

    Privacy: nothing confidential goes in. Data set names, caps, sums, methods, digests
    and notes are for everyone who may read the file.
    """

    def __init__(
        self, path: Path | str | None = None, *, create: bool = True, timeout: float = 30.0
    ) -> None:
        place = default_path() if path is None else Path(path)
        self._store = LedgerStore(place, create=create, timeout=timeout)
        self.verify()

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    def verify(self) -> tuple[int, str]:
        """Return the number of events and the last digest, after checking the whole chain.

        Whoever keeps the digest elsewhere can show later that nothing before it changed.
        """
        events = self._store.events()
        Accounts(events)
        return len(events), events[-1].digest if events else ""

    def accounts(self) -> tuple[Account, ...]:
        """Return all data sets, by name."""
        accounts = self._read()
        return tuple(accounts.known(name) for name in accounts.names())

    def account(self, dataset: str) -> Account:
        """Return one data set: cap, sums and entries."""
        return self._read().known(check_name(dataset))

    def entries(self, dataset: str) -> tuple[Entry, ...]:
        """Return everything taken from a data set, oldest first."""
        return self.account(dataset).entries

    def spent(self, dataset: str) -> Fraction:
        """Return the exact sum of what was booked, failed releases included."""
        return self.account(dataset).spent

    def left(self, dataset: str) -> Fraction:
        """Return what may still be booked."""
        return self.account(dataset).left

    def open_dataset(
        self, name: str, cap: EpsilonLike, reason: str = "", *, delta_cap: EpsilonLike = 0
    ) -> Account:
        """Return the account of a data set, new with these caps or there with the same."""
        limits, why = Caps.of(cap, delta_cap), one_line(reason) or None
        with self._store.writing() as draft:
            return _opened(draft, check_name(name), limits, reason=why)

    def check(
        self,
        dataset: str,
        epsilon: EpsilonLike,
        *,
        cap: EpsilonLike,
        delta: EpsilonLike = 0,
        delta_cap: EpsilonLike = 0,
    ) -> Account:
        """Return the account that ``book`` would take from, or raise what it would raise.

        Books nothing and adds no data set. Another process may be faster, so only
        ``book`` decides; this spares a reading of the data that would be in vain.
        """
        asked = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        account = _agreed(self._read(), check_name(dataset), Caps.of(cap, delta_cap))
        _check_room(account, asked)
        return account

    def book(
        self,
        dataset: str,
        epsilon: EpsilonLike,
        *,
        cap: EpsilonLike,
        method: str,
        plan_digest: str,
        reproducible: bool = False,
        delta: EpsilonLike = 0,
        delta_cap: EpsilonLike = 0,
    ) -> Entry:
        """Take ``epsilon`` and ``delta`` from a data set before a release draws its noise.

        Raises ``CapError`` or ``DeltaCapError`` if that would take the data set over a cap,
        and ``RefusedError`` for a seeded run: its noise can be drawn again by anyone who has
        the seed, so no budget makes it a release.

        Privacy: the check and the booking are one transaction, so releases that run at
        the same time never book more than the cap together.
        """
        if reproducible:
            raise RefusedError(
                "a seeded run is not private, so the ledger does not book it as a release",
                where="seed",
                do="Leave out the seed to publish, or the ledger to experiment.",
            )
        asked = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        limits = Caps.of(cap, delta_cap)
        with self._store.writing() as draft:
            account = _opened(draft, check_name(dataset), limits)
            _check_room(account, asked)
            event = draft.append(
                "booked",
                dataset=account.name,
                epsilon=str(asked.epsilon),
                delta=str(asked.delta),
                method=one_line(method),
                plan=one_line(plan_digest),
            )
            return Accounts(draft.events).entry(event.seq)

    def book_outside(
        self, dataset: str, epsilon: EpsilonLike, *, note: str, delta: EpsilonLike = 0
    ) -> Entry:
        """Write down what was spent without hedgerow; it counts like any other.

        What has happened is booked even over the cap: after that, nothing else is.
        """
        asked = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        why = _said(note, "note")
        with self._store.writing() as draft:
            account = Accounts(draft.events).known(check_name(dataset))
            event = draft.append(
                "outside",
                dataset=account.name,
                epsilon=str(asked.epsilon),
                delta=str(asked.delta),
                note=why,
            )
            return Accounts(draft.events).entry(event.seq)

    def released(self, entry_id: int, release_digest: str) -> Entry:
        """Write down that the release of a booking is out; ``release_digest`` names it."""
        return self._end(entry_id, "released", release=one_line(release_digest))

    def failed(self, entry_id: int, reason: str) -> Entry:
        """Write down that the release of a booking failed. It stays spent.

        Noise may have been drawn, and someone may have seen it. ``reason`` is kept for
        good, so it must hold nothing of the data.
        """
        return self._end(entry_id, "failed", reason=one_line(reason))

    def set_cap(
        self,
        dataset: str,
        cap: EpsilonLike,
        reason: str,
        *,
        delta_cap: EpsilonLike | None = None,
    ) -> Account:
        """Change the caps of a data set for good, and keep why.

        A cap below what is spent closes the data set. Without ``delta_cap`` that of delta
        stays as it is.
        """
        limit, why = parse_epsilon(cap, where="cap"), _said(reason, "reason")
        with self._store.writing() as draft:
            account = Accounts(draft.events).known(check_name(dataset))
            kept = account.delta_cap
            deltas = kept if delta_cap is None else parse_delta(delta_cap, where="delta-cap")
            draft.append(
                "cap",
                dataset=account.name,
                cap=str(limit),
                delta_cap=str(deltas),
                reason=why,
            )
            return Accounts(draft.events).known(account.name)

    def export(self) -> dict[str, Any]:
        """Return the whole ledger for JSON: the accounts, and the chain that proves them."""
        events = self._store.events()
        accounts = Accounts(events)
        return {
            "format": SCHEMA_VERSION,
            "datasets": [accounts.known(name).as_dict() for name in accounts.names()],
            "events": [{"body": event.body, "digest": event.digest} for event in events],
        }

    def _read(self) -> Accounts:
        return Accounts(self._store.events())

    def _end(self, entry_id: int, kind: State, **fields: str) -> Entry:
        with self._store.writing() as draft:
            entry = Accounts(draft.events).entry(entry_id)
            if entry.state != "booked":
                raise LedgerError(
                    f"it is {entry.state} already and cannot become {kind}",
                    where=f"entry {entry_id}",
                    do="Book again for another release.",
                )
            draft.append(kind, entry=str(entry_id), **fields)
            return Accounts(draft.events).entry(entry_id)


@dataclass(frozen=True, kw_only=True)
class Caps:
    """An amount of epsilon and one of delta: caps, or what a release asks for."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(
        cls,
        epsilon: EpsilonLike,
        delta: EpsilonLike,
        *,
        where: tuple[str, str] = ("cap", "delta-cap"),
    ) -> Caps:
        """Return both amounts as exact fractions."""
        return cls(
            epsilon=parse_epsilon(epsilon, where=where[0]),
            delta=parse_delta(delta, where=where[1]),
        )


def _agreed(accounts: Accounts, name: str, caps: Caps) -> Account:
    """Return the account of a data set, or the one it would get, if the caps are right."""
    account = accounts.find(name)
    if account is None:
        accounts.check_new_name(name)
        return Account(name=name, cap=caps.epsilon, entries=(), delta_cap=caps.delta)
    if account.cap != caps.epsilon:
        raise LedgerError(
            f"cap {caps.epsilon} was asked for, and the ledger has cap {account.cap}",
            where=f"data set {name!r}",
            do=f"Write 'cap: {account.cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {caps.epsilon} --reason WHY",
        )
    if account.delta_cap != caps.delta:
        raise LedgerError(
            f"delta-cap {caps.delta} was asked for, and the ledger has {account.delta_cap}",
            where=f"data set {name!r}",
            do=f"Write 'delta-cap: {account.delta_cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {account.cap} --delta {caps.delta}"
            " --reason WHY",
        )
    return account


def _opened(draft: BookingDraft, name: str, caps: Caps, *, reason: str | None = None) -> Account:
    accounts = Accounts(draft.events)
    account = _agreed(accounts, name, caps)
    if accounts.find(name) is None:
        draft.append(
            "dataset",
            dataset=name,
            cap=str(caps.epsilon),
            delta_cap=str(caps.delta),
            reason=reason,
        )
    return account


def _check_room(account: Account, asked: Caps) -> None:
    if account.spent + asked.epsilon > account.cap:
        raise CapError(
            dataset=account.name, cap=account.cap, spent=account.spent, asked=asked.epsilon
        )
    if account.delta_spent + asked.delta > account.delta_cap:
        raise DeltaCapError(
            dataset=account.name,
            cap=account.delta_cap,
            spent=account.delta_spent,
            asked=asked.delta,
        )


def _said(text: str, what: str) -> str:
    line = one_line(text)
    if not line:
        raise LedgerError(
            f"the {what} is empty", where="ledger", do=f"Say why in a {what} of one line."
        )
    return line


def _state_folder() -> Path:
    """Return the folder where this system keeps the lasting state of programs."""
    try:
        if (xdg := Path(os.environ.get("XDG_STATE_HOME", ""))).is_absolute():
            return xdg
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return Path(local) if local else Path.home() / "AppData" / "Local"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support"
        return Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise LedgerError(
            "there is no home folder to keep the ledger in",
            where="ledger",
            do="Name a file with --ledger or HEDGEROW_LEDGER.",
        ) from error
