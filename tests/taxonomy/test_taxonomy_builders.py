from __future__ import annotations

import datetime
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import InputError
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.domain import NumericDomain
from hedgerow.taxonomy.tree import Taxonomy


def way(tree: Taxonomy, label: str) -> list[str]:
    return [tree.labels[node] for node in reversed(tree.path(tree.find(label)))]


def test_flat_puts_values_under_one_root():
    tree = builders.flat(["b", "a"])
    assert tree == Taxonomy.from_nested("*", ["b", "a"])
    assert builders.flat(["b"], root="Any").labels == ("Any", "b")


def test_context_free_is_the_tree_of_the_paper_for_four_items_and_fan_out_2():
    # [DiffPart, Figure 1]: I{1,2,3,4} above I{1,2} and I{3,4}
    tree = builders.context_free(["I1", "I2", "I3", "I4"], fan_out=2)
    assert tree == Taxonomy.from_nested("*", {"I1..I2": ["I1", "I2"], "I3..I4": ["I3", "I4"]})


def test_the_last_group_may_be_smaller_and_a_group_of_one_is_its_member():
    tree = builders.context_free(list("abcdefghijk"), fan_out=5)
    assert tree == Taxonomy.from_nested(
        "*", [{"a..e": list("abcde")}, {"f..j": list("fghij")}, "k"]
    )


@settings(max_examples=60)
@given(n=st.integers(1, 130), fan_out=st.integers(2, 12))
def test_context_free_groups_by_fan_out_up_to_one_root(n, fan_out):
    items = [f"item {number}" for number in range(n)]
    tree = builders.context_free(items, fan_out=fan_out)
    assert list(tree.leaf_labels) == items
    height = 1
    while fan_out**height < n:
        height += 1
    assert tree.height[0] == height
    for node in range(tree.n_nodes):
        n_children = len(tree.children(node))
        assert n_children <= fan_out
        assert n_children != 1 or n == 1
        # Full groups everywhere but at the end.
        size = int(tree.stop[node] - tree.first[node])
        if n_children and tree.stop[node] < n:
            assert size == fan_out ** int(tree.height[node])


def test_sixteen_thousand_items_take_well_under_a_second():
    items = [str(number) for number in range(16_470)]
    began = time.perf_counter()
    tree = builders.context_free(items, fan_out=10)
    assert time.perf_counter() - began < 1
    assert (tree.n_leaves, tree.height[0]) == (16_470, 5)


def test_numeric_groups_by_widths():
    tree = builders.numeric(low=0, high=99, step=1, widths=[5, 10, 20])
    assert way(tree, "7") == ["7", "[5, 10)", "[0, 10)", "[0, 20)", "*"]
    assert way(tree, "99") == ["99", "[95, 99]", "[90, 99]", "[80, 99]", "*"]


def test_numeric_groups_by_fan_out():
    tree = builders.numeric(low="0", high="0.8", step="0.1", fan_out=3)
    assert way(tree, "[0.4, 0.5)") == ["[0.4, 0.5)", "[0.3, 0.6)", "*"]
    assert way(tree, "0.8") == ["0.8", "[0.6, 0.8]", "*"]


@settings(max_examples=40)
@given(low=st.integers(-50, 50), span=st.integers(0, 80), fan_out=st.none() | st.integers(2, 9))
def test_numeric_taxonomies_and_numeric_domains_share_codes_and_labels(low, span, fan_out):
    domain = NumericDomain.even(low=low, high=low + span, step=2)
    tree = builders.numeric(low=low, high=low + span, step=2, fan_out=fan_out)
    for node in range(1, tree.n_nodes):
        label = domain.label(int(tree.first[node]), int(tree.stop[node]))
        assert tree.labels[node] == label


def test_numeric_takes_edges():
    tree = builders.numeric_edges([0, 10, 20, 50, 100], fan_out=2)
    assert way(tree, "[20, 50)") == ["[20, 50)", "[20, 100]", "*"]
    assert builders.numeric_edges(["0", "1"]).labels == ("*", "[0, 1]")


def test_prefixes_are_masked_from_the_right():
    tree = builders.prefixes(["12345", "12399", "54321"])
    assert way(tree, "12345") == ["12345", "1234*", "123**", "12***", "1****", "*"]
    assert [tree.labels[child] for child in tree.children(tree.find("123**"))] == ["1234*", "1239*"]
    assert builders.prefixes(["7"]).labels == ("*", "7")


