"""Recipients of records, and their earlier disclosures.

The generalisations of a run are booked when its complete folder is on the disk, just *before* the
folder gets its name or, in Python without a folder, before the result is returned. A run that fails
earlier leaves no trace. A run that fails in between stays booked: its generalisations count as
disclosed until somebody states that they never were (:func:`withdraw_given`). Counting too much
makes records coarser; counting too little would disclose more than the certificate says.
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
    DisclosedBoxes,
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
"""Default name of the file, which is beside the plan."""

BY_VALUES = "values"


class UnknownRecipientError(RefusedError):
    """No disclosure to this recipient is recorded, and the plan does not say that it is new."""


class OtherRecordsError(RefusedError):
    """Earlier disclosures cannot be compared with this plan."""


@dataclass(frozen=True, kw_only=True)
class PastDisclosure:
    """A disclosure to a recipient as it is recorded, without its generalisations."""

    number: int
    at: str
    recipient: str
    by: str
    attributes: tuple[tuple[str, str], ...]
    n_records: int
    folder: str | None
    state: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON, without the digests of domains."""
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
    """Return the file in which a plan records its disclosures."""
    named = None if plan.disclose is None else plan.disclose.memory
    return MemoryFile(plan.resolve(named or MEMORY))


def everything_given(memory: MemoryFile) -> list[PastDisclosure]:
    """Return all recorded disclosures, oldest first, withdrawn ones included."""
    return _past_disclosures(memory.read()[1]) if memory.exists else []


def withdraw_given(memory: MemoryFile, number: int, *, why: str) -> PastDisclosure:
    """Record that a disclosure never reached its recipient, so that it no longer counts."""
    found = [each for each in everything_given(memory) if each.number == number]
    if not found or found[0].state == "withdrawn":
        raise SettingError(
            "This is not the number of a disclosure that counts.",
            where=f"disclosure {number}",
            do="List their numbers with: hedgerow given show PLAN",
        )
    memory.append({"kind": "withdrawn", "entry": number, "why": why}, b"")
    return found[0]


@dataclass(kw_only=True, eq=False, repr=False)
class Recipient:
    """The recipient of a run, with all earlier disclosures to them; confidential."""

    name: str
    by: str
    memory: MemoryFile
    earlier: list[PastDisclosure]
    forms: list[DisclosedBoxes]
    records: Confidential | None = None
    known: KnownForms | None = None

    @classmethod
    def of(cls, ready: PreparedDisclosure) -> Recipient | None:
        """Return the recipient that the plan names, or refuse; no record has been read yet."""
        disclose = ready.disclose
        if disclose.recipient is None:
            return None
        memory = memory_of(ready.plan)
        events = memory.read()[1] if memory.exists else []
        remembered = [each for each in _past_disclosures(events) if each.state != "withdrawn"]
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
        """Refuse an output folder that contains the file: it would be given away, or replaced."""
        if self.memory.path.absolute().is_relative_to(destination.absolute()):
            raise SettingError(
                "The record of disclosures would be inside the folder that is given away.",
                where="disclose.memory",
                do="Name a file elsewhere, or write to another folder.",
            )

    def recognise(self, confidential: Confidential, ready: PreparedDisclosure) -> KnownForms:
        """Find the records of a table among those disclosed earlier."""
        self.records = confidential
        tokens = np.zeros((len(confidential.rows), TOKEN_BYTES), dtype=np.uint8)
        if self.forms:
            tokens = tokens_of(confidential, self.memory.read()[0])
        self.known = known_forms(self.forms, tokens, confidential.table.codes, ready.chains)
        return self.known

    def book(
        self,
        ready: PreparedDisclosure,
        nodes: Sequence[NDArray[np.int32]],
        *,
        folder: str | None,
    ) -> int:
        """Record these generalisations before they are disclosed; return the number."""
        if self.records is None:
            raise InternalError("Generalisations are booked for records that were not looked up.")
        if not self.memory.exists:
            self.memory.make()
        tokens = tokens_of(self.records, self.memory.read()[0])
        forms = DisclosedBoxes(tokens=tokens, spans=spans_of(nodes, ready.chains))
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
        """Refuse a result that is older than the recipient's latest disclosure."""
        mine = [
            each.number
            for each in _past_disclosures(events)
            if _alike(each.recipient, self.name) and each.state != "withdrawn"
        ]
        if mine != [each.number for each in self.earlier]:
            raise ReleaseError(
                f"A disclosure to {self.name!r} was made or withdrawn during this run. Nothing"
                " was written.",
                where=str(self.memory.path),
                do="Run the same command again to take it into account.",
            )

    def released(self, number: int) -> None:
        """Record that the folder of a booking is in its place."""
        self.memory.append({"kind": "released", "entry": number}, b"")


