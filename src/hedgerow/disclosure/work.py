"""How long a disclosure takes: estimated before it begins, and again while it goes on.

A search of the threshold model looks at up to all forms of a record, so its work follows from the
heights of the taxonomies and the number of different records. Of the methods that need no search,
and of branch and bound, which cuts off what it can, the first records tell. A run whose estimate
is above a stated limit is refused: no search is sure to find the same forms sooner.

The estimate is for the owner, like all that is told of a run; messages name the limit, never it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hedgerow.disclosure.confidential import Problems
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats
from hedgerow.plan.disclose import ThresholdDisclose
from hedgerow.progress import Progress

HOURS = 6.0
"""The longest that a run may be expected to take, unless another limit is given."""

SECONDS_PER_FORM = {
    "aruba": 15e-9,
    "brute-force": 15e-9,
    "btda": 45e-9,
}
"""For each form and attribute, on one core; measured with 8 to 20 attributes, 1,000 records."""

_SOLVED_ENOUGH = 5.0  # seconds after which the run itself tells how fast it is


class TooLongError(SettingError):
    """A run is expected to take longer than was said."""


def check_hours(hours: float) -> None:
    """Refuse a limit that no run could keep."""
    if not hours > 0:
        raise SettingError.out_of_range("hours", hours, "a number above 0")


def forms_of(ready: PreparedDisclosure, problems: Problems) -> Floats:
    """Return how many forms each distinct record may take."""
    n_forms = np.ones(len(problems))
    for column, chain in zip(problems.records.codes, ready.chains, strict=True):
        n_forms *= chain.heights[column] + 1.0
    return n_forms


def expected_seconds(ready: PreparedDisclosure, problems: Problems, workers: int) -> Floats | None:
    """Return the seconds that each distinct record is expected to take; None where it must tell.

    ``aruba`` runs on all cores; the other searches take one record after another.
    """
    disclose = ready.disclose
    if not isinstance(disclose, ThresholdDisclose) or disclose.method not in SECONDS_PER_FORM:
        return None
    if disclose.moves == "cube":
        return None  # what the printed moves take follows from the frontier, which only it shows
    compiled = disclose.method == "aruba" and ready.monotone
    each = SECONDS_PER_FORM[disclose.method] * len(ready.chains) / (workers if compiled else 1)
    return forms_of(ready, problems) * each


@dataclass(kw_only=True, eq=False, repr=False)
class Watch:
    """Tells progress in records and in time, and refuses what would take too long.

    ``many`` are the records that each distinct one stands for, ``seconds`` what each is expected
    to take, where that is known. ``first`` are answered from an earlier run. The time of the
    first block says nothing of the others: programs are loaded and compiled in it.
    """

    many: Floats
    seconds: Floats | None
    hours: float
    progress: Progress
    first: int = 0
    clock: Callable[[], float] = time.monotonic
    began: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.seconds is not None:
            self._refuse_above(float(self.seconds[self.first :].sum()))

    def block(self, start: int, seconds: float, most: int) -> int:
        """Return how many records are expected to take that long, from 1 to ``most``."""
        if self.seconds is None:
            return 1
        ends = np.cumsum(self.seconds[start : start + most])
        return max(1, int(np.searchsorted(ends, seconds, side="right")))

    def tell(self, done: int) -> None:
        """Say how many records are answered, and how long the others will take."""
        if self.began is None and done > self.first:
            self.began, self.first = self.clock(), done
        share = float(self.many[:done].sum() / max(self.many.sum(), 1))
        left = self.left(done)
        words = "" if left is None else f", {duration(left)} left"
        told = f"solving, {int(self.many[:done].sum()):,} of {int(self.many.sum()):,} records"
        self.progress(told + words, share)
        if left is not None:
            self._refuse_above(left)

    def left(self, done: int) -> float | None:
        """Return the seconds that the other records will take, as far as that can be said."""
        passed = 0.0 if self.began is None else self.clock() - self.began
        weights = np.ones(len(self.many)) if self.seconds is None else self.seconds
        solved, rest = float(weights[self.first : done].sum()), float(weights[done:].sum())
        if solved > 0 and passed >= _SOLVED_ENOUGH:
            return passed / solved * rest
        return None if self.seconds is None else rest

    def _refuse_above(self, seconds: float) -> None:
        if seconds > self.hours * 3600:
            raise TooLongError(
                f"the run is expected to take longer than {self.hours:g} hours",
                where="disclose",
                do="Drop attributes, give taxonomies of fewer levels, disclose fewer records, or"
                " use the method aggregate, which searches no forms. If you can wait: --hours"
                " with a higher limit (in Python hours=...).",
            )


def duration(seconds: float) -> str:
    """Return a length of time as people say it.

    >>> duration(20), duration(200), duration(9000)
    ('less than a minute', 'about 3 minutes', 'about 2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 100:
        return "about a minute" if minutes == 1 else f"about {minutes} minutes"
    hours = seconds / 3600
    return f"about {hours:.2g} hours" if hours < 48 else f"about {hours / 24:.2g} days"
