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

from hedgerow.errors import ReleaseError
from hedgerow.model.method import Approximate
from hedgerow.pipeline.kinds.kind import Held
from hedgerow.pipeline.kinds.table import N_RECORDS
from hedgerow.pipeline.prepare import Prepared
from hedgerow.privacy.source import (
    RandomSource,
    SeededSource,
    SystemSource,
)
from hedgerow.release.write import rehearsal_folder

STRENGTH = 6_000
"""Epsilon times records at which every kind of level grows: hedge's own begin at 4,526."""

NOTHING_BOOKED = "Nothing was booked: this occurred in a rehearsal on simulated records."

RunOnce = Callable[[Held, Prepared, RandomSource, Path | None], object]
"""Publishes what an engine holds, by a plan and a source, to a folder or to none."""


def rehearse(ready: Prepared, engine: Held, *, out: Path | None, run: RunOnce) -> None:
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
        with closing(ready.kind.rehearsing(engine, SeededSource(0))) as small:
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
