"""Plan files as plain objects: YAML, TOML and JSON, read strictly and in bounded memory.

YAML is read by the core schema of YAML 1.2, so that ``no`` is the text *no* and ``01234`` keeps its
zero. Everything that could hide a mistake or exhaust memory is refused in all three formats:
duplicate keys, anchors and aliases, tags, several documents, unbounded nesting. Decimals stay
decimals (:class:`decimal.Decimal`), never doubles.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from hedgerow.errors import PlanError

MAX_BYTES = 5_000_000
MAX_DEPTH = 64
FORMATS = {".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".json": "JSON"}

KeyPath = tuple[str | int, ...]

INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,99})", re.ASCII)
FLOAT = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,4})?", re.ASCII)
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """The objects of a plan file, and the line of each."""

    data: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)


def read_plan_text(path: Path) -> str:
    """Return the text of a plan file, which must be UTF-8 and of a sane size."""
    where = str(path)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise OSError(0, "This is not a file.")  # reading a pipe would block
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise PlanError(
            "The file does not exist.", where=where, do="Propose a plan with 'hedgerow draft DATA'."
        ) from None
    except OSError as error:
        reason = error.strerror or "The file cannot be read."
        raise PlanError(reason, where=where, do="Name a plan file that can be read.") from None
    if len(content) > MAX_BYTES:
        raise PlanError(
            f"The file is larger than {MAX_BYTES:,} bytes.",
            where=where,
            do="Keep taxonomies in files of their own: 'taxonomy: FILE'.",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PlanError(
            "The text is not UTF-8.", where=f"{where}, line {line}", do="Save the plan as UTF-8."
        ) from None


def parse_text(text: str, *, kind: str, where: str) -> Parsed:
    """Return the objects in ``text`` of the format ``kind`` (YAML, TOML, JSON)."""
    if not text.strip():
        raise PlanError("The file is empty.", where=where, do="Write at least 'attributes:'.")
    try:
        if kind == "YAML":
            return _YamlReader(text, where=where).read()
        return Parsed(data=_parse_toml(text, where) if kind == "TOML" else _parse_json(text, where))
    except RecursionError:
        raise _too_deep(where) from None


def format_of(path: Path) -> str:
    """Return the format of a plan file, by its name."""
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        raise PlanError(
            f"The name ends in {path.suffix or 'no suffix'!r}.",
            where=str(path),
            do=f"A plan's name ends in one of: {', '.join(FORMATS)}.",
        ) from None


def _too_deep(where: str) -> PlanError:
    return PlanError(
        f"The file is nested more than {MAX_DEPTH} levels deep.",
        where=where,
        do="Keep a deep taxonomy in a file of its own.",
    )


def _syntax_error(kind: str, problem: str, where: str) -> PlanError:
    return PlanError(
        f"This is not valid {kind}: {problem}.", where=where, do="Correct the text there."
    )


def _key_twice(key: str, where: str) -> PlanError:
    return PlanError(f"The key {key[:60]!r} occurs twice.", where=where, do="Keep one of the two.")


def _parse_toml(text: str, where: str) -> Any:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:  # TOMLDecodeError, and integers of absurd length
        raise _syntax_error("TOML", _short(str(error)), where) from None


def _parse_json(text: str, where: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in items:
            if key in result:
                raise _key_twice(key, where)
            result[key] = value
        return result

    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise _syntax_error("JSON", error.msg, f"{where}, line {error.lineno}") from None
    except ValueError as error:
        raise _syntax_error("JSON", _short(str(error)), where) from None


def _short(text: str) -> str:
    line = (text.splitlines()[0] if text else "it cannot be read").rstrip(".")
    return line if len(line) <= 120 else line[:119] + "…"


@dataclass
class _Open:
    """A mapping or sequence that is still being read."""

    value: dict[str, Any] | list[Any]
    path: KeyPath
    key: str | None = None

    def next_path(self) -> KeyPath:
        step = self.key if isinstance(self.value, dict) else len(self.value)
        return self.path if step is None else (*self.path, step)

    def add(self, value: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is not None:
            self.value[self.key] = value
            self.key = None

    @property
    def wants_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None


class _YamlReader:
    """Builder of plain objects from the events of a YAML parser, without recursion."""

    def __init__(self, text: str, *, where: str) -> None:
        self.text = text
        self.where = where
        self.stack: list[_Open] = []
        self.lines: dict[KeyPath, int] = {}
        self.result: list[Any] = []

    def read(self) -> Parsed:
        """Return the one document of the text."""
        for event in self._events():
            if isinstance(event, yaml.DocumentStartEvent) and self.result:
                raise self._refuse(event, "A second document begins here.", "Keep one document.")
            if isinstance(event, yaml.NodeEvent):
                self._check(event)
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._add(self.stack.pop().value)
        return Parsed(data=self.result[0] if self.result else None, lines=self.lines)

    def _events(self) -> Iterator[yaml.Event]:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            yield from yaml.parse(self.text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = f"{self.where}, line {mark.line + 1}" if mark else self.where
            raise _syntax_error("YAML", _short(error.problem or ""), where) from None
        except yaml.YAMLError as error:
            line = self.text[: getattr(error, "position", 0) or 0].count("\n") + 1
            reason = str(getattr(error, "reason", "it cannot be read"))
            raise _syntax_error("YAML", _short(reason), f"{self.where}, line {line}") from None

    def _check(self, event: yaml.NodeEvent) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise self._refuse(
                event,
                "Anchors (&name) and aliases (*name) are not allowed.",
                "Write the value out.",
            )
        if getattr(event, "tag", None) is not None:
            raise self._refuse(
                event, "Tags (!name) are not allowed.", "Write text in quotes, numbers without."
            )
        if not isinstance(event, yaml.ScalarEvent) and self.stack and self.stack[-1].wants_key:
            raise self._refuse(event, "A key must be a single text.", "Put the key in quotes.")

    def _begin(self, event: yaml.Event) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _too_deep(f"{self.where}, line {_line(event)}")
        path = self._locate(event)
        is_map = isinstance(event, yaml.MappingStartEvent)
        self.stack.append(_Open({} if is_map else [], path))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        top = self.stack[-1] if self.stack else None
        if top is None or not top.wants_key:
            self._locate(event)
            self._add(_resolve(event.value) if event.implicit[0] else event.value)
            return
        if event.value in top.value:
            raise self._refuse(
                event, f"The key {event.value[:60]!r} occurs twice.", "Keep one of the two."
            )
        top.key = event.value
        self._locate(event)

    def _locate(self, event: yaml.Event) -> KeyPath:
        path = self.stack[-1].next_path() if self.stack else ()
        self.lines.setdefault(path, _line(event))
        return path

    def _add(self, value: Any) -> None:
        if self.stack:
            self.stack[-1].add(value)
        else:
            self.result.append(value)

    def _refuse(self, event: yaml.Event, what: str, do: str) -> PlanError:
        return PlanError(what, where=f"{self.where}, line {_line(event)}", do=do)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _resolve(text: str) -> Any:
    """Return the value of a plain YAML scalar: a word, a number in its usual spelling, or text."""
    if text.lower() in _WORDS and text in (text.lower(), text.capitalize(), text.upper()):
        return _WORDS[text.lower()]
    if INTEGER.fullmatch(text):
        return int(text) if text != "-0" else text
    if FLOAT.fullmatch(text):
        return Decimal(text)
    return text
