"""A first plan for baskets or sequences in columns: lists, or rows of record and item.

Privacy: as confidential as the data, except for the names of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.drafting.baskets import (
    ORDERED,
    basket_ends,
    frequent_items,
    universe_lines,
    whose_lines,
)
from hedgerow.drafting.candidates import UnitCandidate, candidates_in
from hedgerow.drafting.match import TaxonomyFile
from hedgerow.drafting.people import PeopleFound, RecordsOf
from hedgerow.drafting.profile import RARE, profiles_of
from hedgerow.drafting.settle import dates_of, settle_marks
from hedgerow.drafting.text import (
    HEADER,
    PlaceLines,
    place_lines,
    quoted,
    records_lines,
)
from hedgerow.drafting.unit import StatedUnit, UnitFound
from hedgerow.errors import DataError, PlanError
from hedgerow.model.people import Join
from hedgerow.plan.people import is_person_key, names_people
from hedgerow.read.source import ReadProgress, Source, places_of
from hedgerow.read.text import as_text


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketColumns:
    """The columns of the items and, in a long table, of the record and the order.

    ``ordered`` is whether records are sequences.
    """

    items: str
    record: str | None
    order: str | None = None
    ordered: bool = False

    @classmethod
    def of(
        cls, items: str | None, record: str | None, order: str | None, *, ordered: bool
    ) -> BasketColumns | None:
        """Return the columns, or ``None`` if no column of items is named."""
        if order is not None and (items is None or record is None):
            raise PlanError(
                "Only the rows of a long table have a column for their order.",
                where="order",
                do=(
                    "Name the columns of items and of sequences with --items and --record-id as"
                    " well; lists and lines are in order already."
                ),
            )
        if ordered and record is not None and order is None:
            raise PlanError(
                "The rows of a long table have no order of their own.",
                where="order",
                do=(
                    "Name the column with the position of a row in its sequence, such as a time,"
                    " with --order COLUMN."
                ),
            )
        if items is None and record is not None:
            raise PlanError(
                "A column of records needs the column of their items as well.",
                where="record",
                do="Name it with --items COLUMN.",
            )
        if items is None:
            return None
        return cls(items=items, record=record, order=order, ordered=ordered or order is not None)

    @property
    def named(self) -> list[str]:
        """All columns that are named."""
        return [name for name in (self.record, self.items, self.order) if name is not None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketsFound:
    """The draft for baskets in columns (confidential)."""

    columns: BasketColumns
    frequent: list[str]
    n_records: int
    unit: UnitFound

    def text(
        self, place: PlaceLines, files: Sequence[TaxonomyFile], *, ends: tuple[str, str], base: Path
    ) -> str:
        """Return the YAML text of a plan; ``ends`` are its ``publish`` and ``ledger`` sections."""
        lines = [HEADER, *place_lines(place), *records_lines(self.n_records), "items:"]
        lines += [f"  column: {quoted(self.columns.items)}"]
        if self.columns.record is not None:
            lines += [f"  record: {quoted(self.columns.record)}"]
        if self.columns.order is not None:
            lines += [f"  order: {quoted(self.columns.order)}"]
        lines += [ORDERED] * self.columns.ordered
        lines += universe_lines(self.frequent, files, base, ordered=self.columns.ordered)
        return "\n".join([*lines, "", *whose_lines(self.unit), *basket_ends(*ends)])


def baskets_in(
    source: Source,
    columns: BasketColumns,
    *,
    stated: StatedUnit,
    progress: ReadProgress | None = None,
) -> BasketsFound:
    """Return the items that many people have, or many records if no column identifies people."""
    places_of([*columns.named, *stated.person], source)
    person = stated.person or _person_column(source, columns)
    if stated.one_record_per_person or stated.protects_records:
        person = ()
    pairs = _pairs(source, columns, person, progress)
    if columns.record is None and not pairs.lists and (not person or columns.ordered):
        raise DataError(
            "The column does not hold lists, and no column identifies the record of a row.",
            where=f"{source.name}, column {columns.items!r}",
            do="Name the column that identifies a record: --record-id COLUMN.",
        )
    owner = "person" if person else "record"
    rows = pairs.table.filter(pc.is_valid(pairs.table.column("item")))
    distinct = rows.group_by([owner, "item"]).aggregate([])
    counted = distinct.column("item").value_counts()
    counts = dict(
        zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    )
    frequent = frequent_items(counts)
    if not frequent:
        raise DataError(
            f"No item occurs in at least {RARE} records of at least {RARE} people.",
            where=source.name,
            do="Check that the columns are the right ones, or write the plan by hand.",
        )
    is_row = columns.record is None and not pairs.lists
    several: RecordsOf = "sequences" if columns.ordered else "rows" if is_row else "baskets"
    people = _people(pairs.table, person, several) if person else None
    unit = UnitFound(
        stated=stated,
        candidates=_candidates(source, columns),
        people=people,
        records="baskets" if several == "rows" else several,
    )
    # If people's baskets will be joined, a person is a record; sequences stay as they are.
    record = ["person", "record"] if columns.ordered else [owner]
    n_records = rows.group_by(record).aggregate([]).num_rows
    return BasketsFound(columns=columns, frequent=frequent, n_records=n_records, unit=unit)


def _person_column(source: Source, columns: BasketColumns) -> tuple[str, ...]:
    if columns.record is not None and names_people(columns.record):
        return ()
    others = (name for name in source.columns if name not in columns.named)
    return tuple(name for name in others if is_person_key(name))[:1]


def _candidates(source: Source, columns: BasketColumns) -> tuple[UnitCandidate, ...]:
    """Return the further columns that may identify the person of a basket."""
    names = [
        name
        for name in source.columns
        if name not in columns.named and name.strip() and name.isprintable()
    ]
    if not names:
        return ()
    profiles = profiles_of(source, names)
    settle_marks(profiles)
    return tuple(candidates_in(profiles, dates=dates_of(profiles)).values())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Pairs:
    """Rows of person, record and item; ``lists`` is whether records were lists."""

    table: pa.Table
    lists: bool


def _pairs(
    source: Source,
    columns: BasketColumns,
    person: tuple[str, ...],
    progress: ReadProgress | None,
) -> _Pairs:
    names = [*dict.fromkeys([*person, *([columns.record] if columns.record is not None else [])])]
    parts, n_read, lists = [], 0, False
    for batch in source.batches([*names, columns.items], text=names, progress=progress):
        items = batch.column(len(names))
        owners = pa.array(np.arange(len(items)))
        if pa.types.is_list(items.type) or pa.types.is_large_list(items.type):
            lists, owners = True, pc.list_parent_indices(items)
            items = items.flatten()
        numbers = pa.array(np.arange(n_read, n_read + batch.num_rows)).cast(pa.string())
        owned = {name: _text(batch.column(at), source) for at, name in enumerate(names)}
        record = owned.get(columns.record or "", numbers)
        who = numbers
        if person:
            who = pc.binary_join_element_wise(*(owned[name] for name in person), "\x1f")
        part = [who.take(owners), record.take(owners), _text(items, source)]
        parts.append(pa.table(part, names=["person", "record", "item"]))
        n_read += batch.num_rows
    form = pa.schema([(name, pa.string()) for name in ("person", "record", "item")])
    return _Pairs(table=pa.concat_tables([form.empty_table(), *parts]), lists=lists)


def _text(column: pa.Array, source: Source) -> pa.Array:
    texts = as_text(column, where=source.name)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    trimmed = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _people(table: pa.Table, person: tuple[str, ...], records: RecordsOf) -> PeopleFound | None:
    """Return the number of baskets of each person, or of rows if no column identifies baskets."""
    named = table.filter(pc.is_valid(table.column("person")))
    baskets = named.group_by(["person", "record"]).aggregate([])
    counted = baskets.column("person").value_counts()
    if not len(counted):
        return None
    sizes = np.asarray(counted.field("counts"), dtype=np.int64)
    joined: Join | None = "union" if records in ("baskets", "rows") else None
    return PeopleFound(
        columns=person, sizes=sizes, n_people=len(sizes), records=records, join=joined
    )
