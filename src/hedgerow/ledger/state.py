"""The state to which the events of a ledger add up, one event at a time.

The state is kept beside the chain, so that a booking need not read all earlier events. Every event
holds the digest of the state after it: a modified state, or one of another event, is detected at
once. Reading the whole ledger computes it afresh.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any, Literal

from hedgerow.ledger.covers import FINEST, CodeRanges, CoverSums, added, ranges_in

__all__ = ["FINEST", "AccountBalance", "Neighbours", "State", "added", "played"]

Neighbours = Literal["record", "person", "both"]
"""Neighbours of an account; ``both`` as long as nobody has more than one record."""

_PROTECTS: dict[str | None, str] = {
    "record": "each record; a person with ten records has ten times the privacy loss",
    "person": "each person with all their records",
    "both": "each person; the plans state that nobody has more than one record",
}

_NONE = Fraction(0)


@dataclass(frozen=True, kw_only=True)
class AccountBalance:
    """The caps of a data set, and the sums of what was taken from it.

    ``delta_cap`` is the largest delta of all releases together: with 0, only releases of pure
    epsilon are booked. ``neighbours`` is whose epsilon is added up; ``people`` whether it is the
    account of all tables of some people. ``whole`` is the amount that every record may have been
    charged, and ``covers`` are the amounts spent on parts of the table, by the key of their rule:
    ``spent`` is the largest total for any record.
    """

    name: str
    cap: Fraction
    delta_cap: Fraction = _NONE
    spent: Fraction = _NONE
    delta_spent: Fraction = _NONE
    neighbours: Neighbours | None = None
    people: bool = False
    whole: Fraction = _NONE
    delta_whole: Fraction = _NONE
    covers: tuple[tuple[str, CoverSums], ...] = ()

    @property
    def left(self) -> Fraction:
        """Amount that may still be booked: 0 if the cap was lowered below what is spent."""
        return max(self.cap - self.spent, _NONE)

    @property
    def delta_left(self) -> Fraction:
        """Delta that may still be booked."""
        return max(self.delta_cap - self.delta_spent, _NONE)

    @property
    def is_unrecorded(self) -> bool:
        """Return whether something was spent and its neighbours are not recorded."""
        return self.neighbours is None and bool(self.spent or self.delta_spent)

    @property
    def protects(self) -> str | None:
        """Protection by the spent epsilon, as text; ``None`` before the first release."""
        if self.is_unrecorded:
            return "not stated by the versions that booked it; taken to be each record"
        return _PROTECTS.get(self.neighbours)

    def charged(
        self,
        epsilon: Fraction,
        delta: Fraction,
        *,
        column: str = "",
        key: str | None = None,
        codes: CodeRanges = (),
    ) -> AccountBalance:
        """Return the balance after a release of the whole table, or of ``codes`` of a column."""
        if key is None:
            whole, deltas = added(self.whole, epsilon), added(self.delta_whole, delta)
            return replace(self, whole=whole, delta_whole=deltas).summed()
        covers = dict(self.covers)
        sums = covers.get(key) or CoverSums(column=column)
        covers[key] = sums.charged(codes, epsilon, delta)
        return replace(self, covers=tuple(sorted(covers.items()))).summed()

    def joined(self, other: AccountBalance) -> AccountBalance:
        """Return one account of both: sums add up, the smaller caps hold."""
        covers = dict(self.covers)
        for key, sums in other.covers:
            covers[key] = covers[key].joined(sums) if key in covers else sums
        neighbours = _joint(self, other)
        return AccountBalance(
            name=self.name,
            cap=min(self.cap, other.cap),
            delta_cap=min(self.delta_cap, other.delta_cap),
            neighbours=neighbours,
            people=neighbours == "person",
            whole=added(self.whole, other.whole),
            delta_whole=added(self.delta_whole, other.delta_whole),
            covers=tuple(sorted(covers.items())),
        ).summed()

    def summed(self) -> AccountBalance:
        """Return the balance with its sums: the whole and, of every rule, the largest.

        A record has one code by each rule, and may have any combination of them.
        """
        most = [sums for _, sums in self.covers]
        spent = reduce(added, (each.epsilon for each in most), self.whole)
        deltas = reduce(added, (each.delta for each in most), self.delta_whole)
        return replace(self, spent=spent, delta_spent=deltas)

    def as_dict(self) -> dict[str, Any]:
        """Return the balance for JSON, with exact fractions in text."""
        parts = [
            {"column": sums.column, "rule": key, "most-spent": str(sums.epsilon)}
            for key, sums in self.covers
        ]
        return {
            "dataset": self.name,
            "neighbours": self.neighbours,
            "protects": self.protects,
            "people": self.people,
            "cap": str(self.cap),
            "spent": str(self.spent),
            "left": str(self.left),
            "delta-cap": str(self.delta_cap),
            "delta-spent": str(self.delta_spent),
            "delta-left": str(self.delta_left),
            **({"covers": parts} if parts else {}),
        }


class State:
    """All data sets of a ledger: caps, sums, other names, and pairs of different people.

    It is a table of texts by key, as the file stores it; ``changed`` are the keys to write.
    """

    def __init__(self, rows: Mapping[str, str] | None = None) -> None:
        self._rows = dict(rows or {})
        self._balances: dict[str, AccountBalance] = {}  # read, or changed and not yet written
        self.changed: set[str] = set()

    @property
    def rows(self) -> dict[str, str]:
        """Rows of the state as the file stores it."""
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
        """Return the other names of accounts, each with the name it leads to."""
        keys = (json.loads(key) for key in self.rows)
        return {key[1]: self.called(key[1]) for key in keys if key[0] == "alias"}

    def called(self, name: str) -> str:
        """Return the name of the account to which ``name`` leads, after all joins."""
        while (other := self._rows.get(_key("alias", name))) is not None:
            name = other
        return name

    def find(self, name: str) -> AccountBalance | None:
        """Return the balance of the account to which ``name`` leads, or ``None``."""
        called = self.called(name)
        if called not in self._balances:
            row = self._rows.get(_key("account", called))
            if row is None:
                return None
            self._balances[called] = _balance(called, json.loads(row))
        return self._balances[called]

    def are_different(self, one: str, other: str) -> bool:
        """Return whether a reason why two accounts are of different people is recorded."""
        pair = {self.called(one), self.called(other)}
        keys = (json.loads(key) for key in self.rows)
        different = (key[1:] for key in keys if key[0] == "different")
        return any({self.called(name) for name in names} == pair for names in different)

    def play(self, fields: Mapping[str, Any]) -> None:
        """Change the state by an event."""
        match fields:
            case {"kind": "dataset" | "cap", "dataset": name, "cap": cap}:
                # Events of format 1 have no delta: it was 0.
                self._set_caps(name, Fraction(cap), Fraction(fields.get("delta_cap", 0)))
                if fields.get("people") is not None:
                    self._make_people(name)
            case {"kind": "booked" | "outside", "dataset": name, "epsilon": epsilon}:
                self._spend(name, Fraction(epsilon), Fraction(fields.get("delta", 0)), fields)
            case {"kind": "people", "dataset": name}:
                self._make_people(name)
            case {"kind": "neighbours", "dataset": name, "neighbours": neighbours, "why": str(_)}:
                self._set_neighbours(name, neighbours)
            case {"kind": "rename", "dataset": name, "to": new}:
                self._rename(name, new)
            case {"kind": "same-people", "dataset": name, "other": other}:
                self._join(name, other)
            case {"kind": "different", "dataset": name, "other": other, "why": str(why)}:
                self._put(_key("different", *sorted((name, other))), why)
            case {"kind": "released" | "failed" | "format" | "new-key" | "restored"}:
                pass
            case _:
                raise ValueError("an event of an unknown kind")

    def _set_caps(self, name: str, cap: Fraction, delta_cap: Fraction) -> None:
        known = self.find(name) or AccountBalance(name=name, cap=cap)
        self._keep(replace(known, cap=cap, delta_cap=delta_cap))

    def _spend(
        self, name: str, epsilon: Fraction, delta: Fraction, fields: Mapping[str, Any]
    ) -> None:
        known = self._known(name)
        # Events of formats before 4 have no neighbours, and none of them had a cover.
        neighbours = fields.get("neighbours")
        if neighbours is not None:
            known = replace(known, neighbours=settled_neighbours(known, neighbours))
        key = fields.get("cover_key")
        if key is None:
            self._keep(known.charged(epsilon, delta))
            return
        column, codes = str(fields["cover_column"]), ranges_in(fields["cover_codes"])
        self._keep(known.charged(epsilon, delta, column=column, key=str(key), codes=codes))

    def _make_people(self, name: str) -> None:
        known = self._known(name)
        if known.neighbours == "record" or known.is_unrecorded:
            raise ValueError("an account per record becomes one of people")
        self._keep(replace(known, neighbours="person", people=True))

    def _set_neighbours(self, name: str, neighbours: object) -> None:
        known = self._known(name)
        if not known.is_unrecorded or neighbours not in ("record", "person"):
            raise ValueError("neighbours are recorded that are known already, or unknown ones")
        self._keep(replace(known, neighbours="record" if neighbours == "record" else "person"))

    def _rename(self, name: str, new: str) -> None:
        known = self._known(name)
        if (self.find(new) is not None and self.called(new) != known.name) or new == known.name:
            raise ValueError("a data set gets the name of another, or its own")
        self._drop(new)  # a former name of its own
        self._drop(known.name)
        self._keep(replace(known, name=new))
        self._put(_key("alias", known.name), new)

    def _join(self, name: str, other: str) -> None:
        one, two = self._known(name), self.find(other)
        if two is None:
            if one.neighbours == "person":
                self._keep(replace(one, people=True))
            self._put(_key("alias", other), one.name)
            return
        if one.name == two.name:
            raise ValueError("a data set is joined to itself")
        self._drop(two.name)
        self._keep(one.joined(two))
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
        """Remove the account, or the other name."""
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


def settled_neighbours(balance: AccountBalance, neighbours: object) -> Neighbours | None:
    """Return the neighbours of an account after a release that states its own."""
    match balance.neighbours, neighbours:
        case ("record" | None, "record") | ("record", "both"):
            return "record"
        case ("person", "person" | "both"):
            return "person"
        case (None, "person") if not balance.is_unrecorded:
            return "person"
        case (None, "both"):
            return None if balance.is_unrecorded else "both"
        case ("both", "record"):
            return "record"
        case ("both", "person"):
            return "person"
        case ("both", "both"):
            return "both"
    raise ValueError("a release of other neighbours than its account's")


def _joint(one: AccountBalance, two: AccountBalance) -> Neighbours | None:
    """Return the neighbours of two accounts that have become one."""
    kinds = {one.neighbours, two.neighbours}
    is_unrecorded = one.is_unrecorded or two.is_unrecorded
    if "person" in kinds and (is_unrecorded or "record" in kinds):
        raise ValueError("accounts of different neighbours become one")
    if "record" in kinds:
        return "record"
    if is_unrecorded:
        return None
    if None not in kinds or "person" in kinds:
        return "person"  # one record in each of two tables is two for a person
    return "both" if "both" in kinds else None


_AMOUNTS = ("cap", "delta_cap", "spent", "delta_spent")
_PARTS = ("whole", "delta_whole")


def _row(balance: AccountBalance) -> str:
    """Return an account as the file stores it; as in format 3 if it has nothing newer."""
    facts: dict[str, Any] = {field: str(getattr(balance, field)) for field in _AMOUNTS}
    if balance.neighbours is not None:
        facts["neighbours"] = balance.neighbours
    if balance.people:
        facts["people"] = True
    if balance.covers:
        facts.update({field: str(getattr(balance, field)) for field in _PARTS})
        facts["covers"] = [[key, sums.column, sums.as_list()] for key, sums in balance.covers]
    return json.dumps(facts)


def _balance(name: str, facts: dict[str, Any]) -> AccountBalance:
    amounts = {field: Fraction(facts[field]) for field in _AMOUNTS}
    covers = tuple((key, CoverSums.of_list(column, runs)) for key, column, runs in _covers(facts))
    return AccountBalance(
        name=name,
        **amounts,
        neighbours=facts.get("neighbours"),
        people=bool(facts.get("people")),
        whole=Fraction(facts.get("whole", facts["spent"])),
        delta_whole=Fraction(facts.get("delta_whole", facts["delta_spent"])),
        covers=covers,
    )


def _covers(facts: dict[str, Any]) -> list[Any]:
    return list(facts.get("covers", ()))


def _key(*parts: str) -> str:
    return json.dumps(list(parts), ensure_ascii=False)
