# ruff: noqa: E501
from __future__ import annotations

import datetime
import subprocess
import sys

import pytest

from hedgerow.errors import InputError
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.load import KEYWORDS, taxonomy_of
from hedgerow.taxonomy.tree import Taxonomy


@pytest.fixture
def base(tmp_path):
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "jobs.csv").write_text("a;X;*\nb;X;*\n")
    (tmp_path / "trees" / "pairs.csv").write_text("a,X\nb,X\n")
    (tmp_path / "items.txt").write_text("7\n\n 8 \n9\n")
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("trees/jobs.csv", Taxonomy.from_nested("*", {"X": ["a", "b"]})),
        ({"file": "trees/jobs.csv"}, Taxonomy.from_nested("*", {"X": ["a", "b"]})),
        (
            {"file": {"path": "trees/pairs.csv", "format": "pairs"}},
            Taxonomy.from_nested("X", ["a", "b"]),
        ),
        ({"Any": {"X": ["a"], "Y": [1, 2]}}, Taxonomy.from_nested("Any", {"X": ["a"], "Y": [1, 2]})),
        ({"X": ["a"], "Y": ["b"]}, Taxonomy.from_nested("*", {"X": ["a"], "Y": ["b"]})),
        ({"flat": ["a"], "dates": ["b"]}, Taxonomy.from_nested("*", {"flat": ["a"], "dates": ["b"]})),
        (["a", {"X": ["b"]}], Taxonomy.from_nested("*", ["a", {"X": ["b"]}])),
        ({"nested": {"flat": ["a", "b"]}}, Taxonomy.from_nested("flat", ["a", "b"])),
        ({"flat": ["a", 2]}, builders.flat(["a", "2"])),
        ({"flat": "items.txt"}, builders.flat(["7", "8", "9"])),
        ({"flat": {"values": ["a"], "root": "Any"}}, builders.flat(["a"], root="Any")),
        ({"context-free": {"items": "items.txt", "fan-out": 2}}, builders.context_free(["7", "8", "9"], fan_out=2)),
        ({"context-free": {"items": list("abc"), "fan-out": 2}}, builders.context_free(list("abc"), fan_out=2)),
        ({"prefix": ["123", "129"]}, builders.prefixes(["123", "129"])),
        ({"prefix": {"values": ["123", 129], "length": 3}}, builders.prefixes(["123", "129"])),
        ({"prefix": {"length": 2, "alphabet": "ab", "mask": "#"}}, builders.prefixes(["aa", "ab", "ba", "bb"], mask="#")),
        ({"dates": {"from": "2020-01-01", "to": datetime.date(2020, 3, 1)}}, builders.dates("2020-01-01", "2020-03-01")),
        ({"dates": {"from": "2020-01-01", "to": "2020-03-01", "levels": ["month"]}}, builders.flat(["2020-01", "2020-02", "2020-03"])),
        ({"numeric": {"low": 0, "high": 9, "step": 0.5, "fan-out": 4}}, builders.numeric(low=0, high=9, step="1/2", fan_out=4)),
        ({"numeric": {"low": 0, "high": 9, "step": 1, "widths": [5]}}, builders.numeric(low=0, high=9, step=1, widths=[5])),
        ({"numeric": {"edges": [0, 10, 20], "root": "Any"}}, builders.numeric_edges([0, 10, 20], root="Any")),
    ],
)  # fmt: skip
def test_a_plan_can_ask_for_files_trees_and_builders(base, spec, expected):
    assert taxonomy_of(spec, base=base) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("trees/none.csv", "none.csv: The file cannot be read"),
        (17, "taxonomy: 17 is not a taxonomy"),
        (None, "taxonomy: None is not a taxonomy"),
        (b"a", "is not a taxonomy"),
        ({}, "taxonomy: The taxonomy is empty"),
        ({"Any": ["a", "a"]}, "taxonomy, below 'Any': The label 'a' occurs twice"),
        ({"Any": [True]}, "taxonomy, below 'Any': The label True is not text"),
        ({"file": {"path": "trees/jobs.csv", "format": "xml"}}, "There is no format 'xml'"),
        ({"file": {}}, "taxonomy > file: path is missing"),
        ({"flat": {"a": ["b"]}}, "taxonomy > flat: There is no setting 'a'"),
        ({"flat": []}, "The list is empty"),
        ({"flat": 5}, "taxonomy > flat: 5 is not a list"),
        ({"flat": [True]}, "taxonomy > flat: The label True is not text"),
        ({"prefix": {"values": ["123", "12"], "length": 3}}, "taxonomy > prefix: '12' does not have 3 characters"),
        ({"prefix": {}}, "taxonomy > prefix: length is missing"),
        ({"prefix": {"length": "5"}}, "taxonomy > prefix: length is '5'"),
        ({"dates": {"from": "2020-01-01"}}, "taxonomy > dates: to is missing"),
        ({"dates": ["2020-01-01"]}, "taxonomy > dates: .* are not settings"),
        ({"dates": {"from": "2020-01-01", "to": "2020-01-02", "levels": "day"}}, "levels is 'day'"),
        ({"context-free": {"items": ["a"]}}, "taxonomy > context-free: fan-out is missing"),
        ({"context-free": {"items": ["a"], "fan_out": 3}}, "Did you mean fan-out?"),
        ({"context-free": {"items": ["a"], "fan-out": True}}, "fan-out is True"),
        ({"numeric": {"low": 0, "step": 1}}, "taxonomy > numeric: high is missing"),
        ({"numeric": {"edges": [0, 1], "step": 1}}, "There is no setting 'step'"),
        ({"numeric": {"low": 0, "high": 9, "step": 1, "widths": 5}}, "widths is 5"),
    ],
)  # fmt: skip
def test_what_a_plan_asks_for_wrongly_is_named(base, spec, message):
    with pytest.raises(InputError, match=message) as caught:
        taxonomy_of(spec, base=base)
    assert caught.value.do


def test_keywords_are_documented(root):
    words = (root / "docs" / "taxonomies.md").read_text()
    for keyword in KEYWORDS:
        assert f"`{keyword}`" in words, keyword


def test_importing_taxonomies_loads_no_heavy_library():
    heavy = "numba polars pyarrow narwhals matplotlib sklearn pandas"
    code = (
        "import sys, hedgerow.taxonomy, hedgerow.cli.taxonomy;"
        f"print(*(name for name in '{heavy}'.split() if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
