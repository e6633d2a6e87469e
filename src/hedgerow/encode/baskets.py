"""Encoding of set-valued data as sets of item codes, and of ordered data as sequences."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.encode.columns import as_numpy, spellings
from hedgerow.encode.order import place_ranks
from hedgerow.encode.sums import ITEMS, LENGTHS, ColumnSums
from hedgerow.encode.table import check_size
from hedgerow.model.baskets import EncodedBaskets, ItemCodes, item_dtype, offsets_of
from hedgerow.model.reading import PLAIN
from hedgerow.model.sizes import require_rows
from hedgerow.model.universe import Universe
from hedgerow.read.items import ItemSource, LongTable
from hedgerow.read.source import ReadProgress
from hedgerow.read.words import WordBatch
from hedgerow.taxonomy.tree import Taxonomy

_FLAGS_PER_KEY = 8  # flags cost a byte each, sorting several passes over eight
_OUTSIDE = -1


def encode_baskets(
    source: ItemSource,
    universe: Universe,
    *,
    progress: ReadProgress | None = None,
    sums: ColumnSums | None = None,
    most_bytes: int = PLAIN.most_bytes,
) -> EncodedBaskets:
    """Return the records as sets of item codes, in the order of the data.

    If the universe is ordered they are sequences: all items, in their order. Items outside the
    universe are dropped record by record, repeated ones count once, and a record without any item
    left is dropped. Records of a long table are in the order of their first rows. Data whose codes
    would take more than ``most_bytes`` are refused.

    Privacy: the result is as confidential as the data. Encoding treats every record by
    itself and by public rules alone, so neighbouring data stay neighbours.
    """
    encoder = BasketEncoder(universe, sums=sums)
    if isinstance(source, LongTable):
        parts = [encoder.of_rows(source, progress, most_bytes)]
    else:
        parts, used = [], 0
        for batch in source.batches(progress=progress):
            parts.append(encoder.of_batch(batch))
            used += sum(array.nbytes for array in parts[-1])
            check_size(used, most_bytes, source.name)
    lengths = [part[0] for part in parts] or [np.zeros(0, dtype=np.int64)]
    items = [part[1] for part in parts] or [np.zeros(0, dtype=encoder.dtype)]
    return EncodedBaskets(
        taxonomy=universe.taxonomy,
        offsets=offsets_of(np.concatenate(lengths)),
        items=np.concatenate(items),
    )


Sets = tuple[NDArray[np.int64], ItemCodes]
"""Lengths of sets, none of them 0, and the codes of all sets, increasing in each unless ordered."""


class BasketEncoder:
    """Encoder of words as sets of codes; ``sums`` collects digests for the ledger."""

    def __init__(self, universe: Universe, *, sums: ColumnSums | None = None) -> None:
        self.universe = universe
        self.sums = sums
        self.codes = ItemLookup(universe.taxonomy)
        self._n_rows = 0
        self.dtype = item_dtype(universe.n_items)

    def count_rows(self, n_rows: int, name: str) -> None:
        """Count further rows; refuse more than can be published."""
        self._n_rows += n_rows
        require_rows(self._n_rows, name)

    def of_batch(self, batch: WordBatch) -> Sets:
        """Return the sets of one batch of records."""
        self.count_rows(len(batch.lengths), "the baskets")
        if self.sums is not None:
            sum_words(self.sums, batch)
        records = np.repeat(np.arange(len(batch.lengths)), batch.lengths)
        ranks = None if batch.order is None else place_ranks(batch.order)
        return self._sets(records, self.codes(batch.words), len(batch.lengths), ranks)

    def of_rows(self, table: LongTable, progress: ReadProgress | None, most_bytes: int) -> Sets:
        """Return the sets of a long table from all of its rows."""
        names: list[pa.Array] = []
        codes: list[NDArray[np.int64]] = []
        order: list[pa.Array] = []
        used = 0
        for of_record, of_item, of_order in table.rows(progress=progress):
            if self.sums is not None:
                self.sums.add_column(ITEMS, of_item)
            names.append(of_record)
            codes.append(self.codes(of_item))
            used += of_record.nbytes + codes[-1].nbytes
            if of_order is not None:
                order.append(_as_plain(of_order))
                used += of_order.nbytes
            check_size(used, most_bytes, table.name)
            self.count_rows(len(of_record), table.name)
        if not names:
            return self._sets(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
        records, n_records = _numbered(names)
        if self.sums is not None:
            self.sums.add_counts(LENGTHS, np.bincount(records[records >= 0]))
        joined = np.where(records < 0, _OUTSIDE, np.concatenate(codes))
        ranks = place_ranks(pa.chunked_array(order)) if order else None
        return self._sets(records, joined, n_records, ranks)

    def _sets(
        self,
        records: NDArray[np.int64],
        codes: NDArray[np.int64],
        n_records: int,
        ranks: NDArray[np.int64] | None = None,
    ) -> Sets:
        lengths, items = self.of_pairs(records, codes, n_records, ranks)
        return lengths[lengths > 0], items

    def of_pairs(
        self,
        records: NDArray[np.int64],
        codes: NDArray[np.int64],
        n_records: int,
        ranks: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], ItemCodes]:
        """Return the number of items of each record, and all items, from pairs in any order.

        The items of ordered records keep the order of the pairs, or that of their ``ranks``.
        """
        if self.universe.place.ordered:
            return self._in_order(records, codes, n_records, ranks)
        inside = codes >= 0
        if not inside.all():
            records, codes = records[inside], codes[inside]
        n_items = self.universe.n_items
        keys = records * n_items + codes
        if not (keys[1:] > keys[:-1]).all():
            records, codes = np.divmod(_distinct(keys, n_records * n_items), n_items)
        lengths = np.bincount(records, minlength=n_records).astype(np.int64)
        return lengths, codes.astype(self.dtype)

    def _in_order(
        self,
        records: NDArray[np.int64],
        codes: NDArray[np.int64],
        n_records: int,
        ranks: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], ItemCodes]:
        """Return sequences; an item that is unknown, or has no position, is left out."""
        kept = codes >= 0
        if ranks is not None:
            kept &= ranks >= 0
        if not kept.all():
            records, codes = records[kept], codes[kept]
        if ranks is not None:
            order = np.lexsort((codes, ranks[kept], records))
            records, codes = records[order], codes[order]
        lengths = np.bincount(records, minlength=n_records).astype(np.int64)
        return lengths, codes.astype(self.dtype)


def sum_words(sums: ColumnSums, batch: WordBatch) -> None:
    """Add the words of some baskets, and the number in each record, to the digests."""
    sums.add_column(ITEMS, batch.words)
    sums.add_counts(LENGTHS, batch.lengths[batch.lengths > 0])


class ItemLookup:
    """The codes of words: the leaves of a taxonomy, and -1 for any other word."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.leaf_code = dict(taxonomy.leaf_code)

    def __call__(self, words: pa.DictionaryArray) -> NDArray[np.int64]:
        """Return a code per word, from one look-up of every distinct word."""
        distinct = words.dictionary.to_pylist()
        found = [self.leaf_code.get(word, _OUTSIDE) for word in distinct]
        if _OUTSIDE in found:
            found = [
                self._code(word) if code == _OUTSIDE else code
                for word, code in zip(distinct, found, strict=True)
            ]
        table = np.array([*found, _OUTSIDE], dtype=np.int64)  # the last is for null
        places, nulls = as_numpy(words.indices)
        known = places if nulls is None else np.where(nulls, len(found), places)
        return table.take(known)

    def _code(self, word: str | None) -> int:
        code = self.leaf_code.get(word or "")
        if code is not None:
            return code
        known = (self.leaf_code.get(spelling) for spelling in spellings((word or "").strip()))
        return next((code for code in known if code is not None), _OUTSIDE)


