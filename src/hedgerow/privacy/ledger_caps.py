"""Whether a booking may be made: the account's name, the caps that were agreed on, the room."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import CapError, DeltaCapError, LedgerError
from hedgerow.privacy.budget import EpsilonLike, parse_delta, parse_epsilon
from hedgerow.privacy.ledger_names import check_new_name, is_plain, sound
from hedgerow.privacy.ledger_state import AccountBalance, State, added
from hedgerow.privacy.ledger_store import BookingDraft


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


def agreed(state: State, name: str, caps: Caps) -> AccountBalance:
    """Return the balance of a data set, or the one it would get, if the caps are right."""
    balance = state.find(name)
    if balance is None:
        check_new(state, name)
        return AccountBalance(name=name, cap=caps.epsilon, delta_cap=caps.delta)
    if balance.cap != caps.epsilon:
        raise LedgerError(
            f"cap {caps.epsilon} was asked for, and the ledger has cap {balance.cap}",
            where=f"data set {name!r}",
            do=f"Write 'cap: {balance.cap}' in the plan, or change the ledger with:"
            f" hedgerow ledger cap {shlex.quote(name)} {caps.epsilon} --reason WHY",
        )
    if balance.delta_cap != caps.delta:
        raise LedgerError(
            f"delta-cap {caps.delta} was asked for, and the ledger has {balance.delta_cap}",
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
    draft: BookingDraft, name: str, caps: Caps, *, reason: str | None = None
) -> AccountBalance:
    """Return the balance of a data set, which is new if the ledger does not have it."""
    balance = agreed(draft.state, name, caps)
    if draft.state.find(name) is None:
        draft.append(
            "dataset",
            dataset=name,
            cap=str(caps.epsilon),
            delta_cap=str(caps.delta),
            reason=reason,
        )
    return balance


def check_room(balance: AccountBalance, asked: Caps) -> None:
    """Raise if a booking would take the data set over a cap."""
    if added(balance.spent, asked.epsilon) > balance.cap:
        raise CapError(
            dataset=balance.name, cap=balance.cap, spent=balance.spent, asked=asked.epsilon
        )
    if added(balance.delta_spent, asked.delta) > balance.delta_cap:
        raise DeltaCapError(
            dataset=balance.name,
            cap=balance.delta_cap,
            spent=balance.delta_spent,
            asked=asked.delta,
        )
