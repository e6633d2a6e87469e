"""The dual of [TKDE, Alg. 1]: about the least risk at a required utility, against brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.solvers.approx import SliceProgram, severity_slices
from hedgerow.disclosure.solvers.approx_dual import (
    DualSettings,
    approximate_dual,
    dual_acceptance,
)
from hedgerow.errors import SettingError
from support.aggregate_problems import cube_of, random_problem


def with_records(seed):
    """A random problem whose dictionary holds the record to be disclosed."""
    problem = random_problem(seed, whole=False)
    own = np.zeros((1, problem.vectors.shape[1]), dtype=np.uint8)
    return replace(
        problem,
        vectors=np.concatenate([problem.vectors, own]),
        multiplicities=np.append(problem.multiplicities, 1),
    )


def landscape(problem):
    """Severity, matches, risk and utility of all nodes."""
    nodes = problem.objective.lattice.every_node()
    counts = cube_of(problem).reshape(-1)
    severity = problem.objective.severity(nodes)
    return severity, counts, severity / counts, problem.objective.utility(nodes)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), part=st.floats(0, 1), width=st.sampled_from([0.05, 0.3, 2.0]))
def test_no_useful_node_beats_the_bound_and_the_answer_is_useful_itself(seed, part, width):
    problem = with_records(seed)
    _, _, risks, utilities = landscape(problem)
    required = part * float(utilities[0])
    found = approximate_dual(problem, DualSettings(at_least=required, width=width))
    best = risks[utilities >= required - 1e-9].min()
    assert found.node is not None
    assert found.utility >= required - 1e-8
    assert found.least_risk <= best * (1 + 1e-6)
    assert best <= found.risk * (1 + 1e-9)
    assert found.risk <= found.factor * best * (1 + 1e-6)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), part=st.floats(0, 0.9))
def test_where_a_rounding_is_acceptable_with_some_chance_the_printed_factor_holds(seed, part):
    problem, few, excess, width = with_records(seed), 0.5, 8.0, 0.2
    severity, counts, risks, utilities = landscape(problem)
    required = part * float(utilities[0])
    asked = DualSettings(at_least=required, width=width, share=0.25)
    useful = np.flatnonzero(utilities >= required - 1e-12)
    best = useful[np.argmin(risks[useful])]
    slices = severity_slices(problem, width)
    its = next(s for s in slices if s[0] <= severity[best] * (1 + 1e-12) <= s[1] * (1 + 1e-9))
    solved = SliceProgram(problem).most_matches(severity=its[1], utility=required)
    assert solved is not None
    assert solved.value >= counts[best] * (1 - 1e-6)
    chance = dual_acceptance(
        matches=solved.value,
        most_matches=float(counts[-1]),
        required=required,
        most=float(utilities[0]),
        settings=asked,
        share=few,
        excess=excess,
    )
    found = approximate_dual(problem, asked)
    assert found.utility >= asked.share * required - 1e-8
    if chance > 0:
        assert found.risk <= excess * (1 + width) / few * risks[best] * (1 + 1e-6)


def test_it_often_finds_the_best_and_the_bound_is_not_empty():
    exact, factors = 0, []
    for seed in range(30):
        problem = with_records(seed)
        _, _, risks, utilities = landscape(problem)
        required = 0.5 * float(utilities[0])
        found = approximate_dual(problem, DualSettings(at_least=required, width=0.1))
        best = risks[utilities >= required - 1e-9].min()
        exact += found.risk <= best * (1 + 1e-9)
        factors.append(found.factor)
    assert exact >= 15
    assert np.median(factors) < 3
    assert all(1 <= factor < math.inf for factor in factors)


def test_a_utility_that_no_node_has_finds_none():
    problem = with_records(3)
    most = float(landscape(problem)[3][0])
    found = approximate_dual(problem, DualSettings(at_least=most + 1))
    assert found.node is None
    assert found.risk == math.inf


@pytest.mark.parametrize(
    "given_", [{"at_least": -1}, {"at_least": 1, "width": 0}, {"at_least": 1, "share": 2}]
)
def test_settings_out_of_range_are_refused(given_):
    with pytest.raises(SettingError, match="out of range"):
        DualSettings(**given_)
