"""A line that is too long is refused with its file, or dropped by itself: whatever is around it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.spark.lines import ParseLines
from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read import lines as read_lines
from hedgerow.read import sound
from hedgerow.read.delimited import RecordParser
from hedgerow.read.open import open_table
from hedgerow.read.words import BasketFile

MOST = 40
"""Bytes of a record, in place of 16 megabytes."""

LENGTHS = st.lists(st.sampled_from([0, 1, 7, MOST - 1, MOST, MOST + 1, 2 * MOST, 300]), max_size=12)


@pytest.fixture(autouse=True, scope="module")
def _short_records():
    with (
        patch.object(read_lines, "MAX_RECORD", MOST),
        patch.object(sound, "MAX_RECORD", MOST),
    ):
        yield


def lines_of(path, *, size, drop_long):
    blocks = list(read_lines.text_blocks(path, size=size, drop_long=drop_long))
    found = []
    for block in blocks:
        pieces = block.data.split(b"\n")
        pieces = pieces[:-1] if block.data.endswith(b"\n") else pieces
        found += [(block.line + i, piece) for i, piece in enumerate(pieces)]
    return found


@given(LENGTHS, st.sampled_from([1, 7, 39, 40, 64, 1 << 20]), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_lines_that_are_too_long_are_those_and_no_others(
    tmp_path_factory, lengths, size, packed, ended
):
    lines = [b"%d" % (i % 10) * length for i, length in enumerate(lengths)]
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    path = tmp_path_factory.getbasetemp() / ("long.gz" if packed else "long.txt")
    path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    numbered = [(i, line) for i, line in enumerate(lines, start=1)]
    if not ended and lines and not lines[-1]:
        numbered = numbered[:-1]
    kept = [(i, line) for i, line in numbered if len(line) <= MOST]
    assert lines_of(path, size=size, drop_long=True) == kept
    if len(kept) == len(numbered):
        assert lines_of(path, size=size, drop_long=False) == kept
    else:
        first = next(i for i, line in numbered if len(line) > MOST)
        with pytest.raises(DataError, match=f"line {first}: The line is too long"):
            lines_of(path, size=size, drop_long=False)


def rows_of(source):
    batches = source.batches(source.columns)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("size", [1, 10, 1 << 20])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_record_of_a_table_that_is_too_long_is_dropped(tmp_path, size, place):
    lines = ["1,x"] * 2
    lines.insert(place, "2," + "y" * MOST)
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b", *lines]) + "\n")
    source = replace(open_table(path, reading=Reading(malformed="drop")), block_size=size)
    assert rows_of(source) == [("1", "x")] * 2
    with pytest.raises(DataError, match=f"line {place + 2}"):
        rows_of(open_table(path))


def test_no_record_stands_in_for_a_header_that_is_too_long(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a" * (MOST + 1) + "\nSECRET,x\n1,y\n")
    with pytest.raises(DataError, match="line of column names") as caught:
        open_table(path, reading=Reading(malformed="drop"))
    assert "SECRET" not in str(caught.value)


def test_a_basket_that_is_too_long_is_dropped(tmp_path):
    path = tmp_path / "t.dat"
    path.write_text("milk bread\n" + "milk " * MOST + "\nmilk\n")
    file = BasketFile(path=path, separators=b" ", reading=Reading(malformed="drop"))
    assert [batch.lengths.tolist() for batch in file.batches()] in ([[2, 1]], [[2], [1]])
    with pytest.raises(DataError, match="line 2"):
        list(BasketFile(path=path, separators=b" ", reading=Reading()).batches())


@pytest.mark.parametrize("malformed", ["drop", "refuse"])
def test_spark_has_the_same_bound_on_a_line(malformed):
    import pyarrow as pa

    rules = sound.LineRules(reading=Reading(malformed=malformed), delimiter=",", name="t")
    parser = RecordParser(rules, delimiter=",", n_columns=1, requested=[(0, "a")], text=["a"])
    lines = [b"x", b"y" * (MOST + 1), b"z" * MOST]
    batch = pa.RecordBatch.from_arrays([pa.array(lines, pa.binary())], ["line"])
    parse = ParseLines(parser, None)
    if malformed == "refuse":
        with pytest.raises(DataError, match="megabytes"):
            parse(batch)
    else:
        assert parse(batch).column(0).to_pylist() == ["x", "z" * MOST]
