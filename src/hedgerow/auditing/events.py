"""Events that distinguish two tables: single facts, combinations, and a classifier's score.

Some events are fixed beforehand, others are learnt on some runs and tested on others, so that the
test is valid however long the search. The search looks for what an audit needs: an event that is
frequent on one table, and less frequent on the other by the largest factor that the number of runs
can show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.auditing.subject import RunColumns, joined, n_runs, some_runs

Bools = NDArray[np.bool_]

QUANTILES = 9
COMMON_VALUES = 5
MOST_FACTS = 400
BEAM = 8
LONGEST = 3
"""Maximum number of facts in a combination."""

MOST_WEIGHED = 60
THRESHOLDS = 25
_RIDGE = 10.0
_SURE = 2.0
"""Standard deviations that the search subtracts, so that it does not follow chance."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A feature compared with a number, or the presence of a feature."""

    feature: str
    test: Literal["at least", "is", "there"]
    value: float

    def holds(self, columns: RunColumns) -> Bools:
        """Return for which runs the fact is true; it is false for those without the feature."""
        column = columns.get(self.feature)
        if column is None:
            return np.zeros(n_runs(columns), dtype=np.bool_)
        if self.test == "there":
            return ~np.isnan(column)
        return column >= self.value if self.test == "at least" else column == self.value

    def __str__(self) -> str:
        if self.test == "there":
            return f"{self.feature} is there"
        return f"{self.feature} {'>=' if self.test == 'at least' else '='} {self.value:g}"


class AuditEvent(Protocol):
    """Something that is true or false for every run."""

    def holds(self, columns: RunColumns) -> Bools:
        """Return for which runs the event is true."""
        ...


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Facts that all hold, or do not hold if they are negated."""

    facts: tuple[Fact, ...]
    negated: tuple[bool, ...]

    def holds(self, columns: RunColumns) -> Bools:
        """Return for which runs the combination is true."""
        each = [
            fact.holds(columns) ^ negated
            for fact, negated in zip(self.facts, self.negated, strict=True)
        ]
        every: Bools = np.all(each, axis=0)
        return every

    def __str__(self) -> str:
        words = [
            f"not ({fact})" if negated else str(fact)
            for fact, negated in zip(self.facts, self.negated, strict=True)
        ]
        return " and ".join(words)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """A classifier's score over many facts that reaches a threshold, or does not."""

    facts: tuple[Fact, ...]
    weights: NDArray[np.float64]
    threshold: float
    above: bool

    def holds(self, columns: RunColumns) -> Bools:
        """Return for which runs the score is on the right side of the threshold."""
        score = _matrix(self.facts, columns) @ self.weights
        reached: Bools = (score >= self.threshold) == self.above
        return reached

    def __str__(self) -> str:
        side = "at least" if self.above else "below"
        return f"a classifier over {len(self.facts)} facts scores {side} {self.threshold:.2g}"


def _matrix(facts: Sequence[Fact], columns: RunColumns) -> NDArray[np.float64]:
    return np.column_stack([fact.holds(columns) for fact in facts]).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """An event, the table on which it is more likely, and how promising it is."""

    event: AuditEvent
    on_record: bool
    promise: float


