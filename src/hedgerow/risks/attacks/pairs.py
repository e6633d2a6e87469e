"""Disjoint pairs of a member and an outsider, and the success of an attack on them.

Every attack is scored on the same pairs. A pair whose member is hit and whose outsider is not
counts for the attack, the reverse against it; other pairs carry no information about the release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InternalError
from hedgerow.model.arrays import Flags
from hedgerow.model.binomial import lower_bound, upper_bound
from hedgerow.risks.attacks.limits import SwapLimits

INTERVAL_MISTAKE = 0.05
"""Error probability of an interval: intervals of 95 %."""

VERDICT_MISTAKE = 0.01
"""Probability of a false alarm among all verdicts of one run, divided evenly."""


def interval(hits: int, of: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of 95 % for a probability.

    >>> [round(end, 4) for end in interval(0, 10)]
    [0.0, 0.3085]
    """
    if of == 0:
        return 0.0, 1.0
    half = INTERVAL_MISTAKE / 2
    low, high = lower_bound(hits, of, mistake=half), upper_bound(hits, of, mistake=half)
    return low, high


def rate_facts(hits: int, of: int) -> dict[str, Any]:
    """Return a success rate with its interval, as JSON holds it."""
    low, high = interval(hits, of)
    return {
        "hits": hits,
        "of": of,
        "rate": hits / of if of else None,
        "low": low,
        "high": high,
    }


@dataclass(frozen=True, kw_only=True)
class PairHits:
    """Number of pairs by whether the attack hit the member, the outsider, both or neither."""

    both: int
    won: int
    lost: int
    neither: int

    @classmethod
    def of(cls, members: Flags, outsiders: Flags) -> PairHits:
        """Count the pairs of two columns of hits."""
        if len(members) != len(outsiders):
            raise InternalError("Members and outsiders are not in pairs.")
        both = int((members & outsiders).sum())
        return cls(
            both=both,
            won=int(members.sum()) - both,
            lost=int(outsiders.sum()) - both,
            neither=int((~members & ~outsiders).sum()),
        )

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.both + self.won + self.lost + self.neither

    def facts(self, limits: SwapLimits | None, *, mistake: float) -> dict[str, Any]:
        """Return attack, control, bound and verdicts of a question (WP29), as JSON holds them."""
        attack = rate_facts(self.both + self.won, self.pairs)
        control = rate_facts(self.both + self.lost, self.pairs)
        return {
            "pairs": self.pairs,
            "attack": attack,
            "control": control,
            "bound": None if limits is None else bound_facts(control, limits),
            "risk": excess(attack["rate"], control["rate"]),
            "discordant": {"won": self.won, "lost": self.lost},
            "beyond-control": self.beyond_control(mistake=mistake),
            "beyond-bound": None if limits is None else self.beyond(limits, mistake=mistake),
        }

    def beyond_control(self, *, mistake: float) -> bool:
        """Return whether members are hit significantly more often than outsiders (McNemar test)."""
        return self.beyond(SwapLimits(epsilon=0.0), mistake=mistake)

    def beyond(self, limits: SwapLimits, *, mistake: float) -> bool:
        """Return whether members are hit significantly more often than the guarantee allows."""
        return limits.refuted_by(self.won, self.lost, pairs=self.pairs, mistake=mistake)


def excess(attack: float | None, control: float | None) -> float | None:
    """Return the risk of [GiomiBWT23]: success beyond the control, as a share of the remainder.

    >>> round(excess(0.6, 0.2), 2), excess(0.1, 0.2), excess(1.0, 1.0)
    (0.5, 0.0, 0.0)
    """
    if attack is None or control is None:
        return None
    return max(0.0, (attack - control) / (1 - control)) if control < 1 else 0.0


def bound_facts(control: dict[str, Any], limits: SwapLimits) -> dict[str, Any]:
    """Return the bound on the success against members, by the control and by its interval."""
    if control["rate"] is None:
        return {"rate": None, "low": None, "high": None}
    return {
        "rate": limits.rate(control["rate"]),
        "low": limits.rate(control["low"]),
        "high": limits.rate(control["high"]),
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """The records that are scored, by number: pairs, and outsiders that represent the population.

    ``members[i]`` and ``outsiders[i]`` are pair ``i``. The first ``n_fixing`` pairs fix thresholds
    and directions; membership is measured on the others. ``reference`` are outsiders in no pair:
    they represent what the attacker knows of the population.
    """

    members: NDArray[np.int64]
    outsiders: NDArray[np.int64]
    reference: NDArray[np.int64]
    n_fixing: int

    def __len__(self) -> int:
        return len(self.members)


MOST_REFERENCE = 1_000
"""Maximum number of held-out records that represent the population."""


def drawn_sample(n_members: int, n_outsiders: int, *, most: int, seed: int) -> Sample:
    """Pair members with outsiders at random; a third of the outsiders is the reference.

    Privacy: members and outsiders enter alike, so that swapping the two of a pair changes the
    release and nothing else in the game.
    """
    rng = np.random.default_rng([seed, 1])
    members, outsiders = rng.permutation(n_members), rng.permutation(n_outsiders)
    n_reference = min(n_outsiders // 3, MOST_REFERENCE)
    pairs = min(n_members, n_outsiders - n_reference, most)
    return Sample(
        members=members[:pairs],
        outsiders=outsiders[:pairs],
        reference=outsiders[len(outsiders) - n_reference :],
        n_fixing=pairs // 2,
    )


def members_alone(n_members: int, *, most: int, seed: int) -> Sample:
    """Draw the members to attack if there are no outsiders."""
    nobody = np.zeros(0, dtype=np.int64)
    some = np.random.default_rng([seed, 1]).permutation(n_members)
    return Sample(members=some[:most], outsiders=nobody, reference=nobody, n_fixing=0)


def joined_sample(joined: NDArray[np.int64], n_outsiders: int, *, most: int, seed: int) -> Sample:
    """Pair some of the members with outsiders at random."""
    drawn = drawn_sample(len(joined), n_outsiders, most=most, seed=seed)
    return replace(drawn, members=joined[drawn.members])
