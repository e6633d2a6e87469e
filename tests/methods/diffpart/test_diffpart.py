from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.baselines.basic.basic import Basic
from hedgerow.errors import SettingError
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.methods.diffpart.level import PartitionLevel
from hedgerow.methods.diffpart.rules import PrintedRules, highest_places
from hedgerow.methods.diffpart.tree import SplitTree
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.privacy import mechanisms
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from support.basket_sets import ONE, encoded_baskets, listed, published, taxonomies, universe

TABLE_1 = [{0, 1, 2, 3}, {1, 3}, {1}, {0, 1}, {1}, {0}, {0, 1, 2, 3}, {1, 2, 3}]


def last_highest(self, level, tree, source):
    """Of the highest nodes the last is chosen, as in the paper's example."""
    places, starts = highest_places(level, tree)
    return places[starts[1:] - 1]


@contextmanager
def forced():
    """The mechanisms without their noise, and choices forced: what the paper's examples print."""
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanisms, "discrete_laplace", lambda n, **_: np.zeros(n, dtype=np.int64))
        patch.setattr(mechanisms, "passing_empties", lambda n, **_: (nothing, nothing))
        patch.setattr(PrintedRules, "choose", last_highest)
        yield


def spent(ledger, on):
    return Counter(
        {(line.level, line.share): line.times for line in ledger.bookings if line.on == on}
    )


def test_the_papers_figure_1_is_the_tree_of_its_table_1():
    tree = SplitTree.of(universe(4))
    nodes = list(zip(tree.first.tolist(), tree.stop.tolist(), tree.height.tolist(), strict=True))
    assert nodes == [(0, 4, 2), (0, 2, 1), (0, 1, 0), (1, 2, 0), (2, 4, 1), (2, 3, 0), (3, 4, 0)]
    assert tree.internal[0] == 3  # Example C.1: "there are 3 internal nodes in H"


def test_the_papers_examples_4_1_and_c_1_come_out():
    baskets = EncodedBaskets.from_sets(universe(4), TABLE_1)
    # C2 = 1/5: {I12, I3} and {I12, I4}, of 0 and 1 records, are "empty"; the others pass.
    method = DiffPart(faithful=True, c1=Fraction(0), c2=Fraction(1, 5))
    with forced():
        noisy, _ = published(method, baskets)
    assert listed(noisy) == {
        (0,): 1,
        (0, 1): 1,
        (0, 1, 2, 3): 2,
        (1,): 2,
        (1, 2, 3): 1,
        # {I1, I3, I4} has no record; {I2, I4} was lost with {I12, I4}
    }


@pytest.mark.parametrize("epsilon", [ONE, Fraction(1, 2)])
def test_the_papers_budgets_of_example_4_2_come_out_as_fractions(epsilon):
    baskets = EncodedBaskets.from_sets(universe(4), TABLE_1)
    method = DiffPart(faithful=True, c1=Fraction(0), c2=epsilon / 5)
    with forced():
        _, ledger = published(method, baskets, epsilon=epsilon)
    sixth = epsilon / 6
    assert spent(ledger, "tests") == {(0, sixth): 1, (1, sixth): 1}
    assert spent(ledger, "counts") == {(1, 5 * sixth): 1, (2, 4 * sixth): 1}


def naive(sets, tree, *, epsilon, c1, c2):
    """[DiffPart, Alg. 1], recursively and without noise; the last highest node is expanded."""
    release = {}

    def children(node):
        return tree.children[tree.child_start[node] : tree.child_start[node + 1]].tolist()

    def inside(node, item):
        return tree.first[node] <= item < tree.stop[node]

    def expand(records, cut, left):
        heights = [int(tree.height[node]) for node in cut]
        u = max(node for node, h in zip(cut, heights, strict=True) if h == max(heights))
        alpha = left / sum(int(tree.internal[node]) for node in cut)
        parts = {}
        for record in records:
            new = [c for c in children(u) if any(inside(c, item) for item in record)]
            parts.setdefault(tuple(sorted({*cut, *new} - {u})), []).append(record)
        for new_cut, members in parts.items():
            if all(tree.height[node] == 0 for node in new_cut):
                if len(members) >= max(1, math.sqrt(2) * c1 / (epsilon / 2 + left)):
                    release[tuple(int(tree.first[node]) for node in new_cut)] = len(members)
            elif len(members) >= max(1, math.sqrt(2) * c2 * max(heights) / alpha):
                expand(members, new_cut, left - alpha)

    expand(sets, (0,), epsilon / 2)
    return release


