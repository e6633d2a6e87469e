"""Rehearsal: one run of the whole chain on simulated records, before anything is booked.

A booking comes before the noise and stays whatever happens after it, so whatever can fail must
fail before. Much of that shows only when it is tried: loops that cannot be compiled, a library
that does not load in the memory there is, a folder that takes no file. So a run that books is
rehearsed: a small table is drawn from the public domains, counted by the engine and the code
path that the real one will take, published, certified and written to a hidden folder beside the
destination, which is removed before the booking.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import ReleaseError
from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.model.method import Approximate
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.prepare import Prepared
from hedgerow.privacy.source import (
    RandomSource,
    SeededSource,
    SystemSource,
    below,
    integers_below,
)
from hedgerow.release.write import rehearsal_folder
from hedgerow.taxonomy.tree import Taxonomy

N_RECORDS = 6_000
STRENGTH = 6_000
"""Epsilon times records at which every kind of level grows: hedge's own begin at 4,526."""

N_BASKETS = 3_000
N_KINDS = 48
"""Different baskets that are made up: each often enough to be found."""

MOST_ITEMS = 6

NOTHING_BOOKED = "Nothing was booked: this occurred in a rehearsal on simulated records."

RunOnce = Callable[[Any, Prepared, RandomSource, Path | None], object]
"""Publishes what an engine holds, by a plan and a source, to a folder or to none."""


def rehearse(ready: Prepared, engine: Any, *, out: Path | None, run: RunOnce) -> None:
    """Run the whole chain on simulated records, or raise what the real run would raise.

    The epsilon of the first run is large enough for the few records that there are; where
    that is not the plan's, a second run has the plan's own and writes nothing, since its noise
    may ask for any number of records.

    Privacy: only the code path of the engine depends on the data, and the running time
    reveals that as well (docs/limits.md).
    """
    strong = _strong(ready)
    try:
        SystemSource().words(1)  # that there is such a source; the rehearsal draws from its own
        with closing(engine.rehearsing(made_up(ready, SeededSource(0)))) as small:
            with _folder(out) as folder:
                run(small, strong, SeededSource(1), folder)
            if strong.epsilon != ready.epsilon:
                run(small, ready, SeededSource(2), None)
    except ReleaseError as error:
        located = ReleaseError(
            error.what, where=error.where if out is None else str(out), do=error.do
        )
        located.add_note(NOTHING_BOOKED)
        raise located from error
    except Exception as error:
        error.add_note(NOTHING_BOOKED)
        raise


def _strong(ready: Prepared) -> Prepared:
    """Return the plan with an epsilon at which simulated records reach every kind of level."""
    least = Fraction(STRENGTH, N_RECORDS)
    if ready.people is not None:
        least *= Fraction(ready.people.cost, ready.people.unit)
    if ready.epsilon >= least or isinstance(ready.method, Approximate):
        return ready
    settings = ready.settings.model_copy(update={"epsilon": least})
    return replace(ready, settings=settings)


def _folder(out: Path | None) -> AbstractContextManager[Path | None]:
    """Return where a rehearsal writes, if the run writes at all."""
    return nullcontext() if out is None else rehearsal_folder(out)


def made_up(ready: Prepared, source: RandomSource) -> EncodedTable | EncodedBaskets:
    """Return records drawn from the public domains alone."""
    if ready.has_items:
        return _baskets(ready.taxonomy, source, ordered=ready.is_ordered)
    return _table(ready.schema, source)


def _table(schema: Schema, source: RandomSource) -> EncodedTable:
    codes = [_codes(attribute.domain.size, source) for attribute in schema.attributes]
    target = schema.class_attribute
    classes = None if target is None else _codes(target.domain.size, source)
    return EncodedTable.from_codes(schema, codes, classes)


def _codes(size: int, source: RandomSource) -> Any:
    return integers_below(N_RECORDS, bound=size, source=source).astype(np.int64)


def _baskets(taxonomy: Taxonomy, source: RandomSource, *, ordered: bool) -> EncodedBaskets:
    n_items = taxonomy.n_leaves
    sizes = 1 + below(np.full(N_KINDS, min(MOST_ITEMS, n_items)), source=source)
    drawn = [integers_below(int(size), bound=n_items, source=source) for size in sizes]
    kinds = drawn if ordered else [np.unique(each) for each in drawn]
    chosen = integers_below(N_BASKETS, bound=N_KINDS, source=source).tolist()
    records = [kinds[kind] for kind in chosen]
    return EncodedBaskets(
        taxonomy=taxonomy,
        offsets=offsets_of(np.array([len(record) for record in records], dtype=np.int64)),
        items=np.concatenate(records).astype(item_dtype(n_items)),
    )
