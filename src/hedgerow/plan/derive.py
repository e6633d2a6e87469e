"""The part of a plan for attributes that are computed from the dates of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, Field

from hedgerow.model.dates import DATE_FORMATS, DateFormat
from hedgerow.plan.dates import DatePlan
from hedgerow.plan.fields import Name, PlanModel, mistake, shown

HOW = ("years-at", "years-until", "days-until", "part")
"""Keys of an attribute that say what is computed from the date in ``from``."""

_EXAMPLE = "for example {from: birth, years-at: 2026-01-01, numeric: [0, 110]}"


class DateColumnPlan(PlanModel):
    """A column of dates and its one format."""

    column: Name = Field(description="the name of a column of dates")
    format: DateFormat | None = Field(
        None,
        description=(
            f"the format of its dates: {', '.join(DATE_FORMATS[:-1])} or {DATE_FORMATS[-1]}; by"
            " default as elsewhere in the plan, else iso"
        ),
    )


def _column(value: object) -> object:
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    return {"column": value} if is_name else value


def _schema(schema: dict[str, Any]) -> None:
    """Let the JSON schema allow a plain name, too."""
    ref = schema.pop("$ref", None)
    if ref is not None:
        schema["anyOf"] = [{"type": "string", "minLength": 1}, {"$ref": ref}]


DateColumnGiven = Annotated[
    DateColumnPlan, BeforeValidator(_column), Field(json_schema_extra=_schema)
]


class DatedAttribute(Protocol):
    """The settings of an attribute that are checked here."""

    @property
    def role(self) -> str:
        """Role of the column."""
        ...

    @property
    def domains(self) -> tuple[str, ...]:
        """Keys that give the domain."""
        ...

    @property
    def date(self) -> DatePlan | None:
        """Domain of a date."""
        ...

    @property
    def from_(self) -> DateColumnPlan | None:
        """Column from which the attribute is computed."""
        ...

    @property
    def years_until(self) -> DateColumnPlan | None:
        """Column up to which years are counted."""
        ...

    @property
    def days_until(self) -> DateColumnPlan | None:
        """Column up to which days are counted."""
        ...


def check_derived(attribute: DatedAttribute) -> None:
    """Refuse settings of one attribute that do not fit together."""
    keys = [key for key in HOW if getattr(attribute, key.replace("-", "_")) is not None]
    if attribute.from_ is None and keys:
        raise mistake(
            "This setting needs 'from'.",
            f"Give the column of dates from which it is computed, {_EXAMPLE}.",
            key=(keys[0],),
        )
    if attribute.from_ is None:
        return
    if len(keys) != 1:
        what = (
            f"{' and '.join(keys)} are both set."
            if keys
            else "The attribute does not state what is computed."
        )
        raise mistake(what, f"Give one of: {', '.join(HOW)}; {_EXAMPLE}.", key=("from",))
    if attribute.date is not None:
        raise mistake(
            f"'{keys[0]}' gives a number, not a date.",
            "Give 'numeric', 'edges', 'values' or 'taxonomy' instead.",
            key=("date",),
        )


def check_sources(attributes: Mapping[str, DatedAttribute]) -> None:
    """Refuse columns of dates that the plan reads in another way, never, or in two formats."""
    for source, key in _sources(attributes):
        listed = attributes.get(source.column)
        if listed is not None:
            _check_source(listed, source, key=key)
    column_formats(attributes)


def column_formats(attributes: Mapping[str, DatedAttribute]) -> dict[str, DateFormat]:
    """Return the format of every column of dates that has one anywhere in the plan."""
    found = {name: each.date.read_by for name, each in attributes.items() if each.date is not None}
    for source, key in _sources(attributes):
        if source.format is None:
            continue
        known = found.setdefault(source.column, source.format)
        if known != source.format:
            raise mistake(
                f"The dates of {shown(source.column)} have the format {known} elsewhere in the"
                " plan.",
                "Leave the format out here, or correct one of the two.",
                key=(*key, "format"),
            )
    return found


def _sources(
    attributes: Mapping[str, DatedAttribute],
) -> Iterator[tuple[DateColumnPlan, tuple[str, str, str]]]:
    """Yield every column from which an attribute is computed, and its path in the plan."""
    for name, each in attributes.items():
        sources = {
            "from": each.from_,
            "years-until": each.years_until,
            "days-until": each.days_until,
        }
        for key, source in sources.items():
            if source is not None:
                yield source, ("attributes", name, key)


def _check_source(
    listed: DatedAttribute, source: DateColumnPlan, *, key: tuple[str, str, str]
) -> None:
    column = shown(source.column)
    if listed.from_ is not None and listed.from_.column != source.column:
        raise mistake(
            f"{column} is itself computed from another column.",
            "Name a column of the table.",
            key=key,
        )
    if listed.role == "identifier":
        raise mistake(
            f"The column {column} is an identifier, which is never read.",
            "Give it 'role: drop': then it is read only for this, and never released.",
            key=key,
        )
    if listed.from_ is None and listed.domains and listed.domains[0] in ("numeric", "edges"):
        raise mistake(f"The column {column} holds numbers.", "Name a column of dates.", key=key)
