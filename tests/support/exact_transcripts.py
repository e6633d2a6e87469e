"""The exact law of a method's transcript, by running the method itself.

The doors between confidential sums and publishable values are the functions of
`hedgerow.privacy.mechanisms`. Here they are replaced by oracles: each answers what a script
says, and notes the exact probability of that answer given the sums it was asked about. The
same script is played on a table and on its neighbour, so that for one transcript both
probabilities come out, whatever the method does in between. Two things are held:

- the same answers lead to the same questions and to the same release, or something besides
  the mechanisms has read the data (`Leak`);
- the log-ratio of the two probabilities is at most epsilon.

Neighbouring split positions of one score go into a choice as one block, and blocks follow the
data. What is chosen is a position, so questions are put about positions: each with its part of
its block's weight, which has to be the same on both tables.

Randomness that reads no data (dealing out remainders, rounding) comes from one seed.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from hedgerow.methods.diffgen import specialise
from hedgerow.methods.diffmulti import splits
from hedgerow.model import run as model_run
from hedgerow.model.run import Run
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.choice import rate_for
from hedgerow.privacy.source import SeededSource

NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


class Leak(AssertionError):
    """The same answers of all mechanisms led elsewhere on the neighbour."""


# Laws: what an answer can be, and how likely each is.


@dataclass(frozen=True)
class Noisy:
    """Counts with discrete Laplace noise, each with an epsilon of its own."""

    counts: np.ndarray
    epsilon: np.ndarray

    def log_probability(self, answer) -> float:
        a = np.exp(-self.epsilon)
        away = np.abs(np.array(answer) - self.counts)
        return float((np.log((1 - a) / (1 + a)) - self.epsilon * away).sum())

    def draw(self, rng) -> tuple[int, ...]:
        p = -np.expm1(-self.epsilon)
        noise = rng.geometric(p) - rng.geometric(p)
        return tuple((self.counts + noise).tolist())

    def wild(self, rng) -> tuple[int, ...]:
        """Draw with more noise than there is, to reach unlikely branches."""
        return Noisy(self.counts, self.epsilon / 4).draw(rng)

    def answers(self, support: Sequence[int]) -> Iterator[tuple[int, ...]]:
        return itertools.product(support, repeat=len(self.counts))

    def tail(self, support: Sequence[int]) -> float:
        """Return what the chance that a count is outside of the support is at most."""
        a = np.exp(-self.epsilon)
        above = a ** (max(support) + 1 - self.counts) / (1 + a)
        below = a ** (self.counts - min(support) + 1) / (1 + a)
        return float((above + below).sum())


@dataclass(frozen=True)
class Reaching:
    """As `Noisy`, but what stays below a threshold is not told: None in its place."""

    counts: np.ndarray
    epsilon: np.ndarray
    threshold: np.ndarray

    def log_probability(self, answer) -> float:
        return sum(self._one(*each) for each in zip(answer, *self._columns(), strict=True))

    def _columns(self):
        return self.counts.tolist(), self.epsilon.tolist(), self.threshold.tolist()

    @staticmethod
    def _one(value, count, epsilon, threshold) -> float:
        a = math.exp(-epsilon)
        if value is not None:
            return math.log((1 - a) / (1 + a)) - epsilon * abs(value - count)
        short = threshold - count  # the noise is less than this
        below = a ** (1 - short) / (1 + a) if short <= 0 else 1 - a**short / (1 + a)
        return math.log(below)

    def draw(self, rng) -> tuple[int | None, ...]:
        noisy = Noisy(self.counts, self.epsilon).draw(rng)
        return tuple(
            value if value >= least else None
            for value, least in zip(noisy, self.threshold.tolist(), strict=True)
        )

    def wild(self, rng) -> tuple[int | None, ...]:
        return Reaching(self.counts, self.epsilon / 4, self.threshold).draw(rng)

    def tail(self, support: Sequence[int]) -> float:
        a = np.exp(-self.epsilon)
        return float((a ** (max(support) + 1 - self.counts) / (1 + a)).sum())

    def answers(self, support: Sequence[int]) -> Iterator[tuple[int | None, ...]]:
        each = [
            [None, *(value for value in support if value >= least)]
            for least in self.threshold.tolist()
        ]
        return itertools.product(*each)


@dataclass(frozen=True)
class Passing:
    """Tests of one level: whether what is biased, with discrete Laplace noise, is above 0."""

    biased: np.ndarray
    rate: float

    def _chances(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithms of the chances to pass and to fail."""
        a, b = math.exp(-self.rate), self.biased.astype(np.float64)
        tail = -np.abs(b) * self.rate - math.log1p(a)  # of a^|b| / (1 + a)
        low = np.where(b <= 0, tail - self.rate, tail)  # passing below 0, failing above
        high = np.log1p(-np.exp(low))
        return np.where(b <= 0, low, high), np.where(b <= 0, high, low)

    def log_probability(self, answer) -> float:
        passing, failing = self._chances()
        return float(np.where(np.array(answer, dtype=bool), passing, failing).sum())

    def draw(self, rng) -> tuple[bool, ...]:
        return tuple((rng.random(len(self.biased)) < np.exp(self._chances()[0])).tolist())

    def wild(self, rng) -> tuple[bool, ...]:
        """Pass a few, so that paths end all the same."""
        return tuple((rng.random(len(self.biased)) < 0.3).tolist())

    def tail(self, support: Sequence[int]) -> float:
        return 0.0

    def answers(self, support: Sequence[int]) -> Iterator[tuple[bool, ...]]:
        return itertools.product((False, True), repeat=len(self.biased))


