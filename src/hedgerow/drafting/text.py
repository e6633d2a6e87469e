"""A drafted plan as readable YAML: comments first, one column at a time."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hedgerow.drafting.propose import Proposal
from hedgerow.drafting.rounding import one_digit
from hedgerow.drafting.unit import UnitFound, short_name
from hedgerow.errors import DataError, visible
from hedgerow.ledger.names import nearest_plain
from hedgerow.model.reading import MEGABYTES, SECONDS
from hedgerow.plan.fields import MAX_TEXT
from hedgerow.plan.numbers import plain_number

UNNAMED = "my-people"
"""Name of a data set for which no name is known."""

MARK = "replace by public knowledge"
WIDTH = 100
_PLAIN = re.compile(r"(\.{0,2}/)*[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*", re.ASCII)
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")

HEADER = """\
# A plan, proposed by 'hedgerow draft'. Nothing is published with it before you confirm it.
#
# What to do next:
# 1. Read every line. What is marked as from the data was taken from the confidential table and
#    may give somebody in it away. Replace it by what a code book, a form, a law or common
#    sense says. Values that few records have are not listed, and bounds are rounded.
# 2. Answer the questions under 'to-do' in the plan, and remove each one from the list.
# 3. Choose method and epsilon. 'hedgerow check' shows what they cost and keep.
# 4. Sign it: 'hedgerow confirm PLAN --by NAME'. Until then 'hedgerow publish' refuses this plan.
#    It asks for the public source of every column with 'source: data'. For an experiment of your
#    own, set 'confirmed: true' below.
#
# Keep the draft as confidential as the data until that is done.
"""


@dataclass(frozen=True, kw_only=True)
class PlaceLines:
    """The place of the data, and the form of the file."""

    data: str | None
    query: str | None
    table: str | None
    reading: str | None


def place_lines(place: PlaceLines) -> Iterable[str]:
    """Return the lines on the place of the data."""
    if place.data is None:
        yield "# data: the path of the table, or give it to publish"
    else:
        yield f"data: {quoted(place.data)}"
    if place.query is not None:
        yield f"query: {quoted(place.query)}"
    if place.table is not None:
        yield f"table: {quoted(place.table)}"
    if place.reading is not None:
        yield from comment("the form of the file", indent="")
        yield place.reading
    elif place.query is not None or place.table is not None:
        yield "# Limits on the database's time and the table's memory."
        yield f"reading: {{seconds: {SECONDS}, megabytes: {MEGABYTES}}}"


@dataclass(frozen=True, kw_only=True)
class Sections:
    """All parts of a drafted plan."""

    place: PlaceLines
    missing: str
    missing_values: Sequence[str]
    n_records: int
    proposals: Sequence[Proposal]
    unit: UnitFound
    unnamed: int
    publish: str
    ledger: str
    is_publishable: bool
    why_method: str | None = None


def plan_text(sections: Sections, *, base: Path) -> str:
    """Return the YAML text of a drafted plan for the folder ``base``."""
    return "\n".join([HEADER, *_source(sections), *_attributes(sections, base), *_ends(sections)])


def quoted(text: str) -> str:
    """Return a text as YAML: plain if that is safe, else in quotes.

    >>> print(quoted("Never-married"), quoted("NO"), quoted(">50K"), quoted("007"))
    Never-married "NO" ">50K" "007"
    """
    is_plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS
    return text if is_plain else visible(json.dumps(text, ensure_ascii=False))


def check_texts(**texts: Any) -> None:
    """Refuse names of files and columns that a plan, which is UTF-8, cannot hold."""
    for where, text in texts.items():
        if not isinstance(text, str | os.PathLike):
            continue
        name = os.fspath(text)
        try:
            is_text = isinstance(name, str) and b"\0" not in name.encode()
        except UnicodeEncodeError:
            is_text = False
        if not is_text:
            raise DataError(
                "The name is not text: it holds bytes that are not UTF-8, or a NUL.",
                where=where,
                do="Rename it, or give the path of a link to it.",
            )


def fits_a_plan(name: str) -> bool:
    """Return whether a column's name can be a key of a plan: not empty, printable, not too long.

    YAML allows 1,024 characters for a key as written, with its quotes and escapes.
    """
    return bool(name.strip()) and name.isprintable() and len(quoted(name)) <= MAX_TEXT


def relative_path(place: str | Path, base: Path) -> str:
    """Return the path of the file ``place`` in a plan in the folder ``base``."""
    path = Path(place)
    try:
        short = os.path.relpath(path, base)
    except ValueError:  # on another drive
        return path.absolute().as_posix()
    is_outside = short.startswith(os.pardir)
    return (path if is_outside and path.is_absolute() else Path(short)).as_posix()


def _source(sections: Sections) -> Iterable[str]:
    yield from place_lines(sections.place)
    yield from comment("the frequency of missing values", indent="")
    yield f"missing: {sections.missing}"
    yield "# Texts that mean a missing value; remove any that is a real value in these data."
    yield f"missing-values: [{', '.join(json.dumps(text) for text in sections.missing_values)}]"
    unit = sections.unit
    if unit.people is not None and unit.counts_people:
        yield from records_lines(unit.people.n_people, "people (who are counted below)")
    else:
        yield from records_lines(sections.n_records)
    yield ""


def _attributes(sections: Sections, base: Path) -> Iterable[str]:
    yield "# from the data: in lines that end in '# bounds', '# list', '# taxonomy' or"
    yield f"# '# left out', what the tag names; {MARK}. Lines that end in"
    yield "# '# public' took nothing from the data."
    yield "attributes:"
    for proposal in sections.proposals:
        yield from _attribute(proposal, base)
        if proposal.derived is not None:
            yield from _attribute(proposal.derived, base)
    if sections.unnamed:
        yield f"  # {sections.unnamed} more columns: a plan cannot hold their names, which are too"
        yield "  # long or hold characters that are not printable"
    yield ""


def comment(reason: str, *, indent: str) -> Iterable[str]:
    """Return the lines of a comment on what was taken from the data."""
    lines = textwrap.wrap(f"from the data: {reason}; {MARK}", WIDTH - len(indent) - 2)
    return [f"{indent}# {line}" for line in lines]


def records_lines(n_records: int, what: str = "records") -> Iterable[str]:
    """Return the lines of the approximate number of records, or of what is counted."""
    if n_records:
        yield from comment(f"about how many {what} there are, rounded to one digit", indent="")
        yield f"records: {one_digit(n_records)}"


def ledger_lines(ledger: str) -> Iterable[str]:
    """Return the lines of the ledger section."""
    yield "# The name of these people on the ledger, the same for all tables of them, and the"
    yield "# largest total that all their releases may spend: agree on it before the first."
    yield f"ledger: {{{ledger}}}"
    yield ""


def ledger_section(data: object, publish: str) -> str:
    """Return a plain name derived from the data's, and a cap with room for one release.

    >>> ledger_section("in/Visits 2026.csv", "method: hedge, epsilon: 0.5")
    'dataset: visits-2026, cap: 0.5'
    >>> ledger_section(None, "method: mondrian")
    'dataset: my-people, cap: 1'
    """
    name, lost = "", False
    if isinstance(data, str | os.PathLike):
        place = os.fspath(data).partition("?")[0].rstrip("/\\")
        name, lost = nearest_plain(re.split(r"[/\\:]", place)[-1].partition(".")[0])
    cap = publish.partition("epsilon: ")[2] or "1"
    return f"dataset: {UNNAMED if lost or not name else quoted(name)}, cap: {cap}"


def _attribute(proposal: Proposal, base: Path) -> Iterable[str]:
    """Return the lines of a column: its settings, and its tag."""
    parts = [] if proposal.role == "predictor" else [f"role: {proposal.role}"]
    parts += [f"{key}: {_flow(value, base)}" for key, value in proposal.settings.items()]
    if proposal.role in ("predictor", "class") and proposal.taken != "public":
        parts.append("source: data")
    why = proposal.reason.removeprefix("left out, ")
    tag = f"  # {proposal.taken}"
    line = f"  {quoted(proposal.name)}: {{{', '.join(parts)}}}"
    if len(line) + len(tag) > WIDTH:
        first = f"  {quoted(proposal.name)}:{tag}: {why}"
        return [first, *(wrapped(part) for part in parts)]
    fits = len(line) + len(tag) + len(why) + 2 <= WIDTH
    return [line + (f"{tag}: {why}" if fits and why else tag)]


def _flow(value: object, base: Path) -> str:
    """Return a value of a plan on one line."""
    if isinstance(value, Path):
        return quoted(relative_path(value, base))
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        inner = (f"{quoted(key)}: {_flow(each, base)}" for key, each in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(_flow(each, base) for each in value)}]"
    return str(value)


def wrapped(part: str, *, indent: str = "    ") -> str:
    """Return a setting with line breaks between the values of a list, never inside a text."""
    lines, line = [], indent
    for piece in re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^,"])+(?:, )?', part):
        if len(line) + len(piece.rstrip()) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = f"{indent}  "
        line += piece
    return "\n".join([*lines, line])


def _ends(sections: Sections) -> Iterable[str]:
    yield from unit_lines(sections.unit)
    yield from question_lines([*sections.unit.questions(), *_questions(sections.proposals)])
    yield "# 'hedgerow confirm' writes this once every domain above is public knowledge."
    yield "confirmed: false"
    yield ""
    mark = "" if sections.is_publishable else "# "
    if mark:
        yield "# Not ready: give at least one attribute a domain, and one 'role: class' if the"
        yield "# method needs it. Then use:"
    if sections.why_method:
        yield from (f"# {line}" for line in textwrap.wrap(sections.why_method, WIDTH - 2))
    yield f"{mark}publish: {{{sections.publish}}}"
    yield ""
    yield from ledger_lines(sections.ledger)


def unit_lines(unit: UnitFound) -> Iterable[str]:
    """Yield the lines that state the privacy unit or, as comments, its choices."""
    if unit.is_from_data and unit.people is not None:
        yield from comment(unit.people.reason(), indent="")
    yield from unit.lines([quoted(name) for name in unit.named()])
    yield ""


def question_lines(questions: Sequence[str]) -> Iterable[str]:
    """Yield the open questions of a plan as its ``to-do`` list."""
    if not questions:
        return
    yield "# Open questions: remove each one once the plan answers it. The plan cannot be confirmed"
    yield "# before."
    yield "to-do:"
    for question in dict.fromkeys(questions):
        text = visible(json.dumps(question, ensure_ascii=False))
        # A line break inside double quotes is read as one blank.
        yield from textwrap.wrap(
            text,
            WIDTH,
            initial_indent="  - ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    yield ""


def _questions(proposals: Sequence[Proposal]) -> list[str]:
    return [f"{short_name(one.name)!r}: {one.ask}." for one in proposals if one.ask]


def _number(value: Fraction) -> str:
    plain = plain_number(value)
    return quoted(plain) if isinstance(plain, str) else str(plain)
