"""Baskets held by person until the bound on each person's baskets is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.count.people import HeldByPerson, clipped_sizes
from hedgerow.encode.owned_baskets import OwnedBaskets
from hedgerow.model.baskets import EncodedBaskets, offsets_of
from hedgerow.model.engine import BasketEngine
from hedgerow.model.people import PeopleRule
from hedgerow.taxonomy.tree import Taxonomy

OwnedBasketEngine = HeldByPerson[EncodedBaskets, BasketEngine]


class OwnedBasketsInMemory:
    """The baskets of all people, in memory (confidential)."""

    name = "memory"

    def __init__(self, taxonomy: Taxonomy, owned: OwnedBaskets, rule: PeopleRule) -> None:
        self.taxonomy = taxonomy
        self._owned = owned
        self._rule = rule
        self._bounded: dict[PeopleRule, BasketMemory] = {}

    def __repr__(self) -> str:
        return "OwnedBasketsInMemory()"

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` baskets or more (confidential)."""
        return clipped_sizes([self._owned], most)

    def bounded(self, rule: PeopleRule) -> BasketMemory:
        """Return an engine over the baskets that count."""
        if rule not in self._bounded:
            lengths, items = self._owned.kept(rule)
            self._bounded[rule] = BasketMemory(
                baskets=EncodedBaskets(
                    taxonomy=self.taxonomy, offsets=offsets_of(lengths), items=items
                )
            )
        return self._bounded[rule]

    def rehearsing(self, baskets: EncodedBaskets) -> BasketEngine:
        """Return an engine that counts simulated baskets by the same loops."""
        return self.bounded(self._rule).rehearsing(baskets)

    def close(self) -> None:
        """Do nothing: the baskets are freed with the engine."""
