"""What methods call: every function books its cost on the path ledger, then draws.

These are the only doors between confidential sums and publishable values. A booking
that would overdraw its path raises before anything is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.choice import Rule, choose, rate_for
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import RandomSource
from hedgerow.privacy.sparse import passing_empties


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """What a mechanism call costs and where it is booked."""

    epsilon: Fraction
    on: str
    ledger: PathLedger
    source: RandomSource

    def book(self) -> Fraction:
        """Book the cost on the whole data set's path; raise if that would overdraw it."""
        return self.ledger.spend(self.epsilon, on=self.on)


def noisy_counts(counts: NDArray[np.int64], *, purchase: Purchase) -> NDArray[np.int64]:
    """Return the counts of disjoint groups with discrete Laplace noise.

    Departs: [DiffGen, Alg. 1, line 12] adds continuous Laplace noise. Discrete noise
    keeps counts whole, so nothing leaks through low-order bits.

    Privacy: adding or removing one record changes one count by 1, so the whole vector
    costs ``epsilon`` (parallel composition over disjoint groups).
    """
    epsilon = purchase.book()
    return counts + discrete_laplace(len(counts), epsilon=epsilon, source=purchase.source)


def noisy_sparse_counts(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    n_groups: int,
    threshold: int,
    purchase: Purchase,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the groups, of ``n_groups``, whose noisy count reaches ``threshold``.

    ``keys`` are the occupied groups, strictly increasing. The others, which may be
    beyond any memory, are never enumerated: those whose noise reaches the threshold are
    drawn directly, with the same law as if each had been given its noise.

    Privacy: as :func:`noisy_counts`, followed by dropping what stays below a public
    threshold; the result is sorted, so that it does not show which groups were occupied.
    """
    epsilon = purchase.book()
    noisy = counts + discrete_laplace(len(counts), epsilon=epsilon, source=purchase.source)
    ranks, values = passing_empties(
        n_groups, epsilon=epsilon, threshold=threshold, source=purchase.source
    )
    place = np.searchsorted(keys, ranks)
    occupied = np.zeros(len(ranks), dtype=np.bool_)
    inside = place < len(keys)
    occupied[inside] = keys[place[inside]] == ranks[inside]
    kept = noisy >= threshold
    all_keys = np.concatenate([keys[kept], ranks[~occupied]])
    all_values = np.concatenate([noisy[kept], values[~occupied]])
    order = np.argsort(all_keys, kind="stable")
    return all_keys[order], all_values[order]


def choose_by_score(
    scores: NDArray[np.int64],
    *,
    starts: NDArray[np.int64],
    sensitivity: Fraction,
    monotone: bool,
    rule: Rule,
    weights: NDArray[np.float64] | None,
    purchase: Purchase,
) -> NDArray[np.int64]:
    """Return one candidate of each segment, drawn so that high scores are likely.

    Segments begin at ``starts`` and must score disjoint sets of records. ``weights`` is
    a public base measure: a block of L candidates with one score may be given as one
    candidate of L times the weight.

    Privacy: a choice costs ``epsilon`` by the bounded range of its scores' changes
    (Lemma L1), at rate epsilon / sensitivity for a monotone score and half that for any
    other; choices over disjoint records cost ``epsilon`` together (parallel composition).
    """
    epsilon = purchase.book()
    rate = rate_for(epsilon, sensitivity=sensitivity, monotone=monotone)
    return choose(
        scores, rate=rate, rule=rule, weights=weights, starts=starts, source=purchase.source
    )
