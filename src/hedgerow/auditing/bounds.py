"""Lower bound on epsilon from the frequencies of an event on two neighbouring tables."""

from __future__ import annotations

import math

from hedgerow.model.binomial import lower_bound, upper_bound

MISTAKE = 1e-6
"""Probability that an audit of a sound method refutes it."""


def certified(
    hits: int, neighbour_hits: int, runs: int, *, delta: float = 0.0, mistake: float = MISTAKE
) -> float:
    """Return the largest epsilon that an event proves, or minus infinity.

    The event occurred ``hits`` times in ``runs`` runs on one table and ``neighbour_hits`` times in
    the same number on its neighbour. A method that is (epsilon, delta)-differentially private has
    P(event) <= e^epsilon P'(event) + delta; the lower bound of the first and the upper bound of
    the second, each with an error probability of ``mistake`` / 2, exclude any smaller epsilon.

    >>> round(certified(7311, 2689, 10_000), 2)
    0.89
    """
    low = lower_bound(hits, runs, mistake=mistake / 2) - delta
    if low <= 0:
        return -math.inf
    return math.log(low / upper_bound(neighbour_hits, runs, mistake=mistake / 2))
