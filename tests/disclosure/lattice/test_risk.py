"""Severities and risk models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.lattice import Chains, Lattice, chains_of
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import MinimiseRisk
from hedgerow.disclosure.solvers.solve import solve
from hedgerow.errors import SettingError
from hedgerow.taxonomy.tree import Taxonomy
from support.landscapes import TableLandscape
from support.tables import categorical, domains, schema_of, values

JOBS = categorical(
    Taxonomy.from_nested("Any", {"Indoor": ["office", "shop"], "Outdoor": {"Land": ["farm"]}})
)
MONOTONE = [RiskModel(number=1), RiskModel(number=2), RiskModel(number=3)]


def naive_weight(tree: Taxonomy, node: int, leaves) -> float:
    """The modified harmonic mean, child by child [ARUBA, Sec. VI]."""
    if tree.is_leaf(node):
        return float(leaves[tree.first[node]])
    below = [naive_weight(tree, int(child), leaves) for child in tree.children(node)]
    return 0.0 if min(below) == 0 else 1 / sum(1 / weight for weight in below)


@given(domain=domains, data=st.data())
def test_inner_weights_are_the_modified_harmonic_mean_with_root_0(domain, data):
    chains = Chains.of(domain)
    tree = chains.taxonomy
    weight = st.one_of(st.just(0.0), st.floats(0.001, 1000))
    leaves = data.draw(st.lists(weight, min_size=tree.n_leaves, max_size=tree.n_leaves))
    (table,) = Severities.of([chains], values={0: leaves}).tables
    for code in range(tree.n_leaves):
        for level, node in enumerate(chains.nodes[code]):
            expected = 0.0 if node == 0 else naive_weight(tree, int(node), leaves)
            assert table[code, level] == pytest.approx(expected, rel=1e-12)
    assert (np.diff(table, axis=1) <= 0).all()


def test_the_weight_of_a_county_is_that_of_a_city_by_its_number_of_cities():
    (table,) = Severities.of([Chains.of(JOBS)], attributes={0: 3.0}).tables
    assert table.tolist() == [[3, 1.5, 0, 0], [3, 1.5, 0, 0], [3, 3, 3, 0]]


def test_constant_weights_hold_below_the_root():
    chains = [Chains.of(JOBS)]
    (table,) = Severities.of(chains, values={0: [1, 2, 3]}, inner="constant").tables
    assert table.tolist() == [[1, 1, 0, 0], [2, 2, 0, 0], [3, 3, 3, 0]]


def test_personal_weights_scale_what_everybody_weighs():
    chains = chains_of(schema_of(JOBS, values(2), classes=None))
    shared = Severities.of(chains, values={0: [1, 2, 3]})
    own = Severities.of(chains, values={0: [1, 2, 3]}, personal=[[1, 1], [2, 0.5]])
    record, lattice = [1, 0], Lattice(heights=(2, 1))
    for person, factors in enumerate([(1, 1), (2, 0.5)]):
        expected = [
            f * part for f, part in zip(factors, shared.parts(record, lattice), strict=True)
        ]
        given_parts = own.parts(record, lattice, person)
        for part, weights in zip(given_parts, expected, strict=True):
            assert part.tolist() == weights.tolist()


@pytest.mark.parametrize(
    "weights",
    [
        {"attributes": {0: -1.0}},
        {"attributes": {0: float("nan")}},
        {"values": {0: [1, 2]}},
        {"values": {0: [1, 2, float("inf")]}},
        {"personal": [[1, 2]]},
        {"personal": [1]},
        {"personal": [[-1]]},
    ],
)
def test_weights_that_cannot_be_are_refused_without_being_shown(weights):
    with pytest.raises(SettingError, match="missing, negative or not a number") as error:
        Severities.of([Chains.of(JOBS)], **weights)
    assert "-1" not in str(error.value)


def test_models_are_those_of_the_paper():
    n = np.arange(1, 11)
    assert RiskModel(number=1).exposure(10)[1:].tolist() == (1 / n).tolist()
    assert RiskModel(number=2).exposure(10)[1:].tolist() == (1 / n).tolist()
    assert RiskModel(number=3).exposure(10)[1:].tolist() == np.log(10 / n).tolist()
    printed = RiskModel(number=3, printed=True).exposure(10)
    assert printed[1:] == pytest.approx(-np.log(n))
    assert not RiskModel(number=2).personal


@pytest.mark.parametrize("model", MONOTONE)
@given(n_dictionary=st.integers(0, 10_000))
def test_exposure_falls_with_every_match_and_is_never_negative(model, n_dictionary):
    exposure = model.exposure(n_dictionary)
    assert len(exposure) == n_dictionary + 1
    assert (np.diff(exposure) <= 0).all()
    assert (exposure >= 0).all()
    assert exposure[0] == exposure[min(1, n_dictionary)]  # its own record, at least


@pytest.mark.parametrize("model", MONOTONE)
@given(seed=st.integers(0, 10_000))
def test_risk_falls_as_severity_falls_and_matches_grow(model, seed):
    rng = np.random.default_rng(seed)
    severity = -np.sort(-rng.random(20))
    matches = np.sort(rng.integers(1, 101, 20))
    risk = (severity if model.personal else 1.0) * model.exposure(100)[matches]
    assert model.monotone
    assert (np.diff(risk) <= 0).all()


def chain_risk(model: RiskModel) -> TableLandscape:
    """The chain on which the printed model 3 has its optimum at the raw record."""
    severity, matches = np.array([1, 0.5, 0.1, 0]), np.array([10, 12, 14, 100])
    return TableLandscape(
        lattice=Lattice(heights=(3,)),
        risk_of=severity * model.exposure(100)[matches],
        utility_of=np.array([3.0, 2.0, 1.0, 0.0]),
        monotone=model.monotone,
    )


def test_the_printed_model_3_is_not_monotone_and_misleads_every_search():
    printed = RiskModel(number=3, printed=True)
    landscape = chain_risk(printed)
    assert not printed.monotone
    assert landscape.risk_of == pytest.approx([-2.30, -1.24, -0.26, 0], abs=0.01)
    truth = solve(landscape, MinimiseRisk(at_least=1), "brute-force")
    assert (truth.node, truth.exact) == ((0,), True)
    for method in ("btda", "aruba", "branch-and-bound"):
        misled = solve(landscape, MinimiseRisk(at_least=1), method)
        assert (misled.node, misled.exact) == ((2,), False)


def test_the_monotone_model_3_has_the_optimum_that_searches_find():
    landscape = chain_risk(RiskModel(number=3))
    for method in ("brute-force", "btda", "aruba", "branch-and-bound"):
        assert solve(landscape, MinimiseRisk(at_least=1), method).node == (2,)


def test_models_that_are_not_there_are_refused():
    with pytest.raises(SettingError, match="1, 2 or 3"):
        RiskModel(number=4)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="as printed anyway"):
        RiskModel(number=1, printed=True)
