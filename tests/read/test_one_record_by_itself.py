"""One line changes at most itself: in text files, whatever bytes it is made of.

The guarantee speaks of neighbouring tables, and a reader is given bytes. So a record that is
put anywhere into a file adds at most itself to the encoded table, or the file is refused.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.count.spark.lines import LineBatches, ParseLines
from hedgerow.count.spark.workers import Encode, unpacked
from hedgerow.encode import columns as encode_columns
from hedgerow.encode.baskets import BasketEncoder
from hedgerow.encode.universe import universe_of
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.plan.load import plan_of
from hedgerow.read.delimited import RecordParser
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from hedgerow.read.sound import LineRules
from hedgerow.read.words import WordSplitter
from hedgerow.taxonomy.domain import code_dtype
from support.one_record import (
    BASKETS,
    BYTES,
    HOSTILE,
    PLACE,
    RECORDS,
    assert_by_itself,
    codes_in,
    inserted,
    put,
    schema,
    sets_in,
    universe,
)

FORMS = st.builds(
    Reading,
    encoding=st.sampled_from(["utf-8", "windows-1252", "iso-8859-2"]),
    delimiter=st.sampled_from(["comma", "semicolon", "tab", "bar"]),
    decimal=st.sampled_from(["point", "comma"]),
    quote=st.sampled_from(['"', "none"]),
    malformed=st.sampled_from(["refuse", "drop"]),
)


def field(text: str, form: Reading) -> bytes:
    """A value as a sound field of a file."""
    letter = form.delimiter_of("x.csv")
    if form.quote == "none":
        return text.replace(letter, "").replace('"', "").encode(form.encoding, "ignore")
    if letter in text or '"' in text:
        text = '"' + text.replace('"', '""') + '"'
    return text.encode(form.encoding, "ignore")


def table_lines(records: list[tuple[str, str]], form: Reading) -> list[bytes]:
    letter = form.delimiter_of("x.csv").encode()
    if form.decimal == "comma":
        records = [(town, n.replace(".", ",")) for town, n in records]
    return [field(town, form) + letter + field(n, form) for town, n in records]


@given(
    records=RECORDS,
    hostile=BYTES,
    place=PLACE,
    form=FORMS,
    size=st.sampled_from([1, 13, 1 << 20]),
    end=st.sampled_from([b"\n", b"\r\n"]),
    name=st.sampled_from(["t.csv", "t.tsv", "t.csv.gz"]),
    quick=st.booleans(),
    tail=st.booleans(),
)
@example(
    [("São Paulo", "1")] * 3, b"S\xe3o Paulo,1", 0, PLAIN, 1 << 20, b"\n", "t.csv", False, False
)
@example([("m", "1")] * 5, b'"m,1', 0, PLAIN, 1 << 20, b"\n", "t.csv", False, False)
@example([("m", "1")] * 5, b"m,1\rm,1", 2, PLAIN, 1 << 20, b"\n", "t.csv", False, False)
def test_a_line_of_csv_or_tsv_changes_at_most_itself(
    tmp_path_factory, records, hostile, place, form, size, end, name, quick, tail
):
    folder = tmp_path_factory.getbasetemp()
    lines = table_lines(records, form)
    if tail:  # of the right width more often
        hostile += form.delimiter_of("x.csv").encode() + b"1"
    header = b"town" + form.delimiter_of("x.csv").encode() + b"n"

    def read(rows: list[bytes]) -> Counter[Any]:
        path = put(folder, name, [header, *rows], end)
        source = open_table(path, reading=form)
        object.__setattr__(source, "block_size", size)
        return codes_in(source)

    with patch.object(encode_columns, "_MANY_WORDS", 0 if quick else 2048):
        assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))


@given(records=RECORDS, hostile=BYTES, place=PLACE)
def test_a_line_of_a_file_without_a_header_changes_at_most_itself(
    tmp_path_factory, records, hostile, place
):
    folder = tmp_path_factory.getbasetemp()
    form = Reading(header=("town", "n"), malformed="drop")
    lines = table_lines(records, form)

    def read(rows: list[bytes]) -> Counter[Any]:
        # A blank line in front: an empty file is refused.
        return codes_in(open_table(put(folder, "bare.csv", [b",", *rows]), reading=form))

    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))


@given(
    records=RECORDS,
    hostile=st.lists(st.sampled_from([*HOSTILE, b"\n"]), max_size=8).map(b"".join),
    place=PLACE,
    size=st.sampled_from([1, 13, 1 << 20]),
)
@example([("m", "1")] * 5, b'"m,1', 1, 1 << 20)
def test_where_quotes_hold_line_ends_a_stray_one_refuses_the_file(
    tmp_path_factory, records, hostile, place, size
):
    folder = tmp_path_factory.getbasetemp()
    form = Reading(quote="multi-line")
    lines = table_lines(records, form)

    def read(rows: list[bytes]) -> Counter[Any]:
        source = open_table(put(folder, "many.csv", [b"town,n", *rows]), reading=form)
        object.__setattr__(source, "block_size", size)
        return codes_in(source)

    most = hostile.count(b"\n") + 1
    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)), most=most)


@given(
    baskets=BASKETS,
    hostile=BYTES,
    place=PLACE,
    separator=st.sampled_from(["auto", "space", "comma", "tab"]),
    form=st.builds(
        Reading,
        encoding=st.sampled_from(["utf-8", "windows-1252"]),
        header=st.sampled_from([True, 0, 3]),
        malformed=st.sampled_from(["refuse", "drop"]),
    ),
    size=st.sampled_from([1, 13, 1 << 20]),
)
@example([["Käse", "milk"]] * 3, b"K\xe4se", 0, "space", PLAIN, 1 << 20)
@example([["milk"]] * 9, b"% 22", 9, "space", Reading(header=3), 1 << 20)
def test_a_line_of_baskets_changes_at_most_itself(
    tmp_path_factory, baskets, hostile, place, separator, form, size
):
    folder = tmp_path_factory.getbasetemp()
    asked = universe(separator)
    letter = {"comma": ",", "tab": "\t"}.get(separator, " ")
    lines = [letter.join(items).encode(form.encoding) for items in baskets]
    header = [b"% names:", b"", b"% records:"][: form.header_lines or 0]

    def read(rows: list[bytes]) -> Counter[Any]:
        path = put(folder, "a.dat", [*header, *rows, b""])
        source = open_items(path, asked.place, reading=form)
        object.__setattr__(source, "block_size", size)
        return sets_in(source, asked)

    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))


@given(baskets=BASKETS, hostile=BYTES, place=PLACE)
def test_a_row_of_a_long_table_changes_only_the_record_that_it_names(
    tmp_path_factory, baskets, hostile, place
):
    folder = tmp_path_factory.getbasetemp()
    plan = {"universe": ["Käse", "milk", "1", "22"], "column": "item", "record": "who"}
    asked = universe_of(plan_of({"items": plan}))
    form = Reading(malformed="drop")
    rows = [f"r{i},{item}".encode() for i, items in enumerate(baskets) for item in items]

    def read(lines: list[bytes]) -> Counter[Any]:
        path = put(folder, "long.csv", [b"who,item", *lines])
        return sets_in(open_items(path, asked.place, reading=form), asked)

    before = read(rows)
    after = read(inserted(rows, hostile, place))  # names no record of the others: they are r0, r1
    assert not before - after
    assert (after - before).total() <= 1


@given(
    records=RECORDS,
    hostile=BYTES,
    place=PLACE,
    form=FORMS,
    cuts=st.integers(1, 4),
)
def test_a_line_on_spark_changes_at_most_itself(records, hostile, place, form, cuts):
    """The workers' part: Spark hands them lines as bytes, cut at LF, in batches of any size."""
    lines = table_lines(records, form)
    letter = form.delimiter_of("x.csv")
    rules = LineRules(reading=form, delimiter=letter, name="t")
    parser = RecordParser(
        rules, delimiter=letter, n_columns=2, requested=[(0, "town"), (1, "n")], text={"town"}
    )
    encode = Encode(schema(), ParseLines(parser, f"town{letter}n".encode()))
    dtypes = [np.dtype(code_dtype(each.domain.size)) for each in schema().used()]

    def read(rows: list[bytes]) -> Counter[Any]:
        pieces = [rows[i : i + cuts] for i in range(0, len(rows), cuts)]
        batches = (pa.RecordBatch.from_arrays([pa.array(p, pa.binary())], ["line"]) for p in pieces)
        found: Counter[Any] = Counter()
        for batch in encode(batches):
            for _, columns in unpacked(batch, dtypes):
                found.update(zip(*(column.tolist() for column in columns), strict=True))
        return found

    header = f"town{letter}n".encode()
    assert_by_itself(
        lambda: read([header, *lines]), lambda: read([header, *inserted(lines, hostile, place)])
    )


@given(baskets=BASKETS, hostile=BYTES, place=PLACE, malformed=st.sampled_from(["refuse", "drop"]))
def test_a_basket_on_spark_changes_at_most_itself(baskets, hostile, place, malformed):
    lines = [" ".join(items).encode() for items in baskets]
    of_lines = LineBatches(Reading(header=0, malformed=malformed))
    encoder, splitter = BasketEncoder(universe()), WordSplitter(universe().place.separators)

    def read(rows: list[bytes]) -> Counter[Any]:
        batch = pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], ["line"])
        lengths, items = encoder.of_batch(splitter.split(of_lines(batch)))
        ends = np.cumsum(lengths).tolist()
        starts = [0, *ends[:-1]]
        return Counter(tuple(items[a:b].tolist()) for a, b in zip(starts, ends, strict=bool(ends)))

    assert_by_itself(lambda: read(lines), lambda: read(inserted(lines, hostile, place)))
