"""The plan's section on items as a form of the page Table, and edits from a sent form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hedgerow.errors import InputError
from hedgerow.studio.columns import lines_of, number
from hedgerow.studio.shell import Sent
from hedgerow.studio.yamledit import Drop, Edit, Put

UniverseKind = Literal["range", "file", "list", "taxonomy"]
UNIVERSES: tuple[UniverseKind, ...] = ("range", "file", "list", "taxonomy")
LAYOUTS = ("lines", "lists", "long")
SEPARATORS = ("auto", "space", "comma", "tab")
CONTEXT_FREE = "context-free"
MOST_LISTED = 2_000
"""Maximum number of items of a list that is shown; longer lists belong in a file."""

METHODS = {False: "coterie", True: "chain"}
_CUTTING = ("chain", "diffpart")


@dataclass(frozen=True, kw_only=True)
class ShownItems:
    """The section ``items`` of a plan, with related settings of other sections."""

    section: Mapping[str, Any]
    method: str
    longest: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ShownItems | None:
        """Return the section of a plan, or ``None`` if the plan is for columns."""
        section = data.get("items")
        if not isinstance(section, Mapping):
            return None
        publish = data.get("publish")
        settings = publish if isinstance(publish, Mapping) else {}
        return cls(
            section=section,
            method=str(settings.get("method", "")),
            longest=str(settings.get("max-length", "")),
        )

    @property
    def is_ordered(self) -> bool:
        """True if records are sequences."""
        return self.section.get("ordered") is True

    @property
    def universe_kind(self) -> UniverseKind:
        """The form of the list of all items."""
        universe = self.section.get("universe")
        if universe is None:
            return "taxonomy"
        if isinstance(universe, str):
            return "file"
        return "range" if _is_range(universe) else "list"

    @property
    def universe(self) -> list[str]:
        """The ends of a range, the name of a file, or the items."""
        universe = self.section.get("universe")
        if universe is None:
            return []
        return [str(each) for each in ([universe] if isinstance(universe, str) else universe)]

    @property
    def n_items(self) -> int | None:
        """The number of items, if the plan itself determines it."""
        universe = self.section.get("universe")
        if self.universe_kind == "range" and isinstance(universe, list):
            return int(universe[1]) - int(universe[0]) + 1
        return len(self.universe) if self.universe_kind == "list" else None

    @property
    def layout(self) -> str:
        """The layout of the items: lines of a file, lists, or one item per row."""
        if "column" not in self.section:
            return "lines"
        return "long" if "record" in self.section or "join" in self.section else "lists"

    @property
    def taxonomy(self) -> str | None:
        """The taxonomy file, or ``None`` if the plan contains the tree itself."""
        found = self.section.get("taxonomy", CONTEXT_FREE)
        return found if isinstance(found, str) else None

    @property
    def can_be_cut(self) -> bool:
        """True if the method limits the length of records."""
        return self.method in _CUTTING


def _is_range(universe: Any) -> bool:
    is_pair = isinstance(universe, list) and len(universe) == 2
    return is_pair and all(type(each) is int for each in universe)


def items_edits(data: Mapping[str, Any], form: Sent) -> list[Edit]:
    """Return the edits that transfer the form to the plan."""
    shown = ShownItems.of(data)
    if shown is None:
        raise InputError("The plan is for columns.", where="items", do="Load the page again.")
    wanted = {**_universe(shown, form), **_grouping(shown, form), **_layout(form)}
    ordered = form.get("records-are") == "sequences"
    wanted["ordered"] = True if ordered else None
    edits: list[Edit] = []
    for key, value in wanted.items():
        if value is None and key in shown.section:
            edits.append(Drop(path=("items", key)))
        elif value is not None and shown.section.get(key) != value:
            edits.append(Put(path=("items", key), value=value))
    return [*edits, *_method(data, shown, ordered=ordered), *_longest(shown, ordered, form)]


def _universe(shown: ShownItems, form: Sent) -> dict[str, Any]:
    kind = form.need("universe-kind")
    if kind == "range":
        ends = [number(form.get(key), f"items: {key}") for key in ("first", "last")]
        return {"universe": ends}
    if kind == "file":
        name = form.get("universe-file").strip()
        if not name:
            raise InputError(
                "No file is named.", where="universe", do="Give the file with all items."
            )
        return {"universe": name}
    if kind == "list":
        if shown.universe_kind == "list" and len(shown.universe) > MOST_LISTED:
            return {}
        listed = lines_of(form.get("universe-list"))
        same = shown.universe_kind == "list" and listed == shown.universe
        return {} if same else {"universe": listed}
    return {"universe": None}


def _grouping(shown: ShownItems, form: Sent) -> dict[str, Any]:
    if shown.taxonomy is None and form.get("grouping") == "kept":
        return {}
    if form.get("grouping") == "file":
        name = form.get("taxonomy").strip()
        if not name:
            raise InputError("No file is named.", where="taxonomy", do="Give the taxonomy file.")
        return {"taxonomy": name, "fan-out": None}
    fan_out = form.get("fan-out").strip()
    width = number(fan_out, "fan-out") if fan_out else None
    is_default = width == 10 and "fan-out" not in shown.section
    return {
        "taxonomy": CONTEXT_FREE if "taxonomy" in shown.section else None,
        "fan-out": None if is_default else width,
    }


def _layout(form: Sent) -> dict[str, Any]:
    layout = form.get("layout")
    if layout not in LAYOUTS:
        raise InputError("The form is incomplete.", where="layout", do="Load the page again.")
    separator = form.get("separator")
    named = {key: form.get(key).strip() or None for key in ("column", "record", "order")}
    if layout == "lines":
        plain = separator in ("", "auto") or separator not in SEPARATORS
        return {**dict.fromkeys(named), "separator": None if plain else separator}
    if layout == "lists":
        named |= {"record": None, "order": None}
    if form.get("records-are") != "sequences":
        named["order"] = None
    if named["column"] is None:
        raise InputError("No column is named.", where="column", do="Give the column of the items.")
    return {**named, "separator": None, "as": None}


def _method(data: Mapping[str, Any], shown: ShownItems, *, ordered: bool) -> list[Edit]:
    """Return the edits that select a method for the kind of records, if that changes."""
    if ordered == shown.is_ordered:
        return []
    publish = data.get("publish")
    settings = publish if isinstance(publish, Mapping) else {}
    edits: list[Edit] = [
        Drop(path=("publish", key)) for key in settings if key not in ("method", "epsilon")
    ]
    return [*edits, Put(path=("publish", "method"), value=METHODS[ordered])]


def _longest(shown: ShownItems, ordered: bool, form: Sent) -> list[Edit]:
    method = shown.method if ordered == shown.is_ordered else METHODS[ordered]
    longest, path = form.get("longest").strip(), ("publish", "max-length")
    if method not in _CUTTING or longest == shown.longest:
        return []
    if not longest:
        return [Drop(path=path)]
    return [Put(path=path, value=number(longest, "max-length"))]