def _past_disclosures(events: Sequence[MemoryEvent]) -> list[PastDisclosure]:
    ends: dict[int, str] = {}
    for event in events:
        if event.fields["kind"] != "given":
            number = int(event.fields["entry"])
            if ends.get(number) != "withdrawn":
                ends[number] = event.fields["kind"]
    return [
        PastDisclosure(
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


def _forms(
    event: MemoryEvent, disclosed: PastDisclosure, ready: PreparedDisclosure
) -> DisclosedBoxes:
    names = [name for name, _ in disclosed.attributes]
    attributes = ready.schema.attributes
    places = [names.index(each.name) if each.name in names else -1 for each in attributes]
    sizes = [each.domain.size for each in attributes]
    return DisclosedBoxes.unpacked(event.forms).reordered(places, sizes)


def _alike(one: str, other: str) -> bool:
    """Return whether two names are equal up to case and spaces."""
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _unknown(
    name: str, memory: MemoryFile, remembered: Sequence[PastDisclosure]
) -> UnknownRecipientError:
    others = sorted({each.recipient for each in remembered})
    listed = f" Known recipients: {', '.join(others)[:300]}." if others else ""
    return UnknownRecipientError(
        f"No disclosure to {name!r} is recorded. Nothing was written.",
        where=str(memory.path),
        do="If they have received nothing from these data yet, use --first (in a plan"
        " 'first: true'). Otherwise check the spelling, or restore the record of disclosures."
        f"{listed}",
    )


def _known_already(name: str, memory: MemoryFile, mine: Sequence[PastDisclosure]) -> RefusedError:
    return RefusedError(
        f"{name!r} received records before, last on {mine[-1].at[:10]}; this is not the first"
        " time.",
        where=str(memory.path),
        do="Omit --first (in a plan 'first: true'). If something never reached them, withdraw it"
        " with: hedgerow given withdraw PLAN NUMBER --reason TEXT",
    )


def _check_comparable(
    each: PastDisclosure, ready: PreparedDisclosure, by: str, memory: MemoryFile
) -> None:
    """Refuse a plan whose generalisations cannot be compared with an earlier disclosure's."""
    now = dict(_domains(ready))
    before = dict(each.attributes)
    missing = [name for name in before if name not in now]
    other = [name for name in before if name in now and now[name] != before[name]]
    new = [name for name in now if name not in before]
    elsewhere = "If these are other data, name another file: 'disclose: {memory: FILE}'."
    if by != each.by:
        what = f"its records were identified by {each.by}, this plan's are by {by}"
        do = "Identify them the same way ('disclose: {key: ...}')."
    elif missing:
        what = f"it disclosed the attribute {missing[0]!r}, which is not in this plan"
        do = "Add it to the attributes."
    elif other:
        what = f"the domain or taxonomy of {other[0]!r} has changed"
        do = "Use the earlier domain."
    elif new and by == BY_VALUES:
        what = f"records are identified by their values, and {new[0]!r} was not among them"
        do = "Drop the attribute, or use a key from the first disclosure on."
    else:
        return
    raise OtherRecordsError(
        f"Disclosure {each.number} to {each.recipient!r} cannot be compared: {what}. Nothing"
        " was written.",
        where=str(memory.path),
        do=f"{do} {elsewhere}",
    )
