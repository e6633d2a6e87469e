"""Features by tables: the same matrices and the same machine as feature by feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from hedgerow.evaluation.examples import Examples
from hedgerow.evaluation.features import added_up, side_by_side, standardised, turned
from hedgerow.evaluation.learners import answered_by
from hedgerow.model.groups import Ranges
from support.tables import grid, schema_of, values

N = 400


def examples(seed: int, *, classes: int = 3, boxed: bool = True) -> Examples:
    """Return weighted examples whose ranges are mostly whole domains, as those of boxes are."""
    rng = np.random.default_rng(seed)
    schema = schema_of(values(7), grid(40), values(5), classes=classes)
    sizes = [attribute.domain.size for attribute in schema.attributes]
    ranges = tuple(
        Ranges(
            first=np.array([0, *range(size)], dtype=np.int32),
            stop=np.array([size, *range(1, size + 1)], dtype=np.int32),
        )
        for size in sizes
    )
    whole = rng.random((N, 3)) < 0.7
    code = np.stack([rng.integers(0, size, N) for size in sizes], axis=1)
    told = (code[:, 0] + 5 * whole[:, 1] + rng.integers(0, 3, N)) % classes
    return Examples(
        schema=schema,
        places=(np.where(whole, 0, code + 1) if boxed else code).astype(np.int32),
        classes=told.astype(np.int64),
        weights=rng.integers(1, 9, N).astype(np.float64) if boxed else np.ones(N),
        ranges=ranges if boxed else None,
    )


def plainly(given: Examples) -> np.ndarray:
    """Return the features of examples, attribute beside attribute."""
    pairs = zip(given.tables(), given.places.T, strict=True)
    return np.concatenate([table.toarray()[column] for table, column in pairs], axis=1)


@pytest.mark.parametrize("boxed", [True, False])
def test_features_stand_side_by_side(boxed):
    given = examples(1, boxed=boxed)
    found = given.spread()
    assert sparse.isspmatrix_csr(found)
    assert np.array_equal(found.toarray(), plainly(given))


def test_products_are_those_of_the_matrix():
    given = examples(2)
    factors = np.random.default_rng(3).normal(size=(plainly(given).shape[1], 4))
    assert np.allclose(added_up(given.tables(), given.places, factors), plainly(given) @ factors)


def test_scaled_columns_have_deviation_one():
    given = examples(4)
    matrix = side_by_side(standardised(given.tables(), given.places, given.weights), given.places)
    rows = np.repeat(matrix.toarray(), given.weights.astype(int), axis=0)
    assert np.allclose(rows.std(axis=0), 1.0)


def test_records_are_scaled_to_the_last_bit_as_their_whole_matrix():
    given = examples(9, boxed=False)
    weights = np.random.default_rng(10).random(N)
    part, known = weights / weights.sum(), given.spread()
    variance = known.power(2).T @ part - (known.T @ part) ** 2
    plain = known.data * (1 / np.sqrt(variance)).take(known.indices)
    matrix = side_by_side(standardised(given.tables(), given.places, weights), given.places)
    assert np.array_equal(matrix.data, plain)
    factors = np.random.default_rng(11).normal(size=(known.shape[1], 2))
    assert np.array_equal(added_up(given.tables(), given.places, factors), known @ factors)


def test_a_column_that_never_varies_is_not_scaled():
    given = replace(examples(4), places=np.zeros((N, 3), dtype=np.int32))
    tables = standardised(given.tables(), given.places, given.weights)
    assert np.array_equal(side_by_side(tables, given.places).toarray(), plainly(given))


def test_turned_tables_keep_all_products_of_rows_with_fewer_numbers():
    given = examples(5)
    plain = standardised(given.tables(), given.places, given.weights)
    fewer = turned(plain, given.places)
    for before, after in zip(plain, fewer, strict=True):
        assert np.allclose((before @ before.T).toarray(), (after @ after.T).toarray())
    sizes = [side_by_side(tables, given.places).nnz for tables in (plain, fewer)]
    assert sizes[1] < sizes[0] / 1.5


def test_what_cannot_get_shorter_is_not_turned():
    given = examples(6, boxed=False)
    tables = given.tables()
    same = zip(turned(tables, given.places), tables, strict=True)
    assert all(after is before for after, before in same)


@pytest.mark.parametrize("boxed", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_machine_is_that_of_the_whole_matrix(classes, boxed):
    train = examples(7, classes=classes, boxed=boxed)
    asked = examples(8, classes=classes, boxed=boxed)
    part = train.weights / train.weights.sum()
    known = plainly(train)
    deviation = np.sqrt(part @ (known - part @ known) ** 2)
    model = LinearSVC(dual=False, random_state=0, tol=1e-3, max_iter=200)
    model.fit(known / deviation, train.classes, sample_weight=train.weights)
    told = model.decision_function(plainly(asked) / deviation)
    answered = answered_by("svm", train, asked)
    scores = answered.scores[:, 1] if classes == 2 else answered.scores
    assert np.allclose(scores, told, atol=1e-6)
    assert np.array_equal(answered.classes, model.predict(plainly(asked) / deviation))
