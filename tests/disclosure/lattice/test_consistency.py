"""Approximate matches: what looks alike, as in the experiments of the ARUBA paper."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hedgerow.disclosure.lattice.consistency import ApproximateMatches, match_counter
from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import MinimiseRisk
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.errors import MissingExtraError, SettingError
from hedgerow.taxonomy.tree import Taxonomy
from support.tables import categorical, schema_of, table_of

STATUS = categorical(
    Taxonomy.from_nested(
        "*", {"Married": ["Married-civ-spouse", "Married-AF-spouse"], "Single": ["Divorced"]}
    )
)
TABLE = table_of(schema_of(STATUS, STATUS, classes=None), [(0, 0), (1, 1), (2, 2), (2, 2)])


def test_labels_that_look_alike_match():
    pytest.importorskip("rapidfuzz")
    from rapidfuzz.distance import Jaro

    counter = ApproximateMatches.of([0, 0], Dictionary.of(TABLE))
    alike = Jaro.similarity("Married-civ-spouse", "Married-AF-spouse")
    assert 0.8 <= alike < 1
    assert counter.count((0, 0)) == 2  # itself and its lookalike
    assert counter.count((2, 2)) == counter.n_records == 4  # nothing disclosed


def test_counts_are_those_of_the_definition():
    pytest.importorskip("rapidfuzz")
    from rapidfuzz.distance import Jaro

    counter = ApproximateMatches.of([0, 2], Dictionary.of(TABLE), similar_from=0.7)
    tree = STATUS.taxonomy
    chains = Dictionary.of(TABLE).chains
    for node in counter.lattice.every_node():
        fit = 0
        for t in zip(*TABLE.codes, strict=True):
            alike = []
            for i, code in enumerate((0, 2)):
                disclosed = chains[i].nodes[code, node[i]]
                looks = Jaro.similarity(tree.labels[disclosed], tree.leaf_labels[t[i]])
                alike.append(1.0 if disclosed == 0 else looks)
            fit += np.mean(alike) >= 0.7 - 1e-12
        assert counter.count(node) == counter.counts([node])[0] == fit
    assert counter.cube().shape == counter.lattice.shape


def test_it_is_not_monotone_and_says_so():
    pytest.importorskip("rapidfuzz")
    counter = ApproximateMatches.of([2, 2], Dictionary.of(TABLE))
    assert counter.count((0, 0)) == 2
    assert counter.count((1, 1)) < 2  # "Single" looks like none of the values below it
    assert not counter.monotone
    solver = RecordSolver(
        dictionary=Dictionary.of(TABLE),
        utility=utility_tables("depth", counter_chains()),
        severities=Severities.of(counter_chains()),
        model=RiskModel(),
        objective=MinimiseRisk(at_least=2),
        consistency="approximate",
    )
    assert not solver.solve(TABLE).exact


def counter_chains():
    return Dictionary.of(TABLE).chains


def test_consistency_is_hierarchical_unless_asked():
    counter = match_counter([0, 0], Dictionary.of(TABLE))
    assert counter.monotone
    assert (counter.cube() == Dictionary.of(TABLE).matches([0, 0]).cube()).all()


def test_without_rapidfuzz_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r"hedgerow\[disclose\]"):
        match_counter([0, 0], Dictionary.of(TABLE), consistency="approximate")


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(SettingError, match="hierarchical, approximate"):
        match_counter([0, 0], Dictionary.of(TABLE), consistency="fuzzy")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="between 0 and 1"):
        ApproximateMatches.of([0, 0], Dictionary.of(TABLE), similar_from=80)
