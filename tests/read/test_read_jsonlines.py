"""JSON lines: values spelt one by one, keys as columns, and what makes a line malformed."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pytest

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read.lines import BLOCK
from hedgerow.read.open import open_table

SECRET = "SECRET123"
GOOD = b'{"age": 17, "job": "shop"}'
DROP = Reading(malformed="drop")


def rows_of(source, columns=None):
    asked = columns or source.columns
    return [tuple(row.values()) for batch in source.batches(asked) for row in batch.to_pylist()]


def put(folder, lines, name="t.jsonl"):
    path = folder / name
    data = b"\n".join(lines) + b"\n"
    if name.endswith(".gz"):
        data = gzip.compress(data)
    if name.endswith(".zst"):
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "T.JSONL.gz", "t.jsonl.zst"])
def test_values_are_spelt_one_by_one(tmp_path, name):
    lines = [
        b'\xef\xbb\xbf{"a": 17, "b": "x"}\r',
        b'  {"b": null, "a": 17.0, "c": true}',
        b"",
        '{"a": "1.50", "b": "K\\u00f6ln \U0001f600"}'.encode(),
        b'{"a": 123456789012345678901234567890, "b": 0.1}',
        b"{}",
    ]
    source = open_table(put(tmp_path, lines, name))
    assert source.columns == ("a", "b", "c")
    assert rows_of(source) == [
        ("17", "x", None),
        ("17", None, "true"),
        ("1.50", "Köln \U0001f600", None),
        ("123456789012345678901234567890", "0.1", None),
        (None, None, None),
    ]


JSON_VALUES = {
    "true": "true",
    "false": "false",
    "null": None,
    "1": "1",
    "1.0": "1",
    "1e0": "1",
    "1.5": "1.5",
    "0": "0",
    "0.0": "0",
    "-0.0": "0",
    "-1": "-1",
    "1e-7": "1e-07",
    "123456789012345678901": "123456789012345678901",
    '"1"': "1",
    '"1.0"': "1.0",
    '"true"': "true",
    '"null"': "null",
    '"None"': "None",
    '"True"': "True",
    '""': "",
}
"""Every type of JSON value, with those that Python compares as equal, and the text it becomes."""


@pytest.mark.parametrize("before", JSON_VALUES)
def test_a_value_is_spelt_alike_whatever_value_came_before_it(tmp_path, before):
    lines = [f'{{"a": {written}}}'.encode() for after in JSON_VALUES for written in (before, after)]
    rows = rows_of(open_table(put(tmp_path, lines), reading=Reading(header=("a",))))
    expected = [JSON_VALUES[each] for after in JSON_VALUES for each in (before, after)]
    assert rows == [(text,) for text in expected]


@pytest.mark.parametrize("before", JSON_VALUES)
def test_a_value_is_spelt_alike_whatever_stands_in_the_other_columns(tmp_path, before):
    lines = [f'{{"a": {before}, "b": {after}}}'.encode() for after in JSON_VALUES]
    rows = rows_of(open_table(put(tmp_path, lines), reading=Reading(header=("a", "b"))))
    assert rows == [(JSON_VALUES[before], text) for text in JSON_VALUES.values()]


def test_a_file_of_another_name_holds_objects_where_the_plan_says_so(tmp_path):
    path = put(tmp_path, [GOOD], "t.txt")
    reading = Reading(format="json-lines")
    assert rows_of(open_table(path, reading=reading)) == [("17", "shop")]
    other = put(tmp_path, [b"age,job", b"17,shop"], "t.jsonl")
    assert rows_of(open_table(other, reading=Reading(format="delimited"))) == [("17", "shop")]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"age": 17, "job": "SECRET123"', "not JSON"),
        (b'{"age": 17} {"age": 18}', "not JSON"),
        (b'{"age": 17},{"age": 18}', "not JSON"),
        (b"{age: 17}", "not JSON"),
        (b'{"age": NaN}', "not JSON"),
        (b'{"age": -Infinity}', "not JSON"),
        (b'{"age": "a\tb"}', "not JSON"),
        (b"[" * 5000, "not JSON"),
        (b'["SECRET123"]', "not a JSON object"),
        (b"17", "not a JSON object"),
        (b'{"age": 1, "age": 2}', "a key twice"),
        (b'{"age": {"SECRET123": 1}}', "a list or an object"),
        (b'{"job": ["SECRET123"]}', "a list or an object"),
        (b'{"age": 9007199254740993.0}', "more digits"),
        (b'{"job": "\\ud800"}', "an invalid Unicode escape"),
        (b'{"job": "\xff"}', "not utf-8"),
        (b'{"job": "\x00"}', "NUL"),
    ],
)
def test_a_malformed_line_is_refused_or_left_out(tmp_path, line, what):
    path = put(tmp_path, [GOOD] * 2 + [line] + [GOOD])
    named = ("age", "job")
    with pytest.raises(DataError, match=what) as raised:
        rows_of(open_table(path, reading=Reading(header=named)))
    assert "line 3" in str(raised.value)
    assert SECRET not in str(raised.value)
    reading = Reading(header=named, malformed="drop")
    assert rows_of(open_table(path, reading=reading)) == [("17", "shop")] * 3


def test_columns_are_the_keys_of_the_first_objects_that_hold_values(tmp_path):
    lines = [GOOD, b'{"age": 1, "tags": ["a"], "where": {"town": "m"}, "n": 2}']
    source = open_table(put(tmp_path, lines))
    assert source.columns == ("age", "job", "n")
    assert source.nested == ("tags", "where")
    with pytest.raises(DataError, match="line 2: a column holds a list"):
        rows_of(source, ["tags"])
    with pytest.raises(DataError, match="The column 'jobs' does not exist"):
        rows_of(source, ["jobs"])


NESTED = b'{"age": [17], "job": {"SECRET123": 1}}'
LONG = b'{"age": "' + b"x" * (5 << 20)


@pytest.mark.parametrize("bad", [NESTED, LONG, b"x" * (17 << 20)], ids=["nested", "long", "longer"])
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_one_malformed_record_is_dropped_by_itself(tmp_path, bad, place, name):
    lines = [GOOD] * 3
    lines.insert(place, bad)
    path = put(tmp_path, lines, name)
    assert rows_of(open_table(path, reading=DROP), ["age", "job"]) == [("17", "shop")] * 3
    with pytest.raises(DataError) as raised:
        rows_of(open_table(path), ["age", "job"])
    assert f"line {place + 1}: " in str(raised.value)
    assert SECRET not in str(raised.value)


def test_no_record_decides_which_columns_there_are(tmp_path):
    rare = b'{"age": 1, "rare": "x"}'
    without = open_table(put(tmp_path, [GOOD] * 2), reading=DROP)
    assert rows_of(without, ["age", "rare"]) == [("17", None)] * 2
    beside = open_table(put(tmp_path, [GOOD, rare, GOOD]), reading=DROP)
    assert rows_of(beside, ["age", "rare"]) == [("17", None), ("1", "x"), ("17", None)]
    # A list in the plan is public, so a name that is not on it is a mistake in the plan.
    listed = open_table(put(tmp_path, [rare]), reading=Reading(malformed="drop", header=("age",)))
    with pytest.raises(DataError, match="The column 'rare' does not exist"):
        rows_of(listed, ["rare"])


def test_blocks_of_any_size_are_the_same_table(tmp_path):
    lines = [json.dumps({"n": i, "s": "x" * (i % 7)}).encode() for i in range(50)]
    source = open_table(put(tmp_path, lines))
    whole = rows_of(source)
    for size in (1, 13, 100):
        object.__setattr__(source, "block_size", size)
        assert rows_of(source) == whole


def test_the_encoding_is_the_plans(tmp_path):
    path = put(tmp_path, ['{"job": "Köln"}'.encode("windows-1252")])
    assert rows_of(open_table(path, reading=Reading(encoding="windows-1252"))) == [("Köln",)]


def test_the_columns_are_the_keys_of_the_first_block(tmp_path):
    first = b'{"age": 17, "job": "' + b"x" * 1000 + b'"}'
    later = b'{"town": "y"}'
    path = put(tmp_path, [*[first] * (BLOCK // len(first) + 2), later])
    assert open_table(path).columns == ("age", "job")


def test_malformed_blocks_are_passed_over_to_find_the_columns(tmp_path):
    path = put(tmp_path, [*[b"x" * 1000] * (BLOCK // 1000 + 2), GOOD])
    assert open_table(path, reading=DROP).columns == ("age", "job")
