"""How fast noise and choices are drawn, beside OpenDP in the same run.

Run it with ``python benchmarks/bench_noise.py``. The targets are 15 times OpenDP's draws
of discrete Laplace noise per second, and 100 times its selections over many small score
vectors; the exit code is 1 where one is missed. Every figure is the best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp

from hedgerow.privacy.choice import Rule, choose
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import RandomSource, SeededSource, SystemSource
from hedgerow.privacy.sparse import passing_empties

NOISE_TARGET = 15
CHOICE_TARGET = 100
CANDIDATES = 10


def per_second(n: int, run: Callable[[], object]) -> float:
    """Return how many of ``n`` things a second are done by ``run``, at best."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return n / min(times)


def opendp_noise(epsilon: Fraction) -> float:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    add_noise = dp.m.make_laplace(*space, scale=float(1 / epsilon))
    zeros = [0] * 20_000
    return per_second(len(zeros), lambda: add_noise(zeros))


def our_noise(epsilon: Fraction, source: RandomSource) -> float:
    n = 1_000_000
    return per_second(n, lambda: discrete_laplace(n, epsilon=epsilon, source=source))


def opendp_choices(rule: Rule, rate: Fraction) -> float:
    measures: dict[str, Any] = {
        "exponential": dp.zero_concentrated_divergence(),
        "permute-and-flip": dp.max_divergence(),
    }
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    select = dp.m.make_noisy_max(*space, measures[rule], scale=float(1 / rate))
    vectors = np.random.default_rng(1).integers(0, 20, size=(1000, CANDIDATES)).tolist()
    return per_second(len(vectors), lambda: [select(scores) for scores in vectors])


def our_choices(rule: Rule, rate: Fraction, *, weighted: bool = False) -> float:
    n = 200_000
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 20, size=n * CANDIDATES)
    weights = rng.integers(1, 100, size=scores.size) if weighted else None
    starts = CANDIDATES * np.arange(n)
    source = SystemSource()
    return per_second(
        n,
        lambda: choose(scores, rate=rate, rule=rule, weights=weights, starts=starts, source=source),
    )


def main() -> int:
    dp.enable_features("contrib")
    worst = {NOISE_TARGET: float("inf"), CHOICE_TARGET: float("inf")}

    def report(what: str, ours: float, theirs: float, target: int) -> None:
        worst[target] = min(worst[target], ours / theirs)
        print(f"{what:44s} {ours:12,.0f} {theirs:10,.0f} {ours / theirs:7.0f} x")

    n = 1_000_000
    for source in (SystemSource(), SeededSource(1)):
        rate_of_words = per_second(n, lambda source=source: source.words(n))  # type: ignore[misc]
        print(f"{type(source).__name__:44s} {rate_of_words:12,.0f} words a second")
    print(f"{'a second':44s} {'hedgerow':>12s} {'OpenDP':>10s}")
    for epsilon in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(7, 260)):
        ours = our_noise(epsilon, SystemSource())
        report(f"discrete Laplace, epsilon {epsilon}", ours, opendp_noise(epsilon), NOISE_TARGET)
    rate = Fraction(1, 2)
    rules: tuple[Rule, ...] = ("permute-and-flip", "exponential")
    for rule in rules:
        theirs = opendp_choices(rule, rate)
        report(f"{rule}, {CANDIDATES} candidates", our_choices(rule, rate), theirs, CHOICE_TARGET)
        weighted = our_choices(rule, rate, weighted=True)
        print(f"{'  with weights (OpenDP has none)':44s} {weighted:12,.0f}")
    groups = 10**12
    empties = per_second(
        groups,
        lambda: passing_empties(groups, epsilon=rate, threshold=36, source=SystemSource()),
    )
    print(f"{'empty groups, threshold 36, epsilon 1/2':44s} {empties:12,.0f}")
    for target, ratio in worst.items():
        print(
            f"target {target} x: {'met' if ratio >= target else 'MISSED'}, {ratio:.0f} x at worst"
        )
    return int(any(ratio < target for target, ratio in worst.items()))


if __name__ == "__main__":
    sys.exit(main())
