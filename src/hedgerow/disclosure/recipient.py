"""Who gets the records, and what they were given before.

The forms of a run are booked when all of its folder is on the disk, just *before* the folder gets
its name, or, in Python without a folder, before the result is returned. What fails earlier leaves
no trace. A run that fails in between stays booked: its forms count as given until somebody says
that they never were (:func:`withdraw_given`). To count too much makes records coarser; to count too
little would give away more than the certificate says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.confidential import Confidential
from hedgerow.disclosure.forms import (
    TOKEN_BYTES,
    GivenForms,
    KnownForms,
    known_forms,
    spans_of,
    tokens_of,
)
from hedgerow.disclosure.memory_file import MemoryEvent, MemoryFile
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.errors import InternalError, RefusedError, ReleaseError, SettingError
from hedgerow.plan.load import plan_digest
from hedgerow.plan.model import Plan
from hedgerow.release.domains import describe

MEMORY = "given.sqlite"
"""The name of the file, where the plan gives none; it lies beside the plan."""

BY_VALUES = "values"


class UnknownRecipientError(RefusedError):
    """Nothing is remembered of this recipient, and nobody said that it is a new one."""


class OtherRecordsError(RefusedError):
    """What was given before cannot be compared with what this plan would give."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """One disclosure to a recipient: what is remembered of it, but for its forms."""

    number: int
    at: str
    recipient: str
    by: str
    attributes: tuple[tuple[str, str], ...]
    n_records: int
    folder: str | None
    state: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; digests of domains are left out."""
        return {
            "number": self.number,
            "recipient": self.recipient,
            "at": self.at,
            "state": self.state,
            "records": self.n_records,
            "recognised-by": self.by,
            "attributes": [name for name, _ in self.attributes],
            "folder": self.folder,
        }


def memory_of(plan: Plan) -> MemoryFile:
    """Return the file in which a plan remembers what was given to whom."""
    named = None if plan.disclose is None else plan.disclose.memory
    return MemoryFile(plan.resolve(named or MEMORY))


def everything_given(memory: MemoryFile) -> list[Given]:
    """Return all disclosures that are remembered, oldest first, withdrawn ones included."""
    return _given(memory.read()[1]) if memory.exists else []


def withdraw_given(memory: MemoryFile, number: int, *, why: str) -> Given:
    """Say that a disclosure never reached its recipient; from now on it does not count."""
    found = [each for each in everything_given(memory) if each.number == number]
    if not found or found[0].state == "withdrawn":
        raise SettingError(
            "no disclosure of this number counts",
            where=f"disclosure {number}",
            do="See their numbers with: hedgerow given show PLAN",
        )
    memory.append({"kind": "withdrawn", "entry": number, "why": why}, b"")
    return found[0]


@dataclass(kw_only=True, eq=False, repr=False)
class Recipient:
    """Who gets the records of a run, with all that they were given before; confidential."""

    name: str
    by: str
    memory: MemoryFile
    earlier: list[Given]
    forms: list[GivenForms]
    records: Confidential | None = None
    known: KnownForms | None = None

    @classmethod
    def of(cls, ready: PreparedDisclosure) -> Recipient | None:
        """Return whom the plan names, or refuse; no record has been read yet."""
        disclose = ready.disclose
        if disclose.recipient is None:
            return None
        memory = memory_of(ready.plan)
        events = memory.read()[1] if memory.exists else []
        remembered = [each for each in _given(events) if each.state != "withdrawn"]
        mine = [each for each in remembered if _alike(each.recipient, disclose.recipient)]
        by = BY_VALUES if disclose.key is None else f"key {disclose.key}"
        if not mine and not disclose.first:
            raise _unknown(disclose.recipient, memory, remembered)
        if mine and disclose.first:
            raise _known_already(disclose.recipient, memory, mine)
        for each in mine:
            _check_comparable(each, ready, by, memory)
        return cls(
            name=mine[0].recipient if mine else disclose.recipient,
            by=by,
            memory=memory,
            earlier=mine,
            forms=[_forms(events[each.number - 1], each, ready) for each in mine],
        )

    def check_outside(self, destination: Path) -> None:
        """Refuse a folder to write that holds the file: it would be given away, or replaced."""
        if self.memory.path.absolute().is_relative_to(destination.absolute()):
            raise SettingError(
                "what was given to whom would lie in the folder that is given away",
                where="disclose.memory",
                do="Name a file elsewhere, or write to another folder.",
            )

    def recognise(self, given: Confidential, ready: PreparedDisclosure) -> KnownForms:
        """Find the records of a table among those that were given before."""
        self.records = given
        tokens = np.zeros((len(given.rows), TOKEN_BYTES), dtype=np.uint8)
        if self.forms:
            tokens = tokens_of(given, self.memory.read()[0])
        self.known = known_forms(self.forms, tokens, given.table.codes, ready.chains)
        return self.known

    def book(
        self,
        ready: PreparedDisclosure,
        nodes: Sequence[NDArray[np.int32]],
        *,
        folder: str | None,
    ) -> int:
        """Remember that these forms are given, before they are; return their number."""
        if self.records is None:
            raise InternalError("forms are booked of records that nobody has looked up")
        if not self.memory.exists:
            self.memory.make()
        tokens = tokens_of(self.records, self.memory.read()[0])
        forms = GivenForms(tokens=tokens, spans=spans_of(nodes, ready.chains))
        fields = {
            "kind": "given",
            "recipient": self.name,
            "by": self.by,
            "attributes": _domains(ready),
            "records": len(tokens),
            "folder": folder,
            "plan": plan_digest(ready.plan),
        }
        return self.memory.append(fields, forms.packed(), check=self._check_unchanged)

    def _check_unchanged(self, events: Sequence[MemoryEvent]) -> None:
        """Refuse forms that were chosen before something else was given to the same recipient."""
        mine = [
            each.number
            for each in _given(events)
            if _alike(each.recipient, self.name) and each.state != "withdrawn"
        ]
        if mine != [each.number for each in self.earlier]:
            raise ReleaseError(
                f"something was given to {self.name!r}, or withdrawn, while this run was under"
                " way; nothing was written",
                where=str(self.memory.path),
                do="Run the same command again, so that it counts.",
            )

    def released(self, number: int) -> None:
        """Remember that the folder of a booking is in its place."""
        self.memory.append({"kind": "released", "entry": number}, b"")


