"""The table of groups: labels, the class, and the count last; safe in spreadsheets."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.model.groups import Ranges
from hedgerow.model.labels import count_column, leaf_labels, range_labels
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release import table as written_table
from hedgerow.release.table import (
    groups_table,
    integers,
    label_columns,
    labelled,
    shielded_once,
    spreadsheet_safe,
    to_csv,
)
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy


def as_csv(table: pa.Table, texts: set[str]) -> str:
    file = io.BytesIO()
    to_csv(table, file, texts=texts)
    return file.getvalue().decode()


def test_a_table_has_the_attributes_the_class_and_the_count_last(schema, groups):
    table = groups_table(schema, groups)
    assert table.column_names == ["age", "job", "income", "count"]
    assert table.schema.field("count").type == pa.int64()
    assert all(pa.types.is_dictionary(table.schema.field(at).type) for at in range(3))
    assert table.to_pylist()[0] == {"age": "[-5, 0)", "job": "office", "income": ">50K", "count": 3}


def test_a_table_without_a_class_has_none(schema, groups):
    bare = Schema(attributes=schema.attributes, class_attribute=None)
    assert groups_table(bare, groups).column_names == ["age", "job", "count"]


def test_the_count_column_gives_way_to_an_attribute_of_that_name(schema):
    domain = NumericDomain.even(low=0, high=1, step=1)
    taken = tuple(Attribute(name=name, domain=domain) for name in ("count", "noisy_count"))
    assert count_column(schema) == "count"
    assert count_column(Schema(attributes=taken, class_attribute=None)) == "noisy_noisy_count"


def test_a_domain_of_one_value_keeps_the_label_of_its_leaf():
    domain = CategoricalDomain(taxonomy=Taxonomy.flat(["only"]))
    assert leaf_labels(domain) == ["only"]


def test_ranges_that_would_be_labelled_alike_are_told_apart():
    taxonomy = Taxonomy.flat(["a", "b", "a|b", "c", "d", "e"])
    labels = range_labels(CategoricalDomain(taxonomy=taxonomy), Ranges.of([(0, 2), (2, 3)]))
    assert labels == ["a|b #0-2", "a|b #2-3"]


FORMULAS = [
    "=1+1",
    "=A1",
    "+A1",
    "-$AB$12",
    "@x1",
    "+HYPERLINK(1)",
    "@SUM(A1)",
    "-cmd|x",
    "-2+3+cmd|x!A0",
    "-[x]y!A1",
    "＝1",
    "－cmd｜x",
    "'=x",
    "''@SUM(1)",
    "\tx",
    "\rx",
    "='file:///x'#$y.A1",
]
PLAIN = [
    "-5",
    "-1.5e3",
    "-5%",
    "[-5, 0)",
    "<=50K",
    "a=b",
    "",
    "'tis",
    "don't",
    "- 50000.",
    "-",
    "+",
    "@home",
    "-x",
    "+49 170",
    "'-x",
    "--",
    "a(b)",
    "-5-3",
    "@home2",
    "- 1a",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_texts_that_a_spreadsheet_would_run_get_an_apostrophe(text):
    assert spreadsheet_safe(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_stay_as_they_are(text):
    assert spreadsheet_safe(text) == text


@given(st.lists(st.text(alphabet="ab,\"\n\r\t ';é", max_size=4), min_size=1, max_size=6))
def test_texts_are_quoted_as_a_writer_of_csv_does_it(texts):
    import polars as pl

    table = pa.table({f"x{texts[0]}": labelled(np.arange(len(texts)), texts), "n": texts})
    file = io.BytesIO()
    pl.DataFrame(table).write_csv(file, line_terminator="\n", quote_style="necessary")
    assert as_csv(table, set()) == file.getvalue().decode()


LETTERS = st.text(alphabet="'=+-@1a(|!\t", max_size=5)


@given(LETTERS, LETTERS)
@settings(max_examples=100)
def test_no_two_texts_become_the_same_and_none_stays_a_formula(one, other):
    for safe in (spreadsheet_safe, shielded_once):
        assert (safe(one) == safe(other)) == (one == other)
    text = spreadsheet_safe(one)
    assert not text.startswith(("=", "\t"))
    assert not (text.startswith(("+", "-", "@")) and (set("(|!") & set(text) or "+a1" in text))


def test_a_csv_is_quoted_where_needed_and_read_back_as_written(schema, groups):
    text = as_csv(groups_table(schema, groups), label_columns(list(schema.used())))
    assert text.endswith("\n")
    assert "\r" not in text
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["age", "job", "income", "count"]
    assert rows[2] == ["[-5, 0)", "'=Outdoor", "<=50K", "1"]
    assert rows[3] == ["[0, 90]", "shop, small", "<=50K", "40"]


def test_negative_numbers_stay_numbers_and_column_names_are_made_safe():
    table = pa.table(
        {
            "=x": labelled(np.array([0, 1]), ["-5", "[-4, 0)"]),
            "y": labelled(np.array([0, 1]), ["-5", "-x"]),
            "z": labelled(np.array([0, 1]), ["- 50000.", "-x(1)"]),
        }
    )
    written = "'=x,y,z\n-5,-5,- 50000.\n\"[-4, 0)\",-x,'-x(1)\n"
    assert as_csv(table, {"y", "z"}) == written


def test_an_empty_table_is_a_header(schema, groups):
    table = groups_table(schema, groups).slice(0, 0)
    assert as_csv(table, {"job", "income"}) == "age,job,income,count\n"


def test_columns_of_few_texts_are_written_as_if_one_by_one(monkeypatch):
    rng = np.random.default_rng(4)
    columns = {
        "a": labelled(rng.integers(0, 3, 900), ["x", 'say "y"', ""]),
        "b": labelled(rng.integers(0, 4, 900), ["[1, 2)", "=SUM(A1)", "p", "q"]),
        "c": labelled(rng.integers(0, 800, 900), [str(each) for each in range(800)]),
        "d": labelled(rng.integers(0, 2, 900), ["no", "yes"]),
        "count": integers(rng.integers(0, 99, 900), np.int64),
    }
    table = pa.table(columns).slice(17)  # a part, so that memory and column begin apart
    fused, plain = io.BytesIO(), io.BytesIO()
    to_csv(table, fused, texts={"a", "b"})
    monkeypatch.setattr(written_table, "_FUSED", 0)
    to_csv(table, plain, texts={"a", "b"})
    assert fused.getvalue() == plain.getvalue()
    assert fused.getvalue().count(b"\n") == 884


def test_writing_a_table_loads_no_pandas():
    code = (
        "import io, sys, numpy as np, pyarrow as pa\n"
        "from hedgerow.release.table import integers, labelled, to_csv\n"
        "column = labelled(np.arange(400, dtype=np.int32) % 3, ['x', 'y', 'z'])\n"
        "table = pa.table({'a': column, 'b': column, 'n': integers(np.arange(400), np.int64)})\n"
        "to_csv(table, io.BytesIO(), texts={'a'})\n"
        "sys.exit('pandas' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
