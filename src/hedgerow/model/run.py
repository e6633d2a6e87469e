"""One run of a private method: the records, the budget, and the mechanisms between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.budget import PathLedger, Shares
from hedgerow.privacy.choice import Rule
from hedgerow.privacy.mechanisms import (
    CellBlock,
    Spending,
    choose_by_score,
    noisy_counts,
    noisy_rest,
    noisy_sparse_blocks,
    noisy_sparse_counts,
    path_tests,
)
from hedgerow.privacy.path_tests import PathTests
from hedgerow.privacy.source import RandomSource
from hedgerow.progress import Progress, no_progress

EngineT = TypeVar("EngineT")
EngineT_co = TypeVar("EngineT_co", covariant=True)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Run(Generic[EngineT_co]):
    """The engine, path ledger, random source and progress of one run.

    A method states what it chooses or measures, at which share and sensitivity; the run books
    the share and draws. ``at`` are the ledger nodes whose records the next calls read; the root
    is the whole data set.

    Privacy: every call books its share on the path of each node before it draws, and raises if
    that would overdraw a path. Values from the engine are confidential until one of these calls
    returns them; ``source`` is for post-processing,
    and for samples of records whose law the method proves.
    """

    engine: EngineT_co
    epsilon: Fraction
    ledger: PathLedger
    source: RandomSource
    progress: Progress = no_progress
    at: NDArray[np.int64] | int = 0

    @staticmethod
    def start(
        engine: EngineT,
        *,
        epsilon: Fraction,
        source: RandomSource,
        progress: Progress = no_progress,
    ) -> Run[EngineT]:
        """Return a run with a path ledger of its own, of ``epsilon``."""
        ledger = PathLedger(epsilon)
        return Run(engine=engine, epsilon=epsilon, ledger=ledger, source=source, progress=progress)

    def nodes(self, at: NDArray[np.int64] | int) -> Run[EngineT_co]:
        """Return the same run, booking on these nodes of the path ledger."""
        return replace(self, at=at)

    def branch(
        self, nodes: NDArray[np.int64] | int, n_children: NDArray[np.int64] | int
    ) -> NDArray[np.int64]:
        """Return new ledger nodes that divide the records of ``nodes`` among them, in order."""
        return self.ledger.branch(nodes, n_children)

    def left(self) -> Fraction:
        """Return what the path of the root has left."""
        return self.ledger.left()

    def left_at(self, nodes: NDArray[np.int64]) -> Shares:
        """Return what the path of each node has left."""
        return self.ledger.left(nodes)

    def settled(self) -> bool:
        """Return whether every path has spent exactly epsilon."""
        return self.ledger.settled()

    def spend_rest(self, *, on: str, nodes: NDArray[np.int64] | int = 0) -> None:
        """Book what the paths of these nodes have left, and draw nothing.

        For what stays unused, and for a sample of records that the caller draws and proves.
        """
        self.ledger.spend_rest(on=on, nodes=nodes)

    def booked(self, *, on: str) -> set[Fraction]:
        """Return the shares that were booked so far under a name."""
        return {line.share for line in self.ledger.bookings if line.on == on}

    def part(self, share: Fraction, *, on: str, epsilon: Fraction | None = None) -> Run[EngineT_co]:
        """Return a run with a ledger of its own, for which ``share`` of this one is booked.

        The part spends ``share``, or an ``epsilon`` of which the caller has proved that it costs
        no more than ``share``, such as one on a secret sample.

        Privacy: costs ``share`` on each node, whatever the part spends up to its epsilon.
        """
        self.ledger.spend(share, on=on, nodes=self.at)
        within = share if epsilon is None else epsilon
        return replace(self, epsilon=within, ledger=PathLedger(within), at=0)

    def noisy(
        self, counts: NDArray[np.int64], *, share: Fraction, on: str, per_record: int = 1
    ) -> NDArray[np.int64]:
        """Return an array of counts with noise; one record is in at most ``per_record`` of them.

        Privacy: costs ``share`` on each node (:func:`noisy_counts`).
        """
        spending = self._spending(share, on)
        noisy = noisy_counts(counts.ravel(), spending=spending, per_record=per_record)
        return noisy.reshape(counts.shape)

    def noisy_total(self, counts: NDArray[np.int64], *, share: Fraction, on: str) -> int:
        """Return the sum of the counts of disjoint groups, with noise.

        Privacy: one record changes the sum by 1, so it costs ``share``.
        """
        total = counts.sum(keepdims=True).astype(np.int64).reshape(1)
        return int(noisy_counts(total, spending=self._spending(share, on))[0])

    def noisy_above(
        self,
        keys: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        n_groups: int,
        threshold: int,
        share: Fraction,
        on: str,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the groups whose noisy count reaches a threshold, and these counts.

        ``keys`` are the occupied groups of ``n_groups``, strictly increasing.

        Privacy: costs ``share`` on each node (:func:`noisy_sparse_counts`).
        """
        return noisy_sparse_counts(
            keys,
            counts,
            n_groups=n_groups,
            threshold=threshold,
            spending=self._spending(share, on),
        )

    def noisy_blocks(
        self, blocks: Sequence[CellBlock], *, share: Fraction, on: str
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the same for disjoint groups in several blocks, each with a threshold of its own.

        Privacy: costs ``share`` on each node (:func:`noisy_sparse_blocks`).
        """
        return noisy_sparse_blocks(blocks, spending=self._spending(share, on))

    def noisy_rest(
        self, counts: NDArray[np.int64], *, nodes: NDArray[np.int64], on: str
    ) -> tuple[NDArray[np.int64], Shares]:
        """Return counts (boxes, classes) with noise for all that each box has left.

        Privacy: costs what the path of each node has left (:func:`noisy_rest`).
        """
        return noisy_rest(counts, nodes=nodes, on=on, ledger=self.ledger, source=self.source)

    def choose(
        self,
        scores: NDArray[np.int64],
        *,
        share: Fraction,
        on: str,
        sensitivity: Fraction,
        monotone: bool,
        starts: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
        rule: Rule = "permute-and-flip",
    ) -> NDArray[np.int64]:
        """Return the index of the candidate chosen in each segment of ``scores``.

        Segments begin at ``starts`` and score disjoint sets of records; without ``starts``
        all candidates are one segment. ``weights`` is a public base measure.

        Privacy: costs ``share`` on each node (:func:`choose_by_score`).
        """
        return choose_by_score(
            scores,
            starts=np.zeros(1, dtype=np.int64) if starts is None else starts,
            sensitivity=sensitivity,
            monotone=monotone,
            rule=rule,
            weights=weights,
            spending=self._spending(share, on),
        )

    def prefix_tests(
        self, *, fan_out: int, threshold: int, n_roots: int, share: Fraction, on: str
    ) -> PathTests:
        """Return the tests that grow a forest of prefixes, level by level.

        Privacy: costs ``share`` on each node, for all levels (:func:`path_tests`).
        """
        return path_tests(
            fan_out=fan_out,
            threshold=threshold,
            n_roots=n_roots,
            spending=self._spending(share, on),
        )

    def _spending(self, share: Fraction, on: str) -> Spending:
        return Spending(epsilon=share, on=on, ledger=self.ledger, source=self.source, nodes=self.at)
