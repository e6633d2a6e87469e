"""What audits share: the largest epsilon that runs on two neighbours prove.

An event with probabilities p on D and q on D' refutes the claim of epsilon when the lower
confidence bound of p exceeds e^epsilon times the upper bound of q. Bounds are
Clopper-Pearson at 1 - 10^-6.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

from scipy.stats import beta

MISTAKE = 1e-6


def certified(first: Counter[Hashable], second: Counter[Hashable], runs: int) -> float:
    """Return the largest epsilon that the runs prove, over all events, both ways."""
    worst = -math.inf
    for event in first | second:
        for a, b in ((first[event], second[event]), (second[event], first[event])):
            lower = beta.ppf(MISTAKE, a, runs - a + 1) if a else 0.0
            upper = beta.ppf(1 - MISTAKE, b + 1, runs - b) if b < runs else 1.0
            if lower > 0:
                worst = max(worst, math.log(lower / upper))
    return worst
