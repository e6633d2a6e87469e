"""The account of the persistent ledger that books a release, and its entries."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import HedgerowError, LedgerError, PlanError
from hedgerow.ledger.caps import RECORDS
from hedgerow.ledger.key import ColumnKey, read_key
from hedgerow.ledger.ledger import ColumnDigests, Cover, Entry, Ledger, ReleaseTerms, default_path
from hedgerow.ledger.names import is_plain, nearest_plain
from hedgerow.ledger.neighbours import ReleaseNeighbours
from hedgerow.model.certificate import LedgerEntry
from hedgerow.plan.model import Plan

if TYPE_CHECKING:
    from hedgerow.encode.sums import ColumnSums

UNNAMED = "a table without a name"

_NONE = Fraction(0)
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|sqlite:")


@dataclass(frozen=True, kw_only=True)
class ReleaseAccount:
    """The data set's account on the persistent ledger; ``named`` by the plan or by its file.

    ``terms`` are what the release says of itself: whom it protects, what part it reads.
    """

    dataset: str
    cap: Fraction
    file: Path | None
    delta_cap: Fraction = Fraction(0)
    named: bool = True
    terms: ReleaseTerms = RECORDS

    @classmethod
    def of(
        cls, plan: Plan, epsilon: Fraction, data: object, *, cover: Cover | None = None
    ) -> ReleaseAccount:
        """Return the plan's account, for a release that reads the part ``cover``.

        A plan without one gets an account in the name of its data file whose cap is the
        plan's own epsilon: the data can be released once, and then somebody must decide.
        """
        terms = ReleaseTerms(neighbours=neighbours_of(plan), cover=cover)
        if plan.ledger is not None:
            file = None if plan.ledger.file is None else plan.resolve(plan.ledger.file)
            if plan.ledger.people is not None:
                terms = replace(terms, people=True, table=_table_name(plan, data))
            return cls(
                dataset=plan.ledger.name,
                cap=plan.ledger.cap,
                file=file,
                delta_cap=plan.ledger.delta_cap or Fraction(0),
                terms=terms,
            )
        name = dataset_name(plan, data)
        return cls(dataset=name, cap=epsilon, file=None, named=False, terms=terms)

    def check_room(self, epsilon: Fraction, delta: Fraction = _NONE) -> None:
        """Refuse at once what the booking would refuse after reading the data."""
        ledger = Ledger(self.file)
        name = self._name(ledger)
        try:
            ledger.check(
                name,
                epsilon,
                cap=self.cap,
                delta=delta,
                delta_cap=self.delta_cap,
                terms=self.terms,
            )
        except HedgerowError as error:
            if not self.named and ledger.find(name) is not None:
                error.add_note(
                    f"The account is that of every file called {name!r}. If this is a table of"
                    " other people, give them a name of their own: 'ledger: {dataset: NAME,"
                    " cap: CAP}' in the plan."
                )
            raise

    def sums(self) -> ColumnSums:
        """Return what adds up the columns that are read, so that the table is known again."""
        from hedgerow.encode.sums import ColumnSums

        return ColumnSums(self._key().labels)

    def book(
        self,
        epsilon: Fraction,
        *,
        method: str,
        plan_digest: str,
        delta: Fraction = _NONE,
        sums: ColumnSums | None = None,
    ) -> Entry:
        """Book a release; do so before its noise is drawn.

        Records whose ``sums`` are those of another data set are refused.
        """
        ledger, key = Ledger(self.file), self._key()
        entry = ledger.book(
            self._name(ledger),
            epsilon,
            cap=self.cap,
            method=method,
            plan_digest=plan_digest,
            delta=delta,
            delta_cap=self.delta_cap,
            columns=None if sums is None else self._columns(sums, key),
            terms=self.terms,
        )
        return entry if entry.head is None else replace(entry, chain=key.chained(entry.head))

    def _columns(self, sums: ColumnSums, key: ColumnKey) -> ColumnDigests:
        if key.labels != sums.key:
            raise LedgerError(
                "The ledger's key has changed while the data was read. Nothing was booked.",
                where="ledger",
                do="Run it again.",
            )
        return ColumnDigests(key=key.name, digests=key.finished(sums.totals), named=self.named)

    def _key(self) -> ColumnKey:
        return read_key(self.file or default_path())

    def _name(self, ledger: Ledger) -> str:
        """Return what the data set is called on the ledger.

        A name that was taken from a file becomes plain, unless the ledger has it as it is.
        """
        if self.named or is_plain(self.dataset) or ledger.find(self.dataset) is not None:
            return self.dataset
        name, lost = nearest_plain(self.dataset)
        if lost or not name:
            raise LedgerError(
                "The name of the file makes no plain name for the ledger.",
                where="ledger",
                do="Give the data set one: 'ledger: {dataset: NAME, cap: CAP}' in the plan, of"
                " lower-case letters from a to z, digits, '.' and '-'.",
            )
        return name

    def line(self, booking: Entry | None) -> LedgerEntry | None:
        """Return what the certificate says of the booking."""
        if booking is None:
            return None
        return LedgerEntry(
            dataset=booking.dataset,
            cap=self.cap,
            delta_cap=self.delta_cap,
            entry=booking.id,
            people=self.terms.people,
            chain=booking.chain,
        )

    def released(self, booking: Entry | None, digest: str) -> None:
        """Write down that the release is out."""
        if booking is None:
            return
        try:
            Ledger(self.file).released(booking.id, digest)
        except LedgerError as error:
            raise LedgerError(
                f"The release is complete and booked, but entry {booking.id} of the ledger"
                f" could not be marked as released ({error.what.partition(',')[0].rstrip('.')}).",
                where=error.where,
                do="Use the release. Its entry stays 'booked' and counts as spent either way.",
            ) from error

    def failed(self, booking: Entry | None, error: BaseException) -> None:
        """Write down that the release failed; it stays booked either way, and the error says so."""
        if booking is not None:
            error.add_note(
                f"Entry {booking.id} of the ledger stays spent: noise may have been drawn for it."
            )
            with suppress(LedgerError):
                Ledger(self.file).failed(booking.id, type(error).__name__)


def dataset_name(plan: Plan, data: object) -> str:
    """Return what the data set is called: its name on the ledger, or that of its file."""
    name = _given_name(plan, data)
    if name is None:
        raise PlanError(
            "This data set needs a name on the ledger.",
            where="ledger",
            do="Add a section such as 'ledger: {dataset: NAME, cap: 1}' to the plan.",
        )
    return name


def unbooked_name(plan: Plan, data: object) -> str:
    """Return what a data set is called that no ledger needs to know: also if nobody named it."""
    return _given_name(plan, data) or UNNAMED


def neighbours_of(plan: Plan) -> ReleaseNeighbours:
    """Return what releases of a plan protect: a record, a person, or both in one."""
    if plan.person is not None:
        return "person"
    return "both" if plan.one_record_per_person else "record"


def _given_name(plan: Plan, data: object) -> str | None:
    if plan.ledger is not None and plan.ledger.dataset is not None:
        return plan.ledger.dataset
    found = _file_name(plan, data)
    return found if found is not None or plan.ledger is None else plan.ledger.people


def _table_name(plan: Plan, data: object) -> str | None:
    """Return what the ledger calls one of the tables of people: a file's or a table's name."""
    return _file_name(plan, data) or (plan.table if data is None else None)


def _file_name(plan: Plan, data: object) -> str | None:
    place = data if data is not None else plan.data
    if not isinstance(place, str | os.PathLike) or _DATABASE.match(str(place)):
        return None
    return Path(place).name
