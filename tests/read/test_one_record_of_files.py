"""One record changes at most itself: in workbooks, JSON lines, SPSS and Stata files."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hedgerow.count.spark.lines import ParseLines
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.read.jsonlines import ObjectParser
from hedgerow.read.open import open_table
from support.file_kinds import write_sheet
from support.one_record import (
    BYTES,
    HOSTILE,
    PLACE,
    assert_by_itself,
    codes_in,
    inserted,
    put,
    schema,
)

FEWER = settings(max_examples=40)  # each writes two files
CELLS = [
    None, 17, 17.0, 1.5, 2.0**53, -9, True, "17", "1.5", "m", "São Paulo", "\u202em", "", "?",
    "1e400", "=1/0", "'m", " m ", dt.date(2011, 8, 21), dt.datetime(2011, 8, 21, 12), 0.1,
    "9" * 40, "<c>&amp;</c>", "_x000D_", "a\nb", "x" * 300,
]  # fmt: skip
USUAL = st.tuples(
    st.sampled_from([None, 17, 1.5, "m", "São Paulo", "17", dt.date(2011, 8, 21)]),
    st.sampled_from([None, 1, 8.5, "3", "?"]),
)


@FEWER
@given(
    rows=st.lists(USUAL, max_size=6),
    hostile=st.lists(st.sampled_from(CELLS), max_size=4),
    place=PLACE,
    form=st.builds(
        Reading,
        header=st.sampled_from([True, ("town", "n")]),
        malformed=st.sampled_from(["refuse", "drop"]),
    ),
)
@example([("m", 1)] * 3, [None, None, "far"], 1, Reading(malformed="drop"))
@example([(None, 1)] * 3, ["m", 1], 1, Reading(header=("town", "n")))
@example([("17", 1)] * 3, [dt.date(2011, 8, 21), 1], 0, PLAIN)
def test_a_row_of_a_workbook_changes_at_most_itself(tmp_path_factory, rows, hostile, place, form):
    path = tmp_path_factory.getbasetemp() / "t.xlsx"
    header = [["town", "n"]] if form.header is True else []

    def read(given_rows: list[Any]) -> Counter[Any]:
        write_sheet(path, [*header, *given_rows])
        return codes_in(open_table(path, reading=form))

    assert_by_itself(lambda: read(rows), lambda: read(inserted(rows, hostile, place)))


OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "town": st.sampled_from(["m", "São Paulo", 17, 17.0, None, "17", True]),
        "n": st.sampled_from([1, 8.5, "3", None, "?"]),
        "x": st.sampled_from([1, "y"]),
    },
)
JSON = [
    b"{", b"}", b"[", b"]", b":", b",", b'"', b'"town":', b'"n":1', b"{}", b"null", b"1", b"\\",
    b"\\u0061", b"\\ud800", b"NaN", b'{"town":"m","n":1}', b"]}", b"[{",
]  # fmt: skip
HOSTILE_LINE = st.lists(st.sampled_from([*JSON, *HOSTILE]), max_size=8).map(b"".join) | BYTES


@settings(max_examples=60)
@given(
    objects=st.lists(OBJECTS, max_size=8),
    hostile=HOSTILE_LINE,
    place=PLACE,
    malformed=st.sampled_from(["refuse", "drop"]),
    header=st.sampled_from([True, ("town", "n")]),
    size=st.sampled_from([1, 30, 1 << 20]),
    name=st.sampled_from(["t.jsonl", "t.ndjson.gz"]),
)
@example([{"town": "m"}] * 3, b'{"town":["m"]}', 0, "drop", True, 1 << 20, "t.jsonl")
@example([{"town": "m"}] * 3, b'{"town":"m"},{"town":"m"}', 0, "drop", True, 30, "t.jsonl")
@example([{"town": "17"}] * 3, b'{"town":17.5,"n":{}}', 0, "drop", True, 30, "t.jsonl")
def test_a_line_of_objects_changes_at_most_itself(
    tmp_path_factory, objects, hostile, place, malformed, header, size, name
):
    folder = tmp_path_factory.getbasetemp()
    form = Reading(header=header, malformed=malformed)
    lines = [json.dumps(each, ensure_ascii=False).encode() for each in objects]

    def read(given_lines: list[bytes]) -> Counter[Any]:
        # Under refuse, one that has every key in front: the first objects name the columns.
        first = [b'{"town": "m", "n": 1}' if malformed == "refuse" else b"{}"]
        source = open_table(put(folder, name, [*first, *given_lines]), reading=form)
        object.__setattr__(source, "block_size", size)
        return codes_in(source)

    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))


@settings(max_examples=60)
@given(objects=st.lists(OBJECTS, max_size=8), hostile=HOSTILE_LINE, place=PLACE)
def test_an_object_on_spark_changes_at_most_itself(objects, hostile, place):
    names = [each.name for each in schema().used()]
    parse = ParseLines(ObjectParser(Reading(malformed="drop"), name="t", requested=names), None)
    lines = [json.dumps(each, ensure_ascii=False).encode() for each in objects]

    def read(given_lines: list[bytes]) -> Counter[Any]:
        batch = pa.RecordBatch.from_arrays([pa.array(given_lines, pa.binary())], ["line"])
        return Counter(tuple(row.values()) for row in parse(batch).to_pylist())

    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))


VALUES: dict[str, tuple[list[Any], list[Any]]] = {
    "coded": ([1.0, 2.0, 17.0], [9.0, np.nan, -1.5, 2.0**53, 1e300, float("inf")]),
    "text": (["m", "São Paulo", "17"], ["", "\u202em", "x" * 400, " m ", "1e400", '"']),
    "dates": ([dt.date(2011, 8, 21), dt.date(1940, 1, 1)], [dt.date(9999, 12, 31), None]),
    "moments": (
        [dt.datetime(2011, 8, 21, 12)],
        [dt.datetime(1582, 10, 15), dt.datetime(9999, 1, 1)],
    ),
}


@FEWER
@given(data=st.data(), kind=st.sampled_from(list(VALUES)), name=st.sampled_from(["t.sav", "t.dta"]))
def test_a_row_of_a_labelled_file_changes_at_most_itself(tmp_path_factory, data, kind, name):
    path = tmp_path_factory.getbasetemp() / name
    usual, odd = VALUES[kind]
    towns = data.draw(st.lists(st.sampled_from(usual), min_size=1, max_size=6))
    hostile, place = data.draw(st.sampled_from(odd)), data.draw(PLACE)
    n_odd = data.draw(st.sampled_from([1.0, np.nan, 1e300, -5.0]))
    labels = {"town": {1.0: "m", 2.0: "Köln"}} if kind == "coded" else {}

    def read(rows: list[Any]) -> Counter[Any]:
        frame = pd.DataFrame({"town": [row[0] for row in rows], "n": [row[1] for row in rows]})
        write = pyreadstat.write_dta if name == "t.dta" else pyreadstat.write_sav
        write(frame, str(path), variable_value_labels=labels)
        return codes_in(open_table(path))

    rows = [(town, 1.0) for town in towns]
    try:
        before = read(rows)
        every = inserted(rows, (hostile, n_odd), place)
        assert_by_itself(lambda: before, lambda: read(every))
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError, OverflowError):
        return  # there is no such file
