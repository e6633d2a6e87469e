"""What the events of a ledger add up to, one event at a time.

The state is kept beside the chain, so that a booking need not read all that came before it.
Every event names the digest of the state that it leaves behind: a state that was changed, or
that belongs to another event, shows at once. Reading the whole ledger computes it afresh.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

FINEST = 10**60
"""Sums are exact down to fractions of this denominator, and are rounded up beyond it."""

_NONE = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class AccountBalance:
    """The caps of a data set, and the sums of what was taken from it.

    ``delta_cap`` is the most delta of all releases together: with 0, only releases of pure
    epsilon are booked.
    """

    name: str
    cap: Fraction
    delta_cap: Fraction = _NONE
    spent: Fraction = _NONE
    delta_spent: Fraction = _NONE

    @property
    def left(self) -> Fraction:
        """What may still be booked: 0 if the cap was lowered below what is spent."""
        return max(self.cap - self.spent, _NONE)

    @property
    def delta_left(self) -> Fraction:
        """What delta may still be booked."""
        return max(self.delta_cap - self.delta_spent, _NONE)

    def as_dict(self) -> dict[str, Any]:
        """Return the balance for JSON, with exact fractions in text."""
        return {
            "dataset": self.name,
            "cap": str(self.cap),
            "spent": str(self.spent),
            "left": str(self.left),
            "delta-cap": str(self.delta_cap),
            "delta-spent": str(self.delta_spent),
            "delta-left": str(self.delta_left),
        }


def added(total: Fraction, amount: Fraction) -> Fraction:
    """Return the sum: exact, or rounded up where its denominator has more than 60 digits.

    Privacy: never less than the exact sum. Two hundred fractions of 29 digits would have a sum
    of 5,800, and each booking would take longer than the last.

    >>> added(Fraction(1, 3), Fraction(1, 6))
    Fraction(1, 2)
    """
    exact = total + amount
    return exact if exact.denominator <= FINEST else Fraction(ceil(exact * FINEST), FINEST)


class State:
    """All data sets of a ledger: caps, sums, other names, and pairs that were told apart.

    It is a table of texts by key, as the file keeps it; ``changed`` are the keys to write.
    """

    def __init__(self, rows: Mapping[str, str] | None = None) -> None:
        self._rows = dict(rows or {})
        self._balances: dict[str, AccountBalance] = {}  # read, or changed and not yet written
        self.changed: set[str] = set()

    @property
    def rows(self) -> dict[str, str]:
        """The state as the file keeps it."""
        for name, balance in self._balances.items():
            self._rows[_key("account", name)] = _row(balance)
        self._balances.clear()
        return self._rows

    def digest(self) -> str:
        """Return the SHA-256 digest of the whole state."""
        rows = self.rows
        lines = "".join(f"{key}\n{rows[key]}\n" for key in sorted(rows))
        return hashlib.sha256(lines.encode()).hexdigest()

    def names(self) -> tuple[str, ...]:
        """Return the names of the data sets, sorted."""
        keys = (json.loads(key) for key in self.rows)
        return tuple(sorted(key[1] for key in keys if key[0] == "account"))

    def other_names(self) -> dict[str, str]:
        """Return the names that lead to another account, and to which."""
        keys = (json.loads(key) for key in self.rows)
        return {key[1]: self.called(key[1]) for key in keys if key[0] == "alias"}

    def called(self, name: str) -> str:
        """Return the name of the account that ``name`` leads to, after all that were joined."""
        while (other := self._rows.get(_key("alias", name))) is not None:
            name = other
        return name

    def find(self, name: str) -> AccountBalance | None:
        """Return the balance of the account that ``name`` leads to, or ``None``."""
        called = self.called(name)
        if called not in self._balances:
            row = self._rows.get(_key("account", called))
            if row is None:
                return None
            amounts = {field: Fraction(text) for field, text in json.loads(row).items()}
            self._balances[called] = AccountBalance(name=called, **amounts)
        return self._balances[called]

    def told_apart(self, one: str, other: str) -> bool:
        """Return whether a person has said why two accounts are of different people."""
        pair = {self.called(one), self.called(other)}
        keys = (json.loads(key) for key in self.rows)
        apart = (key[1:] for key in keys if key[0] == "different")
        return any({self.called(name) for name in names} == pair for names in apart)

    def play(self, fields: Mapping[str, Any]) -> None:
        """Change the state as an event says."""
        match fields:
            case {"kind": "dataset" | "cap", "dataset": name, "cap": cap}:
                # Events of format 1 say nothing of delta: there was none.
                self._set_caps(name, Fraction(cap), Fraction(fields.get("delta_cap", 0)))
            case {"kind": "booked" | "outside", "dataset": name, "epsilon": epsilon}:
                self._spend(name, Fraction(epsilon), Fraction(fields.get("delta", 0)))
            case {"kind": "rename", "dataset": name, "to": new}:
                self._rename(name, new)
            case {"kind": "same-people", "dataset": name, "other": other}:
                self._join(name, other)
            case {"kind": "different", "dataset": name, "other": other, "why": str(why)}:
                self._put(_key("different", *sorted((name, other))), why)
            case {"kind": "released" | "failed" | "format" | "new-key"}:
                pass
            case _:
                raise ValueError("an event of an unknown kind")

    def _set_caps(self, name: str, cap: Fraction, delta_cap: Fraction) -> None:
        known = self.find(name) or AccountBalance(name=name, cap=cap)
        self._keep(replace(known, cap=cap, delta_cap=delta_cap))

    def _spend(self, name: str, epsilon: Fraction, delta: Fraction) -> None:
        known = self._known(name)
        spent, deltas = added(known.spent, epsilon), added(known.delta_spent, delta)
        self._keep(replace(known, spent=spent, delta_spent=deltas))

    def _rename(self, name: str, new: str) -> None:
        known = self._known(name)
        if (self.find(new) is not None and self.called(new) != known.name) or new == known.name:
            raise ValueError("a data set gets the name of another, or its own")
        self._drop(new)  # a name that it had before
        self._drop(known.name)
        self._keep(replace(known, name=new))
        self._put(_key("alias", known.name), new)

    def _join(self, name: str, other: str) -> None:
        one, two = self._known(name), self.find(other)
        if two is None:
            self._put(_key("alias", other), one.name)
            return
        if one.name == two.name:
            raise ValueError("a data set is joined to itself")
        self._drop(two.name)
        self._keep(
            AccountBalance(
                name=one.name,
                cap=min(one.cap, two.cap),
                delta_cap=min(one.delta_cap, two.delta_cap),
                spent=added(one.spent, two.spent),
                delta_spent=added(one.delta_spent, two.delta_spent),
            )
        )
        self._put(_key("alias", two.name), one.name)

    def _known(self, name: str) -> AccountBalance:
        balance = self.find(name)
        if balance is None:
            raise ValueError("an event of an unknown data set")
        return balance

    def _keep(self, balance: AccountBalance) -> None:
        self._balances[balance.name] = balance
        self.changed.add(_key("account", balance.name))

    def _put(self, key: str, row: str) -> None:
        self._rows[key] = row
        self.changed.add(key)

    def _drop(self, name: str) -> None:
        """Take away the account, or the other name, that is called so."""
        self._balances.pop(name, None)
        for key in (_key("account", name), _key("alias", name)):
            self._rows.pop(key, None)
            self.changed.add(key)


def played(events: Iterable[Mapping[str, Any]]) -> State:
    """Return the state after all these events."""
    state = State()
    for fields in events:
        state.play(fields)
    return state


def _row(balance: AccountBalance) -> str:
    amounts = ("cap", "delta_cap", "spent", "delta_spent")
    return json.dumps({field: str(getattr(balance, field)) for field in amounts})


def _key(*parts: str) -> str:
    return json.dumps(list(parts), ensure_ascii=False)
