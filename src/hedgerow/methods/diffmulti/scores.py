"""Scores of DiffMulti as whole numbers, with their sensitivity to one record.

Each score sees the children that a box would be divided into. Lemma L1 asks for one
number: the range, from the smallest to the largest, of the amounts by which one record
moves the scores of a box's candidates. It is ``span`` below, in the score's own units.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.trees.box_scores import Children, class_sums
from hedgerow.trees.scores import INFOGAIN as PRINTED_INFOGAIN
from hedgerow.trees.scores import INFORMATION_UNIT

ScoreName = Literal["discernibility", "ncp", "max", "infogain"]

UNIT_BITS = 20
UNITS = 1 << UNIT_BITS
"""Units to a 1, of discernibility and of certainty penalties."""


class _Of(Protocol):
    def __call__(self, children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]: ...


@dataclass(frozen=True, kw_only=True)
class MultiScore:
    """A score, what its choice costs, and what the certificate says of it.

    A choice at rate ``epsilon / span`` costs ``epsilon``; ``printed`` is what the paper
    divides by, twice the sensitivity where its proof holds. ``of`` also gets, for every
    candidate, the largest share that any range of its box has of its domain. ``rests_on``
    says what somebody else answers for, in a sentence.
    """

    name: str
    span: Fraction
    printed: Fraction
    needs_class: bool
    sensitivity: str
    of: _Of
    rests_on: str | None = None


def discernibility_score(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return -DM / (2n + 1) in units of 2^-20, DM the sum of squared child sizes.

    [DiffMulti, Eq. (3)] with n the box's own size.

    Departs: the paper divides by 2|D| + 1, |D| the whole table's size. That lets a
    record in one box move the choice of all others, and its proof does not hold.

    Privacy: a record that joins a child of m records moves DM / (2n + 1) by
    ((2m + 1)(2n + 1) - 2 DM) / ((2n + 1)(2n + 3)). As m^2 <= DM <= m^2 + (n - m)^2 and
    both bounds grow with m, that lies between (2n + 1 - 2n^2) and (2n^2 + 4n + 1) over
    (2n + 1)(2n + 3), inside (-1/2, 1/2). In units, and rounded down to whole ones, it
    is a whole number below 2^19 + 1 in size: all amounts lie in [-2^19, 2^19], a range
    of 2^20. The size n is confidential and shows in the odds of this choice only. Whole
    numbers throughout, exact for boxes of up to 2^40 records.
    """
    sizes = children.sizes
    divisor = 2 * children.add(sizes) + 1
    quotients, rests = _squares_over(sizes, children.for_children(divisor))
    whole, rest = np.divmod(children.add(rests), divisor)
    whole += children.add(quotients)
    return -((whole << UNIT_BITS) + (rest << UNIT_BITS) // divisor)


_HALF = 20  # bits of the lower part of a size


def _squares_over(
    sizes: NDArray[np.int64], divisor: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return quotients and remainders of squares by divisors of more than twice their roots.

    64 bits do not hold the square of 3.04 * 10^9, so a size is multiplied by its upper and its
    lower bits apart. Every product stays below 2^62 up to 2^40 records, and no size of the data
    decides how it is computed.

    >>> _squares_over(np.array([1 << 40]), np.array([(1 << 41) + 1]))
    (array([549755813887]), array([1649267441665]))
    """
    upper, above = np.divmod(sizes * (sizes >> _HALF), divisor)
    lower, rest = np.divmod((above << _HALF) + sizes * (sizes & ((1 << _HALF) - 1)), divisor)
    return (upper << _HALF) + lower, rest


def _penalties(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return NCP of each child in units [DiffMulti, Eq. (5)]; public."""
    share = children.widths / children.domain / children.for_children(widest)
    units: NDArray[np.int64] = np.floor(share * UNITS).astype(np.int64)
    return np.where(children.widths == 1, 0, units)


def certainty_penalty(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return -NCP(D, v) of [DiffMulti, Eq. (6)], in units of 2^-20.

    Privacy: the penalty of a child is public and at most 2^20 units. A record that joins
    one lowers the score by its penalty: all amounts lie in [-2^20, 0].
    """
    sizes = children.sizes
    return -children.add(sizes * _penalties(children, np.ones_like(widest)))


def certainty_gain(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return by how much a split lowers the records' certainty penalty.

    In units of 2^-20 of the box's widest range, so that narrow boxes choose as surely as
    wide ones.

    Departs: Eq. (6) prefers attributes whose children are leaves, whatever is gained.

    Privacy: a record that joins child c raises the score by NCP(v) - NCP(c), which is
    public, and in [0, 2^20] units as no range of the box is wider than its widest.
    """
    width = children.add(children.widths) / children.domain / widest
    before = children.for_children(np.floor(width * UNITS).astype(np.int64))
    sizes = children.sizes
    return children.add(sizes * (before - _penalties(children, widest)))


def majority(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the records that a majority vote in each child gets right [DiffMulti, Eq. (8)].

    Privacy: a record raises the maximum of one child by 0 or 1.
    """
    return children.add(children.counts.max(axis=-1))


def information(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the mutual information of child and class, in units of 2^-30 bit.

    Privacy: as :func:`hedgerow.trees.scores.information_gain`: amounts in [-1, 1] bit,
    and two units for rounding.
    """
    surprise = _surprise(children.counts)
    if children.starts is None:
        half = len(surprise) // 2
        totals = children.counts[:half] + children.counts[half:]
        within = surprise[:half] + surprise[half:]
    elif len(children.starts) > 1:
        totals = np.add.reduceat(children.counts, children.starts[:-1], axis=0)
        within = np.add.reduceat(surprise, children.starts[:-1])
    else:
        return np.zeros(0, dtype=np.int64)
    bits = (_surprise(totals) - within) / np.maximum(totals.sum(axis=-1), 1)
    units: NDArray[np.int64] = np.rint(bits / float(INFORMATION_UNIT)).astype(np.int64)
    return units


def _surprise(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return records times the entropy of their classes, in bits."""
    sizes = counts.sum(axis=-1)
    return _times_log(sizes) - class_sums(_times_log(counts))


def _times_log(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    exact = counts.astype(np.float64)
    logged: NDArray[np.float64] = exact * np.log2(np.maximum(exact, 1.0))
    return logged


DISCERNIBILITY = MultiScore(
    name="discernibility",
    span=Fraction(UNITS),
    printed=Fraction(UNITS),
    needs_class=False,
    sensitivity="a range of 1, over 2|P| + 1",
    of=discernibility_score,
)
NCP = MultiScore(
    name="ncp",
    span=Fraction(UNITS),
    printed=Fraction(2 * UNITS),
    needs_class=False,
    sensitivity="1 record",
    of=certainty_penalty,
)
NCP_GAIN = MultiScore(
    name="ncp",
    span=Fraction(UNITS),
    printed=Fraction(2 * UNITS),
    needs_class=False,
    sensitivity="the box's widest range",
    of=certainty_gain,
)
MAX = MultiScore(
    name="max",
    span=Fraction(1),
    printed=Fraction(2),
    needs_class=True,
    sensitivity="1 record",
    of=majority,
)
INFOGAIN = MultiScore(
    name="infogain",
    span=2 * PRINTED_INFOGAIN.sensitivity,
    printed=2 * PRINTED_INFOGAIN.sensitivity,
    needs_class=True,
    sensitivity="1 bit",
    of=information,
)


def multi_score(name: ScoreName, *, faithful: bool) -> MultiScore:
    """Return a score by name, as the paper has it or improved."""
    scores = (DISCERNIBILITY, NCP if faithful else NCP_GAIN, MAX, INFOGAIN)
    return next(score for score in scores if score.name == name)
