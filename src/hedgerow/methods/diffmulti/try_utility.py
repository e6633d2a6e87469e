"""Trying on neighbouring tables whether one record moves a utility function as is stated.

Only simulated tables are used. A function that passes may still be wrong on other tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.methods.diffmulti.own_utility import OwnUtility
from hedgerow.trees.box_scores import Children

SMALLEST = 4
"""Counts below this are tried in every combination, in two children of two classes."""

SIZES = (2, 10, 100, 10_000, 1_000_000)
"""Orders of magnitude of the counts that are drawn."""

MOST_CHILDREN = 6
DOMAIN = 64
ROUNDING = 1e-9
ALONE = 50
"""Candidates that are also scored one by one."""


@dataclass(frozen=True, kw_only=True)
class UtilityTrial:
    """Result of a trial: the largest movement by one record, and where; all tables simulated.

    ``before`` and ``after`` are counts (children, classes) of a candidate without and with
    the record. ``stands_alone`` says that numbers did not depend on other candidates.
    """

    tried: int
    stated: Fraction
    largest: float
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    stands_alone: bool

    @property
    def refuted(self) -> bool:
        """Return true if the function is certain to break the guarantee."""
        stated = float(self.stated) * (1 + ROUNDING)
        return not self.stands_alone or not self.largest <= stated

    def check(self) -> None:
        """Raise if the function is refuted, with the simulated tables that do it."""
        if not self.stands_alone:
            raise SettingError(
                "The number of a candidate depends on other candidates: a record would move"
                " choices of boxes that it is not in.",
                where="utility",
                do="Compute each candidate's number from its own children alone, such as with"
                " children.add.",
            )
        if self.refuted:
            raise SettingError(
                f"One record moves the function by {self.largest:g}, and {self.stated} is"
                f" stated: simulated children with the counts {self.before.tolist()} became"
                f" {self.after.tolist()}.",
                where="utility",
                do="State a sensitivity that holds for all tables, or divide the function by it.",
            )


def try_utility(
    utility: OwnUtility, *, n_classes: int = 2, tries: int = 4000, seed: int = 0
) -> UtilityTrial:
    """Try to refute the sensitivity of a utility function, on simulated neighbouring tables.

    Small counts are tried in all combinations; larger ones, up to millions, are drawn.

    Parameters
    ----------
    utility : OwnUtility
        The function and its stated sensitivity.
    n_classes : int, default=2
        Number of classes of the simulated tables.
    tries : int, default=4000
        Number of drawn tables.
    seed : int, default=0
        Random seed.

    Returns
    -------
    UtilityTrial
        The largest change by one record, its tables, and whether the sensitivity is refuted.

    Raises
    ------
    SettingError
        If the function returns an array of the wrong shape.

    Notes
    -----
    Privacy: only simulated tables are used. A function that passes may still exceed its
    sensitivity on other tables.

    Examples
    --------
    >>> unbalanced = OwnUtility(name="the largest child, in squares", sensitivity=Fraction(1),
    ...                         function=lambda children: -children.add(children.sizes ** 2))
    >>> trial = try_utility(unbalanced)
    >>> trial.refuted, trial.largest > 1000
    (True, True)

    """
    classes = n_classes if utility.needs_class else 1
    rng = np.random.default_rng(seed)
    blocks = [*_small(classes), *_drawn(classes, tries, rng)]
    rows = [int(rng.integers(block.size)) for block in blocks]
    after = [_with_one(block, row) for block, row in zip(blocks, rows, strict=True)]
    widths = [rng.integers(1, DOMAIN // MOST_CHILDREN, len(block)) for block in blocks]
    small, large = _joined(blocks, widths), _joined(after, widths)
    numbers = utility.numbers(small), utility.numbers(large)
    moved = np.abs(numbers[1] - numbers[0])
    moved = np.where(np.isfinite(numbers[0]) & np.isfinite(numbers[1]), moved, np.inf)
    worst = int(np.argmax(moved))
    chosen = rng.choice(len(blocks), min(ALONE, len(blocks)), replace=False).tolist()
    alone = [utility.numbers(_joined([blocks[i]], [widths[i]]))[0] for i in chosen]
    return UtilityTrial(
        tried=len(blocks),
        stated=utility.sensitivity,
        largest=float(moved[worst]),
        before=blocks[worst],
        after=after[worst],
        stands_alone=bool(np.allclose(alone, numbers[0][chosen], rtol=1e-9, equal_nan=True)),
    )


def _small(classes: int) -> list[NDArray[np.int64]]:
    """Return all pairs of children with small counts, of up to two classes."""
    cells = 2 * min(classes, 2)
    blocks = []
    for counts in product(range(SMALLEST), repeat=cells):
        block = np.zeros((2, classes), dtype=np.int64)
        block[:, : min(classes, 2)] = np.reshape(counts, (2, -1))
        blocks.extend([block] * cells)  # each is tried with a record in another place
    return blocks


def _drawn(classes: int, tries: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return random children: even and uneven ones, some of them empty, of all sizes."""
    blocks = []
    for each in range(tries):
        shape = (int(rng.integers(2, MOST_CHILDREN + 1)), classes)
        counts = rng.integers(0, SIZES[each % len(SIZES)], shape)
        blocks.append(counts * (rng.random(shape) < rng.choice([0.3, 0.7, 1.0])))
    return blocks


def _with_one(block: NDArray[np.int64], place: int) -> NDArray[np.int64]:
    """Return the counts with one record more."""
    more = block.copy()
    more.flat[place] += 1
    return more


def _joined(blocks: list[NDArray[np.int64]], widths: list[NDArray[np.int64]]) -> Children:
    """Return blocks as the candidates of one level."""
    lengths = [len(block) for block in blocks]
    return Children(
        counts=np.concatenate(blocks),
        widths=np.concatenate(widths),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        domain=DOMAIN,
    )
