"""CSV and TSV: delimiters, quotes, encodings, line ends, compression, blocks of any size."""

from __future__ import annotations

import csv
import gzip
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read import lines
from hedgerow.read.delimited import DelimitedSource, open_delimited
from hedgerow.read.open import open_table


def rows_of(source: DelimitedSource, columns=None) -> list[tuple[str | None, ...]]:
    asked = source.columns if columns is None else columns
    return [tuple(row.values()) for batch in source.batches(asked) for row in batch.to_pylist()]


def opened(
    tmp_path: Path, content: str | bytes, name: str = "people.csv", **reading: Any
) -> DelimitedSource:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_delimited(path, Reading(**reading))


@pytest.mark.parametrize(
    ("content", "delimiter", "row"),
    [
        ("a,b\n1,2\n", None, ("1", "2")),
        ("a;b\n1,5;2,5\n", "semicolon", ("1,5", "2,5")),
        ("a\tb\n1\t2\n", "tab", ("1", "2")),
        ("a|b\n1|2\n", "bar", ("1", "2")),
        ('"a;b";c\n"1;2";3\n', "semicolon", ("1;2", "3")),
        ("a;b\n1;2\n", "comma", ("1;2",)),
    ],
)
def test_the_delimiter_is_the_one_that_the_plan_says(tmp_path, content, delimiter, row):
    assert rows_of(opened(tmp_path, content, delimiter=delimiter), None)[0] == row


def test_a_name_in_tsv_says_that_fields_lie_between_tabs(tmp_path):
    for name in ("a.tsv", "a.TAB", "a.tsv.gz"):
        assert opened(tmp_path, "a,b\tc\n", name).columns == ("a,b", "c")
    assert opened(tmp_path, "a,b\tc\n", "a.tsv", delimiter="comma").columns == ("a", "b\tc")


def test_a_file_may_have_no_header_where_the_plan_names_its_columns(tmp_path):
    source = opened(tmp_path, "1,2\n3,4\n", header=("x", "y"))
    assert source.columns == ("x", "y")
    assert rows_of(source) == [("1", "2"), ("3", "4")]
    with pytest.raises(DataError, match="line 1: The record has 2 fields"):
        rows_of(opened(tmp_path, "1,2\n3,4\n", header=("x", "y", "z")))


def test_a_decimal_comma_becomes_a_point_in_numbers_only(tmp_path):
    text = "n;t\n1,5;1,5\n 2 ;x\n1.000;y\n1,2e3;a.b\nn.a.;,\n"
    source = opened(tmp_path, text, delimiter="semicolon", decimal="comma")
    batches = source.batches(["n", "t"], text=["t"])
    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert found == [("1.5", "1,5"), (" 2 ", "x"), ("1,000", "y"), ("1.2e3", "a.b"), ("n.a.", ",")]


def test_asked_columns_come_in_the_asked_order(tmp_path):
    source = opened(tmp_path, "a,b,c\n1,2,3\n4,5,6\n")
    assert rows_of(source, ["c", "a"]) == [("3", "1"), ("6", "4")]


def test_columns_that_are_not_asked_for_are_not_converted(tmp_path):
    source = opened(tmp_path, "a,name\n1,x\n")
    (batch,) = source.batches(["a"])
    assert batch.schema.names == ["a"]
    assert batch.num_columns == 1


def test_names_are_stripped_and_may_be_quoted_or_empty(tmp_path):
    source = opened(tmp_path, '\n, a ,"b\nc"\n1,2,3\n', quote="multi-line")
    assert source.columns == ("", "a", "b\nc")
    assert rows_of(source, ["b\nc"]) == [("3",)]
    assert opened(tmp_path, ', a ,"b""c"\n').columns == ("", "a", 'b"c')


def test_blank_lines_are_skipped_and_empty_fields_are_null(tmp_path):
    source = opened(tmp_path, '\n\na,b\n\n1,\n\r\n,2\n"",""\n\n')
    assert rows_of(source) == [("1", None), (None, "2"), (None, None)]


def test_a_record_of_empty_fields_is_a_record_in_tsv_too(tmp_path):
    assert rows_of(opened(tmp_path, "a\tb\n\t\n", "a.tsv")) == [(None, None)]


def test_a_file_with_a_header_alone_has_no_record(tmp_path):
    for content in ("a,b", "a,b\n", "a,b\r\n\r\n"):
        source = opened(tmp_path, content)
        assert source.columns == ("a", "b")
        assert list(source.batches(["a"])) == []


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "windows-1252", "latin-1", "iso-8859-15", "windows-1250"]
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_line_ends_and_gzip_make_no_difference(tmp_path, encoding, line_end, packed):
    rows = [("a", "stadt"), ("1", "plain"), ("2", "Zürich"), ("3", "é")]
    content = line_end.join(",".join(row) for row in rows).encode(encoding)
    packed_or_not = gzip.compress(content, mtime=0) if packed else content
    said = encoding.removesuffix("-sig")
    source = opened(tmp_path, packed_or_not, "file.bin", encoding=said)
    assert source.columns == rows[0]
    for size in (5, 1 << 20):
        assert rows_of(replace(source, block_size=size)) == rows[1:]


