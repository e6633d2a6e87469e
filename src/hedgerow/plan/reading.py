"""The part of a plan that says how the data's file is written, and what reading may take."""

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
            raise mistake(f"{shown(value)} is out of range", f"Give 0 to {MAX_HEADER_LINES:,}.")
        return value
    if not isinstance(value, list | tuple) or not value:
        raise mistake(
            "says neither that there is a header nor what the columns are called",
            "Give true, the list of all columns' names if the file has no line of them, or for"
            " a basket file the number of lines before its first record.",
        )
    return _names(value)


def _names(value: list[Any] | tuple[Any, ...]) -> tuple[str, ...]:
    if len(value) > MAX_COLUMNS:
        raise mistake(f"names more than {MAX_COLUMNS:,} columns", "Give fewer.")
    seen: set[str] = set()
    for place, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            raise mistake("is not a name", "Write each name as a text.", key=(place,))
        check_printable(name)
        if name in seen:
            raise mistake(f"names {shown(name)} twice", "Name each column once.", key=(place,))
        seen.add(name)
    return tuple(value)


def _at_most(most: int) -> Any:
    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise mistake(f"{shown(value)} is out of range", f"Give 1 to {most:,}.")
        return value

    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Annotated[int, PlainValidator(check), WithJsonSchema(schema)]


Header = Annotated[
    bool | int | tuple[str, ...],
    PlainValidator(_header),
    PlainSerializer(lambda given: list(given) if isinstance(given, tuple) else given),
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
    """Refuse one mark for both."""
    if decimal == thousands:
        raise mistake(
            f"a {thousands} stands before decimals already",
            "Give another mark, or none; 'decimal' says what stands before decimals.",
            key=key,
        )


_HEADERS = {
    True: ("a basket file names no columns", "Give the number of lines before its first record."),
    False: ("only basket files have a number of lines", "Give true, or the columns' names."),
}


class ReadingPlan(PlanModel):
    """How the data's file is written, and how long and how much reading it may take."""

    encoding: TextEncoding = Field(
        "utf-8",
        description="the encoding of a text file: utf-8, latin-1, iso-8859-2, iso-8859-15,"
        " windows-1250, windows-1251 or windows-1252",
    )
    delimiter: Delimiter | None = Field(
        None,
        description="what stands between fields: comma, semicolon, tab or bar; without it tab"
        " for a name in .tsv or .tab, else comma",
    )
    decimal: Decimal = Field(
        "point", description="what stands before decimals in a text file: point or comma"
    )
    thousands: Thousands = Field(
        "none",
        description="what stands between thousands in a text file: none, point, comma, blank or"
        " apostrophe; the same in every number that has it",
    )
    header: Header | None = Field(
        None,
        description="true (the first line names the columns), the list of all columns' names if"
        " no line does, or for a basket file the number of lines before its first record",
    )
    quote: Quote = Field(
        '"',
        description='" (fields may stand in double quotes, on one line), none (quotes are'
        " letters) or multi-line (quoted fields may hold line ends)",
    )
    malformed: Malformed = Field(
        "refuse",
        description="refuse (no file with a malformed record is read) or drop (such records are"
        " left out, one by one)",
    )
    seconds: _at_most(MAX_SECONDS) = Field(  # type: ignore[valid-type]  # an annotated int
        SECONDS, description=f"how long a database may take, 1 to {MAX_SECONDS:,}"
    )
    megabytes: _at_most(MAX_MEGABYTES) = Field(  # type: ignore[valid-type]  # an annotated int
        MEGABYTES,
        description="the memory that the encoded table or a database's rows may take, 1 to"
        f" {MAX_MEGABYTES:,}",
    )
    format: TextFormat | None = Field(
        None,
        description="delimited (CSV, TSV) or json-lines (one object per line); without it"
        " json-lines for a name in .jsonl or .ndjson, else delimited",
    )
    sheet: Name | None = Field(
        None, description="the name of the sheet, for a workbook that has several"
    )
    value_labels: ValueLabels = Field(
        "apply",
        description="apply (values of an SPSS or Stata file are read as their labels where they"
        " have some) or ignore (as the codes)",
    )

    def check(self, *, is_basket_file: bool) -> None:
        """Refuse what does not go together, or not with this kind of data; for the whole plan."""
        if self.quote == "multi-line" and self.malformed == "drop":
            raise mistake(
                "after a stray quote nobody can tell which record to drop",
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
        given = {
            "delimiter": self.delimiter is not None,
            "decimal": self.decimal != "point",
            "thousands": self.thousands != "none",
            "quote": self.quote != '"',
            "format": self.format is not None,
            "sheet": self.sheet is not None,
            "value-labels": self.value_labels != "apply",
        }
        for key, there in given.items():
            if there:
                raise mistake(
                    "is for tables, and this is a basket file",
                    "Remove it; items.separator says what stands between items.",
                    key=("reading", key),
                )

    def reading(self) -> Reading:
        """Return the rules as readers take them."""
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
