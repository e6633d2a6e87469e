"""Number of tables that weave counts and the cost of each: public rules of a noisy size.

With s = epsilon * records / attributes, the records that a unit of budget and an attribute
have, there are about ``attributes * min(1.3, 0.6 (s / 500)**0.4)`` tables. Half of them are
joins and half further tables where there are few attributes; of 40 attributes or more all are
joins, because columns correlated only through the class count the same evidence twice. The
1-way marginals get from 40 % of epsilon, where s is large, to 80 %, where it is small. Where
there are records enough, 2 x 2 marginals measure how any two numbers are correlated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.methods.weave.codes import PARTS as CODE_PARTS
from hedgerow.methods.weave.codes import code_part
from hedgerow.model.method import Step

SIZE = Fraction(1, 50)
"""Share of epsilon for the noisy number of records."""

CHOICES = Fraction(8, 100)
"""Share of the rest for the private choices of tables."""

LEAVES = Fraction(8, 100)
"""Share of the rest for the leaf table, if there is one."""

LEAVES_FROM = 225
"""Minimum records per attribute, times epsilon, for which a leaf table is worth its share."""

ORDERS = Fraction(4, 100)
"""Share of the rest for all 2 x 2 marginals of pairs of numbers, if there are any."""

ORDER_NOISE = 0.035
"""Maximum deviation of a correlation estimated by a 2 x 2 marginal: with more, there are none."""

TABLES, GROWTH, MOST_TABLES = 0.6, 0.4, 1.3
"""Tables per attribute: TABLES (s / 500)**GROWTH, but not more than MOST_TABLES."""

JOINS = 0.5
"""The part of the tables that are joins, at the least ..."""

ALL_JOINED = 40
"""... and the minimum number of attributes for which all of them may be."""

ONE_WAY, SLOPE = 0.43, 0.33
"""Share of the 1-way marginals where s is 2000, and what it gains where s is a tenth."""

LEAST, MOST = 0.4, 0.8
"""Minimum and maximum share of the 1-way marginals."""

PARTS = 1000
"""Shares that come from a rule of thumb are whole numbers of 1 / PARTS."""

MOST_SHAPED = 10**12
"""Records, times epsilon, beyond which nothing changes any more."""


@dataclass(frozen=True, kw_only=True)
class WeaveShape:
    """Number of joins and of further tables, and the share of the 1-way marginals.

    ``one_way`` is a part of what the noisy size leaves of epsilon. ``leaves`` says whether
    the leaves of a class tree are counted, too, and ``orders`` is how many pairs of numbers
    have a 2 x 2 marginal.
    """

    joins: int
    further: int
    one_way: Fraction
    leaves: bool
    orders: int = 0

    @property
    def tables(self) -> int:
        """Number of 2-way marginals."""
        return self.joins + self.further

    @classmethod
    def of(
        cls,
        epsilon: Fraction,
        n_records: int,
        *,
        n_predictors: int,
        has_class: bool,
        leaves: bool | None,
        n_ordered: int = 0,
    ) -> WeaveShape:
        """Return the shape for a noisy number of records; ``n_ordered`` predictors are numbers.

        >>> WeaveShape.of(Fraction(1), 30_000, n_predictors=14, has_class=True, leaves=False)
        WeaveShape(joins=8, further=8, one_way=Fraction(43, 100), leaves=False, orders=0)
        """
        width = n_predictors + has_class
        records = min(max(n_records, 1), MOST_SHAPED)
        s = min(float(epsilon), 100.0) * records / width
        pairs = n_predictors * (n_predictors - 1) // 2
        tables = min(round(width * min(MOST_TABLES, TABLES * (s / 500) ** GROWTH)), pairs)
        part = min(max(width / ALL_JOINED, JOINS), 1.0)
        joins = min(n_predictors - 1, math.ceil(part * tables))
        counts_leaves = has_class and (s >= LEAVES_FROM if leaves is None else leaves)
        share = min(max(ONE_WAY + SLOPE * math.log10(2000 / s), LEAST), MOST)
        one_way = Fraction(round(share * PARTS), PARTS)
        if not tables:
            one_way = 1 - LEAVES if counts_leaves else Fraction(1)
        orders = n_ordered * (n_ordered - 1) // 2 if tables else 0
        if _order_noise(epsilon, records, orders) > ORDER_NOISE:
            orders = 0
        return cls(
            joins=joins,
            further=tables - joins,
            one_way=one_way,
            leaves=counts_leaves,
            orders=orders,
        )


def _order_noise(epsilon: Fraction, records: float, orders: int) -> float:
    """Return the deviation of a correlation of halves, estimated by one of ``orders`` marginals.

    Four cells with noise of variance 2 / share**2 give a mean deviation from independence, and
    the correlation is four times that, by records.
    """
    share = min(float(epsilon), 100.0) * float((1 - SIZE) * ORDERS)
    return math.sqrt(8) * orders / (share * records)


@dataclass(frozen=True, kw_only=True)
class WeaveBudget:
    """Cost of every step of a run on a noisy number of records.

    ``weights`` are public whole numbers by which the 1-way marginals share what they get, and
    ``levels`` the number of levels by which all codes of an attribute can be counted, 0 where
    its cells are fine enough.
    """

    epsilon: Fraction
    shape: WeaveShape
    n_records: int
    weights: tuple[int, ...]
    levels: tuple[int, ...]

    @property
    def size(self) -> Fraction:
        """The noisy number of records."""
        return self.epsilon * SIZE

    @property
    def _rest(self) -> Fraction:
        return self.epsilon - self.size

    @property
    def counted(self) -> tuple[int, ...]:
        """Return the attributes whose codes are counted, too."""
        return tuple(a for a in range(len(self.weights)) if self._code_part(a))

    def codes(self, attribute: int) -> Fraction:
        """Share of one level of the codes of an attribute."""
        return self._attribute(attribute) * self._code_part(attribute) / self.levels[attribute]

    def one_way(self, attribute: int) -> Fraction:
        """Share of the 1-way marginal by class of an attribute: what its codes leave."""
        return self._attribute(attribute) * (1 - self._code_part(attribute))

    def _attribute(self, attribute: int) -> Fraction:
        part = Fraction(self.weights[attribute], sum(self.weights))
        return self._rest * self.shape.one_way * part

    def _code_part(self, attribute: int) -> Fraction:
        if not self.levels[attribute]:
            return Fraction(0)
        strength = min(float(self._attribute(attribute)), 100.0) * min(self.n_records, MOST_SHAPED)
        return Fraction(code_part(strength), CODE_PARTS)

    @property
    def choice(self) -> Fraction:
        """One private choice of a table."""
        return self._rest * CHOICES / self.shape.tables

    @property
    def leaves(self) -> Fraction:
        """The leaf table, if there is one."""
        return self._rest * LEAVES if self.shape.leaves else Fraction(0)

    @property
    def order(self) -> Fraction:
        """Share of one 2 x 2 marginal, if there are any."""
        return self._rest * ORDERS / self.shape.orders if self.shape.orders else Fraction(0)

    @property
    def table(self) -> Fraction:
        """Share of one 2-way marginal: all of them share what the other steps leave."""
        spent = self._rest * (self.shape.one_way + CHOICES) + self.leaves
        spent += self.order * self.shape.orders
        return (self._rest - spent) / self.shape.tables

    def steps(self) -> tuple[Step, ...]:
        """Return the planned budget, line by line."""
        lines = [Step(on="number of records", share=self.size, times=1)]
        by_level = [(self.codes(a), self.levels[a]) for a in self.counted]
        lines += [
            Step(
                on="marginals of all codes",
                share=share,
                times=sum(times for each, times in by_level if each == share),
            )
            for share in dict.fromkeys(share for share, _ in by_level)
        ]
        shares = [self.one_way(a) for a in range(len(self.weights))]
        lines += [
            Step(on="1-way marginals", share=share, times=shares.count(share))
            for share in dict.fromkeys(shares)
        ]
        if self.shape.tables:
            lines.append(Step(on="choices", share=self.choice, times=self.shape.tables))
            lines.append(Step(on="tables", share=self.table, times=self.shape.tables))
        if self.shape.orders:
            lines.append(Step(on="2 x 2 marginals", share=self.order, times=self.shape.orders))
        if self.shape.leaves:
            lines.append(Step(on="leaf table", share=self.leaves, times=1))
        return tuple(lines)
