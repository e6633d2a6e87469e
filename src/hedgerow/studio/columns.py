"""The columns of a plan as the page Table shows and changes them.

What ``draft`` took from the data is marked by comments; confirming one writes its comment anew.
So the file says what is still to be looked at, and nothing else remembers it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import yaml

from hedgerow.errors import InputError
from hedgerow.plan.parse import parse_text
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.yamledit import Drop, Edit, Mark, Put, Remark

Standing = Literal["look", "confirmed", "public", "own"]
"""Taken from the data and to be looked at; confirmed; not from the data; written by hand."""

CONFIRMED = "confirmed: "
DOMAINS = ("numeric", "edges", "date", "taxonomy", "values")
ROLES = ("predictor", "class", "drop", "identifier")
KIND_KEYS: dict[str, tuple[str, ...]] = {
    "numeric": ("numeric", "step"),
    "edges": ("edges",),
    "date": ("date",),
    "values": ("values", "other"),
    "taxonomy": ("taxonomy", "other"),
}
_ONLY_READ = (
    *DOMAINS,
    *("step", "other", "letters", "missing-values", "unreadable", "decimal", "thousands"),
    *("from", "years-at", "years-until", "days-until", "part"),
)
_TAKEN = ("bounds", "list", "taxonomy", "left out", "from the data")
QUESTIONS = "to-do"
"""The key of the open questions."""

ITEMS = "items."
"""How facts about items are called: by the section that they are in."""

_BEFORE = "; before: "
_LONGEST_SHOWN = 600
_LONGEST_BEFORE = 4_000
_FROM_DATA = re.compile(r"from the data: (.*?); replace by public knowledge\.?")


@dataclass(frozen=True, kw_only=True)
class PlanColumn:
    """One column: what the plan says of it, and where that comes from."""

    name: str
    given: Mapping[str, Any]
    mark: str

    @property
    def role(self) -> str:
        """Its role; a predictor unless the plan says otherwise."""
        return str(self.given.get("role", "predictor"))

    @property
    def kind(self) -> str | None:
        """Which key gives its domain."""
        return next((key for key in DOMAINS if key in self.given), None)

    @property
    def is_read(self) -> bool:
        """Whether its values are read."""
        return self.role in ("predictor", "class")

    @property
    def standing(self) -> Standing:
        """Whether somebody must look at it."""
        return standing_of(self.mark)

    @property
    def reason(self) -> str:
        """What was taken from the data, in the draft's words."""
        return self.mark.removeprefix(CONFIRMED).partition(_BEFORE)[0]

    @property
    def before(self) -> dict[str, Any] | None:
        """What the plan said before the column was left out here."""
        _, _, text = self.mark.partition(_BEFORE)
        if not text:
            return None
        try:
            found = parse_text(text, kind="YAML", where=self.name).data
        except InputError:
            return None
        return found if isinstance(found, dict) else None

    @property
    def summary(self) -> str:
        """The domain in a few words."""
        return _summary(self.kind, self.given)


@dataclass(frozen=True, kw_only=True)
class TableFact:
    """Something that the plan says of the whole table, with the remark above it."""

    key: str
    value: str
    remark: str

    @property
    def standing(self) -> Standing:
        """Whether somebody must look at it."""
        return standing_of(self.remark)

    @property
    def reason(self) -> str:
        """What was taken from the data, in the draft's words."""
        found = _FROM_DATA.search(self.remark)
        return found[1] if found else self.remark.removeprefix(CONFIRMED)


def standing_of(mark: str) -> Standing:
    """Return what a comment says of where something comes from.

    >>> standing_of("list: in 20 records or more"), standing_of("confirmed: list"), standing_of("")
    ('look', 'confirmed', 'own')
    """
    if mark.startswith(CONFIRMED):
        return "confirmed"
    if mark.startswith(_TAKEN):
        return "look"
    return "public" if mark.startswith("public") else "own"


def plan_columns(file: PlanFile) -> list[PlanColumn]:
    """Return the columns of a plan in its order, whatever mistakes it has."""
    attributes = file.data.get("attributes")
    if not isinstance(attributes, Mapping):
        return []
    marks = file.marks("attributes")
    return [
        PlanColumn(
            name=name, given=given if isinstance(given, Mapping) else {}, mark=marks.get(name, "")
        )
        for name, given in attributes.items()
    ]


def table_facts(file: PlanFile) -> list[TableFact]:
    """Return what of the whole table was taken from the data, or was and is confirmed."""
    data = file.data
    items = data.get("items")
    said = [
        *((key, data[key], words) for key, words in file.remarks().items() if key != "attributes"),
        *(
            (f"{ITEMS}{key}", items[key], words)
            for key, words in file.remarks("items").items()
            if isinstance(items, Mapping)
        ),
    ]
    return [
        TableFact(key=key, value=_one_line(value), remark=words)
        for key, value, words in said
        if standing_of(words) in ("look", "confirmed")
    ]


def _one_line(value: Any) -> str:
    text = yaml_line(value)
    return text if len(text) < _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} …"


def open_questions(file: PlanFile) -> list[str]:
    """Return the questions under ``to-do`` that nobody has answered."""
    asked = file.data.get(QUESTIONS)
    return [str(each) for each in asked] if isinstance(asked, list) else []


def answering(file: PlanFile, question: str) -> list[Edit]:
    """Return the edits that remove an answered question."""
    asked = open_questions(file)
    left = [each for each in asked if each != question]
    if len(left) == len(asked):
        return []
    return [Put(path=(QUESTIONS,), value=left) if left else Drop(path=(QUESTIONS,))]


