"""Records drawn from the groups: inside their boxes, as many as the counts say."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Attribute, Schema
from hedgerow.privacy.source import SeededSource
from hedgerow.release.records import leaf_values, record_tables, write_records
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy


def drawn(schema: Schema, groups: Groups, *, seed: int = 1, chunk: int = 1000) -> pa.Table:
    parts = record_tables(schema, groups, source=SeededSource(seed), chunk=chunk)
    return pa.concat_tables(parts, promote_options="none")


def test_every_group_gives_its_count_of_records_with_its_class(schema, groups):
    table = drawn(schema, groups)
    assert table.column_names == ["age", "job", "income"]
    rows = Counter((row["job"], row["income"]) for row in table.to_pylist())
    assert rows["office", ">50K"] == 3
    assert rows["shop, small", "<=50K"] == 40
    assert sum(n for (job, _), n in rows.items() if job in ("farm", "-sea", "@home")) == 8
    assert table.num_rows == 53


def test_records_are_sorted_by_group(schema, groups):
    ages = drawn(schema, groups)["age"].to_pylist()
    assert set(ages[:4]) == {-5}
    assert all(0 <= age <= 90 for age in ages[4:])


@given(chunk=st.integers(1, 60))
@settings(max_examples=20)
def test_parts_of_any_size_hold_the_same_groups(chunk):
    domain = NumericDomain.even(low=0, high=9, step=1)
    schema = Schema(attributes=(Attribute(name="x", domain=domain),), class_attribute=None)
    groups = Groups(
        ranges=(Ranges.of([(0, 1), (1, 2), (2, 10)]),),
        index=(np.array([0, 1, 2], np.int32),),
        classes=None,
        counts=np.array([20, 1, 30], np.int64),
        is_cut=True,
    )
    values = drawn(schema, groups, chunk=chunk)["x"].to_pylist()
    assert values[:21] == [0] * 20 + [1]
    assert len(values) == 51
    assert all(2 <= value <= 9 for value in values[21:])


def test_values_are_uniform_within_a_range():
    domain = CategoricalDomain(taxonomy=Taxonomy.flat(["a", "b", "c", "d"]))
    schema = Schema(attributes=(Attribute(name="x", domain=domain),), class_attribute=None)
    groups = Groups(
        ranges=(Ranges.of([(0, 3), (3, 4)]),),
        index=(np.array([0], np.int32),),
        classes=None,
        counts=np.array([30_000], np.int64),
        is_cut=True,
    )
    found = Counter(drawn(schema, groups, seed=2011)["x"].to_pylist())
    assert set(found) == {"a", "b", "c"}
    # Six standard deviations of a binomial of 30,000 and 1/3: one false alarm in 10^8.
    assert all(abs(n - 10_000) < 490 for n in found.values())


def test_a_release_without_groups_gives_a_header(schema, groups, tmp_path):
    none = np.zeros(0, np.int32)
    empty = Groups(
        ranges=groups.ranges,
        index=(none, none),
        classes=none,
        counts=none.astype(np.int64),
        is_cut=True,
    )
    write_records(schema, empty, tmp_path / "records.csv", source=SeededSource(1))
    assert (tmp_path / "records.csv").read_text() == "age,job,income\n"


def test_the_file_has_one_header_and_safe_texts(schema, groups, tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.release.records.CHUNK", 10)
    write_records(schema, groups, tmp_path / "records.csv", source=SeededSource(3))
    lines = (tmp_path / "records.csv").read_text().splitlines()
    assert len(lines) == 54
    assert lines[0] == "age,job,income"
    assert lines[1] == "-5,office,>50K"
    assert "age,job,income" not in lines[1:]
    # No spreadsheet runs a sign by itself, and a program gets the label back.
    assert {"-sea", "@home"} <= {line.split(",")[1] for line in lines}


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (NumericDomain.even(low=17, high=90, step=1), [17, 18, 19]),
        (NumericDomain.even(low=-10, high=90, step=5), [-10, -5, 0]),
        (NumericDomain.even(low=0, high=1, step=Fraction(1, 10)), [0.0, 0.1, 0.2]),
        (NumericDomain.from_edges([0, 10, 100, 1000]), [0, 10, 100]),
        (NumericDomain.from_edges([0, "0.5", 1, 2]), [0.0, 0.5, 1.0]),
        (NumericDomain.even(low=1, high=9, step=1, missing=True), [None, 1, 2]),
        (
            CategoricalDomain.over(Taxonomy.flat(["a"]), other="rest", missing="none"),
            ["a", "rest", "none"],
        ),
    ],
)
def test_a_code_becomes_the_lower_edge_of_its_cell_or_its_label(domain, values):
    found = leaf_values(domain, np.array([0, 1, 2])).to_pylist()
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]
