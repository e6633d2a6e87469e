"""Prediction of a run, by running the method on simulated tables: no record is read.

How many groups a method ends with follows from its choices, and those from how uneven a table
is. So the method itself runs, with a seeded source that no release will ever see, on tables
that `simulate` makes from the plan's domains, of as many records as the plan says. Above
`MOST_SIMULATED` records the table is smaller and epsilon larger by the same factor: methods go
by epsilon times the records, and so does what noise does to a count of so large a part.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from statistics import median

from hedgerow.count.memory.table import CompiledPaths, MemoryEngine
from hedgerow.model.groups import Groups
from hedgerow.model.method import Approximate
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.pipeline.prepare import Prepared
from hedgerow.pipeline.simulate import simulated_table
from hedgerow.pipeline.stretches import CountError, count_error
from hedgerow.privacy.budget import MAX_EPSILON
from hedgerow.privacy.source import SeededSource

MOST_SIMULATED = 50_000
RUNS, RUNS_OF_CUTS = 3, 5
"""Numbers of simulated runs of a method; cuts are fast and vary more."""

ENOUGH_ROWS = 1_000
"""Number of rows of the first tree that makes one run sufficient."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Result of runs on simulated tables, scaled to the plan's epsilon and records.

    ``rows`` is the median number of rows of the release, between ``fewest`` and ``most``, and
    ``counted`` the number of groups that got noise, including those with the noisy count 0
    (``None`` if rows are synthetic records or may overlap). ``share`` is the epsilon of a published
    count (``None``: counts have no noise of their own), and ``error`` the error of counts of about
    ``error.size`` records, by one to three columns.
    """

    rows: int
    fewest: int
    most: int
    counted: int | None
    share: Fraction | None
    error: CountError | None

    def as_dict(self) -> dict[str, object]:
        """Return the prediction for JSON."""
        error = self.error
        return {
            "groups": self.rows,
            "fewest": self.fewest,
            "most": self.most,
            "counted": self.counted,
            "count": None
            if error is None
            else {
                "of": error.size,
                "off-by": round(error.typical, 1),
                "off-by-95": round(error.within_95, 1),
            },
        }


def can_predict(ready: Prepared) -> bool:
    """Return whether the method can be simulated: one with a delta cannot be scaled."""
    return (
        ready.private
        and isinstance(ready.domain, Schema)
        and not isinstance(ready.method, Approximate)
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trial:
    """One run of the method on a simulated table: its groups, and what they say of a release."""

    groups: Groups
    rows: int
    counted: int | None
    share: Fraction | None


class Trials:
    """Runs of a prepared method on simulated tables: each is made once, whoever asks for it.

    Privacy: a function of the plan and of ``n_records``, which is public; the simulated tables
    and the source are the same for everybody.
    """

    def __init__(self, ready: Prepared, n_records: int) -> None:
        self.ready = ready
        self.n_records = n_records
        self._made: list[Trial] = []

    @property
    def n_simulated(self) -> int:
        """Number of records of a simulated table."""
        return min(self.n_records, MOST_SIMULATED)

    def upto(self, most: int) -> Iterator[Trial]:
        """Yield the runs of as many as are enough, at most ``most``."""
        for seed in range(most):
            if seed == len(self._made):
                self._made.append(self._run(seed))
            trial = self._made[seed]
            yield trial
            enough = seed + 1 >= RUNS or trial.rows >= ENOUGH_ROWS
            if enough and not trial.groups.is_cut:
                return

    def table(self, seed: int) -> EncodedTable:
        """Return the simulated table of a run."""
        return simulated_table(self.ready.schema, self.n_simulated, seed=seed)

    def _run(self, seed: int) -> Trial:
        planned, n = self.ready.forecast_rate, self.n_simulated
        rate = min(planned * self.n_records / n, max(MAX_EPSILON, planned))
        table = self.table(seed)
        # Compiled loops only where they are there already: so small a table does not pay for them.
        paths = CompiledPaths.of(n, len(table.codes))
        with closing(MemoryEngine(table=table, paths=paths)) as engine:
            groups = self.ready.tried(engine, rate=rate, source=SeededSource(seed))
        schema, factor = self.ready.schema, self.n_records / n
        synthetic = not groups.is_cut and groups.tree is None and groups.origin is None
        return Trial(
            groups=groups,
            rows=_scaled_rows(len(groups), schema, factor) if synthetic else len(groups),
            counted=_counted(groups, schema),
            share=None if groups.origin is None else groups.origin.share * planned / rate,
        )


def predicted(trials: Trials, *, most_runs: int = RUNS_OF_CUTS) -> Prediction | None:
    """Return the prediction for the number of records, if the method can be simulated."""
    if not can_predict(trials.ready):
        return None
    runs = list(trials.upto(most_runs))
    rows = [run.rows for run in runs]
    counted = [run.counted for run in runs if run.counted is not None]
    shares = [run.share for run in runs if run.share is not None]
    n = trials.n_records
    found = (
        count_error(run.groups, trials.table(seed), n_records=n, seed=seed)
        for seed, run in enumerate(runs)
    )
    errors = [error for error in found if error is not None]
    return Prediction(
        rows=round(median(rows)),
        fewest=min(rows),
        most=max(rows),
        counted=round(median(counted)) if counted else None,
        share=sorted(shares)[len(shares) // 2] if shares else None,
        error=CountError.middle(errors) if errors else None,
    )


def at_worst(trials: Trials) -> Prediction | None:
    """Return a prediction that `predicted` is not worse than, after half of its runs.

    Nothing is counted over the simulated releases, so it has no ``error``. The middle of all runs
    has no more groups, and no smaller share, than the worst of any majority of them.
    """
    if not can_predict(trials.ready):
        return None
    runs: list[Trial] = []
    for run in trials.upto(RUNS_OF_CUTS):
        runs.append(run)
        if 2 * len(runs) > (RUNS_OF_CUTS if run.groups.is_cut else RUNS):
            break
    rows = [run.rows for run in runs]
    return Prediction(
        rows=max(rows),
        fewest=min(rows),
        most=max(rows),
        counted=max((run.counted for run in runs if run.counted is not None), default=None),
        share=min((run.share for run in runs if run.share is not None), default=None),
        error=None,
    )


def _scaled_rows(rows: int, schema: Schema, factor: float) -> int:
    """Return the number of distinct synthetic records of a table ``factor`` times as large."""
    cells = prod(attribute.domain.size for attribute in schema.used())
    return int(min(round(rows * factor), cells))


def _counted(groups: Groups, schema: Schema) -> int | None:
    """Return how many groups were counted: every box and class, also those not listed."""
    if groups.is_cut:
        return prod(len(ranges) for ranges in groups.ranges) * schema.n_classes
    if groups.boxes is not None:
        return len(groups.boxes[0]) * schema.n_classes
    return None
