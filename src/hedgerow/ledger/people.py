"""Check whether the records of a release are on the ledger already, under another name.

The ledger keeps a keyed digest of every column that was read (see `ColumnKey`). Records whose
shared columns, two or more, all agree with those of another account are taken for the same: the
booking is refused until a person states that they are, or why they are not.

Privacy: a digest is a function of confidential data, kept for the owner alone. It is in no
event, so no export holds it, and no message does. *That* a booking is refused here depends on
the data: it is for the owner's eyes, like every message of `publish`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from hedgerow.errors import LedgerError, SameRecordsError
from hedgerow.ledger.store import BookingDraft

ENOUGH = 2
"""Number of columns that two tables must share to be taken for one."""


@dataclass(frozen=True, kw_only=True)
class ColumnDigests:
    """Digests that identify a table; ``named`` is whether a person chose its name on the ledger."""

    key: str = field(repr=False)
    digests: Mapping[str, str] = field(repr=False)
    named: bool = True


def check_people(draft: BookingDraft, dataset: str, columns: ColumnDigests) -> None:
    """Raise if these records are another account's, or not those that this account had."""
    _check_key(draft, columns.key)
    tables = _alike(draft, columns.digests)
    for other in sorted({draft.state.called(owner) for owner in tables.values()}):
        if other != dataset and not draft.state.are_different(other, dataset):
            raise _same(other, dataset)
    if not columns.named and not _may_be_own(draft, dataset, columns.digests):
        raise SameRecordsError(
            "The ledger has this name for a table that does not agree with this one.",
            where=f"data set {dataset!r}",
            do="The name was taken from the data's file. Give these people one of their own:"
            " 'ledger: {dataset: NAME, cap: CAP}' in the plan, with the same name for all"
            " tables of the same people.",
        )


def _may_be_own(draft: BookingDraft, dataset: str, digests: Mapping[str, str]) -> bool:
    """Return whether an account has no table yet, or one that agrees in all shared columns."""
    rows = draft.rows.tables_of(dataset)
    agrees: dict[int, bool] = {}
    for table, name, digest in rows:
        if name in digests:
            agrees[table] = agrees.get(table, True) and digests[name] == digest
    return not rows or any(agrees.values())


def keep_columns(draft: BookingDraft, dataset: str, columns: ColumnDigests) -> None:
    """Store the digests of the table, unless they are known already."""
    tables = _alike(draft, columns.digests)
    for table in (table for table, owner in tables.items() if owner == dataset):
        if set(columns.digests) <= set(draft.rows.columns_of(table)):
            return
    draft.rows.add_table(dataset, columns.digests)
    if columns.key not in draft.rows.keys():  # noqa: SIM118 (a query, not a mapping)
        draft.rows.put_key(columns.key, "")


def move_columns(draft: BookingDraft, old: str, new: str) -> None:
    """Give the tables of one account to another."""
    draft.rows.move_tables(old, new)


def _alike(draft: BookingDraft, digests: Mapping[str, str]) -> dict[int, str]:
    """Return the tables whose shared columns, two or more, all agree, and their accounts."""
    found: dict[int, str] = {}
    for digest in digests.values():
        found.update(draft.rows.tables_with(digest))
    alike = {}
    for table, dataset in found.items():
        columns = draft.rows.columns_of(table)
        shared = [digests[name] == digest for name, digest in columns.items() if name in digests]
        if len(shared) >= ENOUGH and all(shared):
            alike[table] = dataset
    return alike


def _check_key(draft: BookingDraft, key: str) -> None:
    """Refuse a key other than the one of the stored digests: nothing would agree."""
    names = draft.rows.keys()
    if names and key not in names:
        raise LedgerError(
            "The key beside the ledger is not the one with which its tables were recognised so"
            " far.",
            where="ledger",
            do="Put the key back where it was. If it is lost: hedgerow ledger new-key"
            " --reason TEXT",
        )


def forget_key(draft: BookingDraft) -> None:
    """Forget everything that was recognised under a lost key."""
    draft.rows.forget_tables()


def _same(other: str, dataset: str) -> SameRecordsError:
    one, two = shlex.quote(other), shlex.quote(dataset)
    return SameRecordsError(
        f"These records are on the ledger already, as data set {other!r}. Nothing was booked.",
        where=f"data set {dataset!r}",
        do=(
            "If they are the same people, use that name in the plan, or make both names one"
            f" account, which cannot be undone: hedgerow ledger same-people {one} {two}\n"
            f"If they are not, record why: hedgerow ledger different {one} {two} --reason TEXT"
        ),
    )
