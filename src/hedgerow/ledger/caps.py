"""Decide whether a booking may be made: the account's name, its caps and what is left."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import CapError, DeltaCapError, LedgerError
from hedgerow.ledger.accounts import one_line
from hedgerow.ledger.covers import Cover
from hedgerow.ledger.names import check_new_name, is_plain, sound
from hedgerow.ledger.neighbours import ReleaseNeighbours, check_neighbours
from hedgerow.ledger.state import AccountBalance, State, settled_neighbours
from hedgerow.ledger.store import BookingDraft
from hedgerow.privacy.budget import EpsilonLike, parse_delta, parse_epsilon


@dataclass(frozen=True, kw_only=True)
class Caps:
    """An amount of epsilon and one of delta: caps, or what a release needs."""

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


@dataclass(frozen=True, kw_only=True)
class ReleaseTerms:
    """Terms that a release states to its account.

    ``neighbours`` is what it protects, ``people`` whether the account is that of all tables of some
    people, ``cover`` the part of the table that it reads, ``table`` the name of the table.
    """

    neighbours: ReleaseNeighbours = "record"
    people: bool = False
    cover: Cover | None = None
    table: str | None = None

    def in_parallel(self, balance: AccountBalance) -> Cover | None:
        """Return the cover if no record, or person, is both inside and outside of it.

        A person may have records in several parts of a table, and in several tables: then only a
        person's statement helps, which is part of the cover.
        """
        if self.cover is None or self.cover.disjoint is not None:
            return self.cover
        of_records = settled_neighbours(balance, self.neighbours) == "record"
        return self.cover if of_records else None


RECORDS = ReleaseTerms()


def agreed(state: State, name: str, caps: Caps, terms: ReleaseTerms = RECORDS) -> AccountBalance:
    """Return the balance of a data set, or its future one, if caps and terms agree with it."""
    balance = state.find(name)
    if balance is None:
        check_new(state, name)
        balance = AccountBalance(name=name, cap=caps.epsilon, delta_cap=caps.delta)
    check_neighbours(balance, terms.neighbours, people=terms.people)
    if balance.cap != caps.epsilon:
        raise LedgerError(
            f"The plan has cap {caps.epsilon}, and the ledger has cap {balance.cap}.",
            where=f"data set {name!r}",
            do=f"Write 'cap: {balance.cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {caps.epsilon} --reason WHY",
        )
    if balance.delta_cap != caps.delta:
        raise LedgerError(
            f"The plan has delta-cap {caps.delta}, and the ledger has {balance.delta_cap}.",
            where=f"data set {name!r}",
            do=f"Write 'delta-cap: {balance.delta_cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {balance.cap} --delta {caps.delta}"
            " --reason WHY",
        )
    return balance


def check_new(state: State, name: str, *, but: str | None = None) -> None:
    """Raise if no new data set may have this name, or if it could be mistaken for another.

    Two names for one data set would be two budgets for it. The name ``but`` is about to be removed.
    """
    check_new_name(name)
    for other in (*state.names(), *state.other_names()):
        if other == but or sound(other) != sound(name):
            continue
        do = "If it is the same, use that name; if not, choose one that cannot be confused with it."
        if not is_plain(other):
            do = f"If it is the same: hedgerow ledger rename {shlex.quote(other)} {name}"
        raise LedgerError(
            f"The ledger has a data set of nearly the same name, {other!r}.",
            where=f"data set {name!r}",
            do=do,
        )


def opened(
    draft: BookingDraft,
    name: str,
    caps: Caps,
    *,
    reason: str | None = None,
    terms: ReleaseTerms = RECORDS,
) -> AccountBalance:
    """Return the balance of a data set; add it to the ledger if it is new."""
    balance = agreed(draft.state, name, caps, terms)
    if draft.state.find(name) is None:
        draft.append(
            "dataset",
            dataset=name,
            cap=str(caps.epsilon),
            delta_cap=str(caps.delta),
            reason=reason,
            **({"people": "true"} if terms.people else {}),
        )
    elif terms.people and not balance.people:
        draft.append("people", dataset=balance.name)
    return draft.state.find(name) or balance


def check_room(balance: AccountBalance, needed: Caps, terms: ReleaseTerms = RECORDS) -> None:
    """Raise if a booking would exceed a cap of the data set.

    The amount spent is then the largest for any record of the release.
    """
    cover = terms.in_parallel(balance)
    after = (
        balance.charged(needed.epsilon, needed.delta)
        if cover is None
        else balance.charged(
            needed.epsilon, needed.delta, column=cover.column, key=cover.key, codes=cover.codes
        )
    )
    if after.spent > balance.cap:
        grows = after.spent > balance.spent
        spent = after.spent - needed.epsilon if grows else balance.spent
        error = CapError(dataset=balance.name, cap=balance.cap, spent=spent, needed=needed.epsilon)
        _say_why_it_adds_up(error, balance, terms)
        raise error
    if after.delta_spent > balance.delta_cap:
        grows = after.delta_spent > balance.delta_spent
        raise DeltaCapError(
            dataset=balance.name,
            cap=balance.delta_cap,
            spent=after.delta_spent - needed.delta if grows else balance.delta_spent,
            needed=needed.delta,
        )


def _say_why_it_adds_up(error: CapError, balance: AccountBalance, terms: ReleaseTerms) -> None:
    """Add to the error why a cover does not help, if so."""
    if terms.cover is None:
        return
    column = terms.cover.column
    if terms.in_parallel(balance) is None:
        error.add_note(
            "A person may have records in several parts of the table, so what it covers adds"
            " up with everything else. If nobody can, state so and why: 'people-disjoint:"
            " {confirmed: true, why: WHY}' in covers."
        )
        return
    if any(sums.column == column and key != terms.cover.key for key, sums in balance.covers):
        error.add_note(
            f"Earlier releases cover {column!r} with another domain, or read it in another way, or"
            " were made by a version with other reading rules, so that the ledger cannot compare"
            " their parts with this one. Keep the column's lines, 'reading' and the query the same"
            " in all plans, with a calendar that is long enough from the beginning."
        )
    error.add_note(
        f"This much is spent on the records that it covers ({column}:"
        f" {one_line(terms.cover.values)}); other parts of the table may have more left."
    )
