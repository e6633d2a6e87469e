"""The rule by which a statement of a paper is judged, the same for all.

A statement is cut into *claims*: one quantity each (the mean of a line at a place, the
difference or the ratio of two lines in the same runs) that must lie beyond a bound or between
two. Of every quantity there is a confidence interval over runs; those of all claims of one
statement hold together with 95 % (Bonferroni). A claim *holds* where its interval lies inside
the bounds, does *not* where it lies outside, and *cannot be told* otherwise. Words of degree
have one meaning each: :data:`POINTS`, :data:`TIMES`, :data:`CPU_TIME`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

import numpy as np

from hedgerow.model.arrays import Floats

Answer = Literal["holds", "does not", "cannot be told", "not measured"]
HOLDS: Answer = "holds"
NOT: Answer = "does not"
OPEN: Answer = "cannot be told"
UNMEASURED: Answer = "not measured"

CONFIDENCE = 0.95
"""Of all intervals of one statement together."""

LEAST_RUNS = 5
"""With fewer runs nothing can be told."""

ROUNDING = 1e-9
"""Relative differences up to this are rounding."""


@dataclass(frozen=True, kw_only=True)
class Margin:
    """What makes a difference clear: so many units of the panel, or so many times."""

    size: float
    ratio: bool = False


POINTS = Margin(size=1.0)
"""Percentages: *clearly*, *significantly* means by more than one point, *comparable*,
*stable*, *about* within one."""

TIMES = Margin(size=1.25, ratio=True)
"""Errors, penalties, risks and utilities: the same words mean a factor of 1.25."""

CPU_TIME = Margin(size=2.0, ratio=True)
"""Run times: a factor of 2."""

ANY = Margin(size=0.0)
"""Better, more, less, without a word of degree: any difference."""


@cache
def _quantile(confidence: float, freedom: int) -> float:
    from scipy import stats

    return float(stats.t.ppf((1 + confidence) / 2, freedom))


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean, and between which numbers it lies."""

    mean: float
    low: float
    high: float


class Judged(Protocol):
    """A claim, or several that are joined."""

    def answer(self, confidence: float) -> Answer:
        """Return what can be said, each claim's interval having that confidence."""
        ...

    def claims(self) -> Iterator[Claim]:
        """Yield the single claims."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Claim:
    """One quantity by run, and the bounds it must lie between (beyond the first, if alone).

    ``logs`` are logarithms of ratios, told as times. ``exact`` does not depend on runs.
    ``draws`` are values of a statistic over resampled runs, where it is not a mean. Of an
    ``empty`` quantity, nothing beside nothing, nothing can be told.
    """

    label: str
    values: Floats
    low: float = -math.inf
    high: float = math.inf
    logs: bool = False
    exact: bool = False
    draws: Floats | None = None
    empty: bool = False

    def claims(self) -> Iterator[Claim]:
        """Yield this one."""
        yield self

    def interval(self, confidence: float) -> Interval | None:
        """Return the interval of the quantity, ``None`` if there are too few runs for one."""
        n = len(self.values)
        mean = float(self.values.mean())
        if self.empty:
            return None
        if self.exact or (n >= LEAST_RUNS and not np.ptp(self.values)):
            return Interval(mean=mean, low=mean, high=mean)
        if n < LEAST_RUNS:
            return None
        if self.draws is not None:
            tail = 50 * (1 - confidence)
            low, high = np.percentile(self.draws, [tail, 100 - tail])
            return Interval(mean=mean, low=float(low), high=float(high))
        wide = _quantile(confidence, n - 1) * self.values.std(ddof=1) / math.sqrt(n)
        return Interval(mean=mean, low=mean - float(wide), high=mean + float(wide))

    def answer(self, confidence: float) -> Answer:
        """Return what can be said of this claim."""
        found = self.interval(confidence)
        if found is None:
            return OPEN
        least = ROUNDING * max(1.0, abs(found.mean)) if self.low == 0 else 0.0
        if found.low > self.low + least and found.high < self.high:
            return HOLDS
        if found.high <= self.low + least or found.low >= self.high:
            return NOT
        return OPEN

    def told(self, confidence: float) -> str:
        """Return the quantity with its interval, in words."""
        found = self.interval(confidence)
        mean = float(self.values.mean())
        if self.empty:
            return f"{self.label} all are 0"
        if found is None:
            runs = "1 run" if len(self.values) == 1 else f"{len(self.values)} runs"
            return f"{self.label} {self._number(mean)} ({runs})"
        if found.low == found.high:
            return f"{self.label} {self._number(mean)}"
        ends = f"{self._number(found.low)} to {self._number(found.high)}"
        return f"{self.label} {self._number(mean)} ({ends})"

    def _number(self, value: float) -> str:
        return f"{short(math.exp(value))} ×" if self.logs else short(value)


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Several claims: so many of them may fail; with ``not_against`` none need be shown."""

    parts: Sequence[Judged]
    may_fail: int = 0
    not_against: bool = False

    def claims(self) -> Iterator[Claim]:
        """Yield those of all parts."""
        for part in self.parts:
            yield from part.claims()

    def answer(self, confidence: float) -> Answer:
        """Return what can be said of all of them together."""
        answers = [part.answer(confidence) for part in self.parts]
        if answers.count(NOT) > self.may_fail:
            return NOT
        if self.not_against or answers.count(HOLDS) >= len(answers) - self.may_fail:
            return HOLDS
        return OPEN


def every(*parts: Judged) -> Joined:
    """Return that all of them hold."""
    return Joined(parts=parts)


def some(*parts: Judged) -> Joined:
    """Return that one of them at least holds."""
    return Joined(parts=parts, may_fail=len(parts) - 1)


def none_against(*parts: Judged) -> Joined:
    """Return that none of them is shown not to hold."""
    return Joined(parts=parts, not_against=True)


def judged(given: Judged) -> tuple[Answer, str]:
    """Return the answer of a whole statement, and what it rests on."""
    claims = list(given.claims())
    confidence = 1 - (1 - CONFIDENCE) / max(len(claims), 1)
    answer = given.answer(confidence)
    deciding = [claim for claim in claims if claim.answer(confidence) == answer] or claims
    return answer, _listed(deciding, len(claims), confidence)


MOST_TOLD = 3


def _listed(deciding: list[Claim], n_claims: int, confidence: float) -> str:
    told = "; ".join(claim.told(confidence) for claim in _extremes(deciding))
    if len(deciding) > MOST_TOLD:
        told += f"; and {len(deciding) - MOST_TOLD} more"
    return told if len(deciding) == n_claims else f"{told} [of {n_claims} comparisons]"


def _extremes(claims: list[Claim]) -> list[Claim]:
    """Return a few claims: those closest to their bounds, in the order given."""

    def room(claim: Claim) -> float:
        mean = float(claim.values.mean())
        off = min(abs(mean - claim.low), abs(claim.high - mean))
        return off if math.isfinite(off) else abs(mean)

    closest = sorted(range(len(claims)), key=lambda i: room(claims[i]))[:MOST_TOLD]
    return [claims[i] for i in sorted(closest)]


def short(value: float) -> str:
    """Return a number with three digits or so."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:.2g}"
