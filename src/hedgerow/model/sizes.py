"""Size limits of the proofs, and functions that refuse larger data.

Counts, keys and scores are 64-bit integers, and some scores are rounded sums of floating-point
numbers. The effect of one record on them is proved up to these sizes (docs/privacy.md, "Proved
sizes").
"""

from __future__ import annotations

from hedgerow.errors import DataError, SettingError
from hedgerow.model.people import MOST_UNITS
from hedgerow.model.schema import Schema

MOST_ROWS = 1 << 32
"""Largest number of rows of a table; every engine refuses a longer one."""

MOST_UNITS_COUNTED = MOST_ROWS * MOST_UNITS
"""Largest count: people may be counted in parts, up to a fixed number of parts per person."""

MOST_VALUES = 1 << 24
"""Largest number of values of an attribute: cells of a grid or leaves of a taxonomy.

Plans allow at most 10,000,000 and 2,000,000 of them, beside those for missing and other values.
"""

MOST_CLASSES = 1 << 17
"""Largest number of values of the class; a plan lists at most 65,535."""


def require_rows(n_rows: int, name: str) -> None:
    """Refuse a table with more rows than the proofs cover, while it is read.

    Privacy: whether a table is refused is outside the guarantee, as for a file whose bytes are
    not in the form that the plan states (docs/limits.md, "Side channels").

    >>> require_rows(MOST_ROWS, "t.csv")
    """
    if n_rows > MOST_ROWS:
        raise DataError(
            f"The table has more than {MOST_ROWS:,} rows, the most that one release may read.",
            where=name,
            do="Divide it into tables by a column, and publish each with a plan that 'covers' its"
            " values.",
        )


def require_domains(schema: Schema) -> None:
    """Refuse a schema with more values of an attribute, or of the class, than the proofs cover.

    Plans refuse them earlier with the line; programs may build a schema themselves.
    """
    for attribute in schema.used():
        is_class = attribute is schema.class_attribute
        most = MOST_CLASSES if is_class else MOST_VALUES
        if attribute.domain.size > most:
            raise SettingError(
                f"{attribute.domain.size:,} values are more than {most:,}, the most that"
                f" {'a class' if is_class else 'an attribute'} may have.",
                where=f"attributes.{attribute.name}",
                do="Group its values, or give a larger step.",
            )
