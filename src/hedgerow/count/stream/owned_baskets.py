"""The baskets of people larger than memory: gathered by the hash of their person on disk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.people import clipped_sizes
from hedgerow.count.stream.baskets import BasketStream
from hedgerow.count.stream.buckets import Buckets
from hedgerow.count.stream.scratch import Scratch, Slot
from hedgerow.count.stream.table import Pace, Report
from hedgerow.encode.owned_baskets import OwnedBasketEncoder, OwnedBaskets, owned_batches
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.people import KeyedRule, PeopleRule
from hedgerow.model.universe import Universe
from hedgerow.read.owned_items import OwnedItems
from hedgerow.taxonomy.tree import Taxonomy


class OwnedBasketsOnDisk:
    """The baskets of all people, some people at a time in a slot on disk (confidential)."""

    name = "stream"

    def __init__(
        self, taxonomy: Taxonomy, rule: PeopleRule, scratch: Scratch, *, memory: int
    ) -> None:
        self.taxonomy = taxonomy
        self._rule = rule
        self._scratch = scratch
        self._memory = memory
        self._shelf = scratch.shelf()
        self._slots: list[Slot] = []
        self._bounded: dict[PeopleRule, BasketStream] = {}

    def __repr__(self) -> str:
        return "OwnedBasketsOnDisk()"

    @classmethod
    def read(
        cls,
        source: OwnedItems,
        universe: Universe,
        keyed: KeyedRule,
        *,
        scratch: Scratch,
        memory: int,
        report: Report,
        sums: ColumnSums | None = None,
    ) -> OwnedBasketsOnDisk:
        """Return an engine over ``source``: its rows go to buckets, whose baskets are stored."""
        encode = OwnedBasketEncoder(universe, keyed, name=source.name, sums=sums)
        held = cls(universe.taxonomy, keyed.rule, scratch, memory=memory)
        pace, rows = Pace(report), Buckets(scratch, memory=memory)
        rows.fill(owned_batches(source, encode, progress=pace.share, on_read=pace.read))
        for batches in rows:
            held._keep(encode.gathered(batches, sums))
        rows.close()
        return held

    def sizes(self, most: int) -> NDArray[np.int64]:
        """Return how many persons have 0, 1, ... ``most`` baskets or more (confidential)."""
        return clipped_sizes(self._owned(), most)

    def bounded(self, rule: PeopleRule) -> BasketStream:
        """Return an engine over the baskets that count."""
        if rule not in self._bounded:
            kept = (owned.kept(rule) for owned in self._owned())
            self._bounded[rule] = BasketStream.of_sets(
                self.taxonomy, kept, scratch=self._scratch, memory=self._memory
            )
        return self._bounded[rule]

    def rehearsing(self, baskets: EncodedBaskets) -> BasketStream:
        """Return an engine over simulated baskets on the same disk, by the same loops."""
        return self.bounded(self._rule).rehearsing(baskets)

    def close(self) -> None:
        """Remove the baskets from the disk."""
        self._scratch.close()

    def _keep(self, owned: OwnedBaskets) -> None:
        arrays = (owned.persons, owned.hashes, owned.lengths, owned.items)
        self._slots.append(self._shelf.put(arrays))

    def _owned(self) -> Iterator[OwnedBaskets]:
        for slot in self._slots:
            persons, hashes, lengths, items = self._shelf.get(slot)
            yield OwnedBaskets(persons=persons, hashes=hashes, lengths=lengths, items=items)
