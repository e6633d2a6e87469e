"""How attributes follow from columns of dates, as `recoding.json` says it."""

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
    """A column of dates and how they are written."""

    column: str
    format: DateFormat

    @classmethod
    def of(cls, column: DateColumn) -> StoredDates:
        """Return a column as it is stored."""
        return cls(column=column.name, format=column.format)

    def restored(self) -> DateColumn:
        """Return the column."""
        return DateColumn(name=self.column, format=self.format)


class StoredDerivation(_Stored):
    """How values follow from columns of dates; ``at`` is a date."""

    what: Derived
    start: StoredDates = Field(alias="from")
    until: StoredDates | None = None
    at: datetime.date | None = None

    @classmethod
    def of(cls, derivation: Derivation) -> StoredDerivation:
        """Return a derivation as it is stored."""
        start, until = StoredDates.of(derivation.start), None
        if derivation.until is not None:
            until = StoredDates.of(derivation.until)
        at = None if derivation.at is None else date_text(derivation.at)
        facts = {"what": derivation.what, "from": start, "until": until, "at": at}
        return cls.model_validate(facts)

    def facts(self) -> dict[str, Any]:
        """Return what the file says of it."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def restored(self) -> Derivation:
        """Return the derivation."""
        until = None if self.until is None else self.until.restored()
        at = None if self.at is None else day_number(self.at)
        return Derivation(what=self.what, start=self.start.restored(), until=until, at=at)


def attribute_facts(attribute: Attribute) -> dict[str, Any]:
    """Return what is public of an attribute: all that is needed to encode new values."""
    facts: dict[str, Any] = {
        "name": attribute.name,
        "domain": describe(attribute.domain).facts(),
    }
    if attribute.derivation is not None:
        facts["derived"] = StoredDerivation.of(attribute.derivation).facts()
    return facts
