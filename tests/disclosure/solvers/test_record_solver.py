"""Whole tables: the compiled walk, distinct problems, personal weights."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.disclosure.lattice import dictionary as dictionaries
from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import (
    Balance,
    MaximiseUtility,
    MinimiseRisk,
    RecordLandscape,
)
from hedgerow.disclosure.lattice.utility import MEASURES, utility_tables
from hedgerow.disclosure.solvers import records
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.disclosure.solvers.solve import solve
from hedgerow.errors import SettingError
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values

SCHEMA = schema_of(values(9, fan_out=3), values(4, fan_out=2), grid(12), values(3), classes=None)

OBJECTIVES = [
    MinimiseRisk(at_least=0.5, of_most=True),
    MinimiseRisk(at_least=4.0),
    MaximiseUtility(at_most=0.02),
    MaximiseUtility(at_most=0.3),
]


def random_table(seed: int, n_records: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    sizes = [attribute.domain.size for attribute in SCHEMA.attributes]
    codes = [(rng.random(n_records) ** 3 * size).astype(np.int64) for size in sizes]
    return EncodedTable.from_codes(SCHEMA, codes)


def solver_of(table, objective, *, number=1, measure="depth", personal=None, **settings):
    dictionary = Dictionary.of(table)
    return RecordSolver(
        dictionary=dictionary,
        utility=utility_tables(measure, dictionary.chains),
        severities=Severities.of(dictionary.chains, values={1: [3, 1, 0.5, 2]}, personal=personal),
        model=RiskModel(number=number),
        objective=objective,
        **settings,
    )


def one_by_one(solver, table, record):
    """The answer for one record by the plain walk."""
    codes = [int(column[record]) for column in table.codes]
    landscape = RecordLandscape.of(
        codes,
        solver.dictionary.matches(codes),
        utility=solver.utility,
        severities=solver.severities,
        model=solver.model,
        person=record,
    )
    return solve(landscape, solver.objective)


def assert_the_same(answers, record, answer):
    assert answers.n_visited[record] == answer.n_visited
    assert answers.feasible[record] == (answer.node is not None)
    if answer.node is None:
        assert np.isnan(answers.risk[record])
        assert np.isnan(answers.utility[record])
    else:
        assert tuple(answers.levels[record]) == answer.node
        assert answers.risk[record] == answer.risk
        assert answers.utility[record] == answer.utility


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("cube", [True, False])
def test_the_compiled_walk_answers_as_the_plain_one(monkeypatch, objective, number, cube):
    monkeypatch.setattr(dictionaries, "NODE_CUBE_UP_TO", 1 << 24 if cube else 0)
    table = random_table(7, 120)
    personal = np.random.default_rng(8).random((120, 4))
    solver = solver_of(table, objective, number=number, personal=personal)
    answers = solver.solve(table)
    assert answers.exact
    for record in range(0, 120, 6):
        assert_the_same(answers, record, one_by_one(solver, table, record))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("objective", [OBJECTIVES[0], OBJECTIVES[2]])
def test_every_measure_of_utility_is_solved_the_same_way(measure, objective):
    table = random_table(9, 60)
    solver = solver_of(table, objective, measure=measure)
    answers = solver.solve(table)
    for record in range(0, 60, 7):
        assert_the_same(answers, record, one_by_one(solver, table, record))


@pytest.mark.parametrize("method", ["brute-force", "btda", "branch-and-bound"])
def test_every_method_gives_the_same_disclosure_of_a_table(method):
    table = random_table(11, 40)
    personal = np.random.default_rng(12).random((40, 4))
    for objective in (OBJECTIVES[0], OBJECTIVES[3]):
        walked = solver_of(table, objective, personal=personal).solve(table)
        other = solver_of(table, objective, personal=personal, method=method).solve(table)
        assert (walked.levels == other.levels).all()
        assert (walked.feasible == other.feasible).all()
        np.testing.assert_array_equal(walked.risk, other.risk)


def test_records_that_the_dictionary_does_not_hold_are_solved_too():
    records, against = random_table(13, 50), random_table(14, 30)
    solver = solver_of(against, OBJECTIVES[0])
    answers = solver.solve(records)
    for record in range(0, 50, 5):
        assert_the_same(answers, record, one_by_one(solver, records, record))


def test_an_empty_dictionary_hides_nobody():
    records, nobody = random_table(15, 10), random_table(15, 0)
    answers = solver_of(nobody, MaximiseUtility(at_most=1), number=2).solve(records)
    assert (answers.risk == 1).all()
    assert (answers.levels == 0).all()


def test_no_records_give_no_answers():
    table = random_table(15, 10)
    assert len(solver_of(table, OBJECTIVES[0]).solve(random_table(1, 0))) == 0


def test_a_table_may_be_solved_piece_by_piece():
    table = random_table(16, 60)
    personal = np.random.default_rng(17).random((60, 4))
    solver = solver_of(table, OBJECTIVES[0], personal=personal)
    whole = solver.solve(table)
    rest = EncodedTable(
        schema=SCHEMA, codes=tuple(column[20:] for column in table.codes), classes=None
    )
    assert (solver.solve(rest, first=20).levels == whole.levels[20:]).all()


def test_the_number_of_workers_does_not_matter():
    table = random_table(18, 80)
    one = solver_of(table, OBJECTIVES[2], workers=1).solve(table)
    three = solver_of(table, OBJECTIVES[2], workers=3).solve(table)
    assert (one.levels == three.levels).all()
    np.testing.assert_array_equal(one.risk, three.risk)


def test_a_person_with_heavier_weights_is_generalised_by_them():
    table = random_table(19, 100)
    personal = np.ones((100, 4))
    personal[50:] = [1000, 1, 1, 1]
    answers = solver_of(table, OBJECTIVES[0], personal=personal).solve(table)
    assert answers.levels[50:, 0].mean() > answers.levels[:50, 0].mean()


def test_lattices_too_large_for_arrays_are_walked_one_by_one(monkeypatch):
    table = random_table(20, 15)
    compiled = solver_of(table, OBJECTIVES[0]).solve(table)
    monkeypatch.setattr(records, "WALK_UP_TO", 10)
    plain = solver_of(table, OBJECTIVES[0]).solve(table)
    assert (compiled.levels == plain.levels).all()
    assert (compiled.n_visited == plain.n_visited).all()


def test_a_balance_is_solved_for_a_whole_table():
    table = random_table(21, 15)
    ways = [
        solver_of(table, Balance(rate=0.01), method=method).solve(table)
        for method in ("brute-force", "branch-and-bound")
    ]
    assert (ways[0].levels == ways[1].levels).all()


def test_a_risk_that_is_not_monotone_is_labelled():
    table = random_table(22, 10)
    printed = RiskModel(number=3, printed=True)
    for method, exact in (("aruba", False), ("brute-force", True)):
        solver = solver_of(table, OBJECTIVES[0], method=method)
        answers = RecordSolver(
            **{**{f: getattr(solver, f) for f in solver.__dataclass_fields__}, "model": printed}
        ).solve(table)
        assert answers.exact == exact


def test_records_of_other_attributes_are_refused():
    table = random_table(23, 5)
    other = EncodedTable.from_codes(schema_of(values(3), classes=None), [[0, 1]])
    with pytest.raises(SettingError, match="different attributes"):
        solver_of(table, OBJECTIVES[0]).solve(other)


def test_missing_weights_are_refused():
    table = random_table(24, 5)
    with pytest.raises(SettingError, match="fewer rows of weights"):
        solver_of(table, OBJECTIVES[0], personal=np.ones((4, 4))).solve(table)
