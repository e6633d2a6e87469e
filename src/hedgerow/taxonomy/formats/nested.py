"""Nested YAML and JSON: ``Any: {Indoor: [office, shop], Outdoor: [farm]}``.

YAML files are read event by event: every scalar is the text as written (``0123``, ``no`` and
``2020-01-01`` stay unchanged), anchors are refused, and deep nesting ends in an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.text import at
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.outline import Nested, OutlineEntry, entries_of, outline_of
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    import yaml

_WRITE_LABELS = "Write for example\nAny:\n  Indoor: [office, shop]\n  Outdoor: [farm]"


def read_nested(nested: Nested, name: str | None = None) -> Taxonomy:
    """Return the taxonomy of mappings and lists; several topmost labels get a root ``*``."""
    return _taxonomy(entries_of(nested, where=name), name)


def read_yaml(text: str, name: str) -> Taxonomy:
    """Return the taxonomy of a nested YAML file; ``name`` is the file's name in messages."""
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        return _taxonomy(_yaml_entries(yaml.parse(text, Loader=loader), name), name)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise TaxonomyError(
            "The file is not YAML.",
            where=at(name, line) if line else name,
            line=line,
            do=_WRITE_LABELS,
        ) from error


def read_json(text: str, name: str) -> Taxonomy:
    """Return the taxonomy of a nested JSON file; ``name`` is the file's name in messages."""
    try:
        nested = json.loads(
            text,
            object_pairs_hook=lambda pairs: _unrepeated(pairs, name),
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except json.JSONDecodeError as error:
        raise TaxonomyError(
            f"The file is not JSON ({error.msg}).",
            where=at(name, error.lineno),
            line=error.lineno,
            do='Write for example {"Any": {"Indoor": ["office", "shop"], "Outdoor": ["farm"]}}.',
        ) from error
    except RecursionError as error:
        raise TaxonomyError(
            "The file is nested too deeply to be read.",
            where=name,
            do="Leave some of the groups out.",
        ) from error
    return read_nested(nested, name)


def _unrepeated(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        labels = [label for label, _ in pairs]
        twice = next(label for label in labels if labels.count(label) > 1)
        raise TaxonomyError(
            f"The label {displayed(twice)} occurs twice.",
            where=name,
            value=twice,
            do="Keep it in one place, or rename one of the two.",
        )
    return members


def _taxonomy(entries: Iterable[OutlineEntry], name: str | None) -> Taxonomy:
    outline = outline_of(entries, where=name)
    try:
        return Taxonomy(
            labels=tuple(outline.labels), parent=np.array(outline.parents, dtype=np.int32)
        )
    except TaxonomyError as error:
        raise TaxonomyError(error.what, where=name, value=error.value, do=error.do) from error


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being read; ``key`` is the label of the next value."""

    is_mapping: bool
    depth: int
    key: str | None = None


def _yaml_entries(events: Iterator[yaml.Event], name: str) -> Iterator[OutlineEntry]:
    import yaml

    stack: list[_Open] = []
    documents = 0
    for event in events:
        line = _line(event)
        where = at(name, line)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise TaxonomyError("A second document begins here.", where=where, do="Keep one.")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise TaxonomyError(
                "Anchors and aliases (& and *) are not allowed.",
                where=where,
                line=line,
                do="Write the labels out; put a label that begins with & or * in quotes.",
            )
        if isinstance(event, yaml.ScalarEvent):
            yield _scalar(str(event.value), stack, where, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            stack.append(_opened(isinstance(event, yaml.MappingStartEvent), stack, where))
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            if stack:
                stack[-1].key = None


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else event.start_mark.line + 1


def _scalar(label: str, stack: list[_Open], where: str, line: int) -> OutlineEntry:
    """Return the node of a scalar: a group as a key, a value as an item of a list."""
    if not stack:
        raise TaxonomyError("There are no labels below a root.", where=where, do=_WRITE_LABELS)
    top = stack[-1]
    if top.is_mapping and top.key is not None:
        group = displayed(top.key)
        found = displayed(label) if label else "nothing"
        raise TaxonomyError(
            f"Below {group} is {found}, not a list or a mapping.",
            where=where,
            line=line,
            value=top.key,
            do=f"Write the values below {group} as a list, even a single one: [value].",
        )
    if top.is_mapping:
        top.key = label
    return OutlineEntry(label, top.depth, is_group=top.is_mapping, where=where, line=line)


def _opened(is_mapping: bool, stack: list[_Open], where: str) -> _Open:
    if not stack:
        return _Open(is_mapping, depth=0)
    top = stack[-1]
    if top.is_mapping and top.key is None:
        raise TaxonomyError("A label is a mapping or a list.", where=where, do=_WRITE_LABELS)
    if top.is_mapping:
        return _Open(is_mapping, depth=top.depth + 1)
    if not is_mapping:
        raise TaxonomyError(
            "A list is directly in a list.", where=where, do="Give the inner list a label."
        )
    return _Open(is_mapping, depth=top.depth)


def nested_of(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return the taxonomy as nested mappings and lists, its root on top."""
    below: list[Any] = [None] * taxonomy.n_nodes
    labels = taxonomy.labels
    for node in range(taxonomy.n_nodes - 1, -1, -1):  # children come before their parent
        children = taxonomy.children(node).tolist()
        if all(below[child] is None for child in children):
            below[node] = [labels[child] for child in children] or None
        elif all(below[child] is not None for child in children):
            below[node] = {labels[child]: below[child] for child in children}
        else:
            below[node] = [
                labels[child] if below[child] is None else {labels[child]: below[child]}
                for child in children
            ]
    return {labels[0]: below[0]}


def write_yaml(taxonomy: Taxonomy) -> str:
    """Return the taxonomy as nested YAML."""
    import yaml

    dumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
    text: str = yaml.dump(
        nested_of(taxonomy),
        Dumper=dumper,
        allow_unicode=True,
        default_flow_style=None,  # the innermost lists on one line
        sort_keys=False,
        width=100,
    )
    return text


def write_json(taxonomy: Taxonomy) -> str:
    """Return the taxonomy as nested JSON."""
    return json.dumps(nested_of(taxonomy), ensure_ascii=False, indent=2) + "\n"
