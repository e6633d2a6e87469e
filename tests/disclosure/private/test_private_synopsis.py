"""The synopsis moves by what it claims, estimates without bias, and leaves choices to records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure.lattice.risk import Severities
from hedgerow.disclosure.lattice.utility import utility_tables
from hedgerow.disclosure.private.choice import Worth, choose_cells
from hedgerow.disclosure.private.levels import LevelSpace
from hedgerow.disclosure.private.synopsis import (
    Kinds,
    Layer,
    Synopsis,
    measured_vectors,
    vector_counts,
)
from hedgerow.model.run import Run
from hedgerow.privacy.source import SeededSource
from support.tables import encoded_tables, grid, schema_of, values


def kinds_of(table):
    return Kinds(
        columns=[column.astype(np.int64) for column in table.codes],
        many=np.ones(len(table), dtype=np.int64),
    )


def bought(space, kinds, *, epsilon=Fraction(1), seed=1, measured=None):
    return Synopsis.measure(
        Run.start(None, epsilon=epsilon, source=SeededSource(seed)),
        space,
        measured_vectors(space) if measured is None else measured,
        kinds,
        share=epsilon,
    )


@settings(max_examples=50)
@given(table=encoded_tables(min_records=1, max_records=12), data=st.data())
def test_one_record_moves_the_measured_counts_by_one_in_each_vector(table, data):
    dropped = data.draw(st.integers(0, len(table) - 1), label="dropped record")
    neighbour = kinds_of(table.without(dropped))
    space = LevelSpace.of(table.schema)
    measured = measured_vectors(space)
    moved = 0
    for vector in measured:
        before = vector_counts(space, vector, kinds_of(table))
        one = np.abs(before - vector_counts(space, vector, neighbour))
        assert one.max() == 1
        moved += int(one.sum())
    assert moved == len(measured)


@settings(max_examples=25)
@given(table=encoded_tables(max_records=8), epsilon=st.fractions(Fraction(1, 10), Fraction(5)))
def test_the_synopsis_pays_exactly_its_share(table, epsilon):
    run = Run.start(None, epsilon=epsilon, source=SeededSource(1))
    space = LevelSpace.of(table.schema)
    Synopsis.measure(run, space, measured_vectors(space), kinds_of(table), share=epsilon)
    assert run.settled()


def test_the_finest_vector_is_measured_and_more_only_where_they_pay():
    small = LevelSpace.of(schema_of(values(4, 2), values(3), classes=None))
    assert measured_vectors(small)[0] == small.n_vectors - 1
    wide = LevelSpace.of(schema_of(grid(500), grid(500), classes=None))
    chosen = measured_vectors(wide)
    assert len(chosen) > 1

    def deviation(measured):
        finer = [(wide.vectors <= wide.vectors[w]).all(axis=1) for w in measured]
        precision = sum(
            np.where(fits, wide.n_cells / wide.n_cells[w], 0.0)
            for fits, w in zip(finer, measured, strict=True)
        )
        return float((len(measured) / np.sqrt(precision)).mean())

    assert deviation(chosen) < deviation(chosen[:1])


def test_estimates_have_the_right_mean_and_spread():
    schema = schema_of(values(6, 2), values(4, 2), classes=None)
    space = LevelSpace.of(schema)
    kinds = Kinds(columns=[np.array([0, 3, 5]), np.array([1, 1, 2])], many=np.array([50, 20, 9]))
    measured = (space.n_vectors - 1, 4)
    number = 4
    runs = [
        next(
            layer
            for layer in bought(space, kinds, seed=seed, measured=measured).layers(threshold=1)
            if layer.vector == number
        )
        for seed in range(200)
    ]
    estimates = np.stack([run.estimates for run in runs])
    spread = runs[0].least / 3  # thresholds are three standard deviations, and above 1 here
    true = vector_counts(space, number, kinds)
    assert (np.abs(estimates.mean(axis=0) - true) < 5 * spread / 14).all()
    assert np.allclose(estimates.std(axis=0), spread, rtol=0.3)


def worth_of(space, *, risk_weight=3.0, weighed=True):
    return Worth(
        utility=space.tables(utility_tables("depth", space.chains)),
        severity=space.tables(Severities.of(space.chains).tables) if weighed else None,
        risk_weight=risk_weight,
        power=1.0,
        floor=1.0,
    )


def layers_of(space, kinds, seed):
    return list(bought(space, kinds, seed=seed, epsilon=Fraction(8)).layers(threshold=1))


@settings(max_examples=40)
@given(table=encoded_tables(min_records=1, max_records=12), data=st.data())
def test_given_the_synopsis_nobody_else_has_a_say_in_what_a_record_chooses(table, data):
    dropped = data.draw(st.integers(0, len(table) - 1), label="dropped record")
    space = LevelSpace.of(table.schema)
    layers = layers_of(space, kinds_of(table), seed=3)
    worth = worth_of(space)
    all_of_them = choose_cells(
        space, layers, kinds_of(table), n_records=20, worth=worth, personal=None
    )
    rest = choose_cells(
        space,
        layers,
        kinds_of(table.without(dropped)),
        n_records=20,
        worth=worth,
        personal=None,
    )
    assert rest.offered.tolist() == all_of_them.offered.tolist()
    assert rest.taken.tolist() == np.delete(all_of_them.taken, dropped).tolist()


@settings(max_examples=25)
@given(
    table=encoded_tables(min_records=1, max_records=6),
    risk_weight=st.sampled_from([0.0, 1.0, 5.0]),
    weighed=st.booleans(),
)
def test_every_record_takes_the_best_of_what_is_offered(table, risk_weight, weighed):
    space = LevelSpace.of(table.schema)
    kinds = kinds_of(table)
    layers = layers_of(space, kinds, seed=5)
    worth = worth_of(space, risk_weight=risk_weight, weighed=weighed)
    personal = np.linspace(0.5, 2.0, len(kinds))
    choices = choose_cells(space, layers, kinds, n_records=10, worth=worth, personal=personal)
    offered = set(choices.offered.tolist())
    for record in range(len(kinds)):
        columns = [column[[record]] for column in kinds.columns]
        best = {}
        for layer in layers:
            vector = space.vectors[layer.vector]
            cell = space.cells_of(vector, columns)
            key = int(space.offsets[layer.vector] + cell[0])
            if key in offered:
                fraction = layer.estimates[cell] / 10
                own = personal[[record]]
                best[key] = float(worth.values(vector, columns, fraction, own)[0])
        taken = int(choices.offered[choices.taken[record]])
        assert best[taken] == max(best.values())


def test_what_says_nothing_is_always_offered():
    schema = schema_of(values(3), classes=None)
    space = LevelSpace.of(schema)
    none = [
        Layer(
            vector=v,
            estimates=np.zeros(int(space.n_cells[v])),
            least=np.full(int(space.n_cells[v]), 9.0),
        )
        for v in range(space.n_vectors)
    ]
    kinds = Kinds(columns=[np.array([0, 2])], many=np.array([1, 1]))
    choices = choose_cells(space, none, kinds, n_records=5, worth=worth_of(space), personal=None)
    assert choices.offered.tolist() == [0]
    assert choices.taken.tolist() == [0, 0]
