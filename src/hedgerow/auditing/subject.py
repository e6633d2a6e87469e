"""Subjects of audits: a claim, and runs on either table of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.auditing.features import (
    Features,
    basket_features,
    ledger_features,
    table_features,
)
from hedgerow.auditing.neighbours import BasketPair, NeighbourPair, TablePair
from hedgerow.auditing.sequences import SequencePair, sequence_features
from hedgerow.errors import InternalError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.groups import Groups
from hedgerow.model.method import BasketMethod, TableMethod
from hedgerow.model.run import Run
from hedgerow.model.sequences import NoisySequences
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource

RunColumns: TypeAlias = dict[str, NDArray[np.float64]]
"""Features of many runs, by name: one number per run, NaN for a run without the feature."""


OFTEN = {"T0": 4, "T5": 4, "W": 2, "L": 4}
"""Factors on the number of runs for pairs that take little time, as those over one value."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The claimed epsilon, and delta if the guarantee has one."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)


class Subject(Protocol):
    """Something with a claim that can be run many times on two neighbours."""

    @property
    def name(self) -> str:
        """Name in the report."""
        ...

    @property
    def claim(self) -> Claim:
        """The claim."""
        ...

    @property
    def pairs(self) -> Sequence[str]:
        """Names of the pairs."""
        ...

    def times(self, pair: str) -> int:
        """Return the factor on the number of runs on a pair, above 1 if it takes little time."""
        ...

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return features of ``runs`` runs on the table with, or without, the record."""
        ...


@dataclass(frozen=True, kw_only=True)
class MethodSubject:
    """A publishing method with its settings, audited through its releases.

    Features come from what is published: the noisy groups or baskets, and the budget in the
    certificate.
    """

    name: str
    claim: Claim
    method: TableMethod | BasketMethod
    over: tuple[NeighbourPair, ...]

    @property
    def pairs(self) -> Sequence[str]:
        """Names of the pairs."""
        return [pair.name for pair in self.over]

    def times(self, pair: str) -> int:
        """Return a factor above 1 for pairs whose releases take little time."""
        return OFTEN.get(pair, 1)

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return features of ``runs`` releases."""
        chosen = next(each for each in self.over if each.name == pair)
        engine, source = chosen.engine(has_record=has_record), SeededSource(seed)
        return columns_of([self._once(chosen, engine, source) for _ in range(runs)])

    def _once(self, pair: NeighbourPair, engine: Any, source: SeededSource) -> Features:
        epsilon = self.claim.epsilon
        ledger = PathLedger(epsilon)
        released = self.method.publish(
            Run(engine=engine, epsilon=epsilon, ledger=ledger, source=source)
        )
        if not ledger.settled():
            raise InternalError(f"{self.name} did not spend exactly its epsilon.")
        if isinstance(released, Groups) and isinstance(pair, TablePair):
            shown = table_features(released, pair)
        elif isinstance(released, NoisySequences) and isinstance(pair, SequencePair):
            shown = sequence_features(released, pair)
        elif isinstance(released, NoisyBaskets) and isinstance(pair, BasketPair):
            shown = basket_features(released, pair)
        else:
            raise InternalError("A method was run on a pair of another kind.")
        return shown | ledger_features(ledger)


def columns_of(runs: Sequence[Features]) -> RunColumns:
    """Return features by name, NaN where a run lacks one."""
    names = sorted({name for run in runs for name in run})
    return {
        name: np.array([run.get(name, np.nan) for run in runs], dtype=np.float64) for name in names
    }


def joined(parts: Sequence[RunColumns]) -> RunColumns:
    """Return the runs of several parts as one."""
    names = sorted({name for some_runs in parts for name in some_runs})
    sizes = [len(next(iter(some_runs.values()))) if some_runs else 0 for some_runs in parts]
    return {
        name: np.concatenate(
            [
                some_runs.get(name, np.full(size, np.nan))
                for some_runs, size in zip(parts, sizes, strict=True)
            ]
        )
        for name in names
    }


def n_runs(columns: RunColumns) -> int:
    """Return the number of runs in the columns."""
    return len(next(iter(columns.values()))) if columns else 0


def some_runs(columns: RunColumns, start: int, stop: int) -> RunColumns:
    """Return some of the runs."""
    return {name: column[start:stop] for name, column in columns.items()}