@pytest.mark.parametrize("size", [1, 4, 64, 1 << 20])
def test_bytes_that_the_encoding_does_not_have_are_refused_or_left_out(tmp_path, size):
    content = b"a\nx\n\xc3\xa9\nx\n\xe9\ny\xff\xe2\n\xed\xa0\x80\nz\n"
    mixed = replace(opened(tmp_path, content), block_size=size)
    with pytest.raises(DataError, match=r"people.csv, line 5: .*bytes that are not utf-8"):
        rows_of(mixed)
    left = replace(opened(tmp_path, content, malformed="drop"), block_size=size)
    assert rows_of(left) == [("x",), ("é",), ("x",), ("z",)]
    western = opened(tmp_path, b"a\n\xc3\xa9\n\x81\n\xe9\n", encoding="windows-1252")
    with pytest.raises(DataError, match=r"line 3: .*bytes that are not windows-1252"):
        rows_of(replace(western, block_size=size))
    dropping = replace(western.reading, malformed="drop")
    assert rows_of(replace(western, reading=dropping)) == [("Ã©",), ("é",)]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_byte_order_mark_is_cut_off_from_the_first_line_alone(tmp_path, size):
    """Arrow cut it off from a block's first line, so that a record before it made a difference."""
    marked = "\ufeffx\n\ufeffy\n\ufeffz\n"
    source = replace(opened(tmp_path, marked, header=("a",)), block_size=size)
    assert rows_of(source) == [("x",), ("\ufeffy",), ("\ufeffz",)]
    source = replace(opened(tmp_path, "\ufeffa\n" + marked, malformed="drop"), block_size=size)
    assert source.columns == ("a",)
    assert rows_of(source) == [("\ufeffx",), ("\ufeffy",), ("\ufeffz",)]


@pytest.mark.parametrize("malformed", ["refuse", "drop"])
def test_a_cr_that_ends_no_line_is_a_blank(tmp_path, malformed):
    source = opened(tmp_path, b"a,b\n1,x\ry\r\n2\r,z\n", malformed=malformed)
    stripped = [tuple(field.strip() for field in row) for row in rows_of(source)]
    assert stripped == [("1", "x\x0by"), ("2", "z")]


def test_progress_rises_to_one(tmp_path):
    source = replace(opened(tmp_path, "a\n" + "1\n" * 5000), block_size=1000)
    shares: list[float] = []
    for _ in source.batches(["a"], progress=shares.append):
        pass
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


FIELD = st.text(alphabet='ab,\n" é', max_size=6)


@given(
    rows=st.lists(st.tuples(FIELD, FIELD), max_size=12),
    size=st.integers(1, 80),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_quoted_fields_survive_blocks_of_any_size(tmp_path_factory, rows, size, quoting, line_end):
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting, lineterminator=line_end)
    writer.writerows([("x", "y"), *rows])
    folder = tmp_path_factory.getbasetemp()
    source = opened(folder, text.getvalue(), "quoted.csv", quote="multi-line")
    expected = [tuple(field or None for field in row) for row in rows]
    assert rows_of(replace(source, block_size=size)) == expected


FIELDS = ["z", '"x"', '""', '"q""r"', '"a,b"', '""""']
STRAY = ['5"', '"a"b', 'a""', '"x', '"x"" y', '"a" ', ' "a"', '"""']


def fields_of(line: str) -> tuple[str, ...] | None:
    """The fields of a line, letter by letter; nothing where the line is malformed."""
    fields: list[str] = []
    rest: str | None = line
    while rest is not None:
        if not rest.startswith('"'):
            field, comma, rest = rest.partition(",")
            if '"' in field:
                return None
        else:
            found = re.match(r'"((?:[^"]|"")*)"(?=,|$)(,?)', rest)
            if found is None:
                return None
            field, comma, rest = found[1].replace('""', '"'), found[2], rest[found.end() :]
        fields.append(field)
        rest = rest if comma else None
    return tuple(fields) if len(fields) == 2 else None


