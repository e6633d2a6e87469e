"""DiffP-C4.5: its ledger, its sensitivities, what it learns, and how it is pruned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import private_tree as module
from experiments.private_tree import SCORES, private_tree
from experiments.pruning import pruned
from hedgerow.errors import DataError, SettingError
from hedgerow.evaluation.placing import rows_of
from hedgerow.model.groups import Tree
from hedgerow.model.locate import check_tree
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.box_scores import Children
from support.tables import encoded_tables, grid, schema_of, table_of, values

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(7, 3)]


def learnt(table, *, epsilon=Fraction(1), seed=1, ledger=None, **settings):
    return private_tree(
        table,
        epsilon=epsilon,
        ledger=ledger or PathLedger(epsilon),
        source=SeededSource(seed),
        **settings,
    )


@settings(max_examples=50)
@given(
    table=encoded_tables(),
    epsilon=st.sampled_from(EPSILONS),
    depth=st.integers(0, 4),
    score=st.sampled_from(sorted(SCORES)),
    seed=st.integers(0, 999),
)
def test_every_path_pays_exactly_epsilon(table, epsilon, depth, score, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_most_children", lambda _: 0)  # small boxes split, too
        ledger = PathLedger(epsilon)
        tree = learnt(table, epsilon=epsilon, seed=seed, ledger=ledger, depth=depth, score=score)
    assert ledger.settled()
    check_tree(tree.tree, [attribute.domain.size for attribute in table.schema.attributes])
    assert len(tree.answers) == np.count_nonzero(tree.tree.box >= 0)
    shares = {line.share for line in ledger.bookings if line.on != "class counts"}
    assert shares <= {epsilon / (2 * (depth + 1))}
    assert max((line.level for line in ledger.bookings), default=0) <= depth


@settings(max_examples=50)
@given(data=st.data(), score=st.sampled_from(sorted(SCORES)))
def test_one_record_moves_a_score_no_further_than_its_sensitivity(data, score):
    n_ways, n_classes = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=n_ways, max_size=n_ways))
    size = data.draw(st.integers(0, 30))
    # All ways divide the same records, so a record joins one child of each way.
    classes = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=size, max_size=size))
    child = [
        data.draw(st.lists(st.integers(0, n - 1), min_size=size + 1, max_size=size + 1))
        for n in lengths
    ]
    joins = data.draw(st.integers(0, n_classes - 1))
    counts = np.zeros((sum(lengths), n_classes), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    for way in range(n_ways):
        for record, label in enumerate(classes):
            counts[starts[way] + child[way][record], label] += 1
    after = counts.copy()
    for way in range(n_ways):
        after[starts[way] + child[way][size], joins] += 1
    used = SCORES[score]
    before, then = (
        used.of(Children(counts=c, widths=np.ones(len(c), np.int64), starts=starts, domain=99))
        for c in (counts, after)
    )
    moved = then - before
    spread = int(moved.max() - moved.min())
    if used.monotone:
        assert moved.min() >= 0
        assert moved.max() <= used.sensitivity
        assert spread <= used.sensitivity
    else:
        assert spread <= 2 * used.sensitivity


def two_sided(n: int, seed: int) -> EncodedTable:
    rng = np.random.default_rng(seed)
    number, value = rng.integers(0, 32, n), rng.integers(0, 4, n)
    classes = (number >= 16) ^ (value == 2)
    return EncodedTable.from_codes(
        schema_of(grid(32), values(4, 2), values(3)),
        [number, value, rng.integers(0, 3, n)],
        classes,
    )


def test_a_large_budget_finds_what_there_is_to_find():
    tree = learnt(two_sided(6000, 1), epsilon=Fraction(20), depth=3)
    assert tree.accuracy(two_sided(2000, 2)) == 1.0
    # A categorical attribute splits into all of its values, whatever its taxonomy says.
    by_value = tree.tree.parent[tree.tree.attribute == 1]
    assert {int(n) for n in np.unique(by_value, return_counts=True)[1]} == {4}


def test_a_small_budget_stops_at_the_root():
    tree = learnt(two_sided(300, 1), epsilon=Fraction(1, 100))
    assert len(tree.answers) == 1


def content(tree):
    return tree.tree.attribute.tolist(), tree.tree.first.tolist(), tree.answers.tolist()


def test_the_same_seed_grows_the_same_tree_in_whatever_order_records_come():
    table = two_sided(3000, 1)
    first = content(learnt(table, epsilon=Fraction(2)))
    turned = rows_of(table, np.arange(3000)[::-1])
    assert content(learnt(turned, epsilon=Fraction(2))) == first
    others = {str(content(learnt(table, epsilon=Fraction(2), seed=seed))) for seed in range(2, 6)}
    assert others != {str(first)}


def test_settings_out_of_range_are_refused_before_anything_is_bought():
    table, ledger = two_sided(10, 1), PathLedger(Fraction(1))
    with pytest.raises(SettingError, match="depth"):
        learnt(table, depth=-1, ledger=ledger)
    with pytest.raises(SettingError, match="score"):
        learnt(table, score="luck", ledger=ledger)
    plain = table_of(schema_of(grid(3), classes=None), [(1,)])
    with pytest.raises(DataError, match="class"):
        learnt(plain, ledger=ledger)
    assert ledger.bookings == ()


@pytest.fixture
def tree() -> Tree:
    """A root with the leaf 1 and the node 2, which has the leaves 3 and 4."""
    return Tree(
        parent=np.array([-1, 0, 0, 2, 2], np.int32),
        attribute=np.array([-1, 0, 0, 1, 1], np.int32),
        first=np.array([0, 0, 5, 0, 7], np.int32),
        stop=np.array([0, 5, 10, 7, 10], np.int32),
        box=np.array([-1, 0, -1, 1, 2], np.int32),
        sizes=np.zeros(5),
    )


def test_branches_that_err_less_are_kept(tree):
    counts = np.array([[90, 2], [1, 60], [70, 3]])
    assert pruned(tree, counts).tolist() == [0, 1, 0]


def test_branches_that_only_follow_noise_are_cut_off(tree):
    counts = np.array([[90, 2], [3, 4], [160, 20]])
    assert pruned(tree, counts, keep_all=True).tolist() == [0, 1, 0]
    assert pruned(tree, counts).tolist() == [0, 0, 0]


def test_a_box_without_a_count_answers_as_its_parent_does(tree):
    counts = np.array([[5, 90], [-3, -1], [1, 60]])
    assert pruned(tree, counts, keep_all=True).tolist() == [1, 1, 1]
