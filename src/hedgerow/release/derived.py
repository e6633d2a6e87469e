"""The derivation of attributes from columns of dates, as `recoding.json` stores it."""

from __future__ import annotations

import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hedgerow.model.dates import DateFormat
from hedgerow.model.derive import DateColumn, Derivation, Derived
from hedgerow.model.schema import Attribute
from hedgerow.release.domains import describe
from hedgerow.taxonomy.calendar import date_text, day_number


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StoredDates(_Stored):
    """A column of dates and its format."""

    column: str
    format: DateFormat

    @classmethod
    def of(cls, column: DateColumn) -> StoredDates:
        """Return the stored form of a column."""
        return cls(column=column.name, format=column.format)

    def restored(self) -> DateColumn:
        """Return the column."""
        return DateColumn(name=self.column, format=self.format)


class StoredDerivation(_Stored):
    """The derivation of values from columns of dates; ``at`` is a date."""

    what: Derived
    start: StoredDates = Field(alias="from")
    until: StoredDates | None = None
    at: datetime.date | None = None

    @classmethod
    def of(cls, derivation: Derivation) -> StoredDerivation:
        """Return the stored form of a derivation."""
        start, until = StoredDates.of(derivation.start), None
        if derivation.until is not None:
            until = StoredDates.of(derivation.until)
        at = None if derivation.at is None else date_text(derivation.at)
        facts = {"what": derivation.what, "from": start, "until": until, "at": at}
        return cls.model_validate(facts)

    def facts(self) -> dict[str, Any]:
        """Return the stored facts of the derivation."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def restored(self) -> Derivation:
        """Return the derivation."""
        until = None if self.until is None else self.until.restored()
        at = None if self.at is None else day_number(self.at)
        return Derivation(what=self.what, start=self.start.restored(), until=until, at=at)


def attribute_facts(attribute: Attribute) -> dict[str, Any]:
    """Return the public facts of an attribute, which suffice to encode new values."""
    facts: dict[str, Any] = {
        "name": attribute.name,
        "domain": describe(attribute.domain).facts(),
    }
    if attribute.derivation is not None:
        facts["derived"] = StoredDerivation.of(attribute.derivation).facts()
    return facts
