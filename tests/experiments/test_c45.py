"""C4.5 and ID3: Quinlan's own examples, trees that Weka's J48 grows too, weights, gaps."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

from experiments.c45.pruning import added_errors
from experiments.c45.tree import Column, c45, id3, learning_of

SUNNY, OVERCAST, RAIN = range(3)
# Quinlan's table of Saturday mornings: outlook, temperature, humidity, windy, whether to play.
MORNINGS = np.array(
    [
        (SUNNY, 75, 70, 1, 1),
        (SUNNY, 80, 90, 1, 0),
        (SUNNY, 85, 85, 0, 0),
        (SUNNY, 72, 95, 0, 0),
        (SUNNY, 69, 70, 0, 1),
        (OVERCAST, 72, 90, 1, 1),
        (OVERCAST, 83, 78, 0, 1),
        (OVERCAST, 64, 65, 1, 1),
        (OVERCAST, 81, 75, 0, 1),
        (RAIN, 71, 80, 1, 0),
        (RAIN, 65, 70, 1, 0),
        (RAIN, 75, 80, 0, 1),
        (RAIN, 68, 80, 0, 1),
        (RAIN, 70, 96, 0, 1),
    ],
    dtype=float,
)


def mornings(rows=slice(None)):
    outlook, temperature, humidity, windy, _ = MORNINGS[rows].T
    return [
        Column(values=outlook, categories=3),
        Column(values=temperature),
        Column(values=humidity),
        Column(values=windy, categories=2),
    ]


def play(rows=slice(None)):
    return MORNINGS[rows, 4].astype(np.int64)


def test_quinlans_mornings_give_his_tree():
    # outlook: sunny (humidity <= 75: play, otherwise not), overcast: play, rain (windy: not).
    tree = c45(learning_of(mornings(), play(), n_classes=2))
    assert (tree.size, tree.n_leaves) == (8, 5)
    assert (tree.predict(mornings()) == play()).all()
    asked = [
        Column(values=np.array([SUNNY, SUNNY, OVERCAST, RAIN, RAIN], dtype=float), categories=3),
        Column(values=np.full(5, 70.0)),
        Column(values=np.array([75, 76, 99, 60, 60], dtype=float)),
        Column(values=np.array([1, 0, 1, 1, 0], dtype=float), categories=2),
    ]
    assert tree.predict(asked).tolist() == [1, 0, 1, 0, 1]


def test_a_morning_without_an_outlook_is_divided_among_the_branches():
    columns = mornings()
    columns[0].values[5] = math.nan  # Quinlan's example of a missing value
    tree = c45(learning_of(columns, play(), n_classes=2))
    assert tree.size == 8
    unknown = [Column(values=np.array([math.nan]), categories=3), *mornings([1])[1:]]
    # Humidity 90 and windy: sunny and rain say no, overcast says yes; 5 + 5 against 3 of 13.
    assert tree.predict(unknown).tolist() == [0]


def test_the_pessimistic_errors_are_those_of_quinlans_book():
    # U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750, U25%(1, 16) = 0.157.
    assert added_errors(6.0, 0.0) / 6 == pytest.approx(0.206, abs=5e-4)
    assert added_errors(9.0, 0.0) / 9 == pytest.approx(0.143, abs=5e-4)
    assert added_errors(1.0, 0.0) == pytest.approx(0.750, abs=5e-4)
    assert (1 + added_errors(16.0, 1.0)) / 16 == pytest.approx(0.157, abs=5e-3)
    assert added_errors(2.0, 1.9) == pytest.approx(0.1)


def table(name):
    """Return two thirds of a table to learn from and the rest, as tools/j48_agreement.py does."""
    if name == "noise":
        rng = np.random.default_rng(45)
        data = [rng.integers(0, 5, 900).astype(float) for _ in range(6)]
        columns = [Column(values=values, categories=5) for values in data]
        classes = rng.integers(0, 3, 900)
    else:
        told = getattr(datasets, f"load_{name}")()
        columns, classes = [Column(values=c.astype(float)) for c in told.data.T], told.target
    order = np.random.default_rng(45).permutation(len(classes))
    cut = len(classes) * 2 // 3
    parts = [
        [Column(values=c.values[part], categories=c.categories) for c in columns]
        for part in (order[:cut], order[cut:])
    ]
    return (parts[0], classes[order[:cut]]), (parts[1], classes[order[cut:]])


# Nodes, leaves and right answers of J48 (Weka 3.9) with its own settings, and the digest of
# all answers where both gave the same ones: python tools/j48_agreement.py.
J48 = {
    "iris": (9, 5, 49, "a936a65517e4"),
    "wine": (9, 5, 52, "fde0f38f9672"),
    "breast_cancer": (15, 8, 172, "29099fdfded1"),
    "digits": (159, 80, 520, "20b431db2213"),
    "noise": (141, 113, 95, "8fb0d11895d2"),
}


@pytest.mark.parametrize("name", J48)
def test_trees_are_those_of_j48(name):
    (columns, classes), (asked, truth) = table(name)
    tree = c45(learning_of(columns, classes, n_classes=int(classes.max()) + 1))
    told = tree.predict(asked)
    digest = hashlib.sha256(told.astype(np.uint8).tobytes()).hexdigest()[:12]
    assert (tree.size, tree.n_leaves, int((told == truth).sum()), digest) == J48[name]


@st.composite
def small_tables(draw):
    n = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = [
        Column(values=rng.integers(0, 3, n).astype(float), categories=3),
        Column(values=rng.integers(0, 9, n).astype(float)),
        Column(values=rng.integers(0, 2, n).astype(float), categories=2),
    ]
    if draw(st.booleans()):
        for column in columns:
            column.values[rng.random(n) < 0.15] = math.nan
    classes = (np.nan_to_num(columns[1].values) + rng.integers(0, 5, n) > 6).astype(np.int64)
    return columns, classes, rng.integers(0, 4, n)


@settings(max_examples=60)
@given(table=small_tables())
def test_a_row_of_weight_three_is_three_rows(table):
    columns, classes, times = table
    if not times.any():
        return
    weighted = c45(learning_of(columns, classes, times.astype(float), n_classes=2))
    again = np.repeat(np.arange(len(classes)), times)
    repeated = [Column(values=c.values[again], categories=c.categories) for c in columns]
    plain = c45(learning_of(repeated, classes[again], n_classes=2))
    assert (weighted.size, weighted.n_leaves) == (plain.size, plain.n_leaves)
    assert (weighted.predict(columns) == plain.predict(columns)).all()


def naive_id3(columns, classes, weights, row):
    """Return what ID3 says of a row, learning only what it needs, loop by loop."""
    here = np.arange(len(classes))
    answer = 0
    while True:
        counts = np.bincount(classes[here], weights[here], minlength=2)
        if counts.sum():
            answer = int(counts.argmax())
        gains = [
            naive_gain(column.values[here], classes[here], weights[here]) for column in columns
        ]
        best = int(np.argmax(gains)) if gains else 0
        if gains[best] <= 1e-6:
            return answer
        here = here[columns[best].values[here] == columns[best].values[row]]
        if not weights[here].sum():
            return answer


def naive_entropy(classes, weights):
    counts = np.bincount(classes, weights, minlength=2)
    shares = counts[counts > 0] / max(counts.sum(), 1e-300)
    return -float((shares * np.log2(shares)).sum())


def naive_gain(values, classes, weights):
    if not weights.sum():
        return 0.0
    rest = 0.0
    for value in np.unique(values):
        mine = values == value
        rest += weights[mine].sum() * naive_entropy(classes[mine], weights[mine])
    return naive_entropy(classes, weights) - rest / weights.sum()


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_id3_is_the_naive_one(seed):
    rng = np.random.default_rng(seed)
    columns = [Column(values=rng.integers(0, k, 25).astype(float), categories=k) for k in (2, 3, 4)]
    classes = rng.integers(0, 2, 25)
    weights = rng.integers(0, 4, 25).astype(float) * rng.choice([1.0, 1.37])
    weights[0] = 1.0
    told = id3(learning_of(columns, classes, weights, n_classes=2)).predict(columns)
    wanted = [naive_id3(columns, classes, weights, row) for row in range(25)]
    assert told.tolist() == wanted


def test_id3_branches_where_c45_prunes():
    rng = np.random.default_rng(7)
    columns = [Column(values=rng.integers(0, 4, 300).astype(float), categories=4) for _ in range(4)]
    learning = learning_of(columns, rng.integers(0, 2, 300), n_classes=2)
    assert id3(learning).size > 3 * c45(learning).size


def test_rows_of_one_class_need_no_split():
    tree = c45(learning_of(mornings(), np.ones(14, dtype=np.int64), n_classes=2))
    assert tree.size == tree.n_leaves == 1
    assert tree.predict(mornings()).tolist() == [1] * 14


def test_a_category_that_was_never_seen_is_answered_by_the_node():
    columns = [Column(values=np.array([0.0, 0, 0, 0, 1, 1, 1]), categories=3)]
    tree = c45(learning_of(columns, np.array([0, 0, 0, 0, 1, 1, 1]), n_classes=2))
    assert tree.n_leaves == 3
    assert tree.predict([Column(values=np.array([2.0, 1.0]), categories=3)]).tolist() == [0, 1]
