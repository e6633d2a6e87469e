"""The part of a plan for the dates of a column and their format."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from hedgerow.model.dates import DATE_FORMATS, DateFormat, DateStep
from hedgerow.plan.fields import PlanModel, mistake, shown

FIRST_YEAR = 1000
_WRITE = "Give a date such as 2020-01-31."


def _date(value: object) -> datetime.date:
    if isinstance(value, datetime.datetime):
        value = value.date()
    if isinstance(value, str):
        try:
            value = datetime.datetime.strptime(value.strip(), "%Y-%m-%d").date()
        except ValueError:
            raise mistake(f"{shown(value)} is not a date of the calendar.", _WRITE) from None
    if not isinstance(value, datetime.date):
        raise mistake("This is not a date.", _WRITE)
    if value.year < FIRST_YEAR:
        raise mistake(f"The date is before the year {FIRST_YEAR}.", _WRITE)
    return value


Date = Annotated[
    datetime.date,
    PlainValidator(_date),
    PlainSerializer(lambda date: date.isoformat()),
    WithJsonSchema({"type": "string", "format": "date"}),
]


class DatePlan(PlanModel):
    """The public bounds of a date, its step, and its one format."""

    from_: Date = Field(
        alias="from",
        description=(
            "the first public date, such as {from: 2010-01-01, to: 2030-12-31}; earlier ones are"
            " clamped to it"
        ),
    )
    to: Date = Field(
        description=(
            "the last public date, such as {from: 2010-01-01, to: 2030-12-31}; later ones are"
            " clamped to it"
        ),
    )
    step: DateStep = Field(
        "day",
        description=(
            "the unit to which dates are rounded down: day, week (from Monday), month, quarter or"
            " year"
        ),
    )
    format: Literal[DateFormat, "ask"] = Field(
        "iso",
        description=(
            f"the format of the dates: {', '.join(DATE_FORMATS[:-1])} or {DATE_FORMATS[-1]}; ISO"
            " dates are read as well. ask, in a draft: not answered yet"
        ),
    )

    @property
    def read_by(self) -> DateFormat:
        """The format with which dates are read; a plan without an answer cannot be confirmed."""
        return "iso" if self.format == "ask" else self.format

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.from_ >= self.to:
            raise mistake(
                f"The first date ({self.from_}) is not before the last ({self.to}).",
                "Give the first date, then the last one.",
                key=("to",),
            )
        return self
