"""DiffGen's split of epsilon: exact fractions, from public settings alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from hedgerow.model.method import Step

TOTAL_SHARE = Fraction(1, 50)
"""The part of epsilon that a noisy total costs, where one is measured."""

TOTAL_FROM = 5_000
"""Groups from which a total measured for 1/50 is better than the sum of the noisy counts.

The sum of m counts at epsilon / 2 has variance m * 8 / epsilon^2, a total measured for
epsilon / 50 has 2 * 50^2 / epsilon^2: the sum is worse from 625 groups on. Below 5,000
groups the difference does not matter and the counts keep the share.
"""


@dataclass(frozen=True, kw_only=True)
class DiffGenBudget:
    """The shares: of each choice, of the counts, of the noisy total."""

    epsilon: Fraction
    n_choices: int
    choice: Fraction
    counts: Fraction
    faithful: bool

    @classmethod
    def of(
        cls, epsilon: Fraction, *, n_numeric: int, specialisations: int | None, faithful: bool
    ) -> DiffGenBudget:
        """Split epsilon as printed, or half to the choices and the rest to the counts.

        As printed, each of |A_n| + 2h choices costs epsilon / (2 (|A_n| + 2h)), even
        those that turn out not to be needed [DiffGen, Alg. 1, line 3].

        >>> DiffGenBudget.of(Fraction(1), n_numeric=6, specialisations=10, faithful=True).choice
        Fraction(1, 52)
        >>> DiffGenBudget.of(Fraction(1), n_numeric=6, specialisations=10, faithful=False).choice
        Fraction(1, 20)
        """
        h = specialisations or 0
        n_choices = 0 if h == 0 else (n_numeric + 2 * h if faithful else h)
        choices = epsilon / 2 if n_choices else Fraction(0)
        return cls(
            epsilon=epsilon,
            n_choices=n_choices,
            choice=choices / n_choices if n_choices else Fraction(0),
            counts=epsilon / 2 if faithful else epsilon - choices,
            faithful=faithful,
        )

    def total(self, n_groups: int) -> Fraction:
        """Return what a noisy total is worth, given the number of groups; may be 0."""
        if self.faithful or n_groups < TOTAL_FROM:
            return Fraction(0)
        return self.epsilon * TOTAL_SHARE

    def steps(self, n_groups: int) -> tuple[Step, ...]:
        """Return the planned shares, given a number of groups; they add up to epsilon."""
        total = self.total(n_groups)
        counts = self.counts - total
        planned = [
            Step(on="choices", share=self.choice, times=self.n_choices),
            Step(on="total", share=total, times=1),
            Step(on="counts", share=counts, times=1),
        ]
        unused = self.epsilon - sum((step.share * step.times for step in planned), Fraction(0))
        planned.append(Step(on="left unused, as printed", share=unused, times=1))
        return tuple(step for step in planned if step.share)
