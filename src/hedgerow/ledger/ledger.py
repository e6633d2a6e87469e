"""The persistent ledger: the joint cost of all releases from a data set.

Every release of a data set adds to what can be learnt about the people in it. The ledger keeps the
exact sums of epsilon and delta (basic composition) and refuses to exceed the agreed caps; without a
cap for delta, none may be spent. The cost of a release is booked *before* noise is drawn; the
booking is on the disk when ``book`` returns, and it stays spent whatever happens after.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import LedgerError, RefusedError
from hedgerow.ledger.accounts import (
    Account,
    Entry,
    EntryState,
    accounts_of,
    entry_of,
    known,
    one_line,
    reason_text,
)
from hedgerow.ledger.caps import (
    RECORDS,
    Caps,
    ReleaseTerms,
    agreed,
    check_new,
    check_room,
    opened,
)
from hedgerow.ledger.covers import Cover, codes_text
from hedgerow.ledger.mark import read_key_file
from hedgerow.ledger.names import known_as
from hedgerow.ledger.neighbours import check_alike, check_unrecorded
from hedgerow.ledger.people import (
    ColumnDigests,
    check_people,
    forget_key,
    keep_columns,
    move_columns,
)
from hedgerow.ledger.state import AccountBalance
from hedgerow.ledger.store import SCHEMA_VERSION, BookingDraft, LedgerStore
from hedgerow.privacy.budget import EpsilonLike, parse_delta, parse_epsilon

__all__ = [
    "Account",
    "AccountBalance",
    "ColumnDigests",
    "Cover",
    "Entry",
    "Ledger",
    "ReleaseTerms",
    "default_path",
]


def default_path() -> Path:
    """Return the default path of the ledger: ``HEDGEROW_LEDGER`` or the user's state folder."""
    if named := os.environ.get("HEDGEROW_LEDGER"):
        return Path(named).expanduser()
    return _state_folder() / "hedgerow" / "ledger.sqlite"