def promise(more: NDArray[np.float64], less: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
    """Return the log ratio of a low estimate of one frequency and a high estimate of another.

    The estimates are Wilson's score bounds.
    """
    z = _SURE**2 / runs

    def bound(p: NDArray[np.float64], sign: int) -> NDArray[np.float64]:
        spread = np.sqrt(z * np.maximum(p * (1 - p), 0) + z * z / 4)
        wide: NDArray[np.float64] = (p + z / 2 + sign * spread) / (1 + z)
        return wide

    low, high = np.maximum(bound(more, -1), 1e-12), bound(less, 1)
    ratio: NDArray[np.float64] = np.log(low / high)
    return ratio


def facts_of(columns: RunColumns) -> list[Fact]:
    """Return facts about features that vary: thresholds between values, and common values."""
    facts: list[Fact] = []
    for name, column in columns.items():
        known = column[~np.isnan(column)]
        if 0 < len(known) < len(column):
            facts.append(Fact(feature=name, test="there", value=0.0))
        found, counts = np.unique(known, return_counts=True)
        if len(found) < 2:
            continue
        middles = (found[1:] + found[:-1]) / 2
        if len(middles) > QUANTILES:
            wanted = np.quantile(known, np.linspace(0, 1, QUANTILES + 2)[1:-1], method="nearest")
            middles = np.unique(middles[np.clip(np.searchsorted(found, wanted) - 1, 0, None)])
        facts += [Fact(feature=name, test="at least", value=each) for each in middles.tolist()]
        if len(found) > 2:
            common = found[np.argsort(-counts, kind="stable")[:COMMON_VALUES]]
            facts += [Fact(feature=name, test="is", value=each) for each in common.tolist()]
    return facts


@dataclass(frozen=True, kw_only=True, eq=False)
class _Board:
    """Facts of runs on both tables, as a matrix of rows, with the runs with the record first."""

    facts: list[Fact]
    held: NDArray[np.float64]
    n: int

    @classmethod
    def of(cls, with_record: RunColumns, without: RunColumns) -> _Board:
        """Return the facts that distinguish the tables best, without duplicate rows."""
        both = joined([with_record, without])
        facts, rows, seen = [], [], set()
        for fact in facts_of(both):
            holds = fact.holds(both)
            key = np.packbits(holds if holds[0] else ~holds).tobytes()
            if key not in seen and 0 < holds.sum() < len(holds):
                seen.add(key)
                facts.append(fact)
                rows.append(holds)
        n = n_runs(with_record)
        held = np.array(rows, dtype=np.float64).reshape(len(rows), n_runs(both))
        distances = np.abs(held[:, :n].mean(axis=1) - held[:, n:].mean(axis=1))
        order = np.argsort(-distances, kind="stable")[:MOST_FACTS]
        return cls(facts=[facts[i] for i in order], held=held[order], n=n)

    def promises(
        self, held: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the promise of rows of runs, on the table with the record and without."""
        one, other = held[:, : self.n].mean(axis=1), held[:, self.n :].mean(axis=1)
        return promise(one, other, self.n), promise(other, one, self.n)


def learnt_events(with_record: RunColumns, without: RunColumns, *, most: int = 4) -> list[Suspect]:
    """Return the most promising events of runs on two tables, the best first.

    Events are found on the first half of the runs and judged on the second, so that events
    which look good by chance do not win.
    """
    if not with_record or not without:
        return []
    half = n_runs(with_record) // 2
    board = _Board.of(some_runs(with_record, 0, half), some_runs(without, 0, half))
    if not board.facts:
        return []
    events: list[AuditEvent] = [*_combinations(board), *_scored(board)]
    judges = some_runs(with_record, half, 2 * half), some_runs(without, half, 2 * half)
    both = joined(judges)
    suspects: dict[bytes, Suspect] = {}
    for event in events:
        holds = event.holds(both)
        one, other = holds[:half].mean(keepdims=True), holds[half:].mean(keepdims=True)
        on_record = bool(one[0] >= other[0])
        ratio = promise(*((one, other) if on_record else (other, one)), half)
        suspect = Suspect(event=event, on_record=on_record, promise=float(ratio[0]))
        suspects.setdefault(np.packbits(holds).tobytes(), suspect)
    return sorted(suspects.values(), key=lambda suspect: -suspect.promise)[:most]


CHOSEN = (
    "the record's group",
    "the record's box",
    "baskets that hold the record's items",
    "sequences like the record",
    "count",
)
"""Features that count records like the one in question: a test above 0 is always made."""


def chosen_events(with_record: RunColumns, without: RunColumns) -> list[Suspect]:
    """Return events that are always tested, whether they are promising or not."""
    suspects = []
    for name in CHOSEN:
        fact = Fact(feature=name, test="at least", value=0.5)
        if name in with_record or name in without:
            one, other = (fact.holds(each).mean(keepdims=True) for each in (with_record, without))
            on_record = bool(one[0] >= other[0])
            more, less = (one, other) if on_record else (other, one)
            ratio = promise(more, less, n_runs(with_record))
            suspects.append(Suspect(event=fact, on_record=on_record, promise=float(ratio[0])))
    return suspects


Combined = tuple[float, NDArray[np.float64], tuple[int, ...], tuple[bool, ...]]
"""A combination: its promise, the runs in which it holds, its facts, and which are negated."""


def _combinations(board: _Board) -> list[Combination]:
    """Return facts, and combinations of up to three, by a narrow beam search."""
    signed = np.concatenate([board.held, 1 - board.held])
    nothing: Combined = (0.0, np.ones(board.held.shape[1]), (), ())
    found: list[Combined] = []
    for on_record in (True, False):
        beam = [nothing]
        for _ in range(LONGEST):
            wider = [each for start in beam for each in _widened(board, start, signed, on_record)]
            beam = sorted(wider, key=lambda entry: -entry[0])[:BEAM]
            found += beam
    return [
        Combination(facts=tuple(board.facts[f] for f in which), negated=negated)
        for _, _, which, negated in found
    ]


def _widened(
    board: _Board, start: Combined, signed: NDArray[np.float64], on_record: bool
) -> list[Combined]:
    """Return the most promising extensions by one more fact."""
    _, row, which, negated = start
    rows, n = row * signed, len(board.facts)
    ratio = board.promises(rows)[0 if on_record else 1]
    best = np.argsort(-ratio, kind="stable")[:BEAM].tolist()
    return [(float(ratio[i]), rows[i], (*which, i % n), (*negated, i >= n)) for i in best]


def _scored(board: _Board) -> list[Scored]:
    """Return thresholds on the score of a logistic regression over the facts."""
    facts = tuple(board.facts[:MOST_WEIGHED])
    held = board.held[:MOST_WEIGHED].T
    weights = _logistic(held, np.arange(len(held)) < board.n)
    cuts = np.quantile(held @ weights, np.linspace(0, 1, THRESHOLDS + 2)[1:-1])
    return [
        Scored(facts=facts, weights=weights, threshold=threshold, above=above)
        for threshold in np.unique(cuts).tolist()
        for above in (True, False)
    ]


def _logistic(held: NDArray[np.float64], label: Bools) -> NDArray[np.float64]:
    """Return the weights of a ridge logistic regression, by Newton's method."""
    centred = held - held.mean(axis=0)
    target = label.astype(np.float64)
    weights = np.zeros(held.shape[1])
    for _ in range(8):
        odds = 1 / (1 + np.exp(-np.clip(centred @ weights, -30, 30)))
        slope = centred.T @ (target - odds) - _RIDGE * weights
        curve = (centred * (odds * (1 - odds))[:, None]).T @ centred
        curve[np.diag_indices_from(curve)] += _RIDGE
        weights = weights + np.linalg.solve(curve, slope)
    return weights