@given(
    baskets=encoded_baskets(min_records=1),
    c1=st.sampled_from([0.0, 0.3, 2.0]),
    c2=st.sampled_from([0.0, 0.05, 0.2]),
)
@settings(max_examples=50)
def test_the_level_by_level_run_equals_the_papers_recursion(baskets, c1, c2):
    method = DiffPart(faithful=True, c1=Fraction(str(c1)), c2=Fraction(str(c2)))
    with forced():
        noisy, _ = published(method, baskets)
    sets = [
        set(baskets.items[a:b].tolist())
        for a, b in zip(baskets.offsets[:-1], baskets.offsets[1:], strict=True)
    ]
    tree = SplitTree.of(baskets.taxonomy)
    assert listed(noisy) == naive(sets, tree, epsilon=1.0, c1=c1, c2=c2)


METHODS = [
    DiffPart(),
    DiffPart(max_length=3),
    DiffPart(max_length=40, false_positives=ONE),
    DiffPart(faithful=True),
    DiffPart(faithful=True, c1=ONE, c2=Fraction(2)),
    Basic(),
]


@settings(max_examples=150)
@given(
    baskets=encoded_baskets(most_items=7),
    method=st.sampled_from(METHODS),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_no_chain_exceeds_epsilon_and_all_of_it_is_booked(baskets, method, epsilon, seed):
    noisy, ledger = published(method, baskets, epsilon=epsilon, seed=seed)
    assert ledger.worst_path() == epsilon
    assert ledger.settled()
    assert (noisy.counts > 0).all()
    assert noisy.origin.share <= epsilon


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_items", [1, 2, 5, 11])
def test_degenerate_data_are_published_like_any_other(method, n_items):
    for records in ([], [{0}], [set(range(n_items))]):
        baskets = EncodedBaskets.from_sets(universe(n_items), records)
        for seed in range(3):
            _, ledger = published(method, baskets, seed=seed)
            assert ledger.settled()


@settings(max_examples=40)
@given(
    baskets=encoded_baskets(min_records=2, most_items=9),
    method=st.sampled_from(METHODS),
    data=st.data(),
)
def test_the_order_of_records_does_not_show(baskets, method, data):
    order = data.draw(st.permutations(range(len(baskets))))
    sets = [baskets.items[baskets.offsets[r] : baskets.offsets[r + 1]].tolist() for r in order]
    shuffled = EncodedBaskets.from_sets(baskets.taxonomy, sets)
    first, second = published(method, baskets)[0], published(method, shuffled)[0]
    assert listed(first) == listed(second)


def test_2_to_the_l_minus_1_sub_partitions_are_tested_and_none_is_enumerated(monkeypatch):
    asked = []
    nothing = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(
        mechanisms, "passing_empties", lambda n, **_: (asked.append(n), (nothing, nothing))[1]
    )
    published(DiffPart(faithful=True), EncodedBaskets.from_sets(universe(20, fan_out=20), [{3}]))
    assert asked == [2**20 - 1]


@pytest.mark.parametrize("faithful", [False, True])
def test_fan_out_20_and_16470_items_work(faithful):
    rng = np.random.default_rng(3)
    sets = [{int(i) for i in rng.zipf(1.5, 5) if i <= 16470} or {1} for _ in range(2000)]
    sets = [{item - 1 for item in items} for items in sets] + [{100, 9000}] * 12_000
    baskets = EncodedBaskets.from_sets(universe(16470, fan_out=20), sets)
    noisy, ledger = published(DiffPart(faithful=faithful), baskets, epsilon=Fraction(50))
    assert ledger.settled()
    assert listed(noisy).get((100, 9000), 0) == pytest.approx(12_000, abs=50)


def test_the_improved_variant_accounts_for_nearly_every_record():
    rng = np.random.default_rng(4)
    sets = [{int(i) % 200 for i in rng.zipf(1.3, 3)} for _ in range(20_000)]
    baskets = EncodedBaskets.from_sets(universe(200, fan_out=10), sets)
    noisy, _ = published(DiffPart(), baskets)
    assert noisy.counts.sum() == pytest.approx(20_000, rel=0.1)
    printed, _ = published(DiffPart(faithful=True), baskets)
    assert printed.counts.sum() < noisy.counts.sum() / 1.4


def test_frequent_itemsets_of_a_large_universe_keep_their_counts():
    sets = [{5}] * 6000 + [{5, 77}] * 3000 + [{42, 43}] * 2000 + [{150}] * 4000
    baskets = EncodedBaskets.from_sets(universe(200, fan_out=10), sets)
    rows = listed(published(DiffPart(), baskets, seed=5)[0])
    for items, count in {(5,): 6000, (5, 77): 3000, (42, 43): 2000, (150,): 4000}.items():
        assert rows[items] == pytest.approx(count, abs=150)


@settings(max_examples=30)
@given(taxonomy=taxonomies())
def test_every_variants_outline_adds_up_without_any_data(taxonomy):
    for method in METHODS:
        outline = method.outline(taxonomy, Fraction(3))
        assert sum(step.share * step.times for step in outline.steps) == 3
        assert 0 < outline.counts <= 3


def test_as_printed_a_random_one_of_the_highest_nodes_is_expanded():
    """Of two nodes of one height each is taken in half of 1,000 cuts, within six deviations."""
    tree, n = SplitTree.of(universe(4)), 1000
    level = PartitionLevel(
        nodes=np.arange(n),
        starts=2 * np.arange(n + 1),
        members=np.tile(np.array([1, 4], dtype=np.int32), n),  # both halves of the items
        noisy=np.ones(n, dtype=np.int64),
        parent=np.zeros(n, dtype=np.int64),
    )
    rules = PrintedRules(epsilon=ONE, c1=ONE, c2=ONE)
    chosen = rules.choose(level, tree, SeededSource(1)) % 2
    assert abs(int(chosen.sum()) - n // 2) < 95


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3, 2)])
def test_improved_tests_get_growing_shares_in_whole_thousandths_of_epsilon(epsilon):
    """Of the 0.65 left, 3 operations at 1 : 1.5 : 2.25, and then 2 at 1 : 1.5, rounded down."""
    taxonomy = context_free([f"i{code}" for code in range(20)], fan_out=3)
    steps = DiffPart().outline(taxonomy, epsilon).steps
    shares = [step.share / epsilon for step in steps if step.on == "tests"]
    assert shares == [Fraction(136, 1000), Fraction(205, 1000)]


