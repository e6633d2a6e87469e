"""Baskets with their persons, and the few of each person that count, or their union.

A basket is a list of codes. Its person, and its record in a long table, are identified by value,
row by row: two people who share a record's name have a basket each. The baskets kept of a person
depend on that person's rows, the public rule and the key of the run, as for tables
(:mod:`hedgerow.encode.people`): not on the order of rows, nor on anybody else.

Privacy: for every key, removing one person with all their rows removes at most ``most`` baskets
of what is kept, and changes no other; with ``join`` it is the one basket that the person has
(docs/privacy.md, L3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.encode.baskets import BasketEncoder, Sets, sum_words
from hedgerow.encode.order import place_ranks
from hedgerow.encode.people import (
    HASH,
    Words,
    encoded_batches,
    hashed_persons,
    kept_records,
    mixed,
    numbered,
    person_fields,
    person_texts,
)
from hedgerow.encode.sums import ITEMS, LENGTHS, ColumnSums
from hedgerow.model.arrays import Flags
from hedgerow.model.baskets import EncodedBaskets, ItemCodes, offsets_of
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.model.universe import Universe
from hedgerow.read.owned_items import OwnedBatch, OwnedItems
from hedgerow.read.source import ReadProgress

_RECORD, _CODE, _SINGLE, _BASKET = "record", "code", "single", "basket"
_PLACE = "place"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnedBaskets:
    """All baskets of some people (confidential): ragged codes, and the person of each basket.

    ``persons`` are numbers that distinguish these people only, ``hashes`` the keyed hash of each
    basket's person. No basket is empty. The codes of a basket may be in any order: an ordered list
    is sampled like a set.
    """

    persons: NDArray[np.int64]
    hashes: Words
    lengths: NDArray[np.int64]
    items: ItemCodes

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of baskets of each person (confidential)."""
        return np.bincount(self.persons)

    def kept(self, rule: PeopleRule) -> Sets:
        """Return the baskets that count, in their order."""
        flags, _ = kept_records(self.persons, self._priorities, rule.most)
        if flags is None:
            return self.lengths, self.items
        return self.lengths[flags], self.items[np.repeat(flags, self.lengths)]

    def _priorities(self, rows: NDArray[np.int64]) -> Words:
        """Return a keyed hash of person and basket: the sum over its codes with their positions."""
        if not len(rows):
            return self.hashes[rows]
        lengths = self.lengths[rows]
        starts = offsets_of(lengths)
        places = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        codes = self.items[places + np.repeat(offsets_of(self.lengths)[rows], lengths)]
        at_place = mixed(np.repeat(self.hashes[rows], lengths), places.astype(np.uint64))
        total = np.add.reduceat(mixed(at_place, codes.astype(np.uint64)), starts[:-1])
        return mixed(self.hashes[rows], total)


