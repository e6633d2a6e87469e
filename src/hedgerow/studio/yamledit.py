"""Edits of a YAML text that leave all other lines unchanged, byte for byte.

Only the edited entry is written again, by ruamel.yaml, which keeps its comments and its order. The
result is parsed again and must equal the content before with only the edit applied.
"""

from __future__ import annotations

import copy
import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from hedgerow.drafting.text import quoted
from hedgerow.errors import InternalError, PlanError
from hedgerow.plan.parse import parse_text

WIDTH = 96
_Path = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Put:
    """Set the key at ``path``; a new key goes after the key ``after``, or to the end."""

    path: _Path
    value: Any
    after: str | None = None


@dataclass(frozen=True, kw_only=True)
class Drop:
    """Remove the key at ``path``, if it exists."""

    path: _Path


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Replace the first comment of the entry at ``path``."""

    path: _Path
    comment: str


@dataclass(frozen=True, kw_only=True)
class Remark:
    """Replace the comment lines directly above the key at ``path``."""

    path: _Path
    comment: str


Edit = Put | Drop | Mark | Remark


@dataclass(frozen=True, kw_only=True)
class Comment:
    """A comment: its position, and its text without the number sign."""

    line: int
    column: int
    words: str


def edited(text: str, edits: Sequence[Edit], *, where: str) -> str:
    r"""Return the edited text, or raise an error if its content is not as intended.

    >>> edited("a: {b: x}  # two\n", [Put(path=("a", "b"), value="z")], where="plan")
    'a: {b: z}  # two\n'
    """
    wanted = parse_text(text, kind="YAML", where=where).data
    if not isinstance(wanted, dict):
        raise PlanError("The plan is not a mapping of keys to values.", where=where)
    wanted = copy.deepcopy(wanted)
    for edit in edits:
        text = _edited(text, edit)
        _apply(wanted, edit)
    if parse_text(text, kind="YAML", where=where).data != wanted:
        raise InternalError("An edit of the plan would have changed something else.")
    return text


def comments(text: str) -> list[Comment]:
    """Return all comments of a YAML text, in order."""
    ends: dict[int, int] = {}
    inside: set[int] = set()
    for token in yaml.scan(text, Loader=_loader()):
        start, end = token.start_mark, token.end_mark
        if isinstance(token, yaml.ScalarToken):
            last = end.line if end.column else end.line - 1
            inside |= set(range(start.line, last))
            ends[last] = max(ends.get(last, 0), end.column)
        elif end.line >= start.line and end.column:
            ends[end.line] = max(ends.get(end.line, 0), end.column)
    found = []
    for number, line in enumerate(text.splitlines()):
        rest = line[ends.get(number, 0) :]
        if number not in inside and rest.lstrip().startswith("#"):
            column = len(line) - len(rest.lstrip())
            found.append(Comment(line=number, column=column, words=line[column + 1 :].strip()))
    return found


def first_comments(text: str, path: _Path) -> dict[str, str]:
    """Return the first comment inside each entry of the block mapping at ``path``."""
    node: yaml.Node | None = _composed(text)
    for key in path:
        node = next((v for k, v in _pairs(node) if k.value == key), None)
    lines = text.splitlines(keepends=True)
    listed = comments(text)
    found = {}
    for name, value in _pairs(node):
        first, stop = _span(lines, name, value)
        inside = [each for each in listed if first <= each.line < stop]
        if inside:
            found[name.value] = inside[0].words
    return found


def remarks(text: str, path: _Path = ()) -> dict[str, str]:
    """Return the comment lines directly above each key of the mapping at ``path``, joined."""
    lines = text.splitlines()
    found = {}
    node: yaml.Node | None = _composed(text)
    for name in path:
        node = next((v for k, v in _pairs(node) if k.value == name), None)
    for key, _ in _pairs(node):
        first = _remark(lines, key.start_mark.line)
        if first < key.start_mark.line:
            block = lines[first : key.start_mark.line]
            found[key.value] = " ".join(line.strip().lstrip("#").strip() for line in block)
    return found


def _remark(lines: Sequence[str], line: int) -> int:
    """Return the first of the comment lines that end directly above ``line``."""
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def _edited(text: str, edit: Edit) -> str:
    lines = text.splitlines(keepends=True)
    first, stop, inner = _entry(text, lines, edit.path)
    newline = "\r\n" if "\r\n" in text else "\n"
    if isinstance(edit, Remark):
        above = _remark(lines, first)
        words = textwrap.wrap(edit.comment, WIDTH, break_long_words=False, break_on_hyphens=False)
        blanks = lines[first][: len(lines[first]) - len(lines[first].lstrip())] if inner else ""
        written = [f"{blanks}# {line}{newline}" for line in words]
        return "".join([*lines[:above], *written, *lines[first:]]) if inner else text
    if isinstance(edit, Mark):
        return _marked(text, lines, first, stop, edit.comment)
    if isinstance(edit, Drop) and len(inner) == 1:
        return "".join([*lines[:first], *lines[stop:]])
    if isinstance(edit, Drop) and not inner:
        return text
    if not inner:  # a new key of the whole plan
        return _with_new(text, lines, edit, newline)
    block = "".join(lines[first:stop])
    indent = len(lines[first]) - len(lines[first].lstrip())
    entry = _rewritten(_dedented(block, indent), edit, inner)
    shifted = [(" " * indent + line if line.strip() else line) for line in entry.splitlines()]
    return "".join([*lines[:first], *(line + newline for line in shifted), *lines[stop:]])


def _with_new(text: str, lines: list[str], edit: Edit, newline: str) -> str:
    if not isinstance(edit, Put):
        raise PlanError("The plan has no such key.", where=".".join(edit.path))
    value = edit.value
    for key in reversed(edit.path[1:]):
        value = {key: value}
    new = _dump({edit.path[0]: value}).splitlines()
    at = len(lines)
    for name, node in _pairs(_composed(text)):
        if name.value == edit.after:
            at = _span(lines, name, node)[1]
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += newline
    return "".join([*lines[:at], *(line + newline for line in new), *lines[at:]])


def _entry(text: str, lines: list[str], path: _Path) -> tuple[int, int, _Path]:
    """Return the lines of the innermost entry on lines of its own, and the path from its key.

    The path is empty if the plan has no such entry.
    """
    node: yaml.Node | None = _composed(text)
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        return 0, len(lines), path
    found: tuple[int, int, _Path] = (0, 0, ())
    for depth, name in enumerate(path):
        if not isinstance(node, yaml.MappingNode) or node.flow_style:
            break
        pair = next(((k, v) for k, v in node.value if k.value == name), None)
        if pair is None:
            break
        found = (*_span(lines, *pair), path[depth:])
        node = pair[1]
    return found


def _span(lines: list[str], key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
    """Return the first line of an entry and the line after it, excluding comments that follow."""
    first = key.start_mark.line
    end = value.end_mark
    stop = end.line + 1 if end.column and lines[end.line][: end.column].strip() else end.line
    stop = max(stop, key.end_mark.line + 1)
    while stop > first + 1 and _is_between(lines[stop - 1]):
        stop -= 1
    return first, min(stop, len(lines))


def _is_between(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _marked(text: str, lines: list[str], first: int, stop: int, words: str) -> str:
    inside = [each for each in comments(text) if first <= each.line < stop]
    end = "\r\n" if "\r\n" in text else "\n"
    at = inside[0].line if inside else first
    line = lines[at].rstrip("\r\n")
    kept = line[: inside[0].column].rstrip() if inside else line.rstrip()
    if inside and not kept:
        kept = line[: inside[0].column]
        lines[at] = f"{kept}# {words}{end}"
    else:
        lines[at] = f"{kept}  # {words}{end}"
    return "".join(lines)


def _rewritten(block: str, edit: Edit, inner: _Path) -> str:
    """Return the edited entry; comments that ruamel.yaml loses are put above it."""
    engine = _yaml()
    document = engine.load(block)
    holder = document
    for key in inner[:-1]:
        if not isinstance(holder.get(key), Mapping):
            if isinstance(edit, Drop):
                return block
            holder[key] = _written({})
            holder[key].fa.set_flow_style()
        holder = holder[key]
    if isinstance(edit, Drop):
        holder.pop(inner[-1], None)
        if not holder and isinstance(holder, CommentedMap):
            holder.fa.set_flow_style()
    elif isinstance(edit, Put):
        if not holder and isinstance(holder, CommentedMap):
            holder.fa.set_flow_style()
        holder[inner[-1]] = _written(edit.value)
    entry = _spaced(_dumped(engine, document))
    lost = _lost(comments(block), comments(entry))
    return "".join(f"# {words}\n" for words in lost) + entry


def _spaced(text: str) -> str:
    """Return the text with two spaces before each comment at the end of a line."""
    lines = text.splitlines(keepends=True)
    for each in comments(text):
        before, after = lines[each.line][: each.column], lines[each.line][each.column :]
        if before.strip():
            lines[each.line] = f"{before.rstrip()}  {after}"
    return "".join(lines)


def _lost(before: Sequence[Comment], after: Sequence[Comment]) -> list[str]:
    left = [each.words for each in after]
    lost = []
    for each in before:
        if each.words in left:
            left.remove(each.words)
        else:
            lost.append(each.words)
    return lost


def _apply(data: dict[str, Any], edit: Edit) -> None:
    if isinstance(edit, Mark | Remark):
        return
    holder: Any = data
    for key in edit.path[:-1]:
        if not isinstance(holder.get(key), dict):
            if isinstance(edit, Drop):
                return
            holder[key] = {}
        holder = holder[key]
    if isinstance(edit, Drop):
        holder.pop(edit.path[-1], None)
    else:
        holder[edit.path[-1]] = edit.value


def _written(value: Any) -> Any:
    """Return a value for ruamel.yaml in flow style, with ambiguous texts in quotes."""
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return _yaml().load(str(value))
    if isinstance(value, Mapping):
        mapping = CommentedMap((_key(key), _written(each)) for key, each in value.items())
        mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list | tuple):
        listed = CommentedSeq(_written(each) for each in value)
        listed.fa.set_flow_style()
        return listed
    return _key(str(value))


def _key(text: str) -> str:
    return text if quoted(text) == text else DoubleQuotedScalarString(text)


def _dump(mapping: Mapping[str, Any]) -> str:
    return _dumped(_yaml(), CommentedMap((_key(k), _written(v)) for k, v in mapping.items()))


def _dumped(engine: YAML, document: Any) -> str:
    out = io.StringIO()
    engine.dump(document, out)
    return out.getvalue()


def _yaml() -> YAML:
    engine = YAML(typ="rt", pure=True)
    engine.preserve_quotes = True
    engine.width = WIDTH
    engine.allow_unicode = True
    engine.indent(mapping=2, sequence=4, offset=2)
    return engine


def _dedented(block: str, indent: int) -> str:
    lines = block.splitlines(keepends=True)
    return "".join(line[indent:] if line[:indent].isspace() else line for line in lines).replace(
        "\r\n", "\n"
    )


def _composed(text: str) -> yaml.Node | None:
    node: yaml.Node | None = yaml.compose(text, Loader=_loader())
    return node


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
