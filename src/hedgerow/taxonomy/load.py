"""Taxonomies of attributes in plans: from a file, a nested tree or a builder.

A mapping with a single key out of :data:`KEYWORDS` is a file or a builder; every other mapping is a
nested tree, its labels as keys. A tree whose root is named like a keyword is written ``{nested:
{flat: [...]}}``.
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
    """Return the taxonomy that ``spec`` describes; paths are relative to ``base``.

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
        keyword, setting = next(iter(spec.items()))
        if keyword in _BUILD:
            settings = _Settings(setting, base=base, where=f"{where} > {keyword}")
            with quoting_nothing() if settings.names_a_file() else nullcontext():
                return _BUILD[keyword](settings)
    if isinstance(spec, Mapping | Sequence) and not isinstance(spec, bytes):
        return read_nested(spec, where)
    raise TaxonomyError(
        f"{brief(spec)} is not a taxonomy.",
        where=where,
        do="Give the path of a file, hedgerow:NAME, a tree such as {Any: {Indoor: [office],"
        " Outdoor: [farm]}},"
        f" or one of {', '.join(_BUILD)} with its settings.",
    )


def read_values(path: Path) -> list[str]:
    """Return the values of a text file, one per line, without empty lines."""
    lines = (line.strip() for line in read_text(path).splitlines())
    return [line for line in lines if line]


_OF_FILES = ("path", "values", "items")


class _Settings:
    """The settings after a keyword in a plan, checked when they are used."""

    def __init__(self, spec: Any, *, base: Path, where: str) -> None:
        self.spec = spec
        self.base = base
        self.where = where

    def names_a_file(self) -> bool:
        """Return whether labels may come from a file: there is a text in place of values."""
        spec = self.spec
        places = [spec.get(key) for key in _OF_FILES] if isinstance(spec, Mapping) else [spec]
        return any(isinstance(place, str) for place in places)

    def named(self, *allowed: str, plain: str | None = None) -> dict[str, Any]:
        """Return the settings by name; a value that is not a mapping is the setting ``plain``."""
        settings = self.spec
        if plain is not None and not isinstance(settings, Mapping):
            settings = {plain: settings}
        if not isinstance(settings, Mapping):
            raise self.fault(f"{brief(settings)} are not settings.", f"Give {', '.join(allowed)}.")
        for key in settings:
            if key not in allowed:
                near = get_close_matches(str(key), allowed, n=1)
                hint = f"Did you mean {near[0]}? " if near else ""
                raise self.fault(
                    f"There is no setting {brief(key)}.",
                    f"{hint}The settings are {', '.join(allowed)}. A tree whose root is named"
                    " like this keyword belongs under 'nested:'.",
                )
        return dict(settings)

    def needed(self, named: Mapping[str, Any], key: str) -> Any:
        if named.get(key) is None:
            raise self.fault(f"{key} is missing.", f"Give {key}.")
        return named[key]

    def values(self, values: Any) -> list[str]:
        """Return a list of values, or those of a file with one per line."""
        if isinstance(values, str):
            return read_values(self.base / values)
        if not isinstance(values, Sequence):
            raise self.fault(f"{brief(values)} is not a list.", "Give a list of values, or a file.")
        return [label_text(value, where=self.where) for value in values]

    def whole(self, named: Mapping[str, Any], key: str) -> int | None:
        value = named.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self.fault(f"{key} is {brief(value)}.", f"Give a whole number for {key}.")

    def text(self, named: Mapping[str, Any], key: str, default: str) -> str:
        return label_text(named.get(key, default), where=f"{self.where} > {key}")

    def listed(self, named: Mapping[str, Any], key: str, default: Sequence[Any]) -> list[Any]:
        value = named.get(key, default)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return list(value)
        raise self.fault(f"{key} is {brief(value)}.", f"Give a list for {key}.")

    def fault(self, what: str, do: str) -> TaxonomyError:
        return TaxonomyError(what, where=self.where, do=do)


def _file(settings: _Settings) -> Taxonomy:
    named = settings.named("path", "format", plain="path")
    path = settings.text({"path": settings.needed(named, "path")}, "path", "")
    name = named.get("format")
    return read_taxonomy(
        settings.base / path, format=None if name is None else format_called(str(name))
    )


def _nested(settings: _Settings) -> Taxonomy:
    return read_nested(settings.spec, settings.where)


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
                f"{brief(odd)} does not have {length} characters.",
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
"""Keys that distinguish a file or a builder from a nested tree."""
