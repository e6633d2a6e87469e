"""A release for people: the bound on their records, chosen or given, and counts in persons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.groups import CountOrigin, Groups, LeafTable, Tree
from hedgerow.model.measured import MeasuredTable
from hedgerow.model.people import BOUND_CHOSEN, CANDIDATES, PeopleRule
from hedgerow.model.run import Run
from hedgerow.model.unit import protection
from hedgerow.plan.defaults import USUAL_BOUND

AUTO_SHARE = Fraction(1, 20)
"""Share of epsilon that the choice of the bound spends."""

PRICE = 1250
"""Number of people that may lose records before the bound is raised by one record.

The number is for epsilon 1 and is divided by epsilon. Fitted on two tables (docs/people.md).
"""


@dataclass(frozen=True, kw_only=True)
class PeopleShares:
    """Division of epsilon: ``chosen`` for the bound, the rest for the method."""

    epsilon: Fraction
    auto: bool

    @property
    def chosen(self) -> Fraction:
        """Epsilon of the choice of the bound."""
        return self.epsilon * AUTO_SHARE if self.auto else Fraction(0)

    @property
    def method(self) -> Fraction:
        """Epsilon of the method, per person."""
        return self.epsilon - self.chosen


def bound_scores(sizes: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
    """Return a score for every candidate: people cut short, and a public price for noise.

    ``sizes`` says how many persons have 0, 1, ... records, those with more than the largest
    candidate as if they had as many as that. ``epsilon`` is what the method gets: with the bound
    m, each count has noise of scale m / epsilon at least. People who have more than the largest
    candidate are cut short by every bound, and so weigh in none.

    Privacy: one person with c records lowers the score of every m < c by 1, those of others not
    at all: sensitivity 1, monotone.
    """
    at_most = np.cumsum(sizes)
    cut = int(sizes.sum()) - at_most[list(CANDIDATES)]
    price = [int(PRICE * most / epsilon) for most in CANDIDATES]
    return np.asarray(-cut - np.array(price, dtype=np.int64), dtype=np.int64)


def choose_bound(run: Run[object], sizes: NDArray[np.int64], *, shares: PeopleShares) -> int:
    """Return the bound on a person's records, chosen privately.

    Privacy: costs ``shares.chosen`` for a person (`bound_scores` has the sensitivity).
    """
    chosen = run.choose(
        bound_scores(sizes, shares.method),
        share=shares.chosen,
        on=BOUND_CHOSEN,
        sensitivity=Fraction(1),
        monotone=True,
        rule="exponential",
    )
    return CANDIDATES[int(chosen[0])]


def in_persons(groups: Groups, unit: int) -> Groups:
    """Return groups whose counts are persons, from counts in units; a person has ``unit``.

    Counts are rounded to whole persons and groups of none are left out: all of it is
    post-processing.
    """
    if unit == 1:
        return groups
    counts = _persons(groups.counts, unit)
    kept = np.flatnonzero(counts > 0)
    return replace(
        groups,
        index=tuple(each[kept] for each in groups.index),
        classes=None if groups.classes is None else groups.classes[kept],
        counts=counts[kept],
        origin=None if groups.origin is None else _counts_in_persons(groups.origin, unit),
        tree=None if groups.tree is None else _tree(groups.tree, unit),
        marginals=None
        if groups.marginals is None
        else tuple(weights / unit for weights in groups.marginals),
        tables=tuple(_table(each, unit) for each in groups.tables),
        leaves=None if groups.leaves is None else _leaves(groups.leaves, unit),
    )


def _persons(counts: NDArray[np.int64], unit: int) -> NDArray[np.int64]:
    return (2 * counts + unit) // (2 * unit)


def _counts_in_persons(counts: CountOrigin, unit: int) -> CountOrigin:
    return CountOrigin(
        share=counts.share * unit,
        threshold=None if counts.threshold is None else -(-counts.threshold // unit),
        lowered_by=None if counts.lowered_by is None else counts.lowered_by / unit,
    )


def _tree(tree: Tree, unit: int) -> Tree:
    return replace(tree, sizes=tree.sizes / unit)


def _table(table: MeasuredTable, unit: int) -> MeasuredTable:
    return replace(table, counts=_persons(table.counts, unit), share=table.share * unit)


def _leaves(leaves: LeafTable, unit: int) -> LeafTable:
    return replace(
        leaves,
        tree=_tree(leaves.tree, unit),
        counts=_persons(leaves.counts, unit),
        share=leaves.share * unit,
    )


def rule_with(rule: PeopleRule, most: int) -> PeopleRule:
    """Return the rule with another bound."""
    return replace(rule, most=most)


def people_notes(
    rule: PeopleRule, *, auto: bool, records: str = "records", may_count: bool = False
) -> tuple[str, ...]:
    """Return the notes of `check` on people and on other ways to count.

    ``records`` is the noun for a person's records; ``may_count``: the method can count people.
    """
    whose = protection("person", rule.columns, records=records)
    if rule.join is not None:
        return (
            f"{whose} They are joined to one basket with all of the person's items, so counts are"
            " of people.",
        )
    used = (
        f"A twentieth of epsilon chooses how many {records} of each person are used; {USUAL_BOUND}"
        " is assumed here."
        if auto
        else f"At most {rule.most} {records} of each person are used."
    )
    counted = (
        "They share the weight of one person, so counts are of people."
        if rule.counted == "people"
        else f"Counts are of {records}, and the noise grows with this limit."
    )
    limit = f"{whose} {used} {counted}"
    most = USUAL_BOUND if auto else rule.most
    if rule.counted == "people" or most == 1:
        return (limit,)
    others = f"With 'records-per-person: {most // 2}' it would be {most // 2}/{most} of it"
    if records == "baskets":
        others += f", with 'join: union' {_part(most)}"
    elif may_count:
        others += f", with 'count: people' {_part(most)}"
    return (limit, f"Each count has the noise of {most} {records}. {others}.")


def _part(n: int) -> str:
    return {2: "half", 3: "a third", 4: "a quarter"}.get(n, f"1/{n}") + " of it"
