"""The format of `recoding.json`: domains, ranges and, if there is one, the tree of boxes."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from hedgerow.errors import InternalError
from hedgerow.model.dates import DateFormat
from hedgerow.model.derive import DateColumn, Derivation, Derived
from hedgerow.model.groups import Ranges, Tree
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release.domains import Description, describe
from hedgerow.taxonomy.calendar import date_text, day_number
from hedgerow.taxonomy.domain import CategoricalDomain


class _Stored(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )


class StoredDates(_Stored):
    """A column of dates and its format."""

    column: str
    format: DateFormat

    @classmethod
    def of(cls, column: DateColumn) -> StoredDates:
        """Return the stored form of a column."""
        return cls(column=column.name, format=column.format)

    def restored(self) -> DateColumn:
        """Return the column."""
        return DateColumn(name=self.column, format=self.format)


class StoredDerivation(_Stored):
    """The derivation of values from columns of dates; ``at`` is a date."""

    what: Derived
    start: StoredDates = Field(alias="from")
    until: StoredDates | None = None
    at: datetime.date | None = None

    @classmethod
    def of(cls, derivation: Derivation) -> StoredDerivation:
        """Return the stored form of a derivation."""
        start, until = StoredDates.of(derivation.start), None
        if derivation.until is not None:
            until = StoredDates.of(derivation.until)
        at = None if derivation.at is None else date_text(derivation.at)
        facts = {"what": derivation.what, "from": start, "until": until, "at": at}
        return cls.model_validate(facts)

    def facts(self) -> dict[str, object]:
        """Return the stored facts of the derivation."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def restored(self) -> Derivation:
        """Return the derivation."""
        until = None if self.until is None else self.until.restored()
        at = None if self.at is None else day_number(self.at)
        return Derivation(what=self.what, start=self.start.restored(), until=until, at=at)


def attribute_facts(attribute: Attribute) -> dict[str, object]:
    """Return the public facts of an attribute, which suffice to encode new values."""
    facts: dict[str, object] = {
        "name": attribute.name,
        "domain": describe(attribute.domain).facts(),
    }
    if attribute.derivation is not None:
        facts["derived"] = StoredDerivation.of(attribute.derivation).facts()
    return facts


FORMAT_VERSION = 1
SIZE_DECIMALS = 3
"""Number of decimals of the noisy sizes of a tree's nodes, which are for display only."""

Code = Annotated[int, Field(ge=0, lt=2**31)]
StoredPlace = Annotated[int, Field(ge=-1, lt=2**31)]


class _StoredColumn(_Stored):
    """The facts needed to encode an attribute's column as the release did."""

    name: str
    domain: Description
    missing_values: tuple[str, ...] = Field((), alias="missing-values")
    unreadable: Literal["refuse", "missing"] = "refuse"
    letters: Annotated[int, Field(ge=1)] | None = None
    derived: StoredDerivation | None = None

    def restored(self) -> Attribute:
        """Return the attribute."""
        return Attribute(
            name=self.name,
            domain=self.domain.domain(),
            missing_values=frozenset(self.missing_values),
            unreadable=self.unreadable,
            letters=self.letters,
            derivation=None if self.derived is None else self.derived.restored(),
        )


def _column_facts(attribute: Attribute) -> dict[str, object]:
    facts: dict[str, object] = attribute_facts(attribute)
    if attribute.missing_values:
        facts["missing-values"] = sorted(attribute.missing_values)
    if attribute.unreadable != "refuse":
        facts["unreadable"] = attribute.unreadable
    if attribute.letters is not None:
        facts["letters"] = attribute.letters
    return facts


class StoredAttribute(_StoredColumn):
    """An attribute with its ranges; ``boxes`` has the range of each box.

    A release of overlapping boxes may have no ranges at all.
    """

    ranges: tuple[tuple[Code, Code, str], ...]
    boxes: tuple[Code, ...] | None = None

    def table(self) -> Ranges:
        """Return the ranges as codes."""
        pairs = np.array([pair[:2] for pair in self.ranges], dtype=np.int32).reshape(-1, 2)
        return Ranges(first=pairs[:, 0].copy(), stop=pairs[:, 1].copy())


