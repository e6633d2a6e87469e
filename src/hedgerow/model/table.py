"""The confidential table as codes, by column: the input of the counting engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.errors import InternalError
from hedgerow.model.arrays import Codes
from hedgerow.model.schema import Attribute, Schema
from hedgerow.taxonomy.domain import code_dtype


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncodedTable:
    """One column of codes per predictor, and the class codes if there is a class.

    Everything but ``schema`` is confidential, the number of records included; that is
    why the ``repr`` shows the schema alone.
    """

    schema: Schema
    codes: tuple[Codes, ...]
    classes: Codes | None

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.schema.attributes):
            raise InternalError("A table does not have one column per attribute.")
        if (self.classes is None) != (self.schema.class_attribute is None):
            raise InternalError(
                "A table has class codes without a class, or a class without codes."
            )
        columns = self.codes if self.classes is None else (*self.codes, self.classes)
        if len({len(column) for column in columns}) > 1:
            raise InternalError("The columns of a table differ in length.")

    def __repr__(self) -> str:
        names = ", ".join(attribute.name for attribute in self.schema.attributes)
        return f"EncodedTable({names})"

    def __len__(self) -> int:
        if self.codes:
            return len(self.codes[0])
        return 0 if self.classes is None else len(self.classes)

    def without(self, record: int) -> EncodedTable:
        """Return the neighbouring table that lacks one record."""
        if not 0 <= record < len(self):
            raise IndexError("There is no such record.")
        return EncodedTable(
            schema=self.schema,
            codes=tuple(np.delete(column, record) for column in self.codes),
            classes=None if self.classes is None else np.delete(self.classes, record),
        )

    @classmethod
    def from_codes(
        cls, schema: Schema, codes: Sequence[ArrayLike], classes: ArrayLike | None = None
    ) -> EncodedTable:
        """Build a table from codes of any integer type, checked against the domains.

        >>> EncodedTable.from_codes(Schema(attributes=(), class_attribute=None), [])
        EncodedTable()
        """
        if len(codes) != len(schema.attributes):
            raise InternalError("A table does not have one column per attribute.")
        columns = tuple(
            _checked(column, attribute)
            for column, attribute in zip(codes, schema.attributes, strict=True)
        )
        target = schema.class_attribute
        if classes is None or target is None:
            return cls(schema=schema, codes=columns, classes=None)
        return cls(schema=schema, codes=columns, classes=_checked(classes, target))


def _checked(column: ArrayLike, attribute: Attribute) -> Codes:
    codes = np.asarray(column, dtype=np.int64)
    size = attribute.domain.size
    if codes.ndim != 1 or (codes.size and (codes.min() < 0 or codes.max() >= size)):
        raise InternalError(f"Codes of {attribute.name!r} are outside its domain.")
    return codes.astype(code_dtype(size))
