"""The columns of a plan as the page Table shows and edits them.

A column whose domain ``draft`` took from the data has ``source: data``; confirming it sets a public
source. In plans of earlier versions, and for facts about the whole table, comments mark what was
taken from the data.
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
from hedgerow.plan.signature import FROM_DATA
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.yamledit import Drop, Edit, Mark, Put, Remark

Standing = Literal["look", "confirmed", "public", "own"]
"""Taken from the data and to be reviewed; confirmed; not from the data; written by hand."""

CONFIRMED = "confirmed: "
OWNER = "confirmed by the owner"
"""Source of a domain that was confirmed here without naming a source."""

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
"""Key of the open questions."""

ITEMS = "items."
"""Prefix of the names of facts about items."""

_BEFORE = "; before: "
_LONGEST_SHOWN = 600
_LONGEST_BEFORE = 4_000
_FROM_DATA = re.compile(r"from the data: (.*?); replace by public knowledge\.?")


@dataclass(frozen=True, kw_only=True)
class PlanColumn:
    """One column: its entry in the plan, and the comment that states its origin."""

    name: str
    entry: Mapping[str, Any]
    mark: str

    @property
    def role(self) -> str:
        """The role of the column, by default predictor."""
        return str(self.entry.get("role", "predictor"))

    @property
    def kind(self) -> str | None:
        """The key that defines the domain."""
        return next((key for key in DOMAINS if key in self.entry), None)

    @property
    def is_read(self) -> bool:
        """True if the values are read."""
        return self.role in ("predictor", "class")

    @property
    def standing(self) -> Standing:
        """The state of review: by the source, otherwise by the comment."""
        if self.source is not None:
            return "look" if self.source == FROM_DATA else "confirmed"
        return standing_of(self.mark)

    @property
    def source(self) -> str | None:
        """The source of the domain, if the plan states it."""
        source = self.entry.get("source")
        return None if source is None else str(source)

    @property
    def reason(self) -> str:
        """The facts taken from the data, as described by the draft."""
        return self.mark.removeprefix(CONFIRMED).partition(_BEFORE)[0]

    @property
    def before(self) -> dict[str, Any] | None:
        """The domain before the column was omitted here, kept in the comment."""
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
        """A short description of the domain."""
        return _summary(self.kind, self.entry)


@dataclass(frozen=True, kw_only=True)
class TableFact:
    """A fact about the whole table, with the comment above it."""

    key: str
    value: str
    remark: str

    @property
    def standing(self) -> Standing:
        """The state of review."""
        return standing_of(self.remark)

    @property
    def reason(self) -> str:
        """The facts taken from the data, as described by the draft."""
        found = _FROM_DATA.search(self.remark)
        return found[1] if found else self.remark.removeprefix(CONFIRMED)


def standing_of(mark: str) -> Standing:
    """Return the state of review that a comment describes.

    >>> standing_of("list: in 20 records or more"), standing_of("confirmed: list"), standing_of("")
    ('look', 'confirmed', 'own')
    """
    if mark.startswith(CONFIRMED):
        return "confirmed"
    if mark.startswith(_TAKEN):
        return "look"
    return "public" if mark.startswith("public") else "own"


def plan_columns(file: PlanFile) -> list[PlanColumn]:
    """Return the columns of a plan in its order, even if it has errors."""
    attributes = file.data.get("attributes")
    if not isinstance(attributes, Mapping):
        return []
    marks = file.marks("attributes")
    return [
        PlanColumn(
            name=name, entry=entry if isinstance(entry, Mapping) else {}, mark=marks.get(name, "")
        )
        for name, entry in attributes.items()
    ]


def table_facts(file: PlanFile) -> list[TableFact]:
    """Return the facts about the whole table that were taken from the data, confirmed or not."""
    data = file.data
    items = data.get("items")
    remarked = [
        *((key, data[key], words) for key, words in file.remarks().items() if key != "attributes"),
        *(
            (f"{ITEMS}{key}", items[key], words)
            for key, words in file.remarks("items").items()
            if isinstance(items, Mapping)
        ),
    ]
    return [
        TableFact(key=key, value=_one_line(value), remark=words)
        for key, value, words in remarked
        if standing_of(words) in ("look", "confirmed")
    ]


def _one_line(value: Any) -> str:
    text = yaml_line(value)
    return text if len(text) < _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]} …"


def open_questions(file: PlanFile) -> list[str]:
    """Return the open questions under ``to-do``."""
    questions = file.data.get(QUESTIONS)
    return [str(each) for each in questions] if isinstance(questions, list) else []


def answering(file: PlanFile, question: str) -> list[Edit]:
    """Return the edits that remove an answered question."""
    questions = open_questions(file)
    rest = [each for each in questions if each != question]
    if len(rest) == len(questions):
        return []
    return [Put(path=(QUESTIONS,), value=rest) if rest else Drop(path=(QUESTIONS,))]


def to_look_at(file: PlanFile) -> list[str]:
    """Return the names of unconfirmed facts and columns, and of open questions if there are any."""
    columns = [each.name for each in plan_columns(file) if each.standing == "look"]
    facts = [each.key for each in table_facts(file) if each.standing == "look"]
    return [*([QUESTIONS] if open_questions(file) else []), *facts, *columns]


def confirming(file: PlanFile, name: str, source: str = "") -> list[Edit]:
    """Return the edits that confirm one column with the source of its domain."""
    if named(file, name).standing != "look":
        return []
    return [Put(path=("attributes", name, "source"), value=source.strip() or OWNER)]


def with_source(column: PlanColumn, source: str) -> list[Edit]:
    """Return the edits that set the public source of a column; an empty source removes it."""
    before = "" if column.source in (None, FROM_DATA) else column.source
    if source == before:
        return []
    path = ("attributes", column.name, "source")
    return [Put(path=path, value=source) if source else Drop(path=path)]


def confirming_fact(file: PlanFile, key: str) -> list[Edit]:
    """Return the edits that confirm a fact about the whole table."""
    for fact in table_facts(file):
        if fact.key == key and fact.standing == "look":
            rest = _FROM_DATA.sub("", fact.remark).strip()
            path = ("items", key.removeprefix(ITEMS)) if key.startswith(ITEMS) else (key,)
            edits: list[Edit] = [
                Remark(path=path, comment=f"{CONFIRMED}{fact.reason}. {rest}".strip())
            ]
            return [*edits, *_universe_source(file, path)]
    return []


def _universe_source(file: PlanFile, path: tuple[str, ...]) -> list[Edit]:
    """Return the edit that sets a source for a universe of items taken from the data."""
    items = file.data.get("items")
    taken = isinstance(items, Mapping) and items.get("source") == FROM_DATA
    if not taken or path not in (("items", "universe"), ("items", "taxonomy")):
        return []
    return [Put(path=("items", "source"), value=OWNER)]


def with_role(column: PlanColumn, role: str) -> list[Edit]:
    """Return the edits that set the role of a column.

    The domain of an omitted column is kept in its comment, from which it can be restored.
    """
    if role not in ROLES:
        raise InputError(
            f"There is no role {role!r}.",
            where=column.name,
            do=f"Choose one of: {', '.join(ROLES)}.",
        )
    if role == column.role:
        return []
    path = ("attributes", column.name)
    if role in ("drop", "identifier"):
        return [*_omitted(column, role, path)]
    if column.is_read:
        return [_role_edit(path, role)]
    before = column.before
    if before is None:
        raise InputError(
            "The column has no domain.",
            where=column.name,
            do="Open the column, choose its type, and define its domain.",
        )
    edits: list[Edit] = [Put(path=(*path, key), value=value) for key, value in before.items()]
    return [*edits, _role_edit(path, role), Mark(path=path, comment=column.reason or "own")]


def _omitted(column: PlanColumn, role: str, path: tuple[str, ...]) -> Sequence[Edit]:
    kept = {key: value for key, value in column.entry.items() if key in _ONLY_READ}
    edits: list[Edit] = [Drop(path=(*path, key)) for key in kept]
    edits.append(Put(path=(*path, "role"), value=role))
    if kept and len(text := yaml_line(kept)) < _LONGEST_BEFORE:
        edits.append(Mark(path=path, comment=f"{column.mark or 'own'}{_BEFORE}{text}"))
    return edits


def _role_edit(path: tuple[str, ...], role: str) -> Edit:
    role_path = (*path, "role")
    return Drop(path=role_path) if role == "predictor" else Put(path=role_path, value=role)


def with_domain(column: PlanColumn, role: str, kind: str, domain: Mapping[str, Any]) -> list[Edit]:
    """Return the edits that set the role and the domain of a column.

    ``domain`` has the keys of its kind; ``None`` removes a key. Keys of other kinds are removed.
    """
    path = ("attributes", column.name)
    if role not in ("predictor", "class"):
        return with_role(column, role)
    edits: list[Edit] = []
    others = {key for keys in KIND_KEYS.values() for key in keys} - set(KIND_KEYS[kind])
    edits += [Drop(path=(*path, key)) for key in sorted(others) if key in column.entry]
    for key, value in domain.items():
        if value is None and key in column.entry:
            edits.append(Drop(path=(*path, key)))
        elif value is not None and column.entry.get(key) != value:
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
    raise InputError("The plan has no such column.", where=name, do="Load the page again.")


def number(text: str, where: str) -> Decimal | int:
    """Return a number as written in a plan."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or abs(value.adjusted()) > 30:
        raise InputError(
            f"{text[:40]!r} is not a number.", where=where, do="Give a number such as 10.5."
        )
    is_integer = value == value.to_integral_value()
    return int(value) if is_integer else value


def lines_of(text: str) -> list[str]:
    """Return the values of a text box, one per line, without empty lines."""
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


def _summary(kind: str | None, entry: Mapping[str, Any]) -> str:
    value = entry.get(kind) if kind else None
    if kind == "numeric" and isinstance(value, list) and len(value) == 2:
        step = entry.get("step")
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