@dataclass(frozen=True)
class Chosen:
    """One candidate of each segment: probabilities by segment."""

    chances: tuple[np.ndarray, ...]

    def log_probability(self, answer) -> float:
        return sum(math.log(p[i]) for p, i in zip(self.chances, answer, strict=True))

    def draw(self, rng) -> tuple[int, ...]:
        return tuple(int(rng.choice(len(p), p=p / p.sum())) for p in self.chances)

    def wild(self, rng) -> tuple[int, ...]:
        return tuple(int(rng.integers(len(p))) for p in self.chances)

    def tail(self, support: Sequence[int]) -> float:
        return 0.0

    def answers(self, support: Sequence[int]) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(len(p)) for p in self.chances))


def chances(scores, weights, rate: float, rule: str) -> np.ndarray:
    """The exact chance of every candidate of one segment.

    Permute-and-flip is a race of keys rate * score + noise, P(noise <= x) = (1 - e^-x)^w. With
    t = e^-(key - best), the chance of i is the integral over t in [0, 1] of
    w_i b_i (1 - t b_i)^(w_i - 1) times the product over the others of (1 - t b_j)^w_j.
    """
    keys = rate * np.asarray(scores, dtype=np.float64)
    b, w = np.exp(keys - keys.max()), np.asarray(weights, dtype=np.float64)
    if rule == "exponential":
        return w * b / (w * b).sum()
    t = (NODES[:, None] + 1) / 2
    every = np.exp((w * np.log1p(-t * b)).sum(axis=1, keepdims=True))
    density = w * b * every / (1 - t * b)
    return (WEIGHTS[:, None] / 2 * density).sum(axis=0)


# A script, and what it was played on.


@dataclass
class Play:
    """One run: answers come from ``pick``; questions, answers and their chance are noted."""

    pick: Callable[[object, object, int], tuple]
    questions: list = field(default_factory=list)
    answers: list = field(default_factory=list)
    laws: list = field(default_factory=list)
    log_probability: float = 0.0
    lengths: list = field(default_factory=list)
    """Of the blocks that the next choice is among, as whoever made them tells."""
    insides: list = field(default_factory=list)
    """Which positions of the chosen blocks the last choice was answered with."""

    def lengths_of(self, n: int) -> np.ndarray:
        """Return how many positions each of ``n`` candidates stands for: one, if nobody told."""
        told, self.lengths = self.lengths, []
        lengths = np.concatenate(told) if told else np.ones(n, dtype=np.int64)
        assert len(lengths) == n
        return lengths

    def ask(self, question, law) -> tuple:
        answer = self.pick(question, law, len(self.answers))
        self.questions.append(question)
        self.answers.append(answer)
        self.laws.append(law)
        self.log_probability += law.log_probability(answer)
        return answer


def drawn(rng):
    return lambda question, law, at: law.draw(rng)


def wild(rng):
    return lambda question, law, at: law.wild(rng)


def replayed(first: Play):
    def pick(question, law, at):
        if at >= len(first.answers) or question != first.questions[at]:
            raise Leak("the same answers led to another question")
        return first.answers[at]

    return pick