class Ledger:
    """Ledger: the privacy budgets of data sets, in one file.

    Any number of processes may use one file at the same time. An instance holds no open file;
    each call reads the ledger again. Calls that show entries verify all of it; bookings verify
    its sums and its end, so their time does not depend on the number of entries.

    Parameters
    ----------
    path : path, optional
        File of the ledger. By default the user's, or that in ``HEDGEROW_LEDGER``.
    create : bool, default=True
        Create a missing ledger when it is first used.
    timeout : float, default=30.0
        Seconds to wait for other processes.
    restored : bool, default=False
        Accept a file that is older than its key has seen, to call `restored`.

    Raises
    ------
    LedgerError
        On first use, if the ledger is missing, modified or on a network file system.

    Notes
    -----
    Privacy: shows nothing confidential. Data set names, caps, sums, methods, digests of releases
    and notes are visible to everyone who can read the file; the keyed digests of columns in it
    are for the data owner only.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "ledger.sqlite"))
    ...     _ = ledger.open_dataset("visits", 4)
    ...     _ = ledger.book_outside("visits", 1, note="counts for the ministry")
    ...     ledger.left("visits")
    Fraction(3, 1)

    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        create: bool = True,
        timeout: float = 30.0,
        restored: bool = False,
    ) -> None:
        where = default_path() if path is None else Path(path)
        self._store = LedgerStore(where, create_missing=create, timeout=timeout, restored=restored)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._store.path

    def verify(self) -> tuple[int, str]:
        """Return the number of events and the last digest, after checking the whole chain.

        A person who keeps the digest elsewhere can show later that nothing before it changed.
        """
        events, _ = self._store.events()
        return len(events), events[-1].digest if events else ""

    def accounts(self) -> tuple[Account, ...]:
        """Return all data sets, sorted by name."""
        return accounts_of(*self._store.events())

    def account(self, dataset: str) -> Account:
        """Return one data set: cap, sums and entries."""
        events, state = self._store.events()
        name = known(state, known_as(dataset)).name
        return next(each for each in accounts_of(events, state) if each.name == name)

    def entries(self, dataset: str) -> tuple[Entry, ...]:
        """Return everything taken from a data set, oldest first."""
        return self.account(dataset).entries

    def balance(self, dataset: str) -> AccountBalance:
        """Return the caps and sums of a data set, without its entries."""
        with self._store.reading() as draft:
            return known(draft.state, known_as(dataset))

    def find(self, dataset: str) -> AccountBalance | None:
        """Return the caps and sums of a data set, or ``None`` if the ledger does not have it."""
        with self._store.reading() as draft:
            return draft.state.find(known_as(dataset))

    def entry(self, entry_id: int) -> Entry:
        """Return the entry with that number."""
        with self._store.reading() as draft:
            return _entry(draft, entry_id)

    def spent(self, dataset: str) -> Fraction:
        """Return the sum of what was booked, failed releases included."""
        return self.balance(dataset).spent

    def left(self, dataset: str) -> Fraction:
        """Return the amount that may still be booked."""
        return self.balance(dataset).left

    def open_dataset(
        self,
        name: str,
        cap: EpsilonLike,
        reason: str = "",
        *,
        delta_cap: EpsilonLike = 0,
        people: bool = False,
    ) -> AccountBalance:
        """Return the balance of a data set, created with these caps or existing with the same.

        With ``people`` it is the account of all tables with some people.
        """
        limits, why = Caps.of(cap, delta_cap), one_line(reason) or None
        terms = ReleaseTerms(neighbours="both", people=people)
        with self._store.writing() as draft:
            return opened(draft, known_as(name), limits, reason=why, terms=terms)

    def check(
        self,
        dataset: str,
        epsilon: EpsilonLike,
        *,
        cap: EpsilonLike,
        delta: EpsilonLike = 0,
        delta_cap: EpsilonLike = 0,
        terms: ReleaseTerms = RECORDS,
    ) -> AccountBalance:
        """Return the balance from which ``book`` would take, or raise what it would raise.

        Books nothing and adds no data set. Another process may be faster, so only ``book`` decides;
        this spares a useless reading of the data.
        """
        needed = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        with self._store.reading() as draft:
            balance = agreed(draft.state, known_as(dataset), Caps.of(cap, delta_cap), terms)
        check_room(balance, needed, terms)
        return balance

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
        columns: ColumnDigests | None = None,
        terms: ReleaseTerms = RECORDS,
    ) -> Entry:
        """Take ``epsilon`` and ``delta`` from a data set before a release draws its noise.

        Raises ``CapError`` or ``DeltaCapError`` if a cap of the data set would be exceeded,
        ``SameRecordsError`` if its ``columns`` are those of another data set, and ``RefusedError``
        for a seeded run: everyone who has the seed can draw its noise again, so no budget makes it
        a release. ``terms`` are what the release states: neighbours other than the account's are
        refused.

        Privacy: the check and the booking are one transaction, so releases that run at the same
        time never book more than the cap together. Releases of parts that have no record, or
        person, in common cost the largest of their amounts (docs/privacy.md, "Covers").
        """
        if reproducible:
            raise RefusedError(
                "A seeded run is not private, so the ledger does not book it as a release.",
                where="seed",
                do="Leave out the seed to publish, or the ledger to experiment.",
            )
        needed = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        limits = Caps.of(cap, delta_cap)
        with self._store.writing() as draft:
            balance = opened(draft, known_as(dataset), limits, terms=terms)
            check_room(balance, needed, terms)
            if columns is not None:
                check_people(draft, balance.name, columns)
                keep_columns(draft, balance.name, columns)
            event = draft.append(
                "booked",
                dataset=balance.name,
                epsilon=str(needed.epsilon),
                delta=str(needed.delta),
                method=one_line(method),
                plan=one_line(plan_digest),
                neighbours=terms.neighbours,
                **_terms(terms, balance),
            )
            return replace(entry_of(event.fields, None, draft.state), head=event.digest)

    def book_outside(
        self, dataset: str, epsilon: EpsilonLike, *, note: str, delta: EpsilonLike = 0
    ) -> Entry:
        """Book epsilon that was spent without hedgerow; it counts like any other.

        What has happened is booked even above the cap: after that, nothing else is.
        """
        needed = Caps.of(epsilon, delta, where=("epsilon", "delta"))
        why = reason_text(note, "note")
        with self._store.writing() as draft:
            event = draft.append(
                "outside",
                dataset=known(draft.state, known_as(dataset)).name,
                epsilon=str(needed.epsilon),
                delta=str(needed.delta),
                note=why,
            )
            return entry_of(event.fields, None, draft.state)

    def released(self, entry_id: int, release_digest: str) -> Entry:
        """Mark a booking as released; ``release_digest`` identifies the release."""
        return self._end(entry_id, "released", release=one_line(release_digest))

    def failed(self, entry_id: int, reason: str) -> Entry:
        """Mark a booking as failed. It stays spent.

        Noise may have been drawn, and somebody may have seen it. ``reason`` is kept permanently, so
        it must hold nothing of the data.
        """
        return self._end(entry_id, "failed", reason=one_line(reason))

    def set_cap(
        self,
        dataset: str,
        cap: EpsilonLike,
        reason: str,
        *,
        delta_cap: EpsilonLike | None = None,
    ) -> AccountBalance:
        """Change the caps of a data set permanently, and keep the reason.

        A cap below what is spent closes the data set. Without ``delta_cap`` the cap of delta stays.
        """
        limit, why = parse_epsilon(cap, where="cap"), reason_text(reason, "reason")
        with self._store.writing() as draft:
            balance = known(draft.state, known_as(dataset))
            kept = balance.delta_cap
            deltas = kept if delta_cap is None else parse_delta(delta_cap, where="delta-cap")
            draft.append(
                "cap",
                dataset=balance.name,
                cap=str(limit),
                delta_cap=str(deltas),
                reason=why,
            )
            return known(draft.state, balance.name)

    def rename(self, old: str, new: str) -> AccountBalance:
        """Give a data set a plain name, with its caps and all that was spent.

        The old name leads to the account from then on and is never that of another.
        """
        with self._store.writing() as draft:
            balance = known(draft.state, known_as(old))
            if new == balance.name:
                raise LedgerError(
                    "The data set has this name already.",
                    where=f"data set {new!r}",
                    do="There is nothing to do.",
                )
            if draft.state.called(new) != balance.name:  # nor a former name of its own
                check_new(draft.state, new, but=balance.name)
            draft.append("rename", dataset=balance.name, to=new)
            move_columns(draft, balance.name, new)
            return known(draft.state, new)

    def same_people(self, dataset: str, other: str) -> AccountBalance:
        """Join two data sets into one account, which cannot be undone.

        Sums add up, and the smaller caps hold. ``other`` may be a name that the ledger does not
        have yet: it then leads to the account. Two accounts of persons become one of people; costs
        per record are never added to costs per person.
        """
        with self._store.writing() as draft:
            one, two = known(draft.state, known_as(dataset)), known_as(other)
            if draft.state.called(two) == one.name:
                raise LedgerError(
                    "Both names belong to one account already.",
                    where=f"data set {one.name!r}",
                    do="There is nothing to do.",
                )
            joined = draft.state.find(two)
            if joined is None:
                check_new(draft.state, two, but=one.name)
            else:
                check_alike(one, joined)
            two = draft.state.called(two)
            draft.append("same-people", dataset=one.name, other=two)
            move_columns(draft, two, one.name)
            return known(draft.state, one.name)

    def tell_neighbours(
        self, dataset: str, neighbours: Literal["record", "person"], why: str
    ) -> AccountBalance:
        """Record whose epsilon was spent from an account before this was recorded."""
        reason = reason_text(why, "reason")
        with self._store.writing() as draft:
            balance = known(draft.state, known_as(dataset))
            check_unrecorded(balance)
            draft.append("neighbours", dataset=balance.name, neighbours=neighbours, why=reason)
            return known(draft.state, balance.name)

    def different(self, dataset: str, other: str, why: str) -> None:
        """Record why two data sets are of different people although their records agree."""
        reason = reason_text(why, "reason")
        with self._store.writing() as draft:
            one, two = (
                known(draft.state, known_as(dataset)).name,
                draft.state.called(known_as(other)),
            )
            if draft.state.find(two) is None:
                check_new(draft.state, two)
            if one == two:
                raise LedgerError(
                    "Both names belong to one account, which cannot be undone.",
                    where=f"data set {one!r}",
                    do="Book on that account.",
                )
            draft.append("different", dataset=one, other=two, why=reason)

    def new_key(self, why: str) -> None:
        """Forget the digests of tables, because the key to them is lost."""
        reason = reason_text(why, "reason")
        with self._store.writing() as draft:
            forget_key(draft)
            draft.append("new-key", reason=reason)

    def restored(self, why: str) -> None:
        """Continue with a backup that is older than the highest event that its key file has seen.

        Open the ledger with ``restored=True`` for this. What was spent since the backup was made
        must be booked by hand.
        """
        reason = reason_text(why, "reason")
        held = read_key_file(self.path)
        with self._store.writing() as draft:
            seen = "" if held is None or held.mark is None else str(held.mark.events)
            draft.append("restored", why=reason, seen=seen)

    def key_notes(self) -> list[str]:
        """Return notices about the key file: missing, of another ledger, or older."""
        return self._store.key_notes()

    def heads(self) -> dict[int, str]:
        """Return the digest of the chain after every event, all checked."""
        events, _ = self._store.events()
        return {event.seq: event.digest for event in events}

    def export(self) -> dict[str, Any]:
        """Return the whole ledger for JSON: the accounts, and the chain that proves them."""
        events, state = self._store.events()
        return {
            "format": SCHEMA_VERSION,
            "datasets": [account.as_dict() for account in accounts_of(events, state)],
            "events": [{"body": event.body, "digest": event.digest} for event in events],
        }

    def _end(self, entry_id: int, kind: EntryState, **fields: str) -> Entry:
        with self._store.writing() as draft:
            entry = _entry(draft, entry_id)
            if entry.state != "booked":
                raise LedgerError(
                    f"It is {entry.state} already and cannot become {kind}.",
                    where=f"entry {entry_id}",
                    do="Book again for another release.",
                )
            draft.append(kind, entry=str(entry_id), **fields)
            return _entry(draft, entry_id)


def _terms(terms: ReleaseTerms, balance: AccountBalance) -> dict[str, str]:
    """Return what the event of a booking records of its terms; unset terms are omitted."""
    recorded = {} if terms.table is None else {"table": one_line(terms.table)}
    cover = terms.cover
    if cover is None:
        return recorded
    recorded |= {"cover_column": cover.column, "cover_values": one_line(cover.values)}
    if terms.in_parallel(balance) is not None:
        recorded |= {"cover_key": cover.key, "cover_codes": codes_text(cover.codes)}
    if cover.disjoint is not None:
        recorded["cover_disjoint"] = reason_text(cover.disjoint, "reason")
    return recorded


def _entry(draft: BookingDraft, entry_id: int) -> Entry:
    event, end = draft.event(entry_id), draft.end_of(entry_id)
    if event is not None:
        with draft.sensible():
            fields = event.fields
            if fields["kind"] in {"booked", "outside"}:
                return entry_of(fields, None if end is None else end.fields, draft.state)
    raise LedgerError(
        "The ledger does not have this entry.",
        where=f"entry {entry_id}",
        do="'hedgerow ledger show NAME' lists the entries of a data set.",
    )


def _state_folder() -> Path:
    """Return the folder where this system keeps the persistent state of programs."""
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
            "There is no home folder for the ledger.",
            where="ledger",
            do="Name a file with --ledger or HEDGEROW_LEDGER.",
        ) from error
