"""Scores of splitting a box, as integers in units of 2^-10 records.

A score depends on the number of records of each class in each child and on the widths of the
children. Adding or removing one record changes the counts of one child by one, so each score's
sensitivity is one record; rounding adds the units that ``SLACK`` covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.placed import Borders

PerCandidate = TypeVar("PerCandidate", NDArray[np.int64], NDArray[np.float64])

UNIT = 1 << 10
"""Number of units per record."""

SLACK = 2
"""Maximum number of units that rounding adds to the sensitivity."""

BoxScoreName = Literal["gini", "ncp", "skew", "max", "infogain"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Children:
    """Candidates to split boxes: rows of children's class counts and widths (confidential).

    ``counts`` has the shape (children, classes) and ``widths`` (children,); the children
    of candidate ``w`` are those from ``starts[w]`` to ``starts[w + 1]``. Without ``starts``
    all candidates have two children, all left ones first and then all right ones.
    ``domain`` is the width of the whole domain of the attribute.
    """

    counts: NDArray[np.int64]
    widths: NDArray[np.int64]
    starts: NDArray[np.int64] | None
    domain: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each child, over all classes."""
        if self.counts.shape[1] == 1:
            return self.counts[:, 0]
        sizes: NDArray[np.int64] = self.counts.sum(axis=1)
        return sizes

    def add(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up values of children, for each candidate."""
        if self.starts is None:
            half = len(values) // 2
            return values[:half] + values[half:]
        running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(values)])
        sums: NDArray[np.int64] = running[self.starts[1:]] - running[self.starts[:-1]]
        return sums

    def for_children(self, totals: PerCandidate) -> PerCandidate:
        """Repeat a value of each candidate for its children."""
        if self.starts is None:
            return np.concatenate([totals, totals])
        return np.repeat(totals, np.diff(self.starts))


class _Of(Protocol):
    def __call__(self, children: Children) -> NDArray[np.int64]: ...


@dataclass(frozen=True, kw_only=True)
class BoxScore:
    """A score of candidates to split, with its sensitivity in units."""

    name: BoxScoreName
    monotone: bool
    sensitivity: Fraction
    of: _Of


FEW_CLASSES = 8
"""Maximum length of a row whose numbers NumPy adds in their order in any memory layout."""


def class_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the columns of (children, classes) with the same rounding in any memory layout."""
    rows = values if values.shape[1] < FEW_CLASSES else np.ascontiguousarray(values)
    sums: NDArray[np.float64] = rows.sum(axis=-1)
    return sums


def _gini(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    squares, sizes = _squares(counts)
    np.maximum(sizes, 1.0, out=sizes)
    squares /= sizes
    squares *= UNIT
    units: NDArray[np.int64] = np.rint(squares, out=squares).astype(np.int64)
    return units


def _squares(counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums of squares and of counts (children, classes) over the classes, as new arrays."""
    if counts.shape[1] >= FEW_CLASSES:
        exact = counts.astype(np.float64)
        return class_sums(exact**2), exact.sum(axis=-1)
    # Class by class, as they are in memory; added in the order in which NumPy adds a row.
    sizes = counts[:, 0].astype(np.float64)
    squares = sizes * sizes
    for label in range(1, counts.shape[1]):
        exact = counts[:, label].astype(np.float64)
        sizes += exact
        exact *= exact
        squares += exact
    return squares, sizes


def gini_units(children: Children) -> NDArray[np.int64]:
    """Return the Gini count sum_c sum_y n_cy^2 / n_c of each candidate.

    Privacy: sensitivity 1 record: see :func:`hedgerow.trees.scores.gini_count`. Each
    child is rounded separately, and one record changes one child, by at most two halves.
    """
    return children.add(_gini(children.counts))


def _share(
    values: NDArray[np.int64],
    times: int | NDArray[np.int64],
    whole: int | NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return floor(values * times / whole), even if 64 bits are too few for the product.

    Quotients and remainders are multiplied separately: for grids of at most 10^7 cells every
    product stays below 2^63 up to 2^50 records. The computation does not depend on the data's size.

    >>> _share(np.array([1 << 50]), 10**7 * UNIT, 10**7).tolist() == [UNIT << 50]
    True
    """
    share: NDArray[np.int64] = values // whole * times + values % whole * times // whole
    return share


def ncp_units(children: Children) -> NDArray[np.int64]:
    """Return how far each candidate lowers the records' normalised certainty penalty.

    A record in a range of width w of a domain of width W has the penalty w / W; a split
    lowers it to that of the child. [DiffMulti, Eqs. (5)-(7)] as a gain.

    Privacy: a record adds (w - w_c) / W of its child, which is in [0, 1]: sensitivity 1,
    monotone; rounding down keeps the sum monotone and adds at most one unit.
    """
    narrower = children.for_children(children.add(children.widths)) - children.widths
    return children.add(_share(children.sizes, narrower * UNIT, children.domain))


def skew_units(children: Children) -> NDArray[np.int64]:
    """Return the distance of each candidate's counts from those of evenly spread records.

    Half the sum over children of abs(n_c - n w_c / w): the number of records that would have to
    move for the box to be even. It finds the splits after which uniform boxes fit.

    Privacy: one record in child j changes n_j - n w_j / w by 1 - w_j / w and every other
    term by w_c / w, so the half sum by at most 1 - w_j / w <= 1; not monotone. Computed in
    integers, none of which exceeds 64 bits for grids of at most 10^7 cells and 2^50 records.
    """
    sizes, width = children.sizes, np.maximum(children.add(children.widths), 1)
    # n w_c = w (whole w_c + even) + left, so that n_c w - n w_c = w over - left.
    whole, rest = np.divmod(children.add(sizes), width)
    of_children = children.for_children(width)
    even, left = np.divmod(children.for_children(rest) * children.widths, of_children)
    over = sizes - children.for_children(whole) * children.widths - even
    signs = np.where(over > 0, -1, 1)
    half = UNIT // 2
    return children.add(np.abs(over)) * half + children.add(signs * left) * half // width


_ONE = Fraction(UNIT + SLACK)
GINI = BoxScore(name="gini", monotone=False, sensitivity=_ONE, of=gini_units)
NCP = BoxScore(name="ncp", monotone=True, sensitivity=_ONE, of=ncp_units)
SKEW = BoxScore(name="skew", monotone=False, sensitivity=_ONE, of=skew_units)
BOX_SCORES: dict[str, BoxScore] = {score.name: score for score in (GINI, NCP, SKEW)}


def unsplit_units(score: BoxScore, classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the scores of boxes that are not split, from their class counts."""
    return _gini(classes) if score == GINI else np.zeros(len(classes), dtype=np.int64)


def splits_at_borders(
    counts: NDArray[np.int64],
    borders: Borders,
    first: NDArray[np.int32],
    stop: NDArray[np.int32],
    *,
    domain: int,
) -> Children:
    """Return the candidates to split a numeric range in two, one per border."""
    n_borders = np.diff(borders.starts)
    box = np.repeat(np.arange(borders.n_boxes), n_borders)
    by_class = np.cumsum(counts.T, axis=1)
    running = np.concatenate([np.zeros_like(by_class[:, :1]), by_class], axis=1)
    base = running[:, borders.bin_starts]
    left = running[:, np.arange(1, len(box) + 1) + box] - base[:, box]
    right = (base[:, 1:] - base[:, :-1])[:, box] - left
    return Children(
        counts=np.concatenate([left, right], axis=1).T,
        widths=np.concatenate([borders.values - first[box], stop[box] - borders.values]).astype(
            np.int64
        ),
        starts=None,
        domain=domain,
    )


def splits_into_children(
    counts: NDArray[np.int64],
    borders: Borders,
    first: NDArray[np.int32],
    stop: NDArray[np.int32],
    *,
    domain: int,
) -> tuple[NDArray[np.int64], Children]:
    """Return the boxes whose taxonomy node has children, and their single candidate to split."""
    bin_starts = borders.bin_starts
    splits = np.diff(borders.starts) > 0
    n_children = np.diff(bin_starts)[splits]
    box_of_bin = np.repeat(np.arange(borders.n_boxes), np.diff(bin_starts))
    # Bins begin and end at borders of their box, the first at its start, the last at its stop.
    inner = np.arange(len(borders.values)) + np.repeat(
        np.arange(borders.n_boxes), np.diff(borders.starts)
    )
    lower, upper = first[box_of_bin], stop[box_of_bin]
    lower[inner + 1], upper[inner] = borders.values, borders.values
    keep = splits[box_of_bin]
    children = Children(
        counts=counts.T[:, keep].T,
        widths=(upper - lower)[keep].astype(np.int64),
        starts=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(n_children)]),
        domain=domain,
    )
    return np.flatnonzero(splits), children
