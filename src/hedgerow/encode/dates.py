"""Encoding of columns of dates: the dates themselves, and values computed from them.

A date is read by the plan's one format, or as ISO, with which no other format can be confused.
Columns that a file or a database stores as dates are converted to ISO texts by their readers, so
that they are read alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import types

from hedgerow.encode.columns import Encoded, as_numpy, is_text
from hedgerow.model.arrays import Flags, Ints
from hedgerow.model.dates import DateFormat, parse_dates
from hedgerow.model.derive import DateColumn, Derivation
from hedgerow.read.text import as_text
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain, code_dtype


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReadDates:
    """Days since 1970-01-01, and flags of missing ones and texts that are not dates."""

    days: Ints
    missing: Flags
    unreadable: Flags

    def take(self, places: Ints) -> ReadDates:
        """Return the entries at ``places``."""
        return ReadDates(
            days=self.days[places], missing=self.missing[places], unreadable=self.unreadable[places]
        )


class DateReader:
    """Reader of a column of dates, by its distinct texts."""

    def __init__(self, column: DateColumn, markers: frozenset[str]) -> None:
        self.column = column
        self.markers = pa.array(sorted(markers), pa.string())

    def __call__(self, column: pa.Array) -> ReadDates:
        """Return the dates of a column."""
        kind = column.type
        if not (is_text(kind) or types.is_dictionary(kind)):
            column = as_text(column, where=f"column {self.column.name!r}")
        encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
        if not is_text(encoded.dictionary.type):
            encoded = as_text(encoded, where=f"column {self.column.name!r}")
        places, nulls = as_numpy(encoded.indices)
        words = pa.concat_arrays([encoded.dictionary.cast(pa.string()), pa.nulls(1, pa.string())])
        if nulls is not None:
            places = np.where(nulls, len(words) - 1, places)
        return self._of_words(words).take(places)

    def _of_words(self, words: pa.Array) -> ReadDates:
        import pyarrow.compute as pc

        bare = pc.fill_null(pc.utf8_trim_whitespace(words), "")
        missing = pc.is_in(bare, value_set=self.markers).to_numpy(zero_copy_only=False)
        days, ok = dates_in(bare, self.column.format)
        return ReadDates(days=days, missing=missing, unreadable=~(ok | missing))


def dates_in(words: pa.Array, form: DateFormat) -> tuple[Ints, Flags]:
    """Return the day of each text in the format or else in ISO, and which texts are dates."""
    days, ok = parse_dates(words, form)
    if form != "iso" and not ok.all():
        also, fits = parse_dates(words, "iso")
        days = np.where(ok, days, also)
        ok |= fits
    return days, ok


class DerivedEncoder:
    """Codes of an attribute computed from columns of dates.

    A date itself must be valid or missing. A value computed from dates is missing if one of them is
    missing or cannot be read.

    Privacy: none is added. Every record is treated by itself and by public rules alone.
    """

    def __init__(
        self,
        derivation: Derivation,
        domain: Domain,
        *,
        markers: frozenset[str],
        missing_code: int | None,
        is_lenient: bool = False,
    ) -> None:
        self.markers = markers
        self.is_lenient = is_lenient
        self.derivation = derivation
        self.domain = domain
        self.missing_code = missing_code

    def __call__(self, read: Sequence[ReadDates]) -> Encoded:
        """Return the codes of some records, from the dates of the derivation's columns."""
        known = ~np.logical_or.reduce([each.missing | each.unreadable for each in read])
        days = [np.where(known, each.days, 0) for each in read]
        encoded = self._codes(self.derivation.numbers(*days))
        unlisted = None if encoded.unlisted is None else encoded.unlisted & known
        missing: Flags = ~known
        if self.derivation.what == "date" and not self.is_lenient:
            missing, unlisted = read[0].missing, read[0].unreadable
        found = Encoded(codes=encoded.codes, missing=missing, unlisted=unlisted)
        return found.settled(self.missing_code)

    def _codes(self, numbers: Ints) -> Encoded:
        if isinstance(self.domain, NumericDomain):
            return Encoded(codes=self.domain.encode(numbers))
        return _listed(self.domain, numbers)


def _listed(domain: CategoricalDomain, numbers: Ints) -> Encoded:
    """Return whole numbers as leaves of a taxonomy with their spellings."""
    distinct, places = np.unique(numbers, return_inverse=True)
    other = domain.other_code
    unlisted = -1 if other is None else other
    leaves = [domain.taxonomy.leaf_code.get(str(each), unlisted) for each in distinct.tolist()]
    codes = np.array(leaves, dtype=np.int64)[places]
    return Encoded(
        codes=np.maximum(codes, 0).astype(code_dtype(domain.size)),
        unlisted=codes < 0,
    )
