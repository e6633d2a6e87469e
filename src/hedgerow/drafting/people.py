"""Whose records they are: what a draft says where a column seems to name people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hedgerow.drafting.profile import Profile
from hedgerow.drafting.propose import Proposal
from hedgerow.plan.people import names_people


@dataclass(frozen=True, kw_only=True)
class Whose:
    """The column that names people, and whether each of them has one record (confidential)."""

    column: str
    is_once: bool

    @property
    def reason(self) -> str:
        """What was seen."""
        seen = "has no value twice" if self.is_once else "seems to say whose record it is"
        return f"{self.column!r} {seen}"


def whose_records(proposed: Sequence[Proposal], profiles: Mapping[str, Profile]) -> Whose | None:
    """Return which left-out column says whose record it is; one with repeated values first."""
    named = [
        profiles[one.name]
        for one in proposed
        if one.role == "identifier" and names_people(one.name)
    ]
    found = [
        Whose(column=one.name, is_once=one.complete and one.is_unique and not one.n_missing)
        for one in named
    ]
    return min(found, key=lambda whose: whose.is_once, default=None)
