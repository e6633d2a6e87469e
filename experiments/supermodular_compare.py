"""[TKDE, Alg. 3] beside what is exact without it, on records of a real table.

``python -m experiments.supermodular_compare DATA`` prints the table of docs/papers/supermodular.md;
DATA is the folder of public data sets.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from experiments.figure import Scene
from experiments.supermodular_point import (
    GUARANTEE,
    SamplePoint,
    expected_rounds_bound,
    total_variation,
)
from experiments.supermodular_sampling import FLOOR, Disclosed, disclosure
from hedgerow.disclosure.lattice.lattice import parts_of
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective

N_POINTS, N_DRAWS = 200, 2_000
THETA, SIGMA, WIDTH = 0.1, 0.5, 0.9
BETAS = (0.5, 0.7, 0.9)
ATTRIBUTES = ("age", "admission_source_id", "race")
"""Few: the part of all points that lies in a layer falls with every step of the lattice."""

HEAD = ("β", "TV", "below t", "f, Alg. 3", "f, (5)", "best f", "rounds", "µs, Alg. 3", "µs, reject")


def sample_point(given: Disclosed, record: int, *, beta: float) -> SamplePoint:
    """Return Sample-Point for one record at ε = 1."""
    codes = [int(column[record]) for column in given.table.codes]
    counter = given.dictionary.counter(codes)
    n = given.dictionary.n_records
    objective = AggregateObjective(
        lattice=counter.lattice,
        utility_parts=parts_of(codes, given.utility, counter.lattice),
        severity_parts=given.severities.parts(codes, counter.lattice, record),
        risk_weight=given.most / 2 / n,
        floor=FLOOR,
    )
    rate = given.settings(Fraction(1), Fraction(str(beta))).rate
    return SamplePoint(
        objective=objective,
        matches=counter.cube(),
        n_records=n,
        rate=min(rate, 0.999),  # Alg. 3 asks for ε' below 1
        width=WIDTH,
        theta=THETA,
        sigma=SIGMA,
    )


def compared(point: SamplePoint, rng: np.random.Generator) -> list[float]:
    """Return how one record's draws by Alg. 3 differ from those by (5), and what both cost."""
    start = time.process_time()
    law = point.law(N_POINTS, rng)
    printed = (time.process_time() - start) / (N_POINTS * len(point.layers))
    start = time.process_time()
    point.rejected(N_DRAWS, rng)
    plain = (time.process_time() - start) / N_DRAWS
    exact = point.exact_law()
    rounds = point.rounds(point.points(point.layers[0], N_POINTS, rng))
    return [
        total_variation(law, exact),
        float(law[point.counts < point.threshold].sum()),
        float(law @ point.values),
        float(exact @ point.values),
        float(point.values.max()),
        rounds,
        1e6 * printed,
        1e6 * plain,
    ]


def main(folder: Path, n_records: int = 20) -> None:
    """Print the comparison, one line for each β, as means over some records."""
    given = disclosure(Scene(folder=folder, quick=False), 0, ATTRIBUTES)
    rng = np.random.default_rng(2014)
    records = rng.permutation(given.dictionary.n_records)[:n_records].tolist()
    proved, printed = expected_rounds_bound(THETA, SIGMA), (1 - THETA * SIGMA) / (1 - THETA)
    lines = [
        f"guarantee of Alg. 3: {GUARANTEE}; rounds: {proved:.3g} proved, {printed:.3g} printed",
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
    ]
    for beta in BETAS:
        told = [compared(sample_point(given, record, beta=beta), rng) for record in records]
        figures = " | ".join(f"{mean:.3g}" for mean in np.mean(told, axis=0))
        lines.append(f"| {beta} | {figures} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
