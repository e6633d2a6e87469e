"""[TKDE, Alg. 2], drawn exactly: random generalisations of a random sample of the records.

Every sampled record gets a random one of its generalisations that match at least ``t`` records,
by the exponential mechanism, where ``t`` is drawn at random as well. The guarantee of that is
computed in :mod:`~hedgerow.disclosure.private.printed_delta`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from hedgerow.disclosure.private.choice import Worth
from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.disclosure.private.printed_delta import PrintedTerms
from hedgerow.disclosure.private.sampling import kept_of_each
from hedgerow.disclosure.private.synopsis import Kinds, vector_counts
from hedgerow.model.arrays import Floats, Ints
from hedgerow.privacy.choice import choose, quantise_scores
from hedgerow.privacy.source import WORD_BITS, RandomSource

Version: TypeAlias = Literal["utility", "risk"]

_UNIT = Fraction(1, 1 << 40)
_RATE_UNIT = 1 << 60
_AT_ONCE = 1 << 21


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Candidates:
    """Frequent generalisations: the kind, the key and the score of each."""

    kind: Ints
    key: Ints
    score: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sampler:
    """The sampling of [TKDE, Alg. 2], in its utility or its risk version.

    The utility version prefers high ``f = λ|ρ|/Φ + u^κ`` (C1, C3), the risk version low
    ``r = Φ/|ρ|`` among generalisations of utility ``at_least`` (C1', C3'). Here
    ``worth.risk_weight`` is the paper's λ itself.

    Departs: [TKDE, Alg. 3] samples a convex body by random walks of 2^-|D|² accuracy, which
    cannot be computed, and layer by layer, which is not the distribution (5). The frequent
    generalisations of a record are few, so they are listed and one is drawn exactly; scores
    are rounded down to 2^-40.
    """

    space: LevelSpace
    worth: Worth
    settings: PrintedTerms
    version: Version
    at_least: float

    def draw(self, kinds: Kinds, personal: Floats | None, *, source: RandomSource) -> Ints:
        """Return the keys of all generalisations drawn, in no particular order.

        The fully generalised one is added once [TKDE, Alg. 2, line 8].

        Privacy: that of :func:`~hedgerow.disclosure.private.printed_delta.proved_delta`, no better.
        """
        n = int(kinds.many.sum())
        found = self._frequent(kinds, personal, self._threshold(n, source))  # lines 2, 3
        rate = 1 - self.settings.beta
        sampled = kept_of_each(kinds.many, rate=rate, source=source)  # line 4
        keys = self._drawn(found, sampled, source)  # lines 5 to 7
        return np.append(keys, self.space.offsets[0])

    def _threshold(self, n: int, source: RandomSource) -> int:
        """Return the smallest frequent count: θn, with θ uniform between theta and 1."""
        word = Fraction(int(source.words(1)[0]), 1 << WORD_BITS)
        theta = self.settings.theta
        return math.ceil((theta + (1 - theta) * word) * n)

    def _frequent(self, kinds: Kinds, personal: Floats | None, t: int) -> _Candidates:
        """Return every kind's generalisations that match at least ``t`` records."""
        n = max(int(kinds.many.sum()), 1)
        parts = []
        for number, vector in enumerate(self.space.vectors):
            counts = vector_counts(self.space, number, kinds)
            offered = self.space.new_cells(vector) & (counts >= t)
            if not offered.any():
                continue
            cells = self.space.cells_of(vector, kinds.columns)
            score = self._scores(vector, kinds, counts[cells], n, personal)
            which = np.flatnonzero(offered[cells] & (score > -np.inf))
            key = self.space.offsets[number] + cells[which]
            parts.append((which, key, score[which]))
        kind, key, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(kind, kind="stable")
        return _Candidates(kind=kind[order], key=key[order], score=score[order])

    def _scores(
        self, vector: Ints, kinds: Kinds, counts: Ints, n: int, personal: Floats | None
    ) -> Floats:
        """Return the scores of the exponential mechanism, divided by the number of records."""
        columns, worth = kinds.columns, self.worth
        severity = worth.severities(vector, columns, personal)
        utility = worth.utilities(vector, columns)
        if self.version == "risk":
            risk = severity / np.maximum(counts, 1)
            return np.where(utility >= self.at_least, -risk / n, -np.inf)
        own = worth.risk_weight * (counts / n) / severity
        return np.asarray(own + utility**worth.power / n)

    def _drawn(self, found: _Candidates, sampled: Ints, source: RandomSource) -> Ints:
        """Return one generalisation for every sampled record that has any."""
        kinds, starts, sizes = np.unique(found.kind, return_index=True, return_counts=True)
        times = sampled[kinds]
        ends = np.cumsum(times * sizes)
        n_parts = -(-int(ends[-1]) // _AT_ONCE) if len(ends) else 1
        borders = np.searchsorted(ends, _AT_ONCE * np.arange(1, max(n_parts, 1)))
        drawn = [np.zeros(0, dtype=np.int64)]
        for part in np.split(np.arange(len(kinds)), borders):
            some = part[times[part] > 0]
            if some.size:
                again = np.repeat(some, times[some])
                drawn.append(self._one_of_each(found, starts[again], sizes[again], source))
        return np.concatenate(drawn)

    def _one_of_each(
        self, found: _Candidates, starts: Ints, sizes: Ints, source: RandomSource
    ) -> Ints:
        begins = np.cumsum(sizes) - sizes
        at = np.arange(int(sizes.sum())) - np.repeat(begins - starts, sizes)
        scores = quantise_scores(found.score[at], unit=_UNIT)
        rate = Fraction(math.floor(self.settings.rate * _RATE_UNIT), _RATE_UNIT) * _UNIT
        won = choose(scores, rate=rate, rule="exponential", source=source, starts=begins)
        return found.key[at[won]]
