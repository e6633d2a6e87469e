"""Whether a booking may be made: the account's name, the caps that were agreed on, the room."""

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


@dataclass(frozen=True, kw_only=True)
class ReleaseTerms:
    """What a release says of itself to its account.

    ``neighbours`` is what it protects, ``people`` that the account is that of all tables of some
    people, ``cover`` the part of the table that it reads, ``table`` what the table is called.
    """

    neighbours: ReleaseNeighbours = "record"
    people: bool = False
    cover: Cover | None = None
    table: str | None = None

    def in_parallel(self, balance: AccountBalance) -> Cover | None:
        """Return the cover if no record, or person, that the account protects is outside of it too.

        A person may have records in several parts of a table, and in several tables: then only
        somebody's word helps, and the cover says whose.
        """
        if self.cover is None or self.cover.disjoint is not None:
            return self.cover
        of_records = settled_neighbours(balance, self.neighbours) == "record"
        return self.cover if of_records else None


RECORDS = ReleaseTerms()


def agreed(state: State, name: str, caps: Caps, terms: ReleaseTerms = RECORDS) -> AccountBalance:
    """Return the balance of a data set, or the one it would get, if caps and terms are right."""
    balance = state.find(name)
    if balance is None:
        check_new(state, name)
        balance = AccountBalance(name=name, cap=caps.epsilon, delta_cap=caps.delta)
    check_neighbours(balance, terms.neighbours, people=terms.people)
    if balance.cap != caps.epsilon:
        raise LedgerError(
            f"cap {caps.epsilon} was needed for, and the ledger has cap {balance.cap}",
            where=f"data set {name!r}",
            do=f"Write 'cap: {balance.cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {caps.epsilon} --reason WHY",
        )
    if balance.delta_cap != caps.delta:
        raise LedgerError(
            f"delta-cap {caps.delta} was needed for, and the ledger has {balance.delta_cap}",
            where=f"data set {name!r}",
            do=f"Write 'delta-cap: {balance.delta_cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {balance.cap} --delta {caps.delta}"
            " --reason WHY",
        )
    return balance


def check_new(state: State, name: str, *, but: str | None = None) -> None:
    """Raise if no new data set may have this name, or if one might be taken for another.

    Two names for one data set would be two budgets for it. The name ``but`` is about to go.
    """
    check_new_name(name)
    for other in (*state.names(), *state.other_names()):
        if other == but or sound(other) != sound(name):
            continue
        do = "If it is the same, use that name; if not, choose one that nobody can confuse with it."
        if not is_plain(other):
            do = f"If it is the same: hedgerow ledger rename {shlex.quote(other)} {name}"
        raise LedgerError(
            f"the ledger has a data set of nearly the same name, {other!r}",
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
    """Return the balance of a data set, which is new if the ledger does not have it."""
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
    """Raise if a booking would take the data set over a cap.

    What is spent of it is then the most that any record of the release has been in before.
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
    """Tell who has given a cover why it does not help, where that is so."""
    if terms.cover is None:
        return
    column = terms.cover.column
    if terms.in_parallel(balance) is None:
        error.add_note(
            "A person may have records in several parts of the table, so what it covers adds up"
            " with everything else. If nobody can, say so and why: 'people-disjoint: {confirmed:"
            " true, why: WHY}' in covers."
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
        f"So much is spent on records that it covers ({column}: {one_line(terms.cover.values)});"
        " other parts of the table may have more left."
    )
