"""The codes of a plan's covered values, in the public domain of an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction

import numpy as np

from hedgerow.errors import PlanError, TaxonomyError
from hedgerow.model.schema import Attribute
from hedgerow.plan.fields import shown
from hedgerow.taxonomy.calendar import DateStep, day_number, period_of
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, Domain, NumericDomain

MOST_LISTED = 12

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_PERIOD = re.compile(
    r"(?P<year>\d{4})(?:-(?:Q(?P<quarter>[1-4])|(?P<month>\d\d)(?:-(?P<day>\d\d))?))?", re.ASCII
)


def codes_named(attribute: Attribute, values: Sequence[str]) -> tuple[int, ...]:
    """Return all codes of the values, increasing; refuse a value outside the domain.

    A value of a taxonomy is a leaf, or a node with all of its leaves. A cell of numbers is named by
    its label, cells of a calendar by a year, quarter, month or day that they make up.
    """
    codes: set[int] = set()
    for place, value in enumerate(values):
        found = set(_codes(attribute.domain, value))
        if not found:
            raise PlanError(
                f"{shown(value)} is not a value of {shown(attribute.name)}.",
                where=f"covers.values[{place}]",
                do=_advice(attribute.domain),
            )
        codes |= found
    return tuple(sorted(codes))


def _codes(domain: Domain, value: str) -> Iterable[int]:
    if isinstance(domain, CategoricalDomain):
        return _of_taxonomy(domain, value)
    if isinstance(domain, DateDomain):
        return _of_calendar(domain, value)
    return _of_grid(domain, value)


def _of_taxonomy(domain: CategoricalDomain, value: str) -> Iterable[int]:
    code = domain.code_of(value)
    if code is not None:
        return (code,)
    try:
        node = domain.taxonomy.find(value)
    except TaxonomyError:
        return ()
    return range(int(domain.taxonomy.first[node]), int(domain.taxonomy.stop[node]))


def _of_grid(domain: NumericDomain, value: str) -> Iterable[int]:
    """Return the cell with this label."""
    number = _NUMBER.search(value)
    if number is None:
        return ()
    code = int(domain.encode(np.array([float(Fraction(number[0]))]))[0])
    return (code,) if domain.label(code, code + 1) == value else ()


def _of_calendar(domain: DateDomain, value: str) -> Iterable[int]:
    """Return the cells that make up a period; none if one of them crosses its border."""
    match = _PERIOD.fullmatch(value)
    if match is None:
        return ()
    begins = domain.grid.begins
    month, quarter, day = match["month"], match["quarter"], match["day"]
    if day is not None:
        at = np.flatnonzero(begins == _number(f"{match['year']}-{month}-{day}"))
        return tuple((at + domain.missing).tolist())
    step: DateStep = "quarter" if quarter else "year" if month is None else "month"
    first = month or f"{3 * int(quarter or 1) - 2:02d}"
    start = _number(f"{match['year']}-{first}-01")
    if start is None:
        return ()
    ends = np.append(begins[1:], domain.grid.last + 1) - 1  # last day of each cell
    period = period_of(np.array([start]), step)[0]
    from_, to = period_of(begins, step), period_of(ends, step)
    inside, touched = (from_ == period) & (to == period), (from_ <= period) & (to >= period)
    if (inside != touched).any():
        return ()
    return tuple((np.flatnonzero(inside) + domain.missing).tolist())


def _number(text: str) -> int | None:
    try:
        return day_number(date.fromisoformat(text))
    except ValueError:
        return None


def _advice(domain: Domain) -> str:
    """Return advice on the existing values, or their notation."""
    if isinstance(domain, CategoricalDomain):
        labels = domain.taxonomy.leaf_labels
        if len(labels) <= MOST_LISTED:
            return f"Give some of: {', '.join(shown(label) for label in labels)}."
        return "Give labels of its values, or of a node of its taxonomy."
    if isinstance(domain, DateDomain):
        of = domain.label(int(domain.missing), domain.size)
        return (
            f"Give periods such as 2026, 2026-Q4, 2026-11 or 2026-11-30 that cells of its calendar,"
            f" {of} by {domain.grid.step}, make up."
        )
    first = int(domain.missing)
    return f"Give labels of its cells, such as {shown(domain.label(first, first + 1))}."
