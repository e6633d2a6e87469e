"""A first plan for a basket file, with the items that occur in many records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hedgerow.drafting.form import (
    basket_form_of,
    basket_form_text,
    beginning,
    is_called_table,
    looks_like_basket_lines,
)
from hedgerow.drafting.match import TaxonomyFile
from hedgerow.drafting.people import RecordsOf
from hedgerow.drafting.profile import RARE
from hedgerow.drafting.propose import MOST_VALUES
from hedgerow.drafting.ranges import outward
from hedgerow.drafting.text import (
    HEADER,
    WIDTH,
    comment,
    ledger_lines,
    ledger_section,
    question_lines,
    quoted,
    records_lines,
    relative_path,
    unit_lines,
    wrapped,
)
from hedgerow.drafting.unit import StatedUnit, UnitFound
from hedgerow.errors import DataError, PlanError
from hedgerow.model.reading import Reading, unpacked_name
from hedgerow.plan.defaults import DEFAULT_BASKET_METHOD, DEFAULT_SEQUENCE_METHOD
from hedgerow.plan.fields import MAX_TEXT, ROOT
from hedgerow.plan.items import MAX_ITEMS
from hedgerow.plan.load import plan_of
from hedgerow.plan.numbers import plain_number
from hedgerow.plan.settings import PrivateSettings
from hedgerow.read.open import holds_text
from hedgerow.read.words import HEADER as FILE_HEADER
from hedgerow.read.words import BasketFile, WordBatch

_SUFFIXES = (".dat", ".seq", ".basket", ".baskets")
_SEPARATORS: tuple[tuple[Literal["tab", "comma"], bytes], ...] = (("tab", b"\t"), ("comma", b","))
_WHOLE = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_FILE = "items.txt"
ORDERED = "  ordered: true"

ONE_STEP = 64
"""Largest number of items of sequences for which chain needs no groups of items."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ItemFrequencies:
    """Number of records with each item of a basket file (confidential)."""

    path: Path
    separator: Literal["tab", "comma"] | None
    form: Reading
    records: Counter[str]
    n_records: int

    @property
    def frequent(self) -> list[str]:
        """Items that occur in many records and that a plan can hold, in order."""
        return frequent_items(self.records)


def frequent_items(records: Mapping[str, int]) -> list[str]:
    """Return the items that occur in many records and that a plan can hold, in order."""
    items = [
        word
        for word, n in records.items()
        if n >= RARE and word.isprintable() and len(word) <= MAX_TEXT and word != ROOT
    ]
    return sorted(items, key=lambda word: (len(word), word) if _is_whole(word) else (99, word))


def looks_like_baskets(data: Any) -> bool:
    """Return whether data is a basket file, by its name, its header or its lines."""
    if not isinstance(data, str | Path) or "://" in str(data):
        return False
    path = Path(data)
    name = unpacked_name(path)
    if name.endswith(_SUFFIXES):
        return True
    if path.is_file() and beginning(path).startswith(FILE_HEADER):
        return not beginning(path).startswith(b"%PDF")
    return looks_like_basket_lines(path)


def refuse_no_lines(data: Any) -> None:
    """Raise if data cannot be a file of sequences, one per line."""
    if isinstance(data, str | Path) and "://" not in str(data):
        path = Path(data)
        if looks_like_baskets(data) or (holds_text(path) and not is_called_table(path)):
            return
    raise PlanError(
        "The data is a table, and the column of sequences is not set.",
        where="ordered",
        do=(
            "Name the column of items with --items and, if a row is one item, the column that"
            " identifies a sequence with --record-id and the column of the order with --order."
        ),
    )


def refuse_class(class_name: str | None, purpose: str | None) -> None:
    """Raise if a class or a purpose is named: a basket file has no columns."""
    if purpose is not None:
        raise PlanError(
            "A release of baskets has no purpose to set.",
            where="for",
            do="Leave it out, or give the data a name that ends in .csv if it is a table.",
        )
    if class_name is not None:
        raise PlanError(
            "Baskets have no columns, and so no class.",
            where="class",
            do="Leave it out, or give the data a name that ends in .csv if it is a table.",
        )


def basket_settings(method: str | None, epsilon: object, *, ordered: bool) -> str:
    """Return the ``publish`` section, checked before the data are read."""
    if method is None:
        method = DEFAULT_SEQUENCE_METHOD if ordered else DEFAULT_BASKET_METHOD
    settings = {"method": method, "epsilon": epsilon}
    items = {"universe": [1, 2], "ordered": ordered}
    plan = plan_of({"items": items, "publish": settings}, where="settings")
    section = f"method: {method}"
    if isinstance(plan.publish, PrivateSettings):
        section += f", epsilon: {plain_number(plan.publish.epsilon)}"
    return section


def item_frequencies(
    path: Path, *, progress: Callable[[float], None] | None = None
) -> ItemFrequencies:
    """Return the number of records of a file with each item, split by tab or comma if there is one.

    Privacy: as confidential as the data.
    """
    form = basket_form_of(path)
    # The header is text, which may contain commas.
    sample = b"\n".join(beginning(path).split(b"\n")[form.header_lines or 0 :])
    separator, letters = next(
        ((name, byte) for name, byte in _SEPARATORS if byte in sample), (None, b" ")
    )
    source = BasketFile(path=path, separators=letters, reading=form)
    records: Counter[str] = Counter()
    n_records = 0
    for batch in source.batches(progress=progress):
        records.update(_in_records(batch))
        n_records += len(batch.lengths)
    del records[""]
    return ItemFrequencies(
        path=path, separator=separator, form=form, records=records, n_records=n_records
    )


