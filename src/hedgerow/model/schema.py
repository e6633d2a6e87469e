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
    """A column of the table and the finite, public domain its codes number.

    ``missing_values`` are texts that stand for a missing value in this column, beside those of
    the schema. A text that writes no number or date is one too where ``unreadable`` says so.
    Of a text only the first ``letters`` count, if that is given.
    With a ``derivation`` its values follow from one or two columns of dates instead.
    """

    name: str
    domain: Domain
    missing_values: frozenset[str] = frozenset()
    unreadable: Literal["refuse", "missing"] = "refuse"
    letters: int | None = None
    derivation: Derivation | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that its values are read from."""
        if self.derivation is None:
            return (self.name,)
        return tuple(column.name for column in self.derivation.columns)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The predictors in the plan's order, the class if there is one, and what is missing.

    ``missing`` says what happens to a record that lacks a predictor: ``drop`` leaves the
    record out, ``value`` gives it the code that its domain keeps for missing values. A
    record that lacks its class is left out either way. ``missing_values`` are the texts
    that stand for a missing value; an empty field always does.
    """

    attributes: tuple[Attribute, ...]
    class_attribute: Attribute | None
    missing: Literal["drop", "value"] = "drop"
    missing_values: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.used()]
        if len(set(names)) < len(names):
            raise InternalError("two attributes of a schema have the same name")
        if self.class_attribute and self.class_attribute.domain.kind != "categorical":
            raise InternalError("the class of a schema is numeric")

    def used(self) -> Iterator[Attribute]:
        """Yield every attribute that is read: the predictors, then the class."""
        yield from self.attributes
        if self.class_attribute is not None:
            yield self.class_attribute

    def columns(self) -> list[str]:
        """Return the columns of the table that are read, each once."""
        return list(dict.fromkeys(name for each in self.used() for name in each.columns))

    def text_columns(self) -> set[str]:
        """Return those columns that are read as text: of taxonomies, and of dates."""
        return {
            name
            for attribute in self.used()
            for name in attribute.columns
            if attribute.derivation is not None or attribute.domain.kind == "categorical"
        }

    @property
    def n_classes(self) -> int:
        """The number of classes, 1 where there is no class."""
        return 1 if self.class_attribute is None else self.class_attribute.domain.size