def _doors(play: Play) -> dict[str, Callable]:
    """The mechanisms as oracles; every one books as the real one does."""

    def noisy_counts(counts, *, spending, per_record=1):
        epsilon = spending.book() / per_record
        law = Noisy(np.asarray(counts), np.full(len(counts), float(epsilon)))
        answer = play.ask(("counts", *_public(spending), len(counts), per_record), law)
        return np.array(answer, dtype=np.int64)

    def noisy_sparse_blocks(blocks, *, spending):
        epsilon = spending.book()
        counts, thresholds = [], []
        for block in blocks:
            dense = np.zeros(block.n_groups, dtype=np.int64)
            dense[block.keys] = block.counts
            counts.append(dense)
            thresholds.append(np.full(block.n_groups, block.threshold))
        every = np.concatenate([*counts, np.zeros(0, dtype=np.int64)])
        least = np.concatenate([*thresholds, np.zeros(0, dtype=np.int64)])
        law = Reaching(every, np.full(len(every), float(epsilon)), least)
        answer = play.ask(("sparse", *_public(spending), tuple(least.tolist())), law)
        results, start = [], 0
        for block in blocks:
            mine = answer[start : start + block.n_groups]
            start += block.n_groups
            keys = [key for key, value in enumerate(mine) if value is not None]
            results.append(
                (
                    np.array(keys, dtype=np.int64),
                    np.array([mine[key] for key in keys], dtype=np.int64),
                )
            )
        return results

    def noisy_sparse_counts(keys, counts, *, n_groups, threshold, spending):
        block = mechanisms.CellBlock(
            keys=keys, counts=counts, n_groups=n_groups, threshold=threshold
        )
        return noisy_sparse_blocks([block], spending=spending)[0]

    def noisy_rest(counts, *, nodes, on, ledger, source):
        shares = ledger.spend_rest(on=on, nodes=nodes)
        epsilon = np.repeat([float(share) for share in shares], counts.shape[1])
        law = Noisy(np.asarray(counts).ravel(), epsilon)
        question = ("rest", on, tuple(shares), tuple(np.asarray(nodes).tolist()), counts.shape)
        answer = np.array(play.ask(question, law), dtype=np.int64)
        return answer.reshape(counts.shape), shares

    def choose_by_score(scores, *, starts, sensitivity, monotone, rule, weights, spending):
        epsilon = spending.book()
        rate = float(rate_for(epsilon, sensitivity=sensitivity, monotone=monotone))
        weights = np.ones(len(scores)) if weights is None else np.asarray(weights)
        lengths = play.lengths_of(len(scores))
        block = np.repeat(np.arange(len(scores)), lengths)
        ends = np.cumsum(lengths)
        inside = np.arange(len(block)) - (ends - lengths)[block]
        first = (ends - lengths)[starts]
        exact = [Fraction(w) / n for w, n in zip(weights.tolist(), lengths.tolist(), strict=True)]
        scores, measure = np.asarray(scores)[block], np.array(exact, dtype=np.float64)[block]
        segments = list(zip(first.tolist(), [*first[1:].tolist(), len(block)], strict=True))
        law = Chosen(tuple(chances(scores[s:e], measure[s:e], rate, rule) for s, e in segments))
        measures = tuple(exact[each] for each in block.tolist())
        public = (rule, monotone, sensitivity, tuple(first.tolist()), measures)
        answer = play.ask(("choice", *_public(spending), *public), law)
        chosen = first + np.array(answer, dtype=np.int64)
        play.insides = inside[chosen].tolist()
        return block[chosen]

    def pass_tests(counts, *, tested, tests):
        biased = tests.biased(np.asarray(counts), tested=tested)
        public = (tests.rule, tests.threshold, tests.depth, tested.tobytes(), tested.shape)
        answer = play.ask(("tests", *public), Passing(biased, float(tests.rule.rate)))
        passed = np.zeros(tested.shape, dtype=bool)
        passed[tested] = answer
        tests.follow(np.asarray(counts), passed)
        return passed

    return {
        "pass_tests": pass_tests,
        "noisy_counts": noisy_counts,
        "noisy_sparse_blocks": noisy_sparse_blocks,
        "noisy_sparse_counts": noisy_sparse_counts,
        "noisy_rest": noisy_rest,
        "choose_by_score": choose_by_score,
    }


def _public(spending) -> tuple:
    return spending.on, spending.epsilon, tuple(np.atleast_1d(spending.nodes).tolist())