def to_look_at(file: PlanFile) -> list[str]:
    """Return the names of what nobody has confirmed yet, and of the questions if any is open."""
    columns = [each.name for each in plan_columns(file) if each.standing == "look"]
    facts = [each.key for each in table_facts(file) if each.standing == "look"]
    return [*([QUESTIONS] if open_questions(file) else []), *facts, *columns]


def confirming(file: PlanFile, name: str) -> list[Edit]:
    """Return the edits that confirm one column."""
    column = named(file, name)
    if column.standing != "look":
        return []
    words = CONFIRMED + column.mark.removeprefix("from the data: ")
    return [Mark(path=("attributes", name), comment=words)]


def confirming_fact(file: PlanFile, key: str) -> list[Edit]:
    """Return the edits that confirm what the plan says of the whole table."""
    for fact in table_facts(file):
        if fact.key == key and fact.standing == "look":
            rest = _FROM_DATA.sub("", fact.remark).strip()
            path = ("items", key.removeprefix(ITEMS)) if key.startswith(ITEMS) else (key,)
            return [Remark(path=path, comment=f"{CONFIRMED}{fact.reason}. {rest}".strip())]
    return []


def with_role(column: PlanColumn, role: str) -> list[Edit]:
    """Return the edits that give a column a role.

    Who leaves a column out keeps its domain in the comment, from where it comes back.
    """
    if role not in ROLES:
        raise InputError(f"there is no role {role!r}", where=column.name)
    if role == column.role:
        return []
    path = ("attributes", column.name)
    if role in ("drop", "identifier"):
        return [*_left_out(column, role, path)]
    if column.is_read:
        return [_role_edit(path, role)]
    before = column.before
    if before is None:
        raise InputError(
            "nobody has said what values the column has",
            where=column.name,
            do="Open the column, choose its type, and give its domain.",
        )
    edits: list[Edit] = [Put(path=(*path, key), value=value) for key, value in before.items()]
    return [*edits, _role_edit(path, role), Mark(path=path, comment=column.reason or "own")]


def _left_out(column: PlanColumn, role: str, path: tuple[str, ...]) -> Sequence[Edit]:
    kept = {key: value for key, value in column.given.items() if key in _ONLY_READ}
    edits: list[Edit] = [Drop(path=(*path, key)) for key in kept]
    edits.append(Put(path=(*path, "role"), value=role))
    if kept and len(text := yaml_line(kept)) < _LONGEST_BEFORE:
        edits.append(Mark(path=path, comment=f"{column.mark or 'own'}{_BEFORE}{text}"))
    return edits


def _role_edit(path: tuple[str, ...], role: str) -> Edit:
    role_path = (*path, "role")
    return Drop(path=role_path) if role == "predictor" else Put(path=role_path, value=role)


def with_domain(column: PlanColumn, role: str, kind: str, given: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that give a column a role and a domain; ``given`` has the kind's keys.

    ``None`` takes a key out. Keys of other kinds go.
    """
    path = ("attributes", column.name)
    if role not in ("predictor", "class"):
        return with_role(column, role)
    edits: list[Edit] = []
    others = {key for keys in KIND_KEYS.values() for key in keys} - set(KIND_KEYS[kind])
    edits += [Drop(path=(*path, key)) for key in sorted(others) if key in column.given]
    for key, value in given.items():
        if value is None and key in column.given:
            edits.append(Drop(path=(*path, key)))
        elif value is not None and column.given.get(key) != value:
            edits.append(Put(path=(*path, key), value=value))
    if role != column.role:
        edits.append(_role_edit(path, role))
    if edits and column.mark.partition(_BEFORE)[1]:
        edits.append(Mark(path=path, comment=column.reason))
    return edits


def named(file: PlanFile, name: str) -> PlanColumn:
    """Return the column of that name."""
    for column in plan_columns(file):
        if column.name == name:
            return column
    raise InputError("the plan has no such column", where=name, do="Load the page again.")


def number(text: str, where: str) -> Decimal | int:
    """Return a number as a plan writes it."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or abs(value.adjusted()) > 30:
        raise InputError(
            f"{text[:40]!r} is no number", where=where, do="Give a number such as 10.5."
        )
    whole = value == value.to_integral_value()
    return int(value) if whole else value


def lines_of(text: str) -> list[str]:
    """Return the values of a text box, one to a line, blank lines left out."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def yaml_line(value: Any) -> str:
    """Return a value of the plan as YAML on one line."""
    text = yaml.dump(
        _plain(value), default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
    )
    return text.removesuffix("...\n").strip()


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _summary(kind: str | None, given: Mapping[str, Any]) -> str:
    value = given.get(kind) if kind else None
    if kind == "numeric" and isinstance(value, list) and len(value) == 2:
        step = given.get("step")
        return f"{value[0]} – {value[1]}" + (f" / {step}" if step not in (None, 1) else "")
    if kind == "values" and isinstance(value, list):
        return _few([str(each) for each in value])
    if kind == "edges" and isinstance(value, list):
        return _few([str(each) for each in value])
    if kind == "date" and isinstance(value, Mapping):
        return f"{value.get('from', '?')} – {value.get('to', '?')}"
    if kind == "taxonomy":
        return value if isinstance(value, str) else _few(_leaves(value))
    return ""


def _few(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:4])
    return shown if len(texts) <= 4 else f"{shown} … ({len(texts):,})"


def _leaves(tree: Any) -> list[str]:
    if isinstance(tree, Mapping):
        return [leaf for each in tree.values() for leaf in _leaves(each)]
    if isinstance(tree, list):
        return [leaf for each in tree for leaf in _leaves(each)]
    return [str(tree)]
