"""The part of a plan for the form of the data's file and the limits of reading."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from hedgerow.model.reading import (
    MEGABYTES,
    SECONDS,
    Decimal,
    Delimiter,
    Malformed,
    Quote,
    Reading,
    TextEncoding,
    TextFormat,
    Thousands,
    ValueLabels,
)
from hedgerow.plan.fields import MAX_TEXT, Name, PlanModel, check_printable, mistake, shown

MAX_HEADER_LINES = 10_000
MAX_COLUMNS = 10_000
MAX_SECONDS = 1_000_000
MAX_MEGABYTES = 100_000_000


def _header(value: object) -> bool | int | tuple[str, ...]:
    if value is True:
        return True
    if isinstance(value, int) and not isinstance(value, bool):
        if not 0 <= value <= MAX_HEADER_LINES:
            raise mistake(f"{shown(value)} is out of range.", f"Give 0 to {MAX_HEADER_LINES:,}.")
        return value
    if not isinstance(value, list | tuple) or not value:
        raise mistake(
            "This states neither that there is a header nor the names of the columns.",
            "Give true, the list of all columns' names if the file has no header line, or for"
            " a basket file the number of lines before its first record.",
        )
    return _names(value)


def _names(value: list[Any] | tuple[Any, ...]) -> tuple[str, ...]:
    if len(value) > MAX_COLUMNS:
        raise mistake(f"The list has more than {MAX_COLUMNS:,} columns.", "Give fewer.")
    seen: set[str] = set()
    for place, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            raise mistake("A name is not a text.", "Write each name as a text.", key=(place,))
        check_printable(name)
        if name in seen:
            raise mistake(
                f"The list has {shown(name)} twice.", "Name each column once.", key=(place,)
            )
        seen.add(name)
    return tuple(value)


def _at_most(most: int) -> Any:
    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise mistake(f"{shown(value)} is out of range.", f"Give 1 to {most:,}.")
        return value

    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Annotated[int, PlainValidator(check), WithJsonSchema(schema)]


Header = Annotated[
    bool | int | tuple[str, ...],
    PlainValidator(_header),
    PlainSerializer(lambda header: list(header) if isinstance(header, tuple) else header),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": True},
                {"type": "integer", "minimum": 0, "maximum": MAX_HEADER_LINES},
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT},
                },
            ]
        }
    ),
]


def check_marks(decimal: Decimal, thousands: Thousands, *, key: tuple[str, ...]) -> None:
    """Refuse one mark for both decimals and thousands."""
    if decimal == thousands:
        raise mistake(
            f"A {thousands} is the decimal mark already.",
            "Give another mark, or none; 'decimal' is the decimal mark.",
            key=key,
        )


_HEADERS = {
    True: (
        "A basket file has no names of columns.",
        "Give the number of lines before its first record.",
    ),
    False: (
        "Only basket files have a number of header lines.",
        "Give true, or the columns' names.",
    ),
}


class ReadingPlan(PlanModel):
    """The form of the data's file, and the limits of time and memory of reading it."""

    encoding: TextEncoding = Field(
        "utf-8",
        description="the encoding of a text file: utf-8, latin-1, iso-8859-2, iso-8859-15,"
        " windows-1250, windows-1251 or windows-1252",
    )
    delimiter: Delimiter | None = Field(
        None,
        description=(
            "the separator of fields: comma, semicolon, tab or bar; by default tab for a name in"
            " .tsv or .tab, else comma"
        ),
    )
    decimal: Decimal = Field("point", description="the decimal mark in a text file: point or comma")
    thousands: Thousands = Field(
        "none",
        description=(
            "the thousands separator in a text file: none, point, comma, blank or apostrophe; the"
            " same in every number"
        ),
    )
    header: Header | None = Field(
        None,
        description=(
            "true (the first line names the columns), the list of all columns' names if no line"
            " does, or for a basket file the number of lines before its first record"
        ),
    )
    quote: Quote = Field(
        '"',
        description=(
            '" (fields may be in double quotes, on one line), none (quotes are letters) or'
            " multi-line (quoted fields may hold line ends)"
        ),
    )
    malformed: Malformed = Field(
        "refuse",
        description="refuse (no file with a malformed record is read) or drop (such records are"
        " left out, one by one)",
    )
    seconds: _at_most(MAX_SECONDS) = Field(  # type: ignore[valid-type]  # an annotated int
        SECONDS, description=f"the time limit of a database, 1 to {MAX_SECONDS:,}"
    )
    megabytes: _at_most(MAX_MEGABYTES) = Field(  # type: ignore[valid-type]  # an annotated int
        MEGABYTES,
        description="the memory limit of the encoded table or a database's rows,"
        f" 1 to {MAX_MEGABYTES:,}",
    )
    format: TextFormat | None = Field(
        None,
        description=(
            "delimited (CSV, TSV) or json-lines (one object per line); by default json-lines for a"
            " name in .jsonl or .ndjson, else delimited"
        ),
    )
    sheet: Name | None = Field(
        None, description="the name of the sheet, for a workbook that has several"
    )
    value_labels: ValueLabels = Field(
        "apply",
        description=(
            "apply (values of an SPSS or Stata file are read as their labels if they have any) or"
            " ignore (as the codes)"
        ),
    )

    def check(self, *, is_basket_file: bool) -> None:
        """Refuse settings that do not fit together or do not fit this kind of data."""
        if self.quote == "multi-line" and self.malformed == "drop":
            raise mistake(
                "After a stray quote it cannot be known which record to drop.",
                "Give 'malformed: refuse', or another quote.",
                key=("reading", "malformed"),
            )
        check_marks(self.decimal, self.thousands, key=("reading", "thousands"))
        is_lines = type(self.header) is int
        if self.header is not None and is_lines != is_basket_file:
            what, do = _HEADERS[is_basket_file]
            raise mistake(what, do, key=("reading", "header"))
        if is_basket_file:
            self._check_basket_file()

    def _check_basket_file(self) -> None:
        settings = {
            "delimiter": self.delimiter is not None,
            "decimal": self.decimal != "point",
            "thousands": self.thousands != "none",
            "quote": self.quote != '"',
            "format": self.format is not None,
            "sheet": self.sheet is not None,
            "value-labels": self.value_labels != "apply",
        }
        for key, is_set in settings.items():
            if is_set:
                raise mistake(
                    "This setting is for tables, and the data is a basket file.",
                    "Remove it; 'items.separator' is the separator between items.",
                    key=("reading", key),
                )

    def reading(self) -> Reading:
        """Return the rules for readers."""
        return Reading(
            encoding=self.encoding,
            delimiter=self.delimiter,
            decimal=self.decimal,
            thousands=self.thousands,
            header=True if self.header is None else self.header,
            quote=self.quote,
            malformed=self.malformed,
            seconds=self.seconds,
            megabytes=self.megabytes,
            format=self.format,
            sheet=self.sheet,
            value_labels=self.value_labels,
        )
