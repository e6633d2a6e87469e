"""Records with their persons, and the few of each person that count.

Persons are distinguished by the value of their columns as text; a keyed hash only decides which
bucket gathers a person's records and which of them are kept. The records kept of a person depend on
that person's records, the public bound and the key of the run: not on the order of rows, nor on
anybody else.

Privacy: for every key, removing one person with all their records removes at most ``most``
records of what is kept, or units of at most one person's weight (docs/privacy.md, L3). The key
is drawn from a stream of its own and does not depend on the data, so that holds for any key,
whether the hash is good or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.encode.batch import BatchEncoder
from hedgerow.errors import DataError
from hedgerow.model.arrays import Codes, Flags
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.read.source import ReadProgress, Source
from hedgerow.read.text import as_text
from hedgerow.taxonomy.domain import code_dtype

Words = NDArray[np.uint64]
_Rows = TypeVar("_Rows")

Priorities = Callable[[NDArray[np.int64]], Words]
"""Function from rows to the keyed hash of their records."""

HASH = "hash"
"""Name of the column with the keyed hash of a person."""

LONGEST_PERSON = 1024
"""Largest number of bytes of a value that identifies a person."""


class PeopleEncoder:
    """Encoder of batches of ``columns``, some of which identify the person of each record.

    Its output are record batches of the texts of those columns, the keyed hash of the person, and
    the codes (confidential).
    """

    def __init__(self, encode: BatchEncoder, keyed: KeyedRule) -> None:
        self.encode = encode
        self.keyed = keyed
        further = [name for name in keyed.rule.columns if name not in encode.columns]
        self.columns = [*encode.columns, *further]
        self.text = {*encode.text, *further}
        self.missing = pa.array(sorted({"", *encode.schema.missing_values}), pa.string())

    @property
    def form(self) -> pa.Schema:
        """Columns of the output."""
        codes = [
            (f"codes {at}", pa.from_numpy_dtype(code_dtype(attribute.domain.size)))
            for at, attribute in enumerate(self.encode.attributes)
        ]
        return pa.schema([*person_fields(self.keyed.rule), *codes])

    def __call__(self, batch: pa.RecordBatch, *, n_before: int | None) -> pa.RecordBatch:
        """Return a batch's complete records with their persons; refuse one without a person.

        Records are numbered from ``n_before`` on; ``None`` if they have no order. Records outside a
        cover may lack a person.
        """
        own = batch.select(range(len(self.encode.columns)))
        encoded = self.encode(own, n_before=n_before or 0)
        persons = [
            self._texts(batch.column(self.columns.index(name)), name, n_before, encoded.inside)
            for name in self.keyed.rule.columns
        ]
        if encoded.kept is not None:
            kept = pa.array(encoded.kept)
            persons = [texts.filter(kept) for texts in persons]
        hashes = hashed_persons(persons, self.keyed.key)
        columns = [*persons, hashes, *encoded.columns]
        return pa.RecordBatch.from_arrays([pa.array(each) for each in columns], schema=self.form)

    def _texts(
        self, column: pa.Array, name: str, n_before: int | None, inside: Flags | None
    ) -> pa.Array:
        where = f"{self.encode.name}, column {name!r}"
        return person_texts(
            column, missing=self.missing, where=where, n_before=n_before, inside=inside
        )


def person_fields(rule: PeopleRule) -> list[tuple[str, pa.DataType]]:
    """Return the first columns of encoded rows: the identifying texts, and their hash."""
    texts = [(f"person {at}", pa.string()) for at in range(len(rule.columns))]
    return [*texts, (HASH, pa.uint64())]


def person_texts(
    column: pa.Array,
    *,
    missing: pa.Array,
    where: str,
    n_before: int | None,
    inside: Flags | None = None,
) -> pa.Array:
    """Return the person of each row as text; refuse a row without one.

    ``missing`` are the texts that identify nobody. Rows are numbered from ``n_before`` on; ``None``
    if they have no order. Of rows that are not ``inside`` nothing is refused: they do not count.
    """
    texts = as_text(column, where=where)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    texts = texts.cast(pa.string())
    nobody = pc.or_kleene(pc.is_null(texts), pc.is_in(pc.utf8_trim_whitespace(texts), missing))
    if inside is not None:
        nobody = pc.and_(nobody, pa.array(inside))
    if pc.any(nobody).as_py():
        which = (
            "A record"
            if n_before is None
            else f"Record {n_before + pc.index(nobody, True).as_py() + 1}"
        )
        raise DataError(
            f"{which} does not name its person.",
            where=where,
            do=(
                "Give every record its person, or leave such records out of the data: a person who"
                " is not identified cannot be protected."
            ),
        )
    lengths = pc.binary_length(texts if inside is None else texts.filter(pa.array(inside)))
    if len(lengths) and pc.max(lengths).as_py() > LONGEST_PERSON:
        raise DataError(
            f"A value has more than {LONGEST_PERSON:,} bytes.",
            where=where,
            do="Name a column that identifies people, such as a number.",
        )
    return texts


def hashed_persons(persons: Sequence[pa.Array], key: SampleKey) -> Words:
    """Return a keyed hash of each record's person, the same on every engine."""
    total = np.full(len(persons[0]), key.words[0], dtype=np.uint64)
    for texts in persons:
        distinct = texts.dictionary_encode()
        places = np.asarray(distinct.indices, dtype=np.int64)
        total = mixed(total, _hashed_texts(distinct.dictionary, key)[places])
    return total


