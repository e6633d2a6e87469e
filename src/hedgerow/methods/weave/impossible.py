"""Combinations of values that cannot occur, as a plan declares them: public, and never drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError, TaxonomyError
from hedgerow.model.dates import parse_dates
from hedgerow.model.schema import Attribute, Schema
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, NumericDomain

Value = str | int | float
ImpossibleValues = Mapping[str, Sequence[Value]]

WHERE = "publish.impossible"


@dataclass(frozen=True, kw_only=True, eq=False)
class Barred:
    """One combination: for each attribute it names (the class last), which codes are meant."""

    codes: dict[int, NDArray[np.bool_]]

    def borders(self, attribute: int) -> NDArray[np.int64]:
        """Return where ranges of an attribute's codes begin and end, so that cells keep to them."""
        if attribute not in self.codes:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.diff(self.codes[attribute])) + 1

    def holds(self, columns: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Say for which records (codes by attribute, the class last) the combination is true."""
        true = np.ones(len(columns[0]), dtype=np.bool_)
        for attribute, meant in self.codes.items():
            true &= meant[columns[attribute]]
        return true


def barred_by(schema: Schema, impossible: Sequence[ImpossibleValues]) -> tuple[Barred, ...]:
    """Return the combinations in codes; raise where one names what the schema lacks."""
    used = {attribute.name: at for at, attribute in enumerate(schema.used())}
    found = []
    for combination in impossible:
        if not combination or not set(combination) <= set(used):
            raise SettingError(
                "A combination names no attribute, or one that the plan does not use.",
                where=WHERE,
                do=f"Name some of: {', '.join(used)}.",
            )
        attributes = list(schema.used())
        codes = {used[name]: _meant(attributes[used[name]], v) for name, v in combination.items()}
        found.append(Barred(codes=codes))
    return tuple(found)


def _meant(attribute: Attribute, values: Sequence[Value]) -> NDArray[np.bool_]:
    """Return which codes are meant: those from one number to another, or of some labels."""
    domain = attribute.domain
    meant = np.zeros(domain.size, dtype=np.bool_)
    if isinstance(domain, CategoricalDomain):
        for label in values:
            first, stop = _codes_of(domain, str(label), attribute.name)
            meant[first:stop] = True
        return meant
    low, high = _range_of(domain, values, attribute.name)
    meant[low : high + 1] = True
    return meant


def _codes_of(domain: CategoricalDomain, label: str, name: str) -> tuple[int, int]:
    try:
        node = domain.taxonomy.find(label)
    except TaxonomyError as error:
        raise SettingError(
            f"{label!r} is not a value of attribute {name!r}, nor a node of its taxonomy.",
            where=WHERE,
            do="Give values or nodes as the plan spells them.",
        ) from error
    return int(domain.taxonomy.first[node]), int(domain.taxonomy.stop[node])


def _range_of(domain: NumericDomain, values: Sequence[Value], name: str) -> tuple[int, int]:
    if isinstance(domain, DateDomain):
        return _dates_of(domain, values, name)
    if len(values) != 2 or any(isinstance(each, str) for each in values):
        raise SettingError(
            f"A numeric attribute such as {name!r} needs a lowest and a highest number.",
            where=WHERE,
            do="Give two numbers, such as [0, 14].",
        )
    low, high = (float(each) for each in values)
    if not float(domain.low) <= low <= high <= float(domain.high):
        raise SettingError(
            f"The numbers of attribute {name!r} are not in order, or outside of its domain.",
            where=WHERE,
            do=f"Give two numbers from {domain.low} to {domain.high}, the lower one first.",
        )
    first, last = domain.encode(np.array([low, high])).tolist()
    return int(first), int(last)


def _dates_of(domain: DateDomain, values: Sequence[Value], name: str) -> tuple[int, int]:
    days, ok = parse_dates([str(each) for each in values], "iso")
    if len(values) != 2 or not ok.all() or not domain.low <= days[0] <= days[1] <= domain.high:
        low, high = domain.written(domain.low), domain.written(domain.high)
        raise SettingError(
            f"An attribute of dates such as {name!r} needs a first and a last date of its own.",
            where=WHERE,
            do=f"Give two dates from {low} to {high}, the earlier one first.",
        )
    first, last = domain.encode(days).tolist()
    return int(first), int(last)
