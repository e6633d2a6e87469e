"""The public description of an encoded table: its attributes, their domains and codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hedgerow.errors import InternalError
from hedgerow.model.derive import Derivation
from hedgerow.taxonomy.domain import Domain


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A column of the table and the finite, public domain that its codes number.

    ``missing_values`` are texts that stand for a missing value in this column, beside those of the
    schema. With ``unreadable`` a text that is not a number or date is missing, too. Only the first
    ``letters`` of a text count, if set. With a ``derivation`` its values are computed from one or
    two columns of dates instead.
    """

    name: str
    domain: Domain
    missing_values: frozenset[str] = frozenset()
    unreadable: Literal["refuse", "missing"] = "refuse"
    letters: int | None = None
    derivation: Derivation | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the table from which its values are read."""
        if self.derivation is None:
            return (self.name,)
        return tuple(column.name for column in self.derivation.columns)


@dataclass(frozen=True, kw_only=True)
class CoverRule:
    """The selection of records: those whose value of ``attribute`` has one of these codes.

    The attribute may be one that is released or one that is read for this alone. ``values`` are the
    plan's words for the codes, ``disjoint`` is the confirmed reason why nobody has records both in
    this part and outside of it, if there is one. A record without a value counts only if missing
    values have a code that is covered.

    Privacy: whether a record counts is a function of that record and the plan.
    """

    attribute: Attribute
    codes: tuple[int, ...]
    values: tuple[str, ...]
    disjoint: str | None = None

    @property
    def words(self) -> str:
        """The values in one line."""
        return ", ".join(self.values)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The predictors in the plan's order, the class, and the handling of missing values.

    ``missing`` is the rule for a record that lacks a predictor: ``drop`` leaves the record out,
    ``value`` gives it the code that its domain keeps for missing values. A record that lacks its
    class is left out either way. ``missing_values`` are the texts that stand for a missing value;
    an empty field always does. With a ``cover`` only some records count, and the other rules apply
    to these alone.
    """

    attributes: tuple[Attribute, ...]
    class_attribute: Attribute | None
    missing: Literal["drop", "value"] = "drop"
    missing_values: frozenset[str] = frozenset()
    cover: CoverRule | None = None

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.used()]
        if len(set(names)) < len(names):
            raise InternalError("Two attributes of a schema have the same name.")
        if self.class_attribute and self.class_attribute.domain.kind != "categorical":
            raise InternalError("The class of a schema is numeric.")

    def used(self) -> Iterator[Attribute]:
        """Yield every attribute that is released: the predictors, then the class."""
        yield from self.attributes
        if self.class_attribute is not None:
            yield self.class_attribute

    @property
    def covering(self) -> Attribute | None:
        """The attribute that is read only to select the records that count."""
        if self.cover is None or self.cover.attribute.name in {each.name for each in self.used()}:
            return None
        return self.cover.attribute

    def read(self) -> Iterator[Attribute]:
        """Yield every attribute that is read: those that are released, then a selecting one."""
        yield from self.used()
        if self.covering is not None:
            yield self.covering

    def columns(self) -> list[str]:
        """Return the columns of the table that are read, each once."""
        return list(dict.fromkeys(name for each in self.read() for name in each.columns))

    def text_columns(self) -> set[str]:
        """Return the columns that are read as text: of taxonomies, and of dates."""
        return {
            name
            for attribute in self.read()
            for name in attribute.columns
            if attribute.derivation is not None or attribute.domain.kind == "categorical"
        }

    @property
    def n_classes(self) -> int:
        """Number of classes, 1 without a class."""
        return 1 if self.class_attribute is None else self.class_attribute.domain.size
