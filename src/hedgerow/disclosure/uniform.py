"""Generalisations that are the same for all records: every value at one level of its chain.

The original records are one of them; k-anonymous tables by full-domain generalisation are others.
Their matches are sizes of groups, so risk and utility of all records are computed at once.
Everything here is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.baselines.kanonymity.full_domain import MOST_VECTORS, full_domain_cuts, n_vectors
from hedgerow.baselines.kanonymity.level_search import Cost
from hedgerow.baselines.kanonymity.levels import levels_of
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.disclosure.confidential import Confidential, Problems, without_class
from hedgerow.disclosure.lattice.lattice import NUMERIC_FAN_OUT, Chains
from hedgerow.disclosure.lattice.matches import row_keys
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.model.arrays import Floats, Ints
from hedgerow.model.groups import Ranges

MOST_CELLS = 100_000
"""Maximum number of values of a table for a step-by-step search of k-anonymous tables."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Form:
    """The level at which each code of each attribute is shown."""

    levels: tuple[Ints, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Valued:
    """The risk and the utility of every distinct record in one generalisation."""

    risk: Floats
    utility: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UniformForms:
    """Risk and utility of all distinct records in generalisations that are the same for all."""

    ready: PreparedDisclosure
    confidential: Confidential
    problems: Problems

    def as_they_are(self) -> Form:
        """Return the generalisation in which every value represents itself."""
        sizes = (chain.taxonomy.n_leaves for chain in self.ready.chains)
        return Form(levels=tuple(np.zeros(size, dtype=np.int64) for size in sizes))

    @property
    def searchable(self) -> bool:
        """True if k-anonymous tables are found soon: few combinations of levels, or few values."""
        vectors = n_vectors(levels_of(self.ready.schema, fan_out=NUMERIC_FAN_OUT))
        cells = len(self.problems) * len(self.ready.chains)
        return vectors <= MOST_VECTORS or cells <= MOST_CELLS

    def anonymous(self, wanted: Sequence[int], *, cost: Cost = "height") -> dict[int, Form]:
        """Return the cheapest k-anonymous generalisation for each feasible k.

        [Samarati01; Incognito], by
        :func:`~hedgerow.baselines.kanonymity.full_domain.full_domain_cuts`.
        """
        table = without_class(self.confidential.table, slice(None))
        ks = [k for k in wanted if k <= len(table)]
        if not ks:
            return {}
        engine = MemoryEngine(table=table)
        cuts = full_domain_cuts(engine, ks=ks, cost=cost, fan_out=NUMERIC_FAN_OUT)
        return {k: self.of_ranges(cut.ranges) for k, cut in cuts.items()}

    def of_ranges(self, ranges: Sequence[Ranges]) -> Form:
        """Return the generalisation that shows the range of each value.

        An attribute with a range that is not a node of its hierarchy is suppressed.
        """
        pairs = zip(self.ready.chains, ranges, strict=True)
        return Form(levels=tuple(_levels_of(chain, each) for chain, each in pairs))

    def valued(self, form: Form) -> Valued:
        """Return the risk and utility of all distinct records in a generalisation."""
        dictionary, model = self.confidential.dictionary, self.ready.model
        matches = self.sizes(form, dictionary.columns, dictionary.many)
        risk = model.exposure(dictionary.n_records)[matches]
        if model.personal:
            risk = risk * self._sum(self.problems.severities.tables, form, personal=True)
        return Valued(risk=risk, utility=self._sum(self.ready.utility, form, personal=False))

    def smallest_group(self, form: Form) -> int:
        """Return the anonymity k of the table in a generalisation."""
        sizes = self.sizes(form, self.problems.records.codes, self.problems.many)
        return int(sizes.min(initial=len(self.confidential.table)))

    def sizes(self, form: Form, columns: Sequence[NDArray[np.integer]], many: Ints) -> Ints:
        """Return the number of records in ``columns`` that match each distinct record."""
        own = self._nodes(form, self.problems.records.codes)
        others = self._nodes(form, columns)
        joined = [np.concatenate(pair) for pair in zip(own, others, strict=True)]
        n_nodes = [chain.taxonomy.n_nodes for chain in self.ready.chains]
        _, kind = np.unique(row_keys(joined, n_nodes, len(joined[0])), return_inverse=True)
        n = len(self.problems)
        totals = np.bincount(kind[n:], weights=many, minlength=int(kind.max(initial=0)) + 1)
        return totals[kind[:n]].astype(np.int64)

    def _nodes(self, form: Form, columns: Sequence[NDArray[np.integer]]) -> list[NDArray[np.int32]]:
        return [
            chain.nodes[column, level[column]]
            for chain, level, column in zip(self.ready.chains, form.levels, columns, strict=True)
        ]

    def _sum(self, tables: Sequence[Floats], form: Form, *, personal: bool) -> Floats:
        factors = self.problems.severities.personal if personal else None
        added = np.zeros(len(self.problems))
        for i, (table, level) in enumerate(zip(tables, form.levels, strict=True)):
            column = self.problems.records.codes[i]
            part = table[column, level[column]]
            added += part if factors is None else part * factors[:, i]
        return added


def _levels_of(chain: Chains, ranges: Ranges) -> Ints:
    """Return the lowest level at which each code is shown as exactly its range."""
    tree, size = chain.taxonomy, chain.taxonomy.n_leaves
    place = ranges.partition_of(size)
    first, stop = tree.first[chain.nodes], tree.stop[chain.nodes]
    same = (first == ranges.first[place][:, None]) & (stop == ranges.stop[place][:, None])
    if not same.any(axis=1).all():
        return chain.heights.astype(np.int64)
    return np.asarray(np.argmax(same, axis=1), dtype=np.int64)
