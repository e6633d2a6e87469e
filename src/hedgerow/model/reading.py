"""Public rules that turn the bytes of a file into records, the same for every record.

The guarantee speaks of records, and a program gets bytes. So nothing about the form of a file is
determined by looking at it: the content of one record cannot change how another is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal, get_args

TextEncoding = Literal[
    "utf-8",
    "latin-1",
    "iso-8859-2",
    "iso-8859-15",
    "windows-1250",
    "windows-1251",
    "windows-1252",
]
Delimiter = Literal["comma", "semicolon", "tab", "bar"]
Decimal = Literal["point", "comma"]
Thousands = Literal["none", "point", "comma", "blank", "apostrophe"]
Quote = Literal['"', "none", "multi-line"]
Malformed = Literal["refuse", "drop"]
TextFormat = Literal["delimited", "json-lines"]
ValueLabels = Literal["apply", "ignore"]

ENCODINGS: tuple[TextEncoding, ...] = get_args(TextEncoding)
DELIMITERS: dict[Delimiter, str] = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}

READING_RULES = 1
"""Version of the rules by which bytes become records and values become codes.

Increase it with every change of a reader, an encoder or the spellings of a ready taxonomy that can
give a value another code. Parts of a table that were published under different versions are not
comparable, so that their costs add up (docs/privacy.md, "Covers").
"""

MISSING_MARKERS = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "#N/A", "#NV", "<NA>")
"""Texts that usually mean a missing value; a draft writes them into its plan."""

DEFAULT_MARKERS = MISSING_MARKERS[:2]
"""Markers of a plan without ``missing-values``.

They stay the first two: a longer default would change the releases and the fingerprints of plans
that were written before.
"""

SECONDS = 3600
"""Default time limit for a database to return its table, in seconds."""

MEGABYTES = 4096
"""Default memory limit for a table's codes, or a database's rows, in megabytes."""

_WITH_TABS = (".tsv", ".tab")
_WITH_OBJECTS = (".jsonl", ".ndjson")
PACKED = (".gz", ".zst")
"""Suffixes of compressed text files."""


def unpacked_name(path: str | PurePath) -> str:
    """Return a file's name in lower case, without the suffix of a compressed file.

    >>> unpacked_name("in/People.CSV.zst")
    'people.csv'
    """
    name = PurePath(path).name.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name


@dataclass(frozen=True, kw_only=True)
class NumberMarks:
    """The decimal mark of a number and its thousands separator."""

    decimal: Decimal = "point"
    thousands: Thousands = "none"

    @property
    def are_plain(self) -> bool:
        """Return whether numbers are in the plain form of programs."""
        return self == _PLAIN_MARKS


_PLAIN_MARKS = NumberMarks()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The form of a file, and the limits of reading; all of it is public.

    ``header`` is true if the first line names the columns, the names themselves if no line does,
    and for a basket file the number of lines before the first record (unset: the file must not
    begin like one with a header). Without a ``delimiter`` the name of the file determines it: tabs
    in ``.tsv`` and ``.tab``, commas in all others; without a ``format`` ``.jsonl`` and ``.ndjson``
    hold an object per line. ``sheet`` is that of a workbook, and ``value_labels`` is whether coded
    values are read as their labels in an SPSS or Stata file. ``columns`` are those whose numbers
    are written differently from the rest of the file.
    """

    encoding: TextEncoding = "utf-8"
    delimiter: Delimiter | None = None
    decimal: Decimal = "point"
    thousands: Thousands = "none"
    columns: tuple[tuple[str, NumberMarks], ...] = ()
    header: bool | int | tuple[str, ...] = True
    quote: Quote = '"'
    malformed: Malformed = "refuse"
    seconds: int = SECONDS
    megabytes: int = MEGABYTES
    format: TextFormat | None = None
    sheet: str | None = None
    value_labels: ValueLabels = "apply"

    def delimiter_of(self, path: str | PurePath) -> str:
        r"""Return the character between the fields of a file.

        >>> Reading().delimiter_of("people.tsv.gz"), Reading().delimiter_of("people.txt")
        ('\t', ',')
        """
        if self.delimiter is not None:
            return DELIMITERS[self.delimiter]
        return "\t" if unpacked_name(path).endswith(_WITH_TABS) else ","

    def holds_objects(self, path: str | PurePath) -> bool:
        """Return whether the lines of a file are JSON objects, by its name or the plan."""
        if self.format is not None:
            return self.format == "json-lines"
        return unpacked_name(path).endswith(_WITH_OBJECTS)

    def marks_of(self, column: str) -> NumberMarks:
        """Return the marks of the numbers of a column."""
        marks = dict(self.columns).get(column)
        return marks or NumberMarks(decimal=self.decimal, thousands=self.thousands)

    @property
    def has_plain_marks(self) -> bool:
        """Return whether all numbers are in the plain form of programs."""
        return not self.columns and (self.decimal, self.thousands) == ("point", "none")

    @property
    def header_lines(self) -> int | None:
        """Number of lines before the first record of a basket file; ``None`` if not stated."""
        return self.header if type(self.header) is int else None

    @property
    def drops_malformed(self) -> bool:
        """Return whether a malformed record is dropped alone, instead of refusing the file."""
        return self.malformed == "drop"

    @property
    def most_bytes(self) -> int:
        """Memory limit of reading, in bytes."""
        return self.megabytes << 20

    def of_another_file(self) -> Reading:
        """Return the reading of a further table, which names its columns in its first line.

        Its own name determines the kind of text; a workbook must have one sheet.
        """
        return replace(self, header=True, format=None, sheet=None)


PLAIN = Reading()
"""Default form: UTF-8, commas, a decimal point, a header, double quotes."""