def _hashed_texts(texts: pa.Array, key: SampleKey) -> Words:
    """Return a keyed hash of each text, eight bytes at a time, its length first."""
    lengths = np.asarray(pc.binary_length(texts), dtype=np.int64)
    ends = np.cumsum(lengths)
    joined = "".join(texts.to_pylist()).encode()
    letters = np.concatenate([np.frombuffer(joined, dtype=np.uint8), np.zeros(8, dtype=np.uint8)])
    starts = ends - lengths
    total = mixed(np.full(len(texts), key.words[1], dtype=np.uint64), lengths.astype(np.uint64))
    for at in range(0, int(lengths.max(initial=0)), 8):
        here = np.flatnonzero(lengths > at)
        places = starts[here, None] + np.arange(at, at + 8)
        inside = places < ends[here, None]
        words = np.where(inside, letters[np.minimum(places, len(letters) - 1)], 0)
        packed = np.ascontiguousarray(words.astype(np.uint8)).view("<u8")[:, 0]
        total[here] = mixed(total[here], packed.astype(np.uint64))
    return total


def mixed(total: Words, words: Words) -> Words:
    """Return both mixed, by the finaliser of SplitMix64 [Steele, Lea and Flood 2014]."""
    with np.errstate(over="ignore"):
        mixed = (total ^ words) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def people_batches(
    source: Source,
    encode: PeopleEncoder,
    *,
    progress: ReadProgress | None = None,
    on_read: Callable[[int], None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the encoded records of a table with persons; see :func:`encoded_batches`."""
    batches = source.batches(encode.columns, text=encode.text, progress=progress)
    return encoded_batches(batches, encode, n_rows=lambda batch: batch.num_rows, on_read=on_read)


def encoded_batches(
    batches: Iterable[_Rows],
    encode: Callable[..., pa.RecordBatch],
    *,
    n_rows: Callable[[_Rows], int],
    on_read: Callable[[int], None] | None,
) -> Iterator[pa.RecordBatch]:
    """Yield batches encoded in order, and report the number of rows read so far."""
    n_read = 0
    for batch in batches:
        yield encode(batch, n_before=n_read)
        n_read += n_rows(batch)
        if on_read is not None:
            on_read(n_read)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Gathered:
    """All records of some persons: a number for each record's person, its hash, its codes."""

    persons: NDArray[np.int64]
    hashes: Words
    codes: tuple[Codes, ...]

    @classmethod
    def of(cls, batches: Sequence[pa.RecordBatch], encode: PeopleEncoder) -> Gathered:
        """Return the concatenated batches of an encoder."""
        table = pa.Table.from_batches(batches, schema=encode.form)
        n_columns = len(encode.keyed.rule.columns)
        persons = numbered([table.column(place) for place in range(n_columns)])
        codes = tuple(
            table.column(place).to_numpy() for place in range(n_columns + 1, table.num_columns)
        )
        hashes = table.column(n_columns).to_numpy()
        return cls(persons=persons, hashes=hashes, codes=codes)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each person (confidential)."""
        return np.bincount(self.persons)

    def kept(self, rule: PeopleRule) -> list[tuple[int, tuple[Codes, ...]]]:
        """Return the records that count, by weight; the order of rows is kept."""
        flags, n_kept = kept_records(self.persons, self._priorities, rule.most)
        if rule.counted == "records":
            return [(1, tuple(_where(each, flags) for each in self.codes))]
        # Few weights, all below 2^15: sorted by them, each has a slice of every column.
        weights = rule.weights().astype(np.int16)[n_kept]
        rows = np.arange(len(weights)) if flags is None else np.flatnonzero(flags)
        if not len(rows):
            return []
        rows = rows[np.argsort(weights[rows], kind="stable")]
        found, starts = np.unique(weights[rows], return_index=True)
        columns = [np.split(each[rows], starts[1:]) for each in self.codes]
        return list(zip(found.tolist(), zip(*columns, strict=True), strict=True))

    def _priorities(self, rows: NDArray[np.int64]) -> Words:
        """Return a keyed hash of person and encoded record."""
        total = self.hashes[rows]
        for codes in self.codes:
            total = mixed(total, codes[rows].astype(np.uint64))
        return total


def _where(codes: Codes, flags: Flags | None) -> Codes:
    return codes if flags is None else codes[flags]


def numbered(columns: Sequence[pa.ChunkedArray]) -> NDArray[np.int64]:
    """Return a number for each row's person: the same for equal values only."""
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        distinct = column.combine_chunks().dictionary_encode()
        if isinstance(distinct, pa.ChunkedArray):
            distinct = distinct.combine_chunks()
        own = np.asarray(distinct.indices, dtype=np.int64)
        numbers = numbers * len(distinct.dictionary) + own
        if len(columns) > 1:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    return numbers


def kept_records(
    persons: NDArray[np.int64], priorities: Priorities, most: int
) -> tuple[Flags | None, NDArray[np.int64]]:
    """Return which records are kept (``None``: all), and how many records their persons keep.

    Of a person with more than ``most`` records those with the smallest priorities are kept. Equal
    records have equal priorities, so each gets one of its own from its number among them.
    """
    sizes = np.bincount(persons)
    over = np.flatnonzero(sizes[persons] > most)
    n_kept = np.minimum(sizes, most)[persons]
    if not len(over):
        return None, n_kept
    who = persons[over]
    first = priorities(over)
    order = np.lexsort((first, who))
    number = _number_in_runs(who[order], first[order])
    rank = np.empty(len(over), dtype=np.int64)
    if number.any():
        own = np.where(number > 0, mixed(first[order], number.astype(np.uint64)), first[order])
        order = order[np.lexsort((own, who[order]))]
    rank[order] = _number_in_runs(who[order])
    flags = np.ones(len(persons), dtype=np.bool_)
    flags[over] = rank < most
    return flags, n_kept


def _number_in_runs(*keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the number of each row among equal rows before it, in sorted rows."""
    places = np.arange(len(keys[0]), dtype=np.int64)
    begins = np.zeros(len(places), dtype=np.bool_)
    begins[:1] = True
    for key in keys:
        begins[1:] |= np.asarray(key[1:] != key[:-1])
    return places - np.maximum.accumulate(np.where(begins, places, 0))


def serialised(table: pa.Table) -> NDArray[np.uint8]:
    """Return a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def unserialised(body: NDArray[np.uint8]) -> list[pa.RecordBatch]:
    """Return the batches of a table from its bytes."""
    with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
        return list(stream)
