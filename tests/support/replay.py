"""Record what the mechanisms answer on a data set, and force the same answers on a neighbour.

The functions of `hedgerow.privacy.mechanisms` are wrapped. On the first data set they draw as
always, from a source of their own, and question, true input and answer are recorded. On the
second they book, compare the question and return the recorded answer. So both runs take the same
way whatever the method does, and three things can be checked at any size:

- every public part of every question is the same (`Leak` otherwise): shares, nodes, shapes,
  thresholds, rules, sensitivities and the base measure of every split position;
- the release and the bookings are the same, or something besides the mechanisms read the data;
- the cost: how far the true inputs of each question moved, times the rate of its noise.

The cost is exact. Counts cost their L1 distance times the rate; a choice costs the range of the
changes of its scores times the rate, in each segment; tests along a path, whose bound holds for
all of them together, cost the log-ratio of the recorded answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction

import numpy as np

from hedgerow.privacy import mechanisms
from hedgerow.privacy.choice import rate_for
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource
from support.exact_transcripts import Leak, Passing, doors, told_blocks

Steer = Callable[[np.ndarray], np.ndarray]
"""Which tests are to pass whatever their noise, by their counts (a data set of the test's own)."""


@dataclass(frozen=True)
class CountsAsked:
    """True counts, flat, and the rate of the noise of each (one for all, or one by count)."""

    counts: np.ndarray
    rate: Fraction | tuple[tuple[Fraction, np.ndarray], ...]

    def cost(self, other: CountsAsked) -> Fraction:
        moved = np.abs(self.counts - other.counts)
        if isinstance(self.rate, Fraction):
            return self.rate * int(moved.sum())
        return sum((share * int(moved[at].sum()) for share, at in self.rate), Fraction(0))


@dataclass(frozen=True)
class SparseAsked:
    """True counts of the occupied groups of some blocks."""

    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    rate: Fraction

    def cost(self, other: SparseAsked) -> Fraction:
        return self.rate * sum(map(_moved, self.blocks, other.blocks))


def _moved(one, other) -> int:
    """L1 distance of two sparse vectors, each keys and counts."""
    keys, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    change = np.zeros(len(keys), dtype=np.int64)
    np.add.at(change, place, np.concatenate([one[1], -other[1]]))
    return int(np.abs(change).sum())


@dataclass(frozen=True)
class ScoresAsked:
    """The score of every position, and where segments begin."""

    scores: np.ndarray
    starts: np.ndarray
    rate: Fraction

    def cost(self, other: ScoresAsked) -> Fraction:
        change = self.scores - other.scores
        highest, lowest = (f.reduceat(change, self.starts) for f in (np.maximum, np.minimum))
        return self.rate * int((highest - lowest).sum())


@dataclass(frozen=True)
class TestsAsked:
    """The biased counts of one level of tests, and the recorded answers."""

    __test__ = False  # no test of pytest

    law: Passing
    passed: np.ndarray

    def log_ratio(self, other: TestsAsked) -> float:
        mine, their = (each.law.log_probability(self.passed) for each in (self, other))
        return mine - their


@dataclass
class Tape:
    """What was asked and answered, in order."""

    own: SeededSource
    steer: Steer | None = None
    first: Tape | None = None
    asked: list[tuple[tuple, object]] = field(default_factory=list)
    answers: list[object] = field(default_factory=list)
    lengths: list = field(default_factory=list)
    """Positions of the blocks that the next choice is among, set by `told_blocks`."""
    insides: list = field(default_factory=list)
    """Positions inside the chosen blocks, for who draws them next."""

    def lengths_of(self, n: int) -> np.ndarray:
        told, self.lengths = self.lengths, []
        lengths = np.concatenate(told) if told else np.ones(n, dtype=np.int64)
        assert len(lengths) == n
        return lengths

    def answer(self, question: tuple, true: object, draw: Callable[[], object], book) -> object:
        """Return the answer: drawn, or recorded before for the same question."""
        at = len(self.asked)
        self.asked.append((question, true))
        if self.first is None:
            self.answers.append(draw())
            return self.answers[-1]
        book()
        if at >= len(self.first.asked):
            raise Leak("the same answers led to more questions")
        if self.first.asked[at][0] != question:
            raise Leak(f"the same answers led to another question: {question[:2]}")
        return self.first.answers[at]

    def cost(self) -> tuple[Fraction, float]:
        """Return what counts and choices cost, and what tests cost: each forest by itself."""
        total, tests = Fraction(0), {}
        for (question, one), (_, other) in zip(self.asked, self.first.asked, strict=True):
            if isinstance(one, TestsAsked):
                forest = question[1:3]  # rule and threshold
                tests[forest] = tests.get(forest, 0.0) + one.log_ratio(other)
            else:
                total += one.cost(other)
        return total, sum(map(abs, tests.values()))


def _doors(tape: Tape) -> dict[str, Callable]:
    drawn_counts, drawn_blocks = mechanisms.noisy_counts, mechanisms.noisy_sparse_blocks
    drawn_rest, drawn_choice = mechanisms.noisy_rest, mechanisms.choose_by_score

    def from_own(spending):
        return replace(spending, source=tape.own)

    def noisy_counts(counts, *, spending, per_record=1):
        counts = np.asarray(counts)
        return tape.answer(
            ("counts", *_public(spending), counts.shape, per_record),
            CountsAsked(counts.copy(), spending.epsilon / per_record),
            lambda: drawn_counts(counts, spending=from_own(spending), per_record=per_record),
            spending.book,
        ).copy()

    def noisy_sparse_blocks(blocks, *, spending):
        public = tuple((each.n_groups, each.threshold) for each in blocks)
        true = tuple((each.keys.copy(), each.counts.copy()) for each in blocks)
        return tape.answer(
            ("sparse", *_public(spending), public),
            SparseAsked(true, spending.epsilon),
            lambda: drawn_blocks(blocks, spending=from_own(spending)),
            spending.book,
        )

    def noisy_rest(counts, *, nodes, on, ledger, source):
        nodes = np.asarray(nodes)
        left = ledger.left(nodes)
        width = np.arange(counts.shape[1])
        rates = tuple(
            (share, (boxes[:, None] * len(width) + width).ravel()) for share, boxes in left.groups()
        )
        answer = tape.answer(
            ("rest", on, left.values, left.which.tobytes(), nodes.tobytes(), counts.shape),
            CountsAsked(np.asarray(counts).ravel().copy(), rates),
            lambda: drawn_rest(counts, nodes=nodes, on=on, ledger=ledger, source=tape.own),
            lambda: ledger.spend_rest(on=on, nodes=nodes),
        )
        return answer[0].copy(), answer[1]

    def choose_by_score(scores, *, starts, sensitivity, monotone, rule, weights, spending):
        scores, starts = np.asarray(scores), np.asarray(starts)
        weights = np.ones(len(scores)) if weights is None else np.asarray(weights)
        lengths = tape.lengths_of(len(scores))
        ends = np.cumsum(lengths)
        block = np.repeat(np.arange(len(scores)), lengths)
        first = (ends - lengths)[starts]
        # Rounded: a block's weight is its length times that of a position, in floating point.
        measure = np.round(np.log2((weights / lengths)[block]), 9) + 0.0
        rate = rate_for(spending.epsilon, sensitivity=sensitivity, monotone=monotone)
        public = (rule, monotone, sensitivity, first.tobytes(), measure.tobytes())

        def drawn():
            chosen = drawn_choice(
                scores,
                starts=starts,
                sensitivity=sensitivity,
                monotone=monotone,
                rule=rule,
                weights=weights,
                spending=from_own(spending),
            )
            words = tape.own.words(len(chosen)) % lengths[chosen].astype(np.uint64)
            return (ends - lengths)[chosen] + words.astype(np.int64)

        position = tape.answer(
            ("choice", *_public(spending), *public),
            ScoresAsked(scores[block], first, rate),
            drawn,
            spending.book,
        )
        chosen = block[position]
        tape.insides = (position - (ends - lengths)[chosen]).tolist()
        return chosen

    def pass_tests(counts, *, tested, tests):
        counts = np.asarray(counts)
        depth = tests.depth
        biased = tests.biased(counts, tested=tested)
        law = Passing(biased, float(tests.rule.rate))

        def drawn():
            noise = discrete_laplace(len(biased), epsilon=tests.rule.rate, source=tape.own)
            passed = biased + noise > 0
            return passed if tape.steer is None else passed | tape.steer(counts[tested])

        public = (tests.rule, tests.threshold, depth, tested.tobytes(), tested.shape)
        at = len(tape.asked)
        answer = tape.answer(("tests", *public), TestsAsked(law, biased), drawn, lambda: None)
        tape.asked[at] = (tape.asked[at][0], TestsAsked(law, answer))
        passed = np.zeros(tested.shape, dtype=np.bool_)
        passed[tested] = answer
        tests.follow(counts, passed)
        return passed

    return {
        "noisy_counts": noisy_counts,
        "noisy_sparse_blocks": noisy_sparse_blocks,
        "noisy_rest": noisy_rest,
        "choose_by_score": choose_by_score,
        "pass_tests": pass_tests,
    }


def _public(spending) -> tuple:
    return spending.on, spending.epsilon, np.atleast_1d(spending.nodes).tobytes()


def digest(value: object) -> bytes:
    """Return a digest of all that a release holds, every number of it."""
    found = hashlib.sha256()
    _add(found, value)
    return found.digest()


def _add(found, value) -> None:
    if isinstance(value, np.ndarray):
        found.update(f"{value.dtype}{value.shape}".encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list):
        found.update(f"[{len(value)}".encode())
        for each in value:
            _add(found, each)
    elif is_dataclass(value):
        for each in fields(value):
            if each.name != "taxonomy":
                found.update(each.name.encode())
                _add(found, getattr(value, each.name))
    else:
        found.update(repr(value).encode())


@dataclass(frozen=True)
class Replayed:
    """What a replay found: the cost of counts and choices, that of tests, and the questions."""

    counted: Fraction
    tests: float
    kinds: dict[str, int]

    @property
    def cost(self) -> float:
        """All of it, as a float; exact where there are no tests."""
        return float(self.counted) + self.tests

    def within(self, epsilon: Fraction) -> bool:
        """Whether it is at most epsilon: exact where there are no tests."""
        if not self.tests:
            return self.counted <= epsilon
        return self.cost <= float(epsilon) * (1 + 1e-9)


def replayed(
    publish: Callable[[object, object], object],
    engines: tuple[object, object],
    *,
    seed: int = 1,
    steer: Steer | None = None,
    same_release: bool = True,
) -> Replayed:
    """Publish one data set, force the answers on the other, and return what that found.

    ``publish`` gets an engine and a source; what it returns, release and bookings, is compared.
    Only what reads no data (rounding, drawing of synthetic records) draws from that source.
    Methods that sample records do not have the ``same_release``.
    """
    first = Tape(own=SeededSource(1000 + seed), steer=steer)
    released = digest(_published(publish, engines[0], first, seed))
    second = Tape(own=SeededSource(0), first=first)
    again = digest(_published(publish, engines[1], second, seed))
    if len(second.asked) != len(first.asked):
        raise Leak("the same answers led to fewer questions")
    if same_release and released != again:
        raise Leak("the same answers led to another release")
    kinds: dict[str, int] = {}
    for (kind, *_), _ in first.asked:
        kinds[kind] = kinds.get(kind, 0) + 1
    counted, tests = second.cost()
    return Replayed(counted=counted, tests=tests, kinds=kinds)


def _published(publish, engine, tape: Tape, seed: int) -> object:
    with doors(_doors(tape)), told_blocks(tape):
        return publish(engine, SeededSource(seed))
