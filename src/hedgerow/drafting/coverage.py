"""Values of a column inside and outside of a taxonomy. Confidential."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.drafting.profile import RARE, Profile, profiles_of
from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read.open import open_table

LeafOf = Callable[[str], str | None]
"""Function from a value to its leaf, or ``None`` if it is outside."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Coverage:
    """Coverage of a column's values by a taxonomy; for the owner of the data alone."""

    n_values: int
    n_records: int
    outside: Mapping[str, int]

    @property
    def is_complete(self) -> bool:
        """Return whether every value is in the taxonomy."""
        return not self.outside

    @property
    def share(self) -> float:
        """Share of the records whose value is in the taxonomy."""
        return 1 - sum(self.outside.values()) / max(1, self.n_records)

    @property
    def n_inside(self) -> int:
        """Number of distinct values in the taxonomy."""
        return self.n_values - len(self.outside)

    def frequent_outside(self, most: int) -> list[str]:
        """Return the values outside that occur in many records, the most frequent first."""
        found = [word for word, n in self.outside.items() if n >= RARE]
        return sorted(found, key=lambda word: (-self.outside[word], word))[:most]


def coverage_of(profile: Profile, leaf_of: LeafOf) -> Coverage:
    """Return the coverage of a column's values by a taxonomy; missing values do not count.

    Privacy: confidential, for the owner's eyes.
    """
    known = profile.known
    outside = {word: n for word, n in known.items() if leaf_of(word) is None}
    return Coverage(n_values=len(known), n_records=sum(known.values()), outside=outside)


def column_coverage(data: Any, column: str, leaf_of: LeafOf, *, reading: Reading) -> Coverage:
    """Return the coverage of a column of a table by a taxonomy, from one pass over the data.

    Privacy: confidential, for the owner's eyes.
    """
    source = open_table(data, reading=reading)
    profile = profiles_of(source, [column])[column]
    if not profile.is_readable or not profile.complete:
        raise DataError(
            "The column has too many values to check, or none that are texts or numbers.",
            where=f"{source.name}, column {column!r}",
            do="Name a column of codes or names.",
        )
    return coverage_of(profile, leaf_of)
