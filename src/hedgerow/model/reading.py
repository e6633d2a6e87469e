"""How the bytes of a file become records: public rules, the same for every record.

The guarantee speaks of records, and a program is given bytes. So nothing about the form of
a file is settled by looking at it: what one record holds cannot change how another is read.
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

SECONDS = 3600
"""How long a database may take to hand its table over, where the plan says nothing."""

MEGABYTES = 4096
"""How much memory a table's codes, or a database's rows, may take where the plan says nothing."""

_WITH_TABS = (".tsv", ".tab")
_WITH_OBJECTS = (".jsonl", ".ndjson")
PACKED = (".gz", ".zst")
"""How the names of compressed text files end."""


def unpacked_name(path: str | PurePath) -> str:
    """Return a file's name in lower case, as it would be were it not compressed.

    >>> unpacked_name("in/People.CSV.zst")
    'people.csv'
    """
    name = PurePath(path).name.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name


@dataclass(frozen=True, kw_only=True)
class NumberMarks:
    """What stands before the decimals of a number, and what between its thousands."""

    decimal: Decimal = "point"
    thousands: Thousands = "none"

    @property
    def are_plain(self) -> bool:
        """Whether numbers are written as programs write them."""
        return self == _PLAIN_MARKS


_PLAIN_MARKS = NumberMarks()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is written, and what reading may take; all of it is public.

    ``header`` is true where the first line names the columns, the names themselves where
    no line does, and for a basket file the number of lines before the first record (none
    given: the file must not begin like one with a header). Without a ``delimiter`` the name
    of the file says it: tabs in ``.tsv`` and ``.tab``, commas in all others; without a
    ``format`` ``.jsonl`` and ``.ndjson`` hold an object per line. ``sheet`` is that of a
    workbook, and ``value_labels`` says whether coded values are read as the labels that an
    SPSS or Stata file gives them. ``columns`` are those whose numbers are written differently
    from the rest of the file's.
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
        r"""Return the letter between the fields of a file.

        >>> Reading().delimiter_of("people.tsv.gz"), Reading().delimiter_of("people.txt")
        ('\t', ',')
        """
        if self.delimiter is not None:
            return DELIMITERS[self.delimiter]
        return "\t" if unpacked_name(path).endswith(_WITH_TABS) else ","

    def holds_objects(self, path: str | PurePath) -> bool:
        """Return whether the lines of a text file are JSON objects; its bytes are not asked."""
        if self.format is not None:
            return self.format == "json-lines"
        return unpacked_name(path).endswith(_WITH_OBJECTS)

    def marks_of(self, column: str) -> NumberMarks:
        """Return how the numbers of a column are written."""
        given = dict(self.columns).get(column)
        return given or NumberMarks(decimal=self.decimal, thousands=self.thousands)

    @property
    def has_plain_marks(self) -> bool:
        """Whether all numbers are written as programs write them."""
        return not self.columns and (self.decimal, self.thousands) == ("point", "none")

    @property
    def header_lines(self) -> int | None:
        """The lines before the first record of a basket file; ``None`` where nobody said."""
        return self.header if type(self.header) is int else None

    @property
    def drops_malformed(self) -> bool:
        """Whether a malformed record is left out by itself, not refused with its file."""
        return self.malformed == "drop"

    @property
    def most_bytes(self) -> int:
        """The memory that reading may take, in bytes."""
        return self.megabytes << 20

    def of_another_file(self) -> Reading:
        """Return how a further table is read, which names its columns in its first line.

        What kind of text it is, its own name says; a workbook must have one sheet.
        """
        return replace(self, header=True, format=None, sheet=None)


PLAIN = Reading()
"""What a plan that says nothing means: UTF-8, commas, a point, a header, double quotes."""