def _given(events: Sequence[MemoryEvent]) -> list[Given]:
    ends: dict[int, str] = {}
    for event in events:
        if event.fields["kind"] != "given":
            number = int(event.fields["entry"])
            if ends.get(number) != "withdrawn":
                ends[number] = event.fields["kind"]
    return [
        Given(
            number=event.number,
            at=event.fields["at"],
            recipient=event.fields["recipient"],
            by=event.fields["by"],
            attributes=tuple((name, digest) for name, digest in event.fields["attributes"]),
            n_records=event.fields["records"],
            folder=event.fields["folder"],
            state=ends.get(event.number, "booked"),
        )
        for event in events
        if event.fields["kind"] == "given"
    ]


def _domains(ready: PreparedDisclosure) -> list[tuple[str, str]]:
    return [(each.name, describe(each.domain).digest()) for each in ready.schema.attributes]


def _forms(event: MemoryEvent, given: Given, ready: PreparedDisclosure) -> GivenForms:
    names = [name for name, _ in given.attributes]
    attributes = ready.schema.attributes
    places = [names.index(each.name) if each.name in names else -1 for each in attributes]
    sizes = [each.domain.size for each in attributes]
    return GivenForms.unpacked(event.forms).reordered(places, sizes)


def _alike(one: str, other: str) -> bool:
    """Whether two names are the same but for small letters and blanks."""
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _unknown(name: str, memory: MemoryFile, remembered: Sequence[Given]) -> UnknownRecipientError:
    others = sorted({each.recipient for each in remembered})
    listed = f" Known are: {', '.join(others)[:300]}." if others else ""
    return UnknownRecipientError(
        f"nothing is remembered of the recipient {name!r}; nothing was written",
        where=str(memory.path),
        do="If they have nothing from these data yet, say so: --first (in a plan 'first: true')."
        " Otherwise look at the spelling, or put the file that remembers back."
        f"{listed}",
    )


def _known_already(name: str, memory: MemoryFile, mine: Sequence[Given]) -> RefusedError:
    return RefusedError(
        f"{name!r} was given records before, last on {mine[-1].at[:10]}; this is not the first",
        where=str(memory.path),
        do="Leave out --first (in a plan 'first: true'). What never reached them is taken back"
        " with: hedgerow given withdraw PLAN NUMBER --reason TEXT",
    )


def _check_comparable(each: Given, ready: PreparedDisclosure, by: str, memory: MemoryFile) -> None:
    """Refuse a plan whose forms cannot be laid over those of an earlier disclosure."""
    now = dict(_domains(ready))
    before = dict(each.attributes)
    missing = [name for name in before if name not in now]
    other = [name for name in before if name in now and now[name] != before[name]]
    new = [name for name in now if name not in before]
    elsewhere = "If these are other data, name another file: 'disclose: {memory: FILE}'."
    if by != each.by:
        what = f"its records were recognised by {each.by}, these would be by {by}"
        do = "Recognise them the same way ('disclose: {key: ...}')."
    elif missing:
        what = f"it gave the attribute {missing[0]!r}, which is not in this plan"
        do = "Add it to the attributes."
    elif other:
        what = f"the domain or taxonomy of {other[0]!r} was another one"
        do = "Use the domain of that time."
    elif new and by == BY_VALUES:
        what = f"records are recognised by their values, and {new[0]!r} was not among them"
        do = "Drop the attribute, or disclose with a key from the beginning."
    else:
        return
    raise OtherRecordsError(
        f"disclosure {each.number} to {each.recipient!r} cannot be compared: {what}; nothing was"
        " written",
        where=str(memory.path),
        do=f"{do} {elsewhere}",
    )
