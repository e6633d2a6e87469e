from __future__ import annotations

import tempfile
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.methods.diffmulti.budget import (
    DiffMultiBudget,
    even_shares,
    fair_shares,
    longest_path,
    most_specialisations,
)
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from support.tables import categorical, grid, schema_of, values

ONE = Fraction(1)


def of_height(height):
    """A taxonomy of a given height: binary, over 2 ** height values."""
    return categorical(context_free([f"v{i}" for i in range(2**height)], fan_out=2))


def test_eight_taxonomies_of_heights_21_have_the_longest_path_that_the_paper_states():
    # The paper's own taxonomies of Adult, which it does not print [Sec. 5]: 21 + 6 * 7 = 63.
    heights = [3, 4, 3, 2, 3, 1, 1, 4]
    schema = schema_of(*[of_height(h) for h in heights], *[grid(20)] * 6)
    assert longest_path(schema) == sum(heights) + 6 * 7 == 63


@pytest.fixture(scope="module")
def adult_schema():
    from hedgerow.demo import lay_out
    from hedgerow.pipeline.prepare import prepare

    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder), force=True)
        return prepare(Path(folder) / "plan.yaml").schema


def test_the_longest_path_of_adult_is_64_and_its_share_one_in_396(adult_schema):
    # Our taxonomies are one level higher than the paper's: that of occupation has 3.
    heights = {
        attribute.name: int(attribute.domain.taxonomy.height[0])
        for attribute in adult_schema.attributes
        if attribute.domain.kind == "categorical"
    }
    assert heights["occupation"] == 3
    assert sum(heights.values()) == 22
    assert longest_path(adult_schema) == 22 + 6 * 7 == 64
    budget = DiffMultiBudget.printed(ONE, adult_schema)
    assert budget.choice == budget.split == budget.sizes == Fraction(1, 2 * (6 + 3 * 64))
    assert budget.choice == Fraction(1, 396)
    assert budget.leaf == Fraction(1, 2)


def test_adults_taxonomies_allow_about_50_specialisations_of_a_cut_and_millions_of_boxes(
    adult_schema,
):
    named = [a for a in adult_schema.attributes if a.domain.kind == "categorical"]
    inner = [a.domain.taxonomy.n_nodes - a.domain.taxonomy.n_leaves for a in named]
    assert 40 <= sum(inner) <= 60  # "nearly 50 for DiffGen" [Sec. 5]
    only = Schema(attributes=tuple(named), class_attribute=adult_schema.class_attribute)
    assert most_specialisations(only) > 1_000_000  # "in millions"


def test_the_largest_h_is_that_of_equation_13():
    # Leaves 4, 3; intermediate nodes 2, 0: 1 + 2 + 4 + 4 * 0.
    assert most_specialisations(schema_of(values(4, 2), values(3))) == 1 + 2 + 4
    # A third attribute of 5 leaves under one root: + 4 * 3 + 4 * 3 * 0.
    assert most_specialisations(schema_of(values(4, 2), values(3), values(5))) == 7 + 12
    # Binary splits to single cells make one box fewer than there are cells.
    assert most_specialisations(schema_of(grid(7), grid(5))) == 7 * 5 - 1


def test_the_outline_of_either_variant_adds_up_to_epsilon():
    schema = schema_of(values(4, 2), grid(9))
    for epsilon, fair, depth in product((ONE, Fraction(1, 3)), (True, False), (None, 1, 5)):
        improved = DiffMultiBudget.improved(epsilon, schema, depth=depth, fair=fair)
        for budget in (improved, DiffMultiBudget.printed(epsilon, schema)):
            assert sum(step.share * step.times for step in budget.steps()) == epsilon
            assert budget.leaf >= epsilon / 2


def shares(left, noisy, seed=1):
    starts = np.array([0, len(noisy)])
    return fair_shares(
        np.array([left]), np.array(noisy), starts, source=SeededSource(seed)
    ).tolist()


def test_the_papers_example_4_2_hands_down_ten_to_each():
    starts = np.array([0, 2])
    assert even_shares(np.array([21]), starts, source=SeededSource(1)).tolist() == [10, 10]


def test_the_papers_example_4_4_hands_down_sixteen_and_four():
    assert shares(21, [8, 2]) == [16, 4]


def test_a_box_whose_children_all_look_empty_hands_nothing_down():
    assert shares(21, [0, -3, -1]) == [0, 0, 0]


def test_a_child_that_looks_empty_gets_nothing():
    assert shares(21, [5, -3, 0, 5]) == [10, 0, 0, 10]


def test_what_rounding_leaves_over_goes_to_children_at_random():
    seen = {tuple(shares(2, [3, 3, -1], seed=seed)) for seed in range(40)}
    assert seen == {(1, 0, 0), (0, 1, 0)}


@given(
    left=st.lists(st.integers(1, 100_000), min_size=1, max_size=6),
    data=st.data(),
    seed=st.integers(0, 100),
)
def test_a_box_never_hands_down_more_than_it_has(left, data, seed):
    lengths = [data.draw(st.integers(1, 5)) for _ in left]
    noisy = [data.draw(st.integers(-50, 10**9)) for _ in range(sum(lengths))]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    given_down = fair_shares(np.array(left), np.array(noisy), starts, source=SeededSource(seed))
    assert (given_down >= 0).all()
    assert (given_down[np.array(noisy) <= 0] == 0).all()
    for p, has in enumerate(left):
        of_parent = slice(starts[p], starts[p + 1])
        some = max(noisy[of_parent]) > 0
        assert given_down[of_parent].sum() == (has - 1 if some else 0)


def test_the_depth_depends_on_the_schema_alone():
    # |g| = log2 |D| [Sec. 4.6] would tell 1,023 records from 1,024.
    schema = schema_of(values(4, 2), grid(9))
    assert DiffMultiBudget.printed(ONE, schema).depth == 2 + 7
    assert DiffMultiBudget.improved(ONE, schema, depth=3, fair=True).depth == 3