@given(
    records=st.lists(st.tuples(*[st.sampled_from(FIELDS + STRAY)] * 2), max_size=12),
    size=st.integers(1, 80),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_each_line_is_sound_or_malformed_by_itself(tmp_path_factory, records, size, line_end):
    folder = tmp_path_factory.getbasetemp()
    lines = [",".join(record) for record in records]
    parsed = [fields_of(line) for line in lines]
    expected = [tuple(field or None for field in row) for row in parsed if row is not None]
    text = line_end.join(["x,y", *lines])
    source = replace(opened(folder, text, "stray.csv", malformed="drop"), block_size=size)
    assert rows_of(source) == expected
    strict = replace(source, reading=Reading())
    if len(expected) == len(records):
        assert rows_of(strict) == expected
    else:
        with pytest.raises(DataError, match=r"line \d+: the record has") as caught:
            rows_of(strict)
        line = int(str(caught.value).split("line ")[1].split(":")[0])
        assert parsed[line - 2] is None


def test_without_quotes_a_quote_is_a_letter(tmp_path):
    source = opened(tmp_path, 'a,"b\n1","2\n"x",y"z\n', quote="none")
    assert source.columns == ("a", '"b')
    assert rows_of(source) == [('1"', '"2'), ('"x"', 'y"z')]


def test_records_of_another_width_are_left_out_where_the_plan_says_so(tmp_path):
    source = opened(tmp_path, "a,b\n1,2\n3\n\n4,5,6\n  \n7,8\n", malformed="drop")
    assert rows_of(source) == [("1", "2"), ("7", "8")]
    assert rows_of(opened(tmp_path, "a,b\n3\n4\n", malformed="drop")) == []


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("a,b\n1,2\n3\n", 3, "1 fields"),
        ("a,b\n\n1,2\n\n3,4,5\n", 5, "3 fields"),
        ('a,b\n1,2\n3,"SECRET\n5,6\n', 3, "not closed"),
        ('a,b\n1,2\n3,SECRET"\n5,6\n', 3, "inside a field"),
        ("a,b\n1,2\n3,SECRET\0\n", 3, "NUL"),
    ],
)
def test_a_broken_record_is_named_by_its_line(tmp_path, content, line, what, size):
    source = replace(opened(tmp_path, "a,b\n"), block_size=size)
    source.path.write_bytes(content.encode())
    with pytest.raises(DataError, match=rf"people.csv, line {line}: .*{what}") as caught:
        rows_of(source)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ('a,b\n"1\n1",2\n"3\n3",4,5\n', 4, "3 fields"),
        ('a,b\n1,2\n3,"SECRET\n5,6\n', 3, "does not end"),
        ('a,b\n1,"x\ny"\n3,"SECRET""\n5,6\n', 4, "does not end"),
        ('a,b\n1,"x\ny"\n3,"SECRET" \n5,6\n', 4, "inside a field"),
    ],
)
def test_a_broken_record_of_several_lines_is_named_by_its_line(tmp_path, content, line, what, size):
    source = replace(opened(tmp_path, "a,b\n", quote="multi-line"), block_size=size)
    source.path.write_bytes(content.encode())
    with pytest.raises(DataError, match=rf"people.csv, line {line}: .*{what}") as caught:
        rows_of(source)
    assert "SECRET" not in str(caught.value)


def test_a_record_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MAX_RECORD", 1000)
    endless = opened(tmp_path, 'a\n"' + "x\n" * 2000, quote="multi-line")
    quoted = replace(endless, block_size=100)
    with pytest.raises(DataError, match=r"line 2: A quoted field that begins here"):
        rows_of(quoted)
    with pytest.raises(DataError, match=r"line 2: The line is too long"):
        rows_of(replace(opened(tmp_path, "a\n" + "x" * 5000 + "\n"), block_size=100))


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path):
    content = "a,b\n" + "".join(f"{i},SECRET{i}\n" for i in range(100_000))
    whole = gzip.compress(content.encode(), mtime=0)
    with pytest.raises(DataError, match="truncated or damaged") as caught:
        rows_of(opened(tmp_path, whole[: len(whole) // 2], "x.csv.gz"))
    assert "SECRET" not in str(caught.value)


def test_the_adult_table_reads_with_its_blanks(tmp_path, shared_data):
    names = ",".join(f"c{i}" for i in range(15))
    raw = gzip.decompress((shared_data / "adult" / "adult.data.gz").read_bytes())
    source = opened(tmp_path, names.encode() + b"\n" + raw, "adult.csv")
    rows = rows_of(source, ["c0", "c1", "c14"])
    assert len(rows) == 32_561
    assert rows[0] == ("39", " State-gov", " <=50K")


def test_a_table_without_a_header_says_so_and_not_what_it_holds(shared_data):
    source = open_table(shared_data / "adult" / "adult.test.gz")
    with pytest.raises(DataError, match="The column 'age' does not exist") as caught:
        rows_of(source, ["age"])
    assert "line that names its columns" in str(caught.value)
    assert "Cross" not in str(caught.value)
