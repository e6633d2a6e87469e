"""The taxonomy that an attribute of a plan asks for: a file, a tree written out, a builder.

A mapping with a single key out of :data:`KEYWORDS` is a file or a builder; every other
mapping is a tree written out, its labels as keys. A tree whose root is called like a
keyword is written ``{nested: {flat: [...]}}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.files import format_called, read_taxonomy
from hedgerow.taxonomy.formats.nested import read_nested
from hedgerow.taxonomy.formats.text import read_text
from hedgerow.taxonomy.labels import ROOT, brief, quoting_nothing
from hedgerow.taxonomy.outline import label_text
from hedgerow.taxonomy.ready.catalogue import ready_name, ready_taxonomy
from hedgerow.taxonomy.tree import Taxonomy


def taxonomy_of(spec: object, *, base: Path, where: str = "taxonomy") -> Taxonomy:
    """The taxonomy that ``spec`` describes; paths are relative to ``base``, the plan's folder.

    >>> taxonomy_of({"Any": {"Indoor": ["office", "shop"], "Outdoor": ["farm"]}}, base=Path())
    Taxonomy('Any', 3 leaves, 6 nodes, height 2)
    >>> taxonomy_of({"flat": ["red", "green"]}, base=Path())
    Taxonomy('*', 2 leaves, 3 nodes, height 1)
    >>> taxonomy_of("hedgerow:months", base=Path())
    Taxonomy('any month', 12 leaves, 17 nodes, height 2)
    """
    if (name := ready_name(spec)) is not None:
        return ready_taxonomy(name).tree
    if isinstance(spec, str):
        with quoting_nothing():
            return read_taxonomy(base / spec)
    if isinstance(spec, Mapping) and len(spec) == 1:
        keyword, given = next(iter(spec.items()))
        if keyword in _BUILD:
            settings = _Settings(given, base=base, where=f"{where} > {keyword}")
            with quoting_nothing() if settings.names_a_file() else nullcontext():
                return _BUILD[keyword](settings)
    if isinstance(spec, Mapping | Sequence) and not isinstance(spec, bytes):
        return read_nested(spec, where)
    raise TaxonomyError(
        f"{brief(spec)} is not a taxonomy",
        where=where,
        do="Give the path of a file, hedgerow:NAME, a tree such as {Any: {Indoor: [office],"
        " Outdoor: [farm]}},"
        f" or one of {', '.join(_BUILD)} with its settings.",
    )


def read_values(path: Path) -> list[str]:
    """The values of a text file, one per line; empty lines are skipped."""
    lines = (line.strip() for line in read_text(path).splitlines())
    return [line for line in lines if line]


_OF_FILES = ("path", "values", "items")


class _Settings:
    """What a plan says after a keyword, checked as it is taken."""

    def __init__(self, given: Any, *, base: Path, where: str) -> None:
        self.given = given
        self.base = base
        self.where = where

    def names_a_file(self) -> bool:
        """Whether labels may come from a file: a text stands where values could."""
        given = self.given
        places = [given.get(key) for key in _OF_FILES] if isinstance(given, Mapping) else [given]
        return any(isinstance(place, str) for place in places)

    def named(self, *allowed: str, plain: str | None = None) -> dict[str, Any]:
        """The settings by name; what is no mapping is the setting ``plain``."""
        given = self.given
        if plain is not None and not isinstance(given, Mapping):
            given = {plain: given}
        if not isinstance(given, Mapping):
            raise self.fault(f"{brief(given)} are not settings", f"Give {', '.join(allowed)}.")
        for key in given:
            if key not in allowed:
                near = get_close_matches(str(key), allowed, n=1)
                meant = f"Did you mean {near[0]}? " if near else ""
                raise self.fault(
                    f"there is no setting {brief(key)}",
                    f"{meant}The settings are {', '.join(allowed)}. A tree whose root is called"
                    " like this keyword goes under 'nested:'.",
                )
        return dict(given)

    def needed(self, named: Mapping[str, Any], key: str) -> Any:
        if named.get(key) is None:
            raise self.fault(f"{key} is not given", f"Give {key}.")
        return named[key]

    def values(self, given: Any) -> list[str]:
        """A list of values, or the path of a file with one per line."""
        if isinstance(given, str):
            return read_values(self.base / given)
        if not isinstance(given, Sequence):
            raise self.fault(f"{brief(given)} is not a list", "Give a list of values, or a file.")
        return [label_text(value, where=self.where) for value in given]

    def whole(self, named: Mapping[str, Any], key: str) -> int | None:
        given = named.get(key)
        if given is None or (isinstance(given, int) and not isinstance(given, bool)):
            return given
        raise self.fault(f"{key} is {brief(given)}", f"Give a whole number for {key}.")

    def text(self, named: Mapping[str, Any], key: str, default: str) -> str:
        return label_text(named.get(key, default), where=f"{self.where} > {key}")

    def listed(self, named: Mapping[str, Any], key: str, default: Sequence[Any]) -> list[Any]:
        given = named.get(key, default)
        if isinstance(given, Sequence) and not isinstance(given, str):
            return list(given)
        raise self.fault(f"{key} is {brief(given)}", f"Give a list for {key}.")

    def fault(self, what: str, do: str) -> TaxonomyError:
        return TaxonomyError(what, where=self.where, do=do)


def _file(settings: _Settings) -> Taxonomy:
    named = settings.named("path", "format", plain="path")
    path = settings.text({"path": settings.needed(named, "path")}, "path", "")
    given = named.get("format")
    return read_taxonomy(
        settings.base / path, format=None if given is None else format_called(str(given))
    )


def _nested(settings: _Settings) -> Taxonomy:
    return read_nested(settings.given, settings.where)


def _flat(settings: _Settings) -> Taxonomy:
    named = settings.named("values", "root", plain="values")
    values = settings.values(settings.needed(named, "values"))
    return builders.flat(values, root=settings.text(named, "root", ROOT))


def _numeric(settings: _Settings) -> Taxonomy:
    named = settings.named("low", "high", "step", "edges", "fan-out", "widths", "root")
    fan_out, root = settings.whole(named, "fan-out"), settings.text(named, "root", ROOT)
    if "edges" in named:
        settings.named("edges", "fan-out", "root")
        edges = settings.listed(named, "edges", ())
        return builders.numeric_edges(edges, fan_out=fan_out, root=root)
    low, high, step = (settings.needed(named, key) for key in ("low", "high", "step"))
    widths = settings.listed(named, "widths", ())
    return builders.numeric(
        low=low, high=high, step=step, fan_out=fan_out, widths=widths, root=root
    )


def _prefix(settings: _Settings) -> Taxonomy:
    named = settings.named("values", "length", "alphabet", "mask", "root", plain="values")
    length = settings.whole(named, "length")
    if "values" in named:
        values = settings.values(settings.needed(named, "values"))
        odd = next((value for value in values if length and len(value) != length), None)
        if odd is not None:
            raise settings.fault(
                f"{brief(odd)} has not {length} characters",
                "Put codes with leading zeros in quotes, and give all of them the same length.",
            )
    else:
        alphabet = settings.text(named, "alphabet", "0123456789")
        values = builders.prefix_codes(settings.needed(named, "length"), alphabet=alphabet)
    mask, root = settings.text(named, "mask", "*"), settings.text(named, "root", ROOT)
    return builders.prefixes(values, mask=mask, root=root)


def _dates(settings: _Settings) -> Taxonomy:
    named = settings.named("from", "to", "levels", "root")
    start, end = settings.needed(named, "from"), settings.needed(named, "to")
    levels = settings.listed(named, "levels", builders.DATE_LEVELS)
    return builders.dates(start, end, levels=levels, root=settings.text(named, "root", ROOT))


def _context_free(settings: _Settings) -> Taxonomy:
    named = settings.named("items", "fan-out", "root")
    items = settings.values(settings.needed(named, "items"))
    settings.needed(named, "fan-out")
    fan_out = settings.whole(named, "fan-out") or 0
    return builders.context_free(items, fan_out=fan_out, root=settings.text(named, "root", ROOT))


_BUILD: dict[Any, Callable[[_Settings], Taxonomy]] = {
    "file": _file,
    "nested": _nested,
    "flat": _flat,
    "numeric": _numeric,
    "prefix": _prefix,
    "dates": _dates,
    "context-free": _context_free,
}
KEYWORDS: tuple[str, ...] = tuple(_BUILD)
"""The words that make a mapping a file or a builder, and not a tree."""
