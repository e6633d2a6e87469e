"""Signs that held-out records are part of the data, or that files were mixed up."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.risks.attacks.differencing import set_names
from hedgerow.risks.attacks.rows import CodeTable

_NOTE = (
    "Many held-out records equal records of the data, far more than records of the data equal"
    " each other. If they are in the data, they are not a control, and attacks look too weak."
)


def rows_overlap(members: CodeTable, outsiders: CodeTable) -> str | None:
    """Return a note if outsiders of a table seem to be members."""
    number, _ = row_numbers(list(np.concatenate([members, outsiders]).T))
    return _note(number[: len(members)], number[len(members) :])


def sets_overlap(members: WeightedSets, outsiders: WeightedSets, *, ordered: bool) -> str | None:
    """Return a note if outsiders of baskets or sequences seem to be members."""
    names = [set_names(each, ordered=ordered) for each in (members, outsiders)]
    _, number = np.unique(np.concatenate(names), return_inverse=True)
    return _note(number[: len(members)], number[len(members) :])


def _note(members: NDArray[np.int64], outsiders: NDArray[np.int64]) -> str | None:
    """Compare how often an outsider, and how often a member, equals another member.

    Both are about equally likely if members and outsiders are drawn alike; three standard
    deviations and a margin of 5 % are allowed for.
    """
    if not len(outsiders) or not len(members):
        return None
    counts = np.bincount(members, minlength=int(max(members.max(), outsiders.max())) + 1)
    outside = float((counts[outsiders] > 0).mean())
    inside = float((counts[members] > 1).mean())
    allowed = 0.05 + 1.5 * (1 / math.sqrt(len(outsiders)) + 1 / math.sqrt(len(members)))
    return _NOTE if outside > inside + allowed else None