def _block_makers(play: Play) -> list[tuple[object, str, object]]:
    """Those who gather positions into blocks tell of them; where one is drawn, the script says."""
    make, blocks_of = specialise.ChoiceMaker.make, splits._Blocks.of
    made: list = []

    def telling_make(self, blocks, **asked):
        play.lengths = [each.lengths for each in blocks]
        return make(self, blocks, **asked)

    def telling_of(offers):
        made.append(blocks_of(offers))
        return made[-1]

    def telling_choice(*args, **asked):
        if made:
            order = np.argsort(np.concatenate([each.box for each in made]), kind="stable")
            play.lengths = [np.concatenate([each.length for each in made])[order]]
            made.clear()
        return mechanisms_door(*args, **asked)

    def below(bounds, *, source):
        return np.array([play.insides.pop(0) for _ in bounds], dtype=np.int64)

    def position_in_block(first, length, *, source):
        return first + below(length, source=source)

    mechanisms_door = model_run.choose_by_score
    return [
        (specialise.ChoiceMaker, "make", telling_make),
        (specialise, "below", below),
        (splits._Blocks, "of", telling_of),
        (model_run, "choose_by_score", telling_choice),
        (splits, "position_in_block", position_in_block),
    ]


@contextmanager
def told_blocks(play: Play) -> Iterator[None]:
    """Let choices among blocks be answered by position; the doors must be in place."""
    changed = _block_makers(play)
    originals = [(owner, name, vars(owner)[name]) for owner, name, _ in changed]
    for owner, name, new in changed:
        setattr(owner, name, staticmethod(new) if name == "of" else new)
    try:
        yield
    finally:
        for owner, name, old in originals:
            setattr(owner, name, old)


DOORS = ("noisy_counts", "noisy_sparse_blocks", "noisy_sparse_counts", "noisy_rest")
DOORS = (*DOORS, "choose_by_score", "pass_tests")


@contextmanager
def doors(replacements: dict[str, Callable]) -> Iterator[None]:
    """Put functions in place of the mechanisms, wherever they have been imported."""
    originals = {name: getattr(mechanisms, name) for name in replacements}
    touched = []
    for module in [m for n, m in sys.modules.items() if n.startswith("hedgerow.")]:
        for name, original in originals.items():
            if getattr(module, name, None) is original:
                setattr(module, name, replacements[name])
                touched.append((module, name))
    try:
        yield
    finally:
        for module, name in touched:
            setattr(module, name, originals[name])


def content(released):
    """All that a release holds, as text that shows every number."""
    shown = {
        name: value
        for name, value in vars(released).items()
        if name not in {"taxonomy"} and value is not None
    }
    return {name: _plain(value) for name, value in shown.items()}


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if hasattr(value, "__dict__"):
        return {name: _plain(each) for name, each in vars(value).items()}
    return value


@dataclass
class World:
    """A method, its budget, and two neighbours that are to look the same."""

    method: object
    epsilon: Fraction
    engines: tuple[Callable[[], object], Callable[[], object]]
    content: Callable[[object], object]

    def play(self, which: int, pick, *, seed: int) -> tuple[Play, object]:
        """Run the method on one of the tables; return what was asked and the release."""
        play, ledger = Play(pick), PathLedger(self.epsilon)
        with doors(_doors(play)), told_blocks(play):
            released = self.method.publish(
                Run(
                    engine=self.engines[which](),
                    epsilon=self.epsilon,
                    ledger=ledger,
                    source=SeededSource(seed),
                )
            )
        return play, (self.content(released), ledger.bookings, ledger.worst_path())

    def log_ratio(self, pick, *, seed: int, first: int = 0) -> tuple[float, Play]:
        """Return ln P(transcript) on one table minus that on the other."""
        one, released = self.play(first, pick, seed=seed)
        other, again = self.play(1 - first, replayed(one), seed=seed)
        if len(other.answers) != len(one.answers):
            raise Leak("the same answers led to fewer questions")
        if str(released) != str(again):
            raise Leak("the same answers led to another release")
        return one.log_probability - other.log_probability, one

    def enumerated(
        self, support: Sequence[int], *, seed: int, most: int
    ) -> Iterator[tuple[float, Play]]:
        """Yield every transcript whose counts lie in the support, depth first, up to ``most``."""
        script: list[Iterator[tuple]] = []
        current: list[tuple] = []

        def pick(question, law, at):
            if at == len(script):
                script.append(iter(list(law.answers(support))))
                current.append(next(script[at]))
            return current[at]

        for _ in range(most):
            yield self.log_ratio(pick, seed=seed)
            while script:
                following = next(script[-1], None)
                if following is not None:
                    current[-1] = following
                    break
                script.pop()
                current.pop()
            if not script:
                return
        raise AssertionError(f"more than {most} transcripts")
