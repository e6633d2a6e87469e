"""Edits of the text of a plan in TOML, by its lines; the caller checks the result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.plan.parse import KeyPath

_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Change:
    """Replacement of characters ``start`` to ``stop`` by ``text``."""

    start: int
    stop: int
    text: str


def applied(text: str, change: Change) -> str:
    """Return the text with the change."""
    return text[: change.start] + change.text + text[change.stop :]


def toml_with_key(text: str, key: str, value: Mapping[str, Any] | None) -> str:
    """Return TOML with another value of a key of the whole plan, on one line."""
    table = _TABLE.search(text)
    top = len(text) if table is None else table.start()
    line = re.compile(rf"^[ \t]*{key}[ \t]*=.*(?:\n|\Z)", re.MULTILINE).search(text, 0, top)
    new_text = "" if value is None else f"{key} = {toml_value(value)}\n"
    if line is not None:
        return applied(text, Change(start=line.start(), stop=line.end(), text=new_text))
    return applied(text, Change(start=0, stop=0, text=new_text))


def toml_with_source(text: str, path: KeyPath, source: str) -> str:
    """Return TOML with the source of one domain: below its header, or in its inline table."""
    literal = toml_value(source)
    names = [f'(?:{re.escape(str(step))}|"{re.escape(str(step))}")' for step in path]
    dotted = r"\.".join(names)
    header = re.compile(rf"^[ \t]*\[{dotted}\][ \t]*(?:#.*)?$", re.MULTILINE)
    old = r"^[ \t]*source[ \t]*=.*$"
    if found := header.search(text):
        following = _TABLE.search(text, found.end())
        stop = len(text) if following is None else following.start()
        line = re.compile(old, re.MULTILINE).search(text, found.end(), stop)
        start, stop = (found.end(), found.end()) if line is None else line.span()
        new_text = f"\nsource = {literal}" if line is None else f"source = {literal}"
        return applied(text, Change(start=start, stop=stop, text=new_text))
    inline = re.compile(rf"^([ \t]*{names[-1]}[ \t]*=[ \t]*\{{)(.*)\}}", re.MULTILINE)
    found = inline.search(text)
    if found is None:
        raise LookupError(path)
    kept = re.sub(r',?\s*source\s*=\s*"(?:[^"\\]|\\.)*"', "", found[2]).strip(" ,")
    new_text = f"{found[1]}{kept}{', ' if kept else ''}source = {literal}}}"
    return applied(text, Change(start=found.start(), stop=found.end(), text=new_text))


def toml_value(value: Any) -> str:
    """Return content as TOML on one line."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
