"""Cells and their counts as a release of boxes that may overlap, sorted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.model.arrays import Ints
from hedgerow.model.groups import CountOrigin, Groups, Ranges
from hedgerow.model.schema import Schema

INVENTED = Fraction(1, 100)
"""Maximum part of the noisy number of records that noise alone may add to a release."""


def level_threshold(n_groups: int, *, epsilon: Fraction, n_records: int) -> int:
    """Return the smallest noisy count to list, by public numbers.

    Records that empty groups add by noise alone should be at most 1 % of the noisy number of
    records, on average: groups times ``a^t / (1 + a) (t + a / (1 - a))`` with ``a = e^-epsilon``.
    """
    a = math.exp(-float(epsilon))
    most = max(float(n_records * INVENTED), 1.0)
    threshold = 1
    while n_groups * a**threshold / (1 + a) * (threshold + a / (1 - a)) > most:
        threshold += 1
    return threshold


def level_groups(
    schema: Schema,
    space: LevelSpace,
    keys: Ints,
    counts: Ints,
    *,
    classes: Ints | None,
    origin: CountOrigin | None,
) -> Groups:
    """Return the cells with these keys, with their classes and counts, as sorted groups.

    Boxes may overlap: they are generalised records, not a partition.
    """
    ranges, index = [], []
    for attribute, (first, stop) in zip(schema.attributes, space.ranges_of(keys), strict=True):
        size = attribute.domain.size + 1
        spans, place = np.unique(first * size + stop, return_inverse=True)
        pairs = [(int(span) // size, int(span) % size) for span in spans]
        ranges.append(Ranges.of(pairs))
        index.append(place.astype(np.int32))
    order = np.lexsort((*([] if classes is None else [classes]), *reversed(index)))
    return Groups(
        ranges=tuple(ranges),
        index=tuple(each[order] for each in index),
        classes=None if classes is None else classes[order].astype(np.int32),
        counts=counts[order],
        is_cut=False,
        origin=origin,
    )