class OwnedBasketEncoder:
    """Encoder of rows with their persons, and builder of all baskets of some people.

    Its output for each batch are record batches of the persons' texts, their keyed hash, and either
    a basket per row or, if baskets are in several rows, an item (confidential). ``ordered`` is
    whether rows have an order that messages may name.
    """

    def __init__(
        self,
        universe: Universe,
        keyed: KeyedRule,
        *,
        name: str,
        sums: ColumnSums | None = None,
        ordered: bool = True,
    ) -> None:
        self.universe = universe
        self.keyed = keyed
        self.name = name
        self.sums = sums
        self.ordered = ordered
        self.encode = BasketEncoder(universe)
        place = universe.place
        self.of_rows = place.record is not None or keyed.rule.join is not None
        self.missing = pa.array(sorted({"", *place.missing_values}), pa.string())

    @property
    def form(self) -> pa.Schema:
        """Columns of the output for a batch."""
        persons = person_fields(self.keyed.rule)
        if not self.of_rows:
            return pa.schema([*persons, (_BASKET, pa.large_list(pa.uint32()))])
        record = [] if self.universe.place.record is None else [(_RECORD, pa.string())]
        place = [] if self.universe.place.order is None else [(_PLACE, pa.string())]
        item = [(_CODE, pa.int32()), (_SINGLE, pa.bool_())]
        return pa.schema([*persons, *record, *place, *item])

    def __call__(self, batch: OwnedBatch, *, n_before: int) -> pa.RecordBatch:
        """Return a batch's rows as codes; refuse one without a person."""
        persons = [
            person_texts(
                column,
                missing=self.missing,
                where=f"{self.name}, column {name!r}",
                n_before=n_before if self.ordered else None,
            )
            for column, name in zip(batch.persons, self.keyed.rule.columns, strict=True)
        ]
        self.encode.count_rows(len(batch.words.lengths), self.name)
        self._sum(batch)
        hashes = pa.array(hashed_persons(persons, self.keyed.key))
        codes = self.encode.codes(batch.words.words)
        owners = np.repeat(np.arange(len(batch.words.lengths)), batch.words.lengths)
        if self.of_rows:
            return self._item_rows(batch, [*persons, hashes], owners, codes)
        return self._basket_rows([*persons, hashes], owners, codes)

    def gathered(
        self, batches: Sequence[pa.RecordBatch], sums: ColumnSums | None = None
    ) -> OwnedBaskets:
        """Return the baskets of some people from all of their rows.

        ``sums`` gets the number of rows of each record of a long table.
        """
        table = pa.Table.from_batches(batches, schema=self.form)
        persons = numbered([table.column(at) for at in range(len(self.keyed.rule.columns))])
        hashes = table.column(HASH).to_numpy()
        if not self.of_rows:
            baskets = table.column(_BASKET).combine_chunks()
            lengths = np.asarray(baskets.value_lengths(), dtype=np.int64)
            items = np.asarray(baskets.flatten()).astype(self.encode.dtype)
            return OwnedBaskets(persons=persons, hashes=hashes, lengths=lengths, items=items)
        records = persons
        if self.universe.place.record is not None:
            records = numbered([pa.chunked_array([pa.array(persons)]), table.column(_RECORD)])
        if sums is not None and len(records):
            single = table.column(_SINGLE).to_numpy()
            n_rows = np.bincount(records[single])
            sums.add_counts(LENGTHS, n_rows[n_rows > 0])
        baskets_of = records if self.keyed.rule.join is None else persons
        ranks = place_ranks(table.column(_PLACE)) if _PLACE in self.form.names else None
        codes = table.column(_CODE).to_numpy()
        return self._of_items(persons, hashes, baskets_of, codes, ranks)

    def _sum(self, batch: OwnedBatch) -> None:
        if self.sums is None:
            return
        if batch.single:  # the number of rows of a record is known only after gathering
            self.sums.add_column(ITEMS, batch.words.words)
        else:
            sum_words(self.sums, batch.words)

    def _item_rows(
        self,
        batch: OwnedBatch,
        owned: list[pa.Array],
        owners: NDArray[np.int64],
        codes: NDArray[np.int64],
    ) -> pa.RecordBatch:
        """Return a row for every item, and for every row of a long table that names a record."""
        kept = np.full(len(codes), batch.single) | (codes >= 0)
        named = []
        if batch.records is not None:
            names = _trimmed(batch.records)
            kept &= _is_there(names)[owners]
            named = [names]
        if batch.words.order is not None:
            named.append(_trimmed(batch.words.order))
        rows = pa.array(owners[kept])
        columns = [column.take(rows) for column in (*owned, *named)]
        single = pa.array(np.full(len(rows), batch.single))
        codes_kept = pa.array(codes[kept].astype(np.int32))
        return pa.RecordBatch.from_arrays([*columns, codes_kept, single], schema=self.form)

    def _basket_rows(
        self, owned: list[pa.Array], owners: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> pa.RecordBatch:
        """Return a row for every basket with an item of the universe."""
        lengths, items = self.encode.of_pairs(owners, codes, len(owned[0]))
        rows = np.flatnonzero(lengths)
        baskets = pa.LargeListArray.from_arrays(
            pa.array(offsets_of(lengths[rows])), pa.array(items.astype(np.uint32))
        )
        columns = [column.take(pa.array(rows)) for column in owned]
        return pa.RecordBatch.from_arrays([*columns, baskets], schema=self.form)

    def _of_items(
        self,
        persons: NDArray[np.int64],
        hashes: Words,
        baskets: NDArray[np.int64],
        codes: NDArray[np.int32],
        ranks: NDArray[np.int64] | None,
    ) -> OwnedBaskets:
        """Return baskets from one row per item, in any order, without empty ones."""
        n_baskets = int(baskets.max(initial=-1)) + 1
        lengths, items = self.encode.of_pairs(baskets, codes.astype(np.int64), n_baskets, ranks)
        a_row = np.zeros(n_baskets, dtype=np.int64)
        a_row[baskets] = np.arange(len(baskets))  # all rows of a basket are one person's
        there = lengths > 0
        return OwnedBaskets(
            persons=persons[a_row][there],
            hashes=hashes[a_row][there],
            lengths=lengths[there],
            items=items,
        )


def _trimmed(names: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    return pc.utf8_trim_whitespace(names.cast(pa.string()))


def _is_there(names: pa.Array) -> Flags:
    found = pc.fill_null(pc.not_equal(names, ""), False)
    return np.asarray(found, dtype=np.bool_)


def owned_batches(
    source: OwnedItems,
    encode: OwnedBasketEncoder,
    *,
    progress: ReadProgress | None = None,
    on_read: Callable[[int], None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the encoded rows of a table; see :func:`hedgerow.encode.people.encoded_batches`."""
    batches = source.batches(progress=progress)
    return encoded_batches(
        batches, encode, n_rows=lambda batch: len(batch.words.lengths), on_read=on_read
    )


def joined_baskets(
    source: OwnedItems, universe: Universe, *, progress: ReadProgress | None = None
) -> EncodedBaskets:
    """Return one basket for each person, by ``join: union``; no record is sampled.

    Privacy: as confidential as the data.
    """
    keyed = KeyedRule(rule=source.rule, key=SampleKey(words=(0, 0)))
    encode = OwnedBasketEncoder(universe, keyed, name=source.name)
    owned = encode.gathered(list(owned_batches(source, encode, progress=progress)))
    lengths, items = owned.kept(source.rule)
    return EncodedBaskets(taxonomy=universe.taxonomy, offsets=offsets_of(lengths), items=items)
