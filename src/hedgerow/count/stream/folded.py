"""Distinct records on disk with their frequencies, a part at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.folding import fold
from hedgerow.count.stream.scratch import Scratch, Shelf, Slot
from hedgerow.model.baskets import EncodedBaskets, offsets_of
from hedgerow.model.engine import FoldedBaskets


class FoldedOnDisk:
    """Distinct records in parts by their hash, with equal ones in one part (confidential)."""

    def __init__(self, shelf: Shelf, slots: list[Slot]) -> None:
        self._shelf = shelf
        self._slots = slots

    def __repr__(self) -> str:
        return "FoldedOnDisk()"

    @classmethod
    def of(
        cls, pieces: Iterable[EncodedBaskets], scratch: Scratch, *, n_parts: int
    ) -> FoldedOnDisk:
        """Return the records of all pieces, in about as many parts as there are pieces."""
        rough, shelf = scratch.shelf(), scratch.shelf()
        parts: list[list[Slot]] = [[] for _ in range(max(1, n_parts))]
        for piece in pieces:
            folded = fold(piece.offsets, piece.items)
            place = (folded.hashes % np.uint64(len(parts))).astype(np.int64)
            for part, slots in enumerate(parts):
                slots.append(_put(rough, folded, place == part))
        folded_parts = []
        for slots in filter(None, parts):
            lengths, items, weights = (
                np.concatenate(each)
                for each in zip(*(rough.get(slot) for slot in slots), strict=True)
            )
            whole = fold(offsets_of(lengths), items, weights)
            folded_parts.append(
                shelf.put((np.diff(whole.offsets), whole.items, whole.weights, whole.hashes))
            )
        rough.close()
        return cls(shelf, folded_parts)

    def __iter__(self) -> Iterator[FoldedBaskets]:
        for slot in self._slots:
            lengths, items, weights, hashes = self._shelf.get(slot)
            yield FoldedBaskets(
                offsets=offsets_of(lengths), items=items, weights=weights, hashes=hashes
            )


def _put(shelf: Shelf, folded: FoldedBaskets, kept: NDArray[np.bool_]) -> Slot:
    lengths = np.diff(folded.offsets)
    return shelf.put((lengths[kept], folded.items[np.repeat(kept, lengths)], folded.weights[kept]))
