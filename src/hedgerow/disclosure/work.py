"""The time that a disclosure takes: estimated before it begins, and updated during the run.

A search of the threshold model examines up to all generalisations of a record, so its work follows
from the heights of the taxonomies and the number of distinct records. For methods without a search,
and for branch and bound, which prunes, the first records give the estimate. A run whose estimate
exceeds a stated limit is refused: no search is sure to find the same generalisations sooner.

The estimate is for the owner, like all reports of progress; messages name only the limit.
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
"""Default limit of the expected time of a run."""

SECONDS_PER_FORM = {
    "aruba": 15e-9,
    "brute-force": 15e-9,
    "btda": 45e-9,
}
"""Per generalisation and attribute, on one core; from 8 to 20 attributes and 1,000 records."""

_SOLVED_ENOUGH = 5.0  # seconds after which the speed of the run itself is used


class TooLongError(SettingError):
    """A run is expected to take longer than its limit."""


def check_hours(hours: float) -> None:
    """Refuse a limit that no run could keep."""
    if not hours > 0:
        raise SettingError.out_of_range("hours", hours, "a number above 0")


def forms_of(ready: PreparedDisclosure, problems: Problems) -> Floats:
    """Return the number of generalisations of each distinct record."""
    n_forms = np.ones(len(problems))
    for column, chain in zip(problems.records.codes, ready.chains, strict=True):
        n_forms *= chain.heights[column] + 1.0
    return n_forms


def expected_seconds(ready: PreparedDisclosure, problems: Problems, workers: int) -> Floats | None:
    """Return the expected seconds for each distinct record, or ``None`` if only a run shows them.

    ``aruba`` uses all cores; the other searches solve one record after another.
    """
    disclose = ready.disclose
    if not isinstance(disclose, ThresholdDisclose) or disclose.method not in SECONDS_PER_FORM:
        return None
    if disclose.moves == "cube":
        return None  # the time of the printed moves depends on the frontier, which is not known yet
    compiled = disclose.method == "aruba" and ready.monotone
    each = SECONDS_PER_FORM[disclose.method] * len(ready.chains) / (workers if compiled else 1)
    return forms_of(ready, problems) * each


@dataclass(kw_only=True, eq=False, repr=False)
class Watch:
    """Reports progress in records and in time, and refuses runs that would take too long.

    ``many`` is the number of records of each distinct one, ``seconds`` the expected time of each,
    if known. ``first`` records were answered in an earlier run. The time of the first block is not
    used for the estimate, because programs are loaded and compiled in it.
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
        """Return the number of records that are expected to take that long, from 1 to ``most``."""
        if self.seconds is None:
            return 1
        ends = np.cumsum(self.seconds[start : start + most])
        return max(1, int(np.searchsorted(ends, seconds, side="right")))

    def tell(self, done: int) -> None:
        """Report the number of solved records, and the remaining time."""
        if self.began is None and done > self.first:
            self.began, self.first = self.clock(), done
        share = float(self.many[:done].sum() / max(self.many.sum(), 1))
        left = self.left(done)
        words = "" if left is None else f", {duration(left)} left"
        solved = f"solving, {int(self.many[:done].sum()):,} of {int(self.many.sum()):,} records"
        self.progress(solved + words, share)
        if left is not None:
            self._refuse_above(left)

    def left(self, done: int) -> float | None:
        """Return the remaining seconds, as far as they can be estimated."""
        passed = 0.0 if self.began is None else self.clock() - self.began
        weights = np.ones(len(self.many)) if self.seconds is None else self.seconds
        solved, rest = float(weights[self.first : done].sum()), float(weights[done:].sum())
        if solved > 0 and passed >= _SOLVED_ENOUGH:
            return passed / solved * rest
        return None if self.seconds is None else rest

    def _refuse_above(self, seconds: float) -> None:
        if seconds > self.hours * 3600:
            raise TooLongError(
                f"The run is expected to take longer than {self.hours:g} hours.",
                where="disclose",
                do="Drop attributes, use taxonomies with fewer levels, disclose fewer records, or"
                " use the method aggregate, which needs no search. If you can wait, use --hours"
                " with a higher limit (in Python hours=...).",
            )


def duration(seconds: float) -> str:
    """Return a length of time in words.

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
