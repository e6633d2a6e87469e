"""A utility function of the custodian's own [DiffMulti, Sec. 4.2], for Python programs alone.

No plan file and no page of the studio can name one: that would run code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import SettingError
from hedgerow.methods.diffmulti.scores import UNITS, MultiScore
from hedgerow.trees.box_scores import Children

SLACK = 2
"""Units that rounding and division may add to the sensitivity."""

MOST_UNITS = 1 << 45
"""Scores beyond this are cut, which brings no two of them further apart."""

UtilityFunction = Callable[[Children], ArrayLike]
"""Gives one number for each candidate, from the counts of its own children alone."""


@dataclass(frozen=True, kw_only=True)
class OwnUtility:
    """Utility function of your own for `diffmulti`, with its sensitivity [DiffMulti, Sec. 4.2].

    Pass it as ``utility`` to `publish` and `check`, after `try_utility`.

    Parameters
    ----------
    name : str
        Name in the certificate, 1 to 100 printable characters.
    function : callable
        Takes candidates to split boxes: ``counts`` (children, classes) and ``widths``
        (children,), where candidate ``w`` has the children from ``starts[w]`` to
        ``starts[w + 1]``; ``add`` adds values of children up for each candidate, and ``sizes``
        are records of all classes. Returns one number per candidate, larger for better ones,
        which must depend on its own children only. A number that is not finite counts as 0.
    sensitivity : fractions.Fraction
        Upper bound on the change of any number when one record joins one child, from 1e-9
        to 1e9.
    needs_class : bool, default=False
        Give counts by class. Otherwise the classes are added up first.

    Raises
    ------
    SettingError
        If the name or the sensitivity is out of range.

    Notes
    -----
    Privacy: a choice at rate share / (2 sensitivity) costs the share (Lemma L1) *if* the
    sensitivity is as stated, which cannot be proved here. `try_utility` tries to refute it, and
    certificates state that the guarantee rests on it.

    Examples
    --------
    >>> OwnUtility(name="largest child", sensitivity=Fraction(1),
    ...            function=lambda children: -children.add(children.sizes)).sensitivity
    Fraction(1, 1)

    """

    name: str
    function: UtilityFunction
    sensitivity: Fraction
    needs_class: bool = False

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 100 or not self.name.isprintable():
            raise SettingError.out_of_range("name", self.name, "1 to 100 printable characters")
        stated = Fraction(self.sensitivity)
        if not Fraction(1, 10**9) <= stated <= 10**9:
            raise SettingError.out_of_range("sensitivity", stated, "a number from 1e-9 to 1e9")
        object.__setattr__(self, "sensitivity", stated)

    def numbers(self, children: Children) -> NDArray[np.float64]:
        """Return the function's numbers, as it gives them."""
        scores = np.asarray(self.function(children), dtype=np.float64)
        if scores.shape != (len(np.asarray(children.starts)) - 1,):
            raise SettingError(
                f"The utility function {self.name!r} gave an array of another shape than one"
                " number for each candidate.",
                where="utility",
                do="Return an array of len(children.starts) - 1 numbers.",
            )
        return scores

    def score(self) -> MultiScore:
        """Return the score that DiffMulti chooses by, in units of the sensitivity over 2^20."""

        def of(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
            units = self.numbers(_listed(children)) / float(self.sensitivity) * UNITS
            cut = np.nan_to_num(units, nan=0.0, posinf=MOST_UNITS, neginf=-MOST_UNITS)
            return np.rint(np.clip(cut, -MOST_UNITS, MOST_UNITS)).astype(np.int64)

        span = Fraction(2 * (UNITS + SLACK))
        return MultiScore(
            name=f"own: {self.name}",
            span=span,
            printed=span,
            needs_class=self.needs_class,
            sensitivity=f"{self.sensitivity}, as the custodian states",
            of=of,
            rests_on=f"The guarantee rests on the sensitivity {self.sensitivity} that the custodian"
            f" states for the utility function '{self.name}'; nothing here proves it.",
        )


def _listed(children: Children) -> Children:
    """Return a copy in which the children of each candidate stand together, whatever they are.

    What a function does to its copy is its own affair.
    """
    if children.starts is not None:
        order = np.arange(len(children.widths))
        starts = children.starts.copy()
    else:  # all those on the left, then all those on the right
        n = len(children.widths) // 2
        order = np.arange(2 * n).reshape(2, n).T.ravel()
        starts = np.arange(0, 2 * n + 1, 2)
    return Children(
        counts=children.counts[order],
        widths=children.widths[order],
        starts=starts,
        domain=children.domain,
    )