def test_codes_of_unequal_length_keep_their_length_when_masked():
    tree = builders.prefixes(["AB", "ABC"], mask="#", root="Any")
    assert way(tree, "AB") == ["AB", "A#", "Any"]
    assert way(tree, "ABC") == ["ABC", "AB#", "A##", "Any"]


def test_all_codes_of_a_length_can_be_listed():
    assert builders.prefix_codes(2)[:12:11] == ["00", "11"]
    assert builders.prefix_codes(2, alphabet="ab") == ["aa", "ab", "ba", "bb"]


def test_dates_go_by_month_quarter_and_year():
    tree = builders.dates(datetime.date(2019, 12, 30), "2021-04-01")
    assert way(tree, "2020-02-29") == ["2020-02-29", "2020-02", "2020-Q1", "2020", "*"]
    assert way(tree, "2021-04-01") == ["2021-04-01", "2021-04", "2021-Q2", "2021", "*"]
    assert tree.leaf_labels[0] == "2019-12-30"
    assert tree.n_leaves == 2 + 366 + 90 + 1
    quarters = {label for label in tree.labels if "Q" in label}
    assert len(quarters) == 1 + 4 + 2


def test_date_levels_can_be_left_out():
    tree = builders.dates("2020-11-05", datetime.datetime(2021, 2, 1), levels=["month", "year"])
    assert tree.leaf_labels == ("2020-11", "2020-12", "2021-01", "2021-02")
    assert way(tree, "2021-01") == ["2021-01", "2021", "*"]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: builders.flat([]), "The list is empty"),
        (lambda: builders.flat(["a", "b", "a"]), "'a' is listed twice"),
        (lambda: builders.flat(["*"]), "'\\*' occurs twice"),
        (lambda: builders.flat(["a", ""]), "label '' is empty"),
        (lambda: builders.context_free([], fan_out=2), "The list is empty"),
        (lambda: builders.context_free(["a"], fan_out=1), "fan-out: 1 is out of range"),
        (lambda: builders.context_free(["a", "b", "c", "a..b"], fan_out=2), "'a..b' occurs twice"),
        (lambda: builders.numeric(low=0, high=9, step=1, fan_out=1), "fan-out: 1 is out of range"),
        (lambda: builders.numeric(low=0, high=9, step=1, fan_out=2, widths=[5]), "Both are set"),
        (lambda: builders.numeric(low=0, high=9, step=2, widths=[5]), "widths: 5 is out of range"),
        (lambda: builders.numeric(low=0, high=9, step=1, widths=[4, 6]), "widths: 6 is out of"),
        (lambda: builders.numeric(low=0, high=9, step=1, widths=[1]), "widths: 1 is out of range"),
        (lambda: builders.numeric(low=0, high=10**7, step=1), "at most 2,000,000 cells"),
        (lambda: builders.numeric_edges([1, 0]), "edges: "),
        (lambda: builders.numeric_edges([0, 1], fan_out=0), "fan-out: 0 is out of range"),
        (lambda: builders.prefixes([]), "The list is empty"),
        (lambda: builders.prefixes(["12*"]), "holds the mask"),
        (lambda: builders.prefixes(["a" * 101]), "longer than 100"),
        (lambda: builders.prefixes(["12"], mask=""), "mask: '' is out of range"),
        (lambda: builders.prefixes(["12", "34"], root="34"), "The label '34' occurs twice"),
        (lambda: builders.prefix_codes(0), "length: 0 is out of range"),
        (lambda: builders.prefix_codes(9), "length: 9 is out of range"),
        (lambda: builders.prefix_codes(2, alphabet="aa"), "alphabet: 'aa' is out of range"),
        (lambda: builders.prefix_codes(2, alphabet=""), "alphabet: '' is out of range"),
        (lambda: builders.dates("2020-01-02", "2020-01-01"), "to: 2020-01-01 is out of range"),
        (lambda: builders.dates("2020-02-30", "2020-03-01"), "from: '2020-02-30' is out of range"),
        (lambda: builders.dates(2020, "2020-03-01"), "from: 2020 is out of range"),
        (lambda: builders.dates("0001-01-01", "9999-12-31"), "to: 9999-12-31 is out of range"),
        (lambda: builders.dates("2020-01-01", "2020-01-02", levels=[]), "levels: "),
        (lambda: builders.dates("2020-01-01", "2020-01-02", levels=["week"]), "levels: "),
        (lambda: builders.dates("2020-01-01", "2020-01-02", levels=["year", "day"]), "levels: "),
    ],
)
def test_settings_out_of_range_are_refused(build, message):
    with pytest.raises(InputError, match=message) as caught:
        build()
    assert caught.value.do