class StoredTree(_Stored):
    """The tree of boxes as parallel lists, one entry per node."""

    parent: tuple[StoredPlace, ...]
    attribute: tuple[StoredPlace, ...]
    first: tuple[Code, ...]
    stop: tuple[Code, ...]
    box: tuple[StoredPlace, ...]
    sizes: tuple[float, ...]

    def restored(self) -> Tree:
        """Return the tree, not yet validated."""
        whole = {
            name: np.array(getattr(self, name), dtype=np.int32)
            for name in ("parent", "attribute", "first", "stop", "box")
        }
        return Tree(**whole, sizes=np.array(self.sizes, dtype=np.float64))


class StoredRecoding(_Stored):
    """The whole file."""

    format_version: Literal[1] = Field(alias="format-version")
    kind: Literal["cut", "boxes"]
    missing: Literal["drop", "value"]
    missing_values: tuple[str, ...] = Field(alias="missing-values")
    attributes: tuple[StoredAttribute, ...]
    class_: _StoredColumn | None = Field(alias="class")
    tree: StoredTree | None = None

    def public_schema(self) -> Schema:
        """Return the public schema of the release."""
        of_class = self.class_
        target = None
        if of_class is not None:
            target = of_class.restored()
            if not isinstance(target.domain, CategoricalDomain):
                raise InternalError("The class is numeric.")
        return Schema(
            attributes=tuple(each.restored() for each in self.attributes),
            class_attribute=target,
            missing=self.missing,
            missing_values=frozenset(self.missing_values),
        )

    def boxes(self) -> tuple[NDArray[np.int32], ...] | None:
        """Return the range of each box, per attribute, or ``None`` if none is stored."""
        listed = [each.boxes for each in self.attributes if each.boxes is not None]
        if not listed:
            return None
        if len(listed) < len(self.attributes):
            raise InternalError("Only some attributes list the ranges of the boxes.")
        return tuple(np.array(each, dtype=np.int32) for each in listed)


def recoding_text(
    schema: Schema,
    ranges: Sequence[Ranges],
    labels: Sequence[Sequence[str]],
    *,
    is_cut: bool,
    tree: Tree | None,
    boxes: Sequence[NDArray[np.int32]] | None,
) -> str:
    """Return the text of the file: one line per range, and one per list of a tree."""
    of_class = schema.class_attribute
    head = {
        "format-version": FORMAT_VERSION,
        "kind": "cut" if is_cut else "boxes",
        "missing": schema.missing,
        "missing-values": sorted(schema.missing_values),
        "class": of_class and _column_facts(of_class),
    }
    blocks = [
        _attribute_block(attribute, table, texts, boxes[at] if boxes is not None else None)
        for at, (attribute, table, texts) in enumerate(
            zip(schema.attributes, ranges, labels, strict=True)
        )
    ]
    lines = _lines(head, indent="  ")
    lines.append('  "attributes": [\n' + ",\n".join(blocks) + "\n  ]")
    if tree is not None:
        lines.append(
            '  "tree": {\n' + ",\n".join(_lines(_tree_lists(tree), indent="    ")) + "\n  }"
        )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(facts: Mapping[str, Any], *, indent: str) -> list[str]:
    return [f"{indent}{_compact(key)}: {_compact(value)}" for key, value in facts.items()]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _attribute_block(
    attribute: Attribute,
    ranges: Ranges,
    labels: Sequence[str],
    boxes: NDArray[np.int32] | None,
) -> str:
    facts = _column_facts(attribute)
    listed = zip(ranges.first.tolist(), ranges.stop.tolist(), labels, strict=True)
    rows = ",\n".join(f"        {_compact(each)}" for each in listed)
    lines = _lines(facts, indent="      ")
    lines.append(f'      "ranges": [\n{rows}\n      ]')
    if boxes is not None:
        lines.append(f'      "boxes": {_compact(boxes.tolist())}')
    return "    {\n" + ",\n".join(lines) + "\n    }"


def _tree_lists(tree: Tree) -> dict[str, list[int] | list[float]]:
    return {
        "parent": tree.parent.tolist(),
        "attribute": tree.attribute.tolist(),
        "first": tree.first.tolist(),
        "stop": tree.stop.tolist(),
        "box": tree.box.tolist(),
        "sizes": tree.sizes.round(SIZE_DECIMALS).tolist(),
    }
