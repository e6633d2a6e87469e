"""Joint cost of releases of separate parts of a table.

A release may *cover* some codes of a public column: records with other codes were left out, one by
one, before anything was counted. Two releases that cover no code in common have no record in
common, so the account has spent the largest amount on any one code, not the sum of all
(docs/privacy.md, "Covers").

The sums of a column are kept as runs of adjacent codes with equal amounts. Twenty-four months at
the same epsilon are one run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil

FINEST = 10**60
"""Denominator of the finest exact sums; finer ones are rounded up."""

CodeRanges = tuple[tuple[int, int], ...]
"""Ranges ``[first, stop)`` of codes: increasing, not empty, not adjacent."""

_NONE = Fraction(0)
_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


def added(total: Fraction, amount: Fraction) -> Fraction:
    """Return the sum: exact, or rounded up if its denominator has more than 60 digits.

    Privacy: never less than the exact sum. Two hundred fractions of 29 digits would have a sum
    of 5,800, and each booking would take longer than the last.

    >>> added(Fraction(1, 3), Fraction(1, 6))
    Fraction(1, 2)
    """
    exact = total + amount
    return exact if exact.denominator <= FINEST else Fraction(ceil(exact * FINEST), FINEST)


def ranges_of(codes: Iterable[int]) -> CodeRanges:
    """Return codes as ranges.

    >>> ranges_of([7, 3, 4, 3])
    ((3, 5), (7, 8))
    """
    found: list[tuple[int, int]] = []
    for code in sorted(set(codes)):
        if found and found[-1][1] == code:
            found[-1] = (found[-1][0], code + 1)
        else:
            found.append((code, code + 1))
    return tuple(found)


def codes_text(codes: CodeRanges) -> str:
    """Return ranges as an event stores them: the first and the last code of each.

    >>> codes_text(((3, 5), (7, 8)))
    '3-4 7-7'
    """
    return " ".join(f"{first}-{stop - 1}" for first, stop in codes)


def ranges_in(text: str) -> CodeRanges:
    """Return the ranges in a text; refuse any that `codes_text` would not write.

    >>> ranges_in("3-4 7-7")
    ((3, 5), (7, 8))
    """
    codes = []
    for part in text.split(" "):
        if not (match := _RANGE.fullmatch(part)):
            raise ValueError("not a range of codes")
        codes.append((int(match[1]), int(match[2]) + 1))
    if any(first >= stop for first, stop in codes):
        raise ValueError("a range of codes without a code")
    if any(before[1] >= after[0] for before, after in pairwise(codes)):
        raise ValueError("ranges of codes that touch")
    return tuple(codes)


@dataclass(frozen=True, kw_only=True)
class Cover:
    """The part of a table that a release reads: records with these codes of a public column.

    ``key`` names the rule that gives a record its code: the column, its public domain and how its
    values are read. Only covers of the same rule can be compared. ``values`` are for people.
    ``disjoint`` is the confirmed reason why no person has records both in this part and outside of
    it, if there is one.
    """

    column: str
    key: str
    codes: CodeRanges
    values: str
    disjoint: str | None = None


@dataclass(frozen=True, kw_only=True)
class CodeRun:
    """Amounts spent on each of the codes ``[first, stop)``."""

    first: int
    stop: int
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, kw_only=True)
class CoverSums:
    """Amounts spent on every code of a column; codes in no run have nothing."""

    column: str
    runs: tuple[CodeRun, ...] = ()

    @property
    def epsilon(self) -> Fraction:
        """Largest epsilon on any code."""
        return max((run.epsilon for run in self.runs), default=_NONE)

    @property
    def delta(self) -> Fraction:
        """Largest delta on any code."""
        return max((run.delta for run in self.runs), default=_NONE)

    def charged(self, codes: CodeRanges, epsilon: Fraction, delta: Fraction) -> CoverSums:
        """Return the sums after one more release."""
        more = tuple(
            CodeRun(first=first, stop=stop, epsilon=epsilon, delta=delta) for first, stop in codes
        )
        return self.joined(CoverSums(column=self.column, runs=more))

    def joined(self, other: CoverSums) -> CoverSums:
        """Return the sums of both, code by code."""
        runs: list[CodeRun] = []
        for first, stop, parts in _overlaid(self.runs, other.runs):
            epsilon, delta = parts[0].epsilon, parts[0].delta
            for part in parts[1:]:
                epsilon, delta = added(epsilon, part.epsilon), added(delta, part.delta)
            last = runs[-1] if runs else None
            if last and (last.stop, last.epsilon, last.delta) == (first, epsilon, delta):
                runs[-1] = replace(last, stop=stop)
            else:
                runs.append(CodeRun(first=first, stop=stop, epsilon=epsilon, delta=delta))
        return CoverSums(column=self.column, runs=tuple(runs))

    def as_list(self) -> list[list[int | str]]:
        """Return the runs as the file stores them."""
        return [[run.first, run.stop, str(run.epsilon), str(run.delta)] for run in self.runs]

    @classmethod
    def of_list(cls, column: str, runs: list[list[int | str]]) -> CoverSums:
        """Return sums from the stored runs."""
        return cls(
            column=column,
            runs=tuple(
                CodeRun(
                    first=int(first), stop=int(stop), epsilon=Fraction(spent), delta=Fraction(delta)
                )
                for first, stop, spent, delta in runs
            ),
        )


def _overlaid(
    one: Sequence[CodeRun], two: Sequence[CodeRun]
) -> Iterable[tuple[int, int, list[CodeRun]]]:
    """Yield the pieces between all borders inside a run, with the runs that hold them."""
    borders = sorted({border for run in (*one, *two) for border in (run.first, run.stop)})
    at = [0, 0]
    for first, stop in pairwise(borders):
        holding = []
        for which, runs in enumerate((one, two)):
            while at[which] < len(runs) and runs[at[which]].stop <= first:
                at[which] += 1
            if at[which] < len(runs) and runs[at[which]].first <= first:
                holding.append(runs[at[which]])
        if holding:
            yield first, stop, holding
