"""Edits of a plan file that add signatures and sources and keep every other character.

YAML and JSON are edited by the positions of their nodes, TOML by lines. The result is parsed again
and must equal the former content with the additions and nothing else; otherwise the edit is refused
with the text to paste.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hedgerow.errors import InputError, PlanError
from hedgerow.plan.load import PlanDumper
from hedgerow.plan.parse import KeyPath, parse_text
from hedgerow.plan.rewrite_toml import Change, applied, toml_value, toml_with_key, toml_with_source

Keys = Mapping[str, Mapping[str, Any] | None]
"""New content of keys of the whole plan; ``None`` removes a key."""


def rewritten(
    text: str, *, kind: str, keys: Keys, sources: Mapping[KeyPath, str], where: str
) -> str:
    r"""Return the text of a plan file with new keys and new sources of some domains.

    ``kind`` is YAML, TOML or JSON; ``sources`` are by the path of the column, or ``("items",)``.

    >>> print(rewritten("confirmed: false  # soon\n", kind="YAML", where="plan", sources={},
    ...                 keys={"confirmed": {"by": "A. Officer"}}), end="")
    confirmed:  # soon
      by: A. Officer
    """
    if "\r\n" in text and "\n" not in text.replace("\r\n", ""):
        plain = text.replace("\r\n", "\n")
        new_text = rewritten(plain, kind=kind, keys=keys, sources=sources, where=where)
        return new_text.replace("\n", "\r\n")
    wanted = copy.deepcopy(parse_text(text, kind=kind, where=where).data)
    if not isinstance(wanted, dict):
        raise PlanError("The plan is not a mapping of keys to values.", where=where)
    try:
        for path, source in sources.items():
            _holder(wanted, path)["source"] = source
        for key, value in keys.items():
            wanted.pop(key, None)
            if value is not None:
                wanted[key] = value
        text = _edited_toml(text, keys, sources) if kind == "TOML" else _edited(text, keys, sources)
        content = parse_text(text, kind=kind, where=where).data
    except (PlanError, yaml.YAMLError, LookupError, AttributeError, TypeError) as error:
        raise _refused(keys, sources, kind, where) from error
    if _plain(content) != _plain(wanted):
        raise _refused(keys, sources, kind, where)
    return text


def replace_file(path: Path, text: str) -> None:
    """Replace a file as a whole, by a second file that takes its name and permissions."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            if path.exists():
                part.chmod(path.stat().st_mode & 0o777)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        why = error.strerror or "The file cannot be written."
        raise InputError(
            why, where=path.name, do="Make room or get permission, then try again."
        ) from None


def _refused(keys: Keys, sources: Mapping[KeyPath, str], kind: str, where: str) -> PlanError:
    lines = [f"source of {path[-1]}: {json.dumps(text)}" for path, text in sources.items()]
    for key, value in keys.items():
        if value is None:
            lines.append(f"(remove {key})")
        elif kind == "TOML":
            lines.append(f"{key} = {toml_value(value)}")
        else:
            lines.append(_entry(key, value, kind=kind))
    return PlanError(
        f"The signature cannot be written into this {kind} text. Nothing was changed.",
        where=where,
        do="Write it into the file yourself, in place of the present one:\n" + "\n".join(lines),
    )


def _holder(data: Any, path: KeyPath) -> Any:
    for step in path:
        data = data[step]
    return data