def test_a_factor_that_lets_noise_multiply_is_refused():
    method = DiffPart(faithful=True, c2=ONE)
    with pytest.raises(SettingError, match="multiply"):
        method.validate(universe(1000, fan_out=10), ONE)
    method.validate(universe(4), ONE)
    DiffPart(faithful=True).validate(universe(1000, fan_out=10), ONE)


@pytest.mark.parametrize(
    "wrong",
    [{"max_length": 0}, {"false_positives": Fraction(0)}, {"c1": Fraction(-1)}, {"c2": -ONE}],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(SettingError):
        DiffPart(**wrong)


def test_the_threshold_of_a_faithful_release_is_the_least_that_any_count_had_to_reach():
    sets = [{0}] * 900 + [{1, 2}] * 800 + [{3, 5, 7}] * 700 + [{8}] * 500
    baskets = EncodedBaskets.from_sets(universe(9), sets)
    noisy, ledger = published(DiffPart(faithful=True, c1=Fraction(3), c2=Fraction(3)), baskets)
    largest = max(line.share for line in ledger.bookings if line.on == "counts")
    assert noisy.origin.threshold == math.ceil(math.sqrt(2) * 3 / largest)
    assert noisy.counts.min() >= noisy.origin.threshold > 1
    assert published(DiffPart(max_length=3), baskets)[0].origin.threshold is None


def test_the_usefulness_of_theorem_4_2_is_that_of_its_formula():
    taxonomy = universe(17, fan_out=10)
    method = DiffPart(faithful=True, c1=ONE, c2=Fraction(2))
    beta, n, delta = 1 / 6, 10, 0.05
    error = method.usefulness(taxonomy, ONE, n_itemsets=n, delta=delta)
    gamma = math.ceil(math.sqrt(2) * 2 * 2 / beta)
    assert error == pytest.approx(n * (gamma + math.log(n / delta) / beta))
    # The theorem's own statement: delta = n exp(beta gamma - beta error / n).
    assert n * math.exp(beta * gamma - beta * error / n) == pytest.approx(delta)
    for n_items in (9, 100):  # counts are moved or drawn, so that the theorem says nothing
        assert DiffPart().usefulness(universe(n_items), ONE, n_itemsets=n, delta=delta) is None
