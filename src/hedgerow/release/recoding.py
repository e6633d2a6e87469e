"""The ranges of a release, to generalise other rows by: `recoding.json`.

The file stands alone: it repeats the public domains, so that neither the plan nor its
taxonomy files are needed to apply it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hedgerow.encode.schema import Attribute, Schema
from hedgerow.encode.table import EncodedTable
from hedgerow.errors import InputError, InternalError, ReleaseError
from hedgerow.partition.groups import Groups, Ranges
from hedgerow.release.domains import Description, describe
from hedgerow.release.table import labelled, leaf_labels, range_labels
from hedgerow.taxonomy.domain import CategoricalDomain

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 1
Code = Annotated[int, Field(ge=0, lt=2**31)]


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _StoredAttribute(_Stored):
    name: str
    domain: Description
    ranges: tuple[tuple[Code, Code, str], ...] = Field(min_length=1)


class _StoredClass(_Stored):
    name: str
    domain: Description


class _StoredRecoding(_Stored):
    format_version: Literal[1] = Field(alias="format-version")
    kind: Literal["cut", "boxes"]
    missing: Literal["drop", "value"]
    missing_values: tuple[str, ...] = Field(alias="missing-values")
    attributes: tuple[_StoredAttribute, ...]
    class_: _StoredClass | None = Field(alias="class")


@dataclass(frozen=True, kw_only=True, eq=False)
class Recoding:
    """The public domains of a table and the labelled ranges of a release.

    ``is_cut`` says that every record has exactly one range of each attribute, whatever
    its other values are; only then can other rows be recoded attribute by attribute.
    """

    schema: Schema
    ranges: tuple[Ranges, ...]
    labels: tuple[list[str], ...]
    is_cut: bool

    def __post_init__(self) -> None:
        for attribute, ranges, labels in zip(
            self.schema.attributes, self.ranges, self.labels, strict=True
        ):
            if self.is_cut:
                ranges.partition_of(attribute.domain.size)
            if ranges.stop.max() > attribute.domain.size or len(set(labels)) != len(ranges):
                raise InternalError("ranges leave their domain, or two have the same label")

    @classmethod
    def of(cls, schema: Schema, groups: Groups) -> Recoding:
        """Return the recoding of a release."""
        labels = tuple(
            range_labels(attribute.domain, ranges)
            for attribute, ranges in zip(schema.attributes, groups.ranges, strict=True)
        )
        return cls(schema=schema, ranges=groups.ranges, labels=labels, is_cut=groups.is_cut)

    def apply(self, table: EncodedTable) -> pa.Table:
        """Return the rows of ``table`` with the release's labels, and their class if any.

        Privacy: none is added. The result has one row per record of ``table`` and is as
        confidential as that.
        """
        import pyarrow as pa

        if not self.is_cut:
            raise ReleaseError(
                "the boxes of this release do not form one cut, so single attributes have no"
                " recoding",
                do="Compare with a release of a method that makes one cut, such as diffgen.",
            )
        columns: dict[str, Any] = {}
        for attribute, ranges, labels, codes in zip(
            self.schema.attributes, self.ranges, self.labels, table.codes, strict=True
        ):
            places = ranges.partition_of(attribute.domain.size)
            columns[attribute.name] = labelled(places[codes], labels)
        of_class = table.schema.class_attribute
        if of_class is not None and table.classes is not None:
            columns[of_class.name] = labelled(table.classes, leaf_labels(of_class.domain))
        return pa.table(columns)

    def to_json(self) -> str:
        """Return the text of `recoding.json`, one range a line."""
        attributes = [
            _block(
                {"name": attribute.name, "domain": describe(attribute.domain).facts()},
                ranges=[
                    [*pair, label]
                    for *pair, label in zip(
                        ranges.first.tolist(), ranges.stop.tolist(), labels, strict=True
                    )
                ],
            )
            for attribute, ranges, labels in zip(
                self.schema.attributes, self.ranges, self.labels, strict=True
            )
        ]
        of_class = self.schema.class_attribute
        head = {
            "format-version": FORMAT_VERSION,
            "kind": "cut" if self.is_cut else "boxes",
            "missing": self.schema.missing,
            "missing-values": sorted(self.schema.missing_values),
            "class": of_class
            and {"name": of_class.name, "domain": describe(of_class.domain).facts()},
        }
        lines = [f"  {_compact(key)}: {_compact(value)}" for key, value in head.items()]
        lines.append('  "attributes": [\n' + ",\n".join(attributes) + "\n  ]")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str, *, where: str = "recoding.json") -> Recoding:
        """Read a recoding back, or say what is wrong with it."""
        try:
            return _restored(_StoredRecoding.model_validate_json(text))
        except (ValidationError, InputError, InternalError) as error:
            raise ReleaseError(
                "this is not a recoding that this version can read",
                where=where,
                do="Give a release folder as `hedgerow publish` wrote it.",
            ) from error


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _block(facts: dict[str, Any], *, ranges: list[list[Any]]) -> str:
    lines = [f"      {_compact(key)}: {_compact(value)}" for key, value in facts.items()]
    listed = ",\n".join(f"        {_compact(each)}" for each in ranges)
    lines.append(f'      "ranges": [\n{listed}\n      ]')
    return "    {\n" + ",\n".join(lines) + "\n    }"


def _restored(stored: _StoredRecoding) -> Recoding:
    of_class = stored.class_
    target = (
        None if of_class is None else Attribute(name=of_class.name, domain=of_class.domain.domain())
    )
    if target is not None and not isinstance(target.domain, CategoricalDomain):
        raise InternalError("the class is numeric")
    schema = Schema(
        attributes=tuple(
            Attribute(name=each.name, domain=each.domain.domain()) for each in stored.attributes
        ),
        class_attribute=target,
        missing=stored.missing,
        missing_values=frozenset(stored.missing_values),
    )
    return Recoding(
        schema=schema,
        ranges=tuple(_ranges(each) for each in stored.attributes),
        labels=tuple([label for _, _, label in each.ranges] for each in stored.attributes),
        is_cut=stored.kind == "cut",
    )


def _ranges(stored: _StoredAttribute) -> Ranges:
    pairs = np.array([pair[:2] for pair in stored.ranges], dtype=np.int32)
    return Ranges(first=pairs[:, 0].copy(), stop=pairs[:, 1].copy())