def _plain(value: Any) -> Any:
    """Return content with numbers that compare equal in all spellings."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    return float(value) if not hasattr(value, "isoformat") else str(value)


def _edited_toml(text: str, keys: Keys, sources: Mapping[KeyPath, str]) -> str:
    for path, source in sources.items():
        text = toml_with_source(text, path, source)
    for key, value in keys.items():
        text = toml_with_key(text, key, value)
    return text


def _edited(text: str, keys: Keys, sources: Mapping[KeyPath, str]) -> str:
    """Return YAML or JSON with all changes, applied from the end of the text."""
    text = text if text.endswith("\n") else f"{text}\n"
    root = _composed(text)
    changes = [_sourced(root, path, source) for path, source in sources.items()]
    for key, value in keys.items():
        found = next(((k, v) for k, v in root.value if k.value == key), None)
        if found is not None or value is not None:
            changes.append(_keyed(text, root, key, value, found))
    order = sorted(range(len(changes)), key=lambda place: (changes[place].start, place))
    for place in reversed(order):
        text = applied(text, changes[place])
    return text


def _keyed(
    text: str,
    root: yaml.MappingNode,
    key: str,
    value: Mapping[str, Any] | None,
    found: tuple[yaml.Node, yaml.Node] | None,
) -> Change:
    """Return the change of a key of the whole plan."""
    if root.flow_style:
        return _flow_key(text, root, key, value, found)
    column = root.value[0][0].start_mark.column
    if found is None:
        new_text = _indented(_entry(key, value or {}, kind="YAML"), column)
        return Change(start=len(text), stop=len(text), text=f"{new_text}\n")
    return _block_key(text, *found, value, column)


def _block_key(
    text: str, name: yaml.Node, old: yaml.Node, value: Mapping[str, Any] | None, column: int
) -> Change:
    """Return the change of an entry on lines of its own, with the comment after its key."""
    start, stop = name.start_mark.index, _end(old)
    line = text.find("\n", stop)
    line = len(text) if line < 0 else line
    if value is None:
        return Change(start=start - column, stop=min(line + 1, len(text)), text="")
    body = _body(value)
    if isinstance(old, yaml.MappingNode) and not old.flow_style:
        inner = old.start_mark.column
        new_text = _indented(body, inner)[inner:]
        return Change(start=old.start_mark.index, stop=stop, text=new_text)
    rest = text[stop:line].rstrip()
    comment = f"  {rest.lstrip()}" if rest.lstrip().startswith("#") else ""
    new_text = f"{name.value}:{comment}\n{_indented(body, column + 2)}"
    return Change(start=start, stop=line if comment or not rest else stop, text=new_text)


def _flow_key(
    text: str,
    root: yaml.MappingNode,
    key: str,
    value: Mapping[str, Any] | None,
    found: tuple[yaml.Node, yaml.Node] | None,
) -> Change:
    new_text = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    if found is None:
        start = root.start_mark.index + 1
        comma = "," if root.value else ""
        return Change(start=start, stop=start, text=f"\n  {json.dumps(key)}: {new_text}{comma}")
    name, old = found
    if value is not None:
        return Change(start=old.start_mark.index, stop=old.end_mark.index, text=new_text)
    start, stop = name.start_mark.index, old.end_mark.index
    after = re.compile(r"\s*,").match(text, stop)
    if after:
        return Change(start=start, stop=after.end(), text="")
    before = re.compile(r",\s*$").search(text[:start])
    return Change(start=before.start() if before else start, stop=stop, text="")


def _sourced(root: yaml.MappingNode, path: KeyPath, source: str) -> Change:
    """Return the change of the source of one domain."""
    node: Any = root
    for step in path:
        node = next((value for key, value in node.value if key.value == step), None)
    literal = json.dumps(source, ensure_ascii=False)
    old = next((value for key, value in node.value if key.value == "source"), None)
    if old is not None:
        return Change(start=old.start_mark.index, stop=_end(old), text=literal)
    if not node.flow_style:
        first = node.value[0][0].start_mark
        new_text = f"source: {literal}\n{' ' * first.column}"
        return Change(start=first.index, stop=first.index, text=new_text)
    name = '"source"' if root.flow_style else "source"  # JSON has keys only in quotes
    if node.value:
        at = _end(node.value[-1][1])
        return Change(start=at, stop=at, text=f", {name}: {literal}")
    at = node.start_mark.index + 1
    return Change(start=at, stop=at, text=f"{name}: {literal}")


def _composed(text: str) -> yaml.MappingNode:
    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    if not isinstance(node, yaml.MappingNode):
        raise PlanError("The plan is not a mapping of keys to values.")
    return node


def _end(node: yaml.Node) -> int:
    """Return the end of a node's text; blocks of YAML include comments after them."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _entry(key: str, value: Mapping[str, Any], *, kind: str) -> str:
    if kind == "JSON":
        return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, indent=2)}"
    return f"{key}:\n{_indented(_body(value), 2)}"


def _body(value: Mapping[str, Any]) -> str:
    """Return a signature as lines of YAML: one for each setting and for each column."""
    lines = []
    for key, each in value.items():
        if key != "signed":
            lines.append(_line(key, each))
            continue
        lines.append("signed:")
        for section, part in each.items():
            if section == "attributes":
                lines.append("  attributes:")
                lines += [f"    {_line(name, value)}" for name, value in part.items()]
            else:
                lines.append(f"  {_line(section, part)}")
    return "\n".join(lines)


def _line(key: str, value: Any) -> str:
    return f"{_flow(key)}: {_flow(value)}"


def _flow(value: Any) -> str:
    new_text: str = yaml.dump(
        value,
        Dumper=PlanDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=True,
        width=10**9,
    )
    return new_text.strip().removesuffix("...").strip()


def _indented(text: str, column: int) -> str:
    return "\n".join(f"{' ' * column}{line}" for line in text.split("\n"))