def _as_plain(texts: pa.Array) -> pa.Array:
    """Return texts without a dictionary, so that all batches are of one type."""
    plain = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    return plain.cast(pa.large_string())


def _distinct(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the distinct keys, all below ``size``, increasing.

    >>> _distinct(np.array([5, 1, 5, 3]), 6).tolist()
    [1, 3, 5]
    """
    if size <= _FLAGS_PER_KEY * len(keys):
        flags = np.zeros(size, dtype=np.bool_)
        flags[keys] = True
        return np.flatnonzero(flags)
    ordered = np.sort(keys)  # np.unique takes five times as long
    first = np.append(True, ordered[1:] != ordered[:-1])
    return ordered.compress(first)


def _numbered(names: list[pa.Array]) -> tuple[NDArray[np.int64], int]:
    """Return the number of each row's record, by first rows, and the number of records.

    Blanks around names do not count. A row without a name has the number -1.
    """
    places, known = _places(names)
    rows = np.arange(len(places))
    first = np.full(known + 1, len(places))
    first[places[::-1]] = rows[::-1]  # of several rows, the last one written stays: the first
    first[known] = len(places)
    number = np.empty(known + 1, dtype=np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(known + 1)
    number[known] = _OUTSIDE
    return number[places], known


def _places(names: list[pa.Array]) -> tuple[NDArray[np.int64], int]:
    """Return each row's place among the distinct names, and how many there are: no name's place."""
    import pyarrow.compute as pc

    joined = pa.chunked_array(names).unify_dictionaries().combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.chunk(0)
    trimmed = pc.utf8_trim_whitespace(joined.dictionary).dictionary_encode()
    n_words = len(trimmed.dictionary)
    merged = np.append(as_numpy(trimmed.indices)[0], n_words).astype(np.int64)
    merged[merged == pc.index(trimmed.dictionary, "").as_py()] = n_words  # -1 where there is none
    places, nulls = as_numpy(joined.indices)
    known = places if nulls is None else np.where(nulls, len(merged) - 1, places)
    return merged.take(known), n_words
