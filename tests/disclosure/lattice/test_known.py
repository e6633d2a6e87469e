"""Forms together with what a recipient has already, against boxes that are intersected by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice import dictionary as dictionaries
from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.disclosure.lattice.threshold import MaximiseUtility, MinimiseRisk
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.solvers.cubes import AggregateSettings, best_of_records
from hedgerow.disclosure.solvers.records import RecordSolver
from hedgerow.model.table import EncodedTable
from support.tables import grid, schema_of, values

SCHEMA = schema_of(values(5, fan_out=2), grid(9), values(3), classes=None)
OBJECTIVES = [
    MinimiseRisk(at_least=0.5, of_most=True),
    MinimiseRisk(at_least=2.0),
    MaximiseUtility(at_most=0.15),
    MaximiseUtility(at_most=0.6),
]


def random_table(seed: int, n_records: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    sizes = [attribute.domain.size for attribute in SCHEMA.attributes]
    codes = [(rng.random(n_records) ** 2 * size).astype(np.int64) for size in sizes]
    return EncodedTable.from_codes(SCHEMA, codes)


class ByHand:
    """Risk and utility of the forms of one record, from boxes that are intersected one by one."""

    def __init__(self, solver: RecordSolver, record: list[int], person: int, known) -> None:
        self.solver, self.record, self.known = solver, record, known
        self.chains = solver.dictionary.chains
        personal = solver.severities.personal
        self.personal = np.ones(len(record)) if personal is None else personal[person]

    def forms(self):
        heights = [int(c.heights[code]) for c, code in zip(self.chains, self.record, strict=True)]
        return product(*(range(height + 1) for height in heights))

    def box(self, form) -> list[tuple[int, int]]:
        trees = [chain.taxonomy for chain in self.chains]
        nodes = [
            c.nodes[code, at] for c, code, at in zip(self.chains, self.record, form, strict=True)
        ]
        return [(t.first[node], t.stop[node]) for t, node in zip(trees, nodes, strict=True)]

    def risk(self, form) -> float:
        held = zip(self.box(form), self.box(self.known), strict=True)
        both = [(max(a[0], b[0]), min(a[1], b[1])) for a, b in held]
        dictionary, fit = self.solver.dictionary, 0
        for row, many in zip(zip(*dictionary.columns, strict=True), dictionary.many, strict=True):
            inside = all(a <= code < b for code, (a, b) in zip(row, both, strict=True))
            fit += int(many) if inside else 0
        exposure = self.solver.model.exposure(dictionary.n_records)[fit]
        if not self.solver.model.personal:
            return float(exposure)
        tables, severity = self.solver.severities.tables, 0.0
        for i, code in enumerate(self.record):
            # The lower of both levels: the one whose codes are the intersection.
            level = form[i] if self.box(form)[i] == both[i] else self.known[i]
            severity += tables[i][code, level] * self.personal[i]
        return float(severity * exposure)

    def utility(self, form) -> float:
        tables = self.solver.utility
        return sum(tables[i][code, form[i]] for i, code in enumerate(self.record))

    def best(self) -> tuple[float, float] | None:
        objective, slack = self.solver.objective, 1e-9
        pairs = [(self.risk(form), self.utility(form)) for form in self.forms()]
        if isinstance(objective, MaximiseUtility):
            fine = [(u, r) for r, u in pairs if r <= objective.at_most + slack]
            return (
                None if not fine else (min(r for u, r in fine if u == max(fine)[0]), max(fine)[0])
            )
        least = objective.at_least * (max(u for _, u in pairs) if objective.of_most else 1)
        fine = [(r, u) for r, u in pairs if u >= least - slack]
        return None if not fine else (min(fine)[0], 0.0)


def solver_of(table, objective, *, number=1, personal=None, known=None, method="aruba"):
    dictionary = Dictionary.of(table)
    return RecordSolver(
        dictionary=dictionary,
        utility=utility_tables("leaves", dictionary.chains),
        severities=Severities.of(dictionary.chains, values={2: [3, 1, 0.5]}, personal=personal),
        model=RiskModel(number=number),
        objective=objective,
        method=method,
        known=known,
        workers=1,
    )


def random_known(table: EncodedTable, rng: np.random.Generator) -> np.ndarray:
    chains = Dictionary.of(table).chains
    tops = np.stack(
        [c.heights[codes] for c, codes in zip(chains, table.codes, strict=True)], axis=1
    )
    drawn = rng.integers(0, tops + 1)
    return np.where(rng.random(len(tops))[:, None] < 0.3, tops, drawn).astype(np.uint8)


@pytest.mark.parametrize("cube", [True, False])
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), number=st.sampled_from([1, 2, 3]))
def test_the_best_form_is_the_best_by_boxes_intersected_by_hand(cube, objective, seed, number):
    rng = np.random.default_rng(seed)
    table, theirs = random_table(seed, 12), random_table(seed + 1, 25)
    known, personal = random_known(table, rng), rng.random((12, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dictionaries, "NODE_CUBE_UP_TO", 1 << 24 if cube else 0)
        solver = solver_of(theirs, objective, number=number, personal=personal, known=known)
        answers = solver.solve(table)
    for at in range(len(table)):
        hand = ByHand(solver, [int(column[at]) for column in table.codes], at, known[at])
        best = hand.best()
        assert answers.feasible[at] == (best is not None)
        if best is None:
            continue
        form = tuple(int(level) for level in answers.levels[at])
        assert answers.risk[at] == pytest.approx(hand.risk(form))
        assert answers.utility[at] == pytest.approx(hand.utility(form))
        if isinstance(objective, MaximiseUtility):
            assert hand.utility(form) == pytest.approx(best[1])
        else:
            assert hand.risk(form) == pytest.approx(best[0])
            # What they have costs nothing to give again, so the answer says it, too.
            assert all(level <= have for level, have in zip(form, known[at], strict=True))


@pytest.mark.parametrize("method", ["brute-force", "btda", "branch-and-bound"])
def test_every_search_counts_what_is_known_alike(method):
    table, rng = random_table(3, 30), np.random.default_rng(4)
    known, personal = random_known(table, rng), rng.random((30, 3))
    for objective in (OBJECTIVES[0], OBJECTIVES[3]):
        asked = {"personal": personal, "known": known}
        walked = solver_of(table, objective, **asked).solve(table)
        other = solver_of(table, objective, method=method, **asked).solve(table)
        assert (walked.levels == other.levels).all()
        np.testing.assert_array_equal(walked.risk, other.risk)


def test_knowing_nothing_changes_nothing():
    table = random_table(5, 40)
    chains = Dictionary.of(table).chains
    tops = np.stack(
        [c.heights[codes] for c, codes in zip(chains, table.codes, strict=True)], axis=1
    )
    plain = solver_of(table, OBJECTIVES[0]).solve(table)
    same = solver_of(table, OBJECTIVES[0], known=tops.astype(np.uint8)).solve(table)
    assert (plain.levels == same.levels).all()
    np.testing.assert_array_equal(plain.risk, same.risk)


def test_giving_the_same_again_adds_no_risk_and_is_the_best_one_can_do():
    table = random_table(6, 40)
    once = solver_of(table, OBJECTIVES[0]).solve(table)
    again = solver_of(table, OBJECTIVES[0], known=once.levels).solve(table)
    np.testing.assert_array_equal(once.risk, again.risk)
    assert (again.levels <= once.levels).all()


def test_where_too_much_is_known_a_risk_limit_withholds():
    table = random_table(7, 40)
    bare = np.zeros((40, 3), dtype=np.uint8)
    answers = solver_of(table, MaximiseUtility(at_most=0.15), known=bare).solve(table)
    plain = solver_of(table, MaximiseUtility(at_most=0.15)).solve(table)
    assert plain.feasible.all()
    assert not answers.feasible.all()


@pytest.mark.parametrize("cube", [True, False])
def test_the_aggregate_model_counts_what_is_known_compiled_as_by_hand(monkeypatch, cube):
    monkeypatch.setattr(dictionaries, "NODE_CUBE_UP_TO", 1 << 24 if cube else 0)
    table, rng = random_table(8, 15), np.random.default_rng(9)
    known, personal = random_known(table, rng), rng.random((15, 3))
    asked = AggregateSettings(risk_weight=0.2, power=1.0, floor=1.0, weighed=True)
    solver = solver_of(table, OBJECTIVES[0], personal=personal, known=known)
    found = best_of_records(
        table.codes,
        solver.dictionary,
        asked,
        utility=solver.utility,
        weights=solver.severities.tables,
        personal=personal,
        known=known,
        workers=1,
    )
    for at in range(len(table)):
        hand = ByHand(solver, [int(column[at]) for column in table.codes], at, known[at])
        value = {}
        for form in hand.forms():
            meet = tuple(min(pair) for pair in zip(form, known[at], strict=True))
            plain = ByHand(solver, hand.record, at, meet)
            n_matches = _matches(plain)
            severity = plain.risk(meet) * max(n_matches, 1)
            value[form] = 0.2 * n_matches / (1 + severity) + hand.utility(form)
        form = tuple(int(level) for level in found.levels[at])
        assert value[form] == pytest.approx(max(value.values()))


def _matches(hand: ByHand) -> int:
    box, dictionary = hand.box(hand.known), hand.solver.dictionary
    rows = zip(*dictionary.columns, strict=True)
    fits = [all(a <= c < b for c, (a, b) in zip(row, box, strict=True)) for row in rows]
    return int(dictionary.many[np.array(fits)].sum())