def _in_records(batch: WordBatch) -> dict[str, int]:
    """Return the number of records of a batch with each word; repeats in a record count once."""
    words = [word.strip() for word in batch.words.dictionary.to_pylist()]
    number = {word: place for place, word in enumerate(dict.fromkeys(words))}
    code = np.array([number[word] for word in words], dtype=np.int64)
    owner = np.repeat(np.arange(len(batch.lengths)), batch.lengths)
    pairs = np.unique(owner * max(len(number), 1) + code[batch.words.indices.to_numpy()])
    counts = np.bincount(pairs % max(len(number), 1), minlength=len(number))
    return dict(zip(number, counts.tolist(), strict=True))


def basket_plan_text(
    found: ItemFrequencies,
    files: Sequence[TaxonomyFile],
    *,
    publish: str,
    base: Path,
    unit: UnitFound,
    ordered: bool = False,
) -> str:
    """Return the YAML text of a drafted plan for baskets, for the folder ``base``."""
    items = found.frequent
    if not items:
        raise DataError(
            f"No item occurs in at least {RARE} records.",
            where=found.path.name,
            do=(
                "Check that the file has one record per line, with items separated by blanks,"
                " commas or tabs."
            ),
        )
    lines = [HEADER, f"data: {quoted(relative_path(found.path, base))}"]
    lines += [*comment("the form of the file", indent=""), basket_form_text(found.form)]
    lines += [*records_lines(found.n_records), "items:"]
    lines += [ORDERED] * ordered
    lines += universe_lines(items, files, base, ordered=ordered)
    if found.separator is not None:
        lines += [*comment("the separator of items", indent="  ")]
        lines += [f"  separator: {found.separator}"]
    if found.form.header_lines and not ordered:
        lines += [
            ("  # the file begins as files of sequences do; to publish sequences, replace as by")
        ]
        lines += ["  # 'ordered: true', and set 'method: chain' below"]
        lines += ["  as: sets"]
    lines += ["", *whose_lines(unit)]
    return "\n".join([*lines, *basket_ends(publish, ledger_section(found.path, publish))])


def lines_unit(stated: StatedUnit, *, ordered: bool) -> UnitFound:
    """Return the privacy unit of a file of lines, which cannot identify people."""
    if stated.person:
        raise PlanError(
            "A file of lines has no column that identifies people.",
            where="person",
            do="Give a table with a column of people and one of items, or state another unit.",
        )
    records: RecordsOf = "sequences" if ordered else "baskets"
    return UnitFound(stated=stated, records=records, may_name=False)


def whose_lines(unit: UnitFound) -> Iterable[str]:
    """Yield the lines of the privacy unit, and its question if it is open."""
    yield from unit_lines(unit)
    yield from question_lines(unit.questions())


def universe_lines(
    items: list[str], files: Sequence[TaxonomyFile], base: Path, *, ordered: bool = False
) -> Iterable[str]:
    """Yield the lines of the universe and its taxonomy."""
    for file in files:
        if all(item in file.taxonomy.leaf_code for item in items):
            reason = f"the first taxonomy that lists every item in at least {RARE} records"
            yield from comment(reason, indent="  ")
            yield f"  taxonomy: {quoted(relative_path(file.path, base))}"
            yield "  source: data"
            return
    whole = [int(item) for item in items if _is_whole(item)]
    low, high, _ = outward(min(whole, default=0), max(whole, default=0) + 0.5)
    if len(whole) == len(items) and high - low < MAX_ITEMS:
        reason = f"the numbers of items in at least {RARE} records, rounded outwards"
        yield from comment(reason, indent="  ")
        yield f"  universe: [{int(low)}, {int(high)}]"
        yield "  source: data"
    elif len(items) <= MOST_VALUES:
        yield from comment(f"the items in at least {RARE} records", indent="  ")
        part = f"universe: [{', '.join(quoted(item) for item in items)}]"
        yield f"  {part}" if len(part) + 2 <= WIDTH else wrapped(part, indent="  ")
        yield "  source: data"
    else:
        yield (
            "  # Too many items to list here: write a file of all items that may be published, one"
        )
        yield (
            "  # per line, from your catalogue and not from the data, or give a taxonomy of them."
        )
        yield f"  universe: {_FILE}"
    if not ordered or len(items) > ONE_STEP:
        yield "  # Related items should be neighbours; a real taxonomy is best."
    if ordered:  # few items are distinguished in one step, whatever their groups
        return
    yield "  taxonomy: context-free"
    yield "  fan-out: 10"


def basket_ends(publish: str, ledger: str) -> Iterable[str]:
    """Yield the last sections of a plan for baskets."""
    yield "# 'hedgerow confirm' writes this once the universe above is public knowledge."
    yield "confirmed: false"
    yield ""
    yield f"publish: {{{publish}}}"
    yield ""
    yield from ledger_lines(ledger)


def _is_whole(word: str) -> bool:
    return _WHOLE.fullmatch(word) is not None
