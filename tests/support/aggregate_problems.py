"""Random problems of the aggregate model, small enough to look at every node."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.matches import Matches
from hedgerow.disclosure.solvers.aggregate_objective import AggregateObjective, AggregateProblem


def falling(rng, size, *, whole):
    """Numbers from 0 up that never grow; whole ones have many ties."""
    numbers = rng.integers(0, 5, size).astype(float) if whole else rng.random(size)
    return np.sort(numbers)[::-1].copy()


def random_problem(seed, *, whole, power=1, most_attributes=4, most_levels=4, most_records=40):
    """At most 4 attributes of 4 levels and 40 records; risk and utility weigh about alike."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, most_attributes + 1))
    shape = rng.integers(1 if k > 1 else 2, most_levels + 1, k)
    lattice = Lattice(heights=tuple(int(size) - 1 for size in shape))
    n_vectors = int(rng.integers(0, most_records + 1))
    vectors = np.stack([rng.integers(0, size, n_vectors) for size in shape], axis=1)
    utilities = tuple(falling(rng, size, whole=whole) for size in shape)
    weights = tuple(falling(rng, size, whole=whole) for size in shape)
    most = sum(part[0] for part in utilities) ** power * (sum(part[0] for part in weights) + 1)
    risk_weight = rng.uniform(0.2, 1.5) * most / (4 * n_vectors + 1)
    objective = AggregateObjective(
        lattice=lattice,
        utility_parts=utilities,
        severity_parts=weights if seed % 7 else None,
        risk_weight=float(np.ceil(risk_weight)) if whole else risk_weight,
        power=power,
        floor=1.0 if whole else 0.1,
    )
    return AggregateProblem(
        objective=objective,
        vectors=vectors.astype(np.uint8),
        multiplicities=rng.integers(1, 4, n_vectors),
    )


def cube_of(problem):
    """The numbers of matches of all nodes."""
    lattice = problem.objective.lattice
    return Matches.of(lattice, problem.vectors, problem.multiplicities).cube()


def every_node(lattice):
    return list(itertools.product(*(range(size) for size in lattice.shape)))


def exact_values(problem):
    """The value of every node as a fraction, straight from the definition."""
    objective, cube = problem.objective, cube_of(problem)
    weights = objective.severity_parts
    values = {}
    for node in every_node(objective.lattice):
        pairs = list(enumerate(node))
        utility = sum(Fraction(float(objective.utility_parts[i][level])) for i, level in pairs)
        severity = Fraction(objective.floor)
        if weights is None:
            severity += 1
        else:
            severity += sum(Fraction(float(weights[i][level])) for i, level in pairs)
        risk_part = Fraction(objective.risk_weight) * int(cube[node]) / severity
        values[node] = risk_part + Fraction(utility) ** int(objective.power)
    return values


def least_best(values):
    """The greatest value and the meet of all nodes that have it."""
    most = max(values.values())
    best = [node for node, value in values.items() if value == most]
    return most, tuple(min(levels) for levels in zip(*best, strict=True))


def supermodular_violation(values):
    """By how much ``f(x) + f(y)`` exceeds ``f(x ∧ y) + f(x ∨ y)``, over an array of all nodes.

    It is enough to look at squares of the lattice [TKDE, Prop. 1].
    """
    worst = 0.0
    for i, j in itertools.combinations(range(values.ndim), 2):
        raised = np.diff(np.diff(values, axis=i), axis=j)
        worst = max(worst, -float(raised.min(initial=0.0)))
    return worst
