"""The neighbours of an account: one record, or one person with all records.

The cost of a release per record is several times larger per person with several records, and a
guarantee for persons says little about a single record that changes. Sums of both kinds mean
nothing, so an account has one kind, fixed by its first booking. A release of a table in which
nobody has more than one record is of both kinds.
"""

from __future__ import annotations

import shlex
from typing import Literal, get_args

from hedgerow.errors import LedgerError
from hedgerow.ledger.state import AccountBalance, Neighbours

ReleaseNeighbours = Literal["record", "person", "both"]
"""Protection by one release: a record, a person, or a person who has one record."""

_KINDS = get_args(ReleaseNeighbours)

_HOW = (
    "Give the plan 'person: COLUMN' and 'records-per-person', or, if nobody has more than one"
    " record, 'one-record-per-person: true'"
)


def check_neighbours(
    balance: AccountBalance, neighbours: ReleaseNeighbours, *, people: bool = False
) -> None:
    """Raise if an account adds up another kind of epsilon than a release has.

    ``people`` is whether the plan takes it for the account of all tables of some people.
    """
    if neighbours not in _KINDS:
        raise LedgerError(
            f"{neighbours!r} is not a kind of neighbours.",
            where="neighbours",
            do=f"Give one of: {', '.join(_KINDS)}.",
        )
    where = f"data set {balance.name!r}"
    name = shlex.quote(balance.name)
    if neighbours == "record" and (people or balance.people or balance.neighbours == "person"):
        raise LedgerError(
            "The account adds up the cost of releases to a person with all records, and this"
            " release has an epsilon per record, which is several times larger per person."
            " Nothing was booked.",
            where=f"people {balance.name!r}" if people or balance.people else where,
            do=f"{_HOW}. Records have an account of their own: 'ledger: {{dataset: NAME, ...}}'.",
        )
    if neighbours == "person" and balance.neighbours == "record":
        raise LedgerError(
            "The account adds up the cost of releases to one record, and this release has an"
            " epsilon per person. Nothing was booked.",
            where=where,
            do="Give these people an account of their own, for all tables that they are in:"
            " 'ledger: {people: NAME, cap: CAP}' in the plan. What was spent per record is several"
            " times that per person: book it there with 'hedgerow ledger spend'.",
        )
    if (neighbours == "person" or people) and balance.is_unrecorded:
        raise LedgerError(
            "It is not recorded whether the epsilon spent from this account so far was per"
            " record or per person: earlier versions did not record it. Nothing was booked.",
            where=where,
            do=(
                "If all of it was per person (plans with 'person'), record it once: hedgerow"
                f" ledger neighbours {name} person --reason TEXT\n"
                f"If not, give these people an account of their own: 'ledger: {{people: NAME, cap:"
                f" CAP}}'."
            ),
        )
    if people and balance.neighbours == "record":
        raise LedgerError(
            "The account adds up the cost of releases to one record, so it cannot be the"
            " account of people. Nothing was booked.",
            where=f"people {balance.name!r}",
            do="Choose another name for the people, and book there what was spent before, as it"
            " is per person, with 'hedgerow ledger spend'.",
        )


def check_alike(one: AccountBalance, two: AccountBalance) -> None:
    """Raise if two accounts add up different kinds of epsilon, and so cannot become one."""
    kinds = {"record" if each.is_unrecorded else each.neighbours for each in (one, two)}
    if kinds >= {"record", "person"}:
        per = {name: _per(each) for name, each in ((one.name, one), (two.name, two))}
        kinds_text = ", ".join(f"{name!r} {words}" for name, words in per.items())
        raise LedgerError(
            "An epsilon per record is several times larger per person, so the two cannot be"
            " added up.",
            where="ledger",
            do=(
                f"They stay two accounts: {kinds_text}. Publish both tables with 'person', on one"
                f" account 'ledger: {{people: NAME, cap: CAP}}', and book there what was spent"
                " before, as it is per person, with 'hedgerow ledger spend'. If the ledger takes"
                " one table for both, record that they differ: hedgerow ledger different"
                f" {shlex.quote(one.name)} {shlex.quote(two.name)} --reason TEXT"
            ),
        )


def check_unrecorded(balance: AccountBalance) -> None:
    """Raise if there is nothing to record: the neighbours are known, or nothing is spent."""
    if not balance.is_unrecorded:
        known: Neighbours | None = balance.neighbours
        raise LedgerError(
            f"The account is of {known} neighbours already."
            if known in ("record", "person")
            else "The account's next release decides that.",
            where=f"data set {balance.name!r}",
            do="There is nothing to do.",
        )


def _per(balance: AccountBalance) -> str:
    if balance.is_unrecorded:
        return "(not recorded, and so taken to be per record)"
    return f"per {balance.neighbours}"
