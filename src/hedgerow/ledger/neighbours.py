"""Whose epsilon an account adds up: that of one record, or of one person with all of theirs.

What a release costs one record is several times that for a person who has several, and a
guarantee for whole persons says little of a single record that is changed. Sums of both kinds
mean nothing, so an account has one kind, which its first booking fixes. A release of a table in
which nobody has more than one record is of both kinds.
"""

from __future__ import annotations

import shlex
from typing import Literal, get_args

from hedgerow.errors import LedgerError
from hedgerow.ledger.state import AccountBalance, Neighbours

ReleaseNeighbours = Literal["record", "person", "both"]
"""What one release protects: a record, a person, or a person who has one record."""

_KINDS = get_args(ReleaseNeighbours)

_HOW = (
    "Give the plan 'person: COLUMN' and 'records-per-person', or, where nobody has more than one"
    " record, 'one-record-per-person: true'"
)


def check_neighbours(
    balance: AccountBalance, given: ReleaseNeighbours, *, people: bool = False
) -> None:
    """Raise if an account adds up another kind of epsilon than a release has.

    ``people`` says that the plan takes it for the account of all tables of some people.
    """
    if given not in _KINDS:
        raise LedgerError(
            f"there are no neighbours {given!r}",
            where="neighbours",
            do=f"Give one of: {', '.join(_KINDS)}.",
        )
    where = f"data set {balance.name!r}"
    name = shlex.quote(balance.name)
    if given == "record" and (people or balance.people or balance.neighbours == "person"):
        raise LedgerError(
            "the account adds up what releases cost a person with all their records, and this"
            " release has an epsilon per record, which is several per person; nothing was booked",
            where=f"people {balance.name!r}" if people or balance.people else where,
            do=f"{_HOW}. Records have an account of their own: 'ledger: {{dataset: NAME, ...}}'.",
        )
    if given == "person" and balance.neighbours == "record":
        raise LedgerError(
            "the account adds up what releases cost one record, and this release has an epsilon"
            " per person; nothing was booked",
            where=where,
            do="Give these people an account of their own, for all tables that they are in:"
            " 'ledger: {people: NAME, cap: CAP}' in the plan. What was spent per record is several"
            " times that per person: book it there with 'hedgerow ledger spend'.",
        )
    if (given == "person" or people) and balance.untold:
        raise LedgerError(
            "nobody has told the ledger whether what was spent from this account so far was per"
            " record or per person: earlier versions did not write it down; nothing was booked",
            where=where,
            do="If all of it was per person (plans with 'person'), say so once: hedgerow ledger"
            f" neighbours {name} person --reason TEXT\n"
            "If not, give these people an account of their own: 'ledger: {people: NAME, cap:"
            " CAP}'.",
        )
    if people and balance.neighbours == "record":
        raise LedgerError(
            "the account adds up what releases cost one record, so it cannot be the account of"
            " people; nothing was booked",
            where=f"people {balance.name!r}",
            do="Choose another name for the people, and book there what was spent before, as it"
            " is per person, with 'hedgerow ledger spend'.",
        )


def check_alike(one: AccountBalance, two: AccountBalance) -> None:
    """Raise if two accounts add up different kinds of epsilon, and so cannot become one."""
    kinds = {"record" if each.untold else each.neighbours for each in (one, two)}
    if kinds >= {"record", "person"}:
        per = {name: _per(each) for name, each in ((one.name, one), (two.name, two))}
        told = ", ".join(f"{name!r} {words}" for name, words in per.items())
        raise LedgerError(
            "an epsilon per record is several per person, so the two cannot be added up",
            where="ledger",
            do=f"They stay two accounts: {told}. Publish both tables with 'person', on one account"
            " 'ledger: {people: NAME, cap: CAP}', and book there what was spent before, as it is"
            " per person, with 'hedgerow ledger spend'. Where the ledger takes one table for both,"
            f" then say so: hedgerow ledger different {shlex.quote(one.name)}"
            f" {shlex.quote(two.name)} --reason TEXT",
        )


def check_untold(balance: AccountBalance) -> None:
    """Raise if there is nothing to tell: the account has its kind, or has spent nothing."""
    if not balance.untold:
        known: Neighbours | None = balance.neighbours
        raise LedgerError(
            f"the account is of {known} neighbours already"
            if known in ("record", "person")
            else "the account's next release decides that",
            where=f"data set {balance.name!r}",
            do="There is nothing to do.",
        )


def _per(balance: AccountBalance) -> str:
    if balance.untold:
        return "(not told, and so taken to be per record)"
    return f"per {balance.neighbours}"
