"""What a plan says of baskets and sequences, as the page Table shows it, and back."""

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
"""Items up to which a list is shown whole; a longer one belongs into a file."""

METHODS = {False: "coterie", True: "chain"}
_CUTTING = ("chain", "diffpart")


@dataclass(frozen=True, kw_only=True)
class ShownItems:
    """The section ``items`` of a plan, and what belongs to it elsewhere."""

    given: Mapping[str, Any]
    method: str
    longest: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ShownItems | None:
        """Return what a plan says, or nothing where it is for columns."""
        given = data.get("items")
        if not isinstance(given, Mapping):
            return None
        publish = data.get("publish")
        told = publish if isinstance(publish, Mapping) else {}
        return cls(
            given=given,
            method=str(told.get("method", "")),
            longest=str(told.get("max-length", "")),
        )

    @property
    def is_ordered(self) -> bool:
        """Whether records are sequences."""
        return self.given.get("ordered") is True

    @property
    def universe_kind(self) -> UniverseKind:
        """How the list of all items is given."""
        universe = self.given.get("universe")
        if universe is None:
            return "taxonomy"
        if isinstance(universe, str):
            return "file"
        return "range" if _is_range(universe) else "list"

    @property
    def universe(self) -> list[str]:
        """The ends of a range, the name of a file, or the items."""
        universe = self.given.get("universe")
        if universe is None:
            return []
        return [str(each) for each in ([universe] if isinstance(universe, str) else universe)]

    @property
    def n_items(self) -> int | None:
        """How many items there are, where the plan itself says so."""
        universe = self.given.get("universe")
        if self.universe_kind == "range" and isinstance(universe, list):
            return int(universe[1]) - int(universe[0]) + 1
        return len(self.universe) if self.universe_kind == "list" else None

    @property
    def layout(self) -> str:
        """Where items lie: in lines of a file, in lists, or one to a row."""
        if "column" not in self.given:
            return "lines"
        return "long" if "record" in self.given or "join" in self.given else "lists"

    @property
    def taxonomy(self) -> str | None:
        """The file that groups items; nothing where the plan holds the tree itself."""
        found = self.given.get("taxonomy", CONTEXT_FREE)
        return found if isinstance(found, str) else None

    @property
    def can_be_cut(self) -> bool:
        """Whether the method has a longest record."""
        return self.method in _CUTTING


def _is_range(universe: Any) -> bool:
    whole = isinstance(universe, list) and len(universe) == 2
    return whole and all(isinstance(each, int) and not isinstance(each, bool) for each in universe)


def items_edits(data: Mapping[str, Any], form: Sent) -> list[Edit]:
    """Return the edits that make the plan say what the form says."""
    shown = ShownItems.of(data)
    if shown is None:
        raise InputError("the plan is for columns", where="items", do="Load the page again.")
    wanted = {**_universe(shown, form), **_grouping(shown, form), **_layout(form)}
    ordered = form.get("records-are") == "sequences"
    wanted["ordered"] = True if ordered else None
    edits: list[Edit] = []
    for key, value in wanted.items():
        if value is None and key in shown.given:
            edits.append(Drop(path=("items", key)))
        elif value is not None and shown.given.get(key) != value:
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
            raise InputError("no file is named", where="universe", do="Give the file of all items.")
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
            raise InputError("no file is named", where="taxonomy", do="Give the taxonomy's file.")
        return {"taxonomy": name, "fan-out": None}
    fan_out = form.get("fan-out").strip()
    given = shown.given.get("taxonomy", CONTEXT_FREE) == CONTEXT_FREE
    keeps = given and "taxonomy" not in shown.given
    wide = number(fan_out, "fan-out") if fan_out else None
    keeps_wide = wide == 10 and "fan-out" not in shown.given
    return {
        "taxonomy": None if keeps else CONTEXT_FREE,
        "fan-out": None if keeps_wide else wide,
    }


def _layout(form: Sent) -> dict[str, Any]:
    layout = form.get("layout")
    if layout not in LAYOUTS:
        raise InputError("the form is not whole", where="layout", do="Load the page again.")
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
        raise InputError("no column is named", where="column", do="Give the column of the items.")
    return {**named, "separator": None, "as": None}


def _method(data: Mapping[str, Any], shown: ShownItems, *, ordered: bool) -> list[Edit]:
    """Return the edits that give sequences, or baskets, a method that publishes such."""
    if ordered == shown.is_ordered:
        return []
    publish = data.get("publish")
    told = publish if isinstance(publish, Mapping) else {}
    edits: list[Edit] = [
        Drop(path=("publish", key)) for key in told if key not in ("method", "epsilon")
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
