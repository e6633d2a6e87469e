"""Which account of the persistent ledger books a release, and what it is told of it."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.errors import LedgerError, PlanError
from hedgerow.model.certificate import LedgerEntry
from hedgerow.plan.model import Plan
from hedgerow.privacy.ledger import Entry, Ledger

_NONE = Fraction(0)
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|sqlite:")


@dataclass(frozen=True, kw_only=True)
class ReleaseAccount:
    """The data set's account on the persistent ledger."""

    dataset: str
    cap: Fraction
    file: Path | None
    delta_cap: Fraction = Fraction(0)

    @classmethod
    def of(cls, plan: Plan, epsilon: Fraction, data: Any) -> ReleaseAccount:
        """Return the plan's account.

        A plan without one gets an account in the name of its data file whose cap is the
        plan's own epsilon: the data can be released once, and then somebody must decide.
        """
        if plan.ledger is not None:
            file = None if plan.ledger.file is None else plan.resolve(plan.ledger.file)
            return cls(
                dataset=plan.ledger.dataset,
                cap=plan.ledger.cap,
                file=file,
                delta_cap=plan.ledger.delta_cap or Fraction(0),
            )
        return cls(dataset=dataset_name(plan, data), cap=epsilon, file=None)

    def check_room(self, epsilon: Fraction, delta: Fraction = _NONE) -> None:
        """Refuse at once what the booking would refuse after reading the data."""
        Ledger(self.file).check(
            self.dataset, epsilon, cap=self.cap, delta=delta, delta_cap=self.delta_cap
        )

    def book(
        self, epsilon: Fraction, *, method: str, plan_digest: str, delta: Fraction = _NONE
    ) -> Entry:
        """Book a release; do so before its noise is drawn."""
        return Ledger(self.file).book(
            self.dataset,
            epsilon,
            cap=self.cap,
            method=method,
            plan_digest=plan_digest,
            delta=delta,
            delta_cap=self.delta_cap,
        )

    def line(self, booking: Entry | None) -> LedgerEntry | None:
        """Return what the certificate says of the booking."""
        if booking is None:
            return None
        return LedgerEntry(
            dataset=self.dataset, cap=self.cap, delta_cap=self.delta_cap, entry=booking.id
        )

    def released(self, booking: Entry | None, digest: str) -> None:
        """Write down that the release is out."""
        if booking is None:
            return
        try:
            Ledger(self.file).released(booking.id, digest)
        except LedgerError as error:
            raise LedgerError(
                f"the release is complete and booked, but entry {booking.id} of the ledger could"
                f" not be marked as released ({error.what.partition(',')[0]})",
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


def dataset_name(plan: Plan, data: Any) -> str:
    """Return what the data set is called: its name on the ledger, or that of its file."""
    if plan.ledger is not None:
        return plan.ledger.dataset
    place = data if data is not None else plan.data
    if not isinstance(place, str | os.PathLike) or _DATABASE.match(str(place)):
        raise PlanError(
            "this data set needs a name on the ledger",
            where="ledger",
            do="Add a section such as 'ledger: {dataset: NAME, cap: 1}' to the plan.",
        )
    return Path(place).name
