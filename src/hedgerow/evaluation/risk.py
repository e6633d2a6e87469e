"""Re-identification risk of truthful releases.

The attacker knows the attributes of a person, generalises them as the release did, and
guesses among the records of that box. Figures after [ElEmam13]: for each record, 1 / the size
of its box, in the release (prosecutor) or in the population (journalist).

They do not apply to noisy counts and synthetic records, where no row belongs to a person: there
the guarantee of differential privacy bounds what can be learnt.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.placing import group_numbers, is_placed, places
from hedgerow.model.groups import Groups
from hedgerow.model.table import EncodedTable

THRESHOLD = Fraction(1, 5)
"""Risk above which a record is at risk: boxes of fewer than 5 records."""


@dataclass(frozen=True, kw_only=True)
class AttackerRisk:
    """Highest and mean risk of a record, and the share of records at risk."""

    highest: float
    mean: float
    at_risk: float


@dataclass(frozen=True, kw_only=True)
class Risk:
    """Re-identification risk of a release (owner only).

    ``prosecutor`` knows that the target is in the release, ``journalist`` only that it is in the
    population, and ``marketer`` is the mean share of all records that an attacker matches
    correctly. ``uniques`` is the share of records that are alone in
    their box, ``smallest_box`` the k of k-anonymity.
    """

    prosecutor: AttackerRisk
    journalist: AttackerRisk
    marketer: float
    uniques: float
    smallest_box: int


def risk_of(
    sizes: NDArray[np.int64],
    population: NDArray[np.int64] | None = None,
    *,
    threshold: Fraction = THRESHOLD,
) -> Risk | None:
    """Return the risk of boxes that hold ``sizes`` records of a larger ``population``.

    Without a population the release is the population. ``None`` without records.

    >>> risk = risk_of(np.array([1, 4]))
    >>> risk.prosecutor.highest, risk.prosecutor.mean, risk.uniques
    (1.0, 0.4, 0.2)
    """
    if population is not None and len(population) != len(sizes):
        raise InternalError("The numbers of boxes and of population sizes differ.")
    occupied = sizes > 0
    records = sizes[occupied].astype(np.float64)
    if not len(records):
        return None
    n_records = records.sum()
    # A population is never smaller than its published part.
    people = (records if population is None else np.maximum(population[occupied], records)).astype(
        np.float64
    )
    matched = float((records / people).sum() / n_records)
    limit = float(threshold)
    return Risk(
        prosecutor=AttackerRisk(
            highest=float(1 / records.min()),
            mean=float(len(records) / n_records),
            at_risk=float(records[1 / records > limit].sum() / n_records),
        ),
        journalist=AttackerRisk(
            highest=float(1 / people.min()),
            mean=max(float(len(records) / people.sum()), matched),
            at_risk=float(records[1 / people > limit].sum() / n_records),
        ),
        marketer=matched,
        uniques=float(records[records == 1].sum() / n_records),
        smallest_box=int(records.min()),
    )


def risk_of_release(groups: Groups, population: EncodedTable | None = None) -> Risk | None:
    """Return the risk of a truthful release, within a population if there is one.

    The population must contain the released records; it is counted in the boxes of the release
    if these divide the domain, and ignored otherwise.
    """
    box = group_numbers(groups)
    sizes = np.bincount(box, weights=groups.counts).astype(np.int64)
    if population is None or not is_placed(groups):
        return risk_of(sizes)
    n_groups = len(groups)
    place = places(groups, population)
    joined = [
        np.concatenate([index, place[:, at].astype(np.int32)])
        for at, index in enumerate(groups.index)
    ]
    number, _ = row_numbers(joined)
    everybody = np.bincount(number[n_groups:], minlength=int(number.max(initial=0)) + 1)
    of_box = np.zeros(len(sizes), dtype=np.int64)
    of_box[box] = everybody[number[:n_groups]]
    return risk_of(sizes, of_box)


def risk_of_records(table: EncodedTable) -> Risk | None:
    """Return the risk of publishing the raw records."""
    if not table.codes:
        return None
    box, _ = row_numbers(table.codes)
    return risk_of(np.bincount(box).astype(np.int64))
