"""CSV and TSV: delimiters, quotes, encodings, line ends, compression, blocks of any size."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.read import lines
from hedgerow.read.delimited import DelimitedSource, open_delimited
from hedgerow.read.open import open_table


def rows_of(source: DelimitedSource, columns=None) -> list[tuple[str | None, ...]]:
    asked = source.columns if columns is None else columns
    return [tuple(row.values()) for batch in source.batches(asked) for row in batch.to_pylist()]


def opened(tmp_path: Path, content: str | bytes, name: str = "people.csv") -> DelimitedSource:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_delimited(path)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ('"a;b";c\n"1;2";3\n', ";"),
        ("a;b,c;d\n1;2,5;3\n", ";"),
        ("only\n1\n", ","),
        ("a,b", ","),
        ("a, b; c\n1, 2; 3\n4, 5\n", ","),
    ],
)
def test_the_delimiter_is_the_one_that_cuts_the_first_lines_evenly(tmp_path, content, delimiter):
    assert opened(tmp_path, content).delimiter == delimiter


def test_asked_columns_come_in_the_asked_order(tmp_path):
    source = opened(tmp_path, "a,b,c\n1,2,3\n4,5,6\n")
    assert rows_of(source, ["c", "a"]) == [("3", "1"), ("6", "4")]


def test_columns_that_are_not_asked_for_are_not_converted(tmp_path):
    source = opened(tmp_path, "a,name\n1,x\n")
    (batch,) = source.batches(["a"])
    assert batch.schema.names == ["a"]
    assert batch.num_columns == 1


def test_names_are_stripped_and_may_be_quoted_or_empty(tmp_path):
    source = opened(tmp_path, ', "a" ,"b\nc"\n1,2,3\n')
    assert source.columns == ("", '"a"', "b\nc")
    assert rows_of(source, ["b\nc"]) == [("3",)]


def test_blank_lines_are_skipped_and_empty_fields_are_null(tmp_path):
    source = opened(tmp_path, '\n\na,b\n\n1,\n\r\n,2\n"",""\n\n')
    assert rows_of(source) == [("1", None), (None, "2"), (None, None)]


def test_a_record_of_empty_fields_is_a_record_in_tsv_too(tmp_path):
    assert rows_of(opened(tmp_path, "a\tb\n\t\n")) == [(None, None)]


def test_a_file_with_a_header_alone_has_no_record(tmp_path):
    for content in ("a,b", "a,b\n", "a,b\r\n\r\n"):
        source = opened(tmp_path, content)
        assert source.columns == ("a", "b")
        assert list(source.batches(["a"])) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "latin-1"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_encodings_line_ends_and_gzip_make_no_difference(tmp_path, encoding, line_end, packed):
    rows = [("a", "stadt"), ("1", "plain"), ("2", "Zürich"), ("3", "Málaga, “x”"[:6])]
    content = line_end.join(",".join(row) for row in rows).encode(encoding)
    source = opened(tmp_path, gzip.compress(content, mtime=0) if packed else content, "file.bin")
    assert source.columns == rows[0]
    for size in (5, 1 << 20):
        assert rows_of(replace(source, block_size=size)) == rows[1:]


def test_bytes_that_windows_leaves_open_are_read_as_latin_1(tmp_path):
    assert rows_of(opened(tmp_path, b"a\n\x81\x93\xe9\n")) == [("\x81“é",)]


@pytest.mark.parametrize("size", [1, 4, 64, 1 << 20])
def test_the_first_line_beyond_ascii_settles_the_encoding(tmp_path, size):
    mixed = replace(opened(tmp_path, "a\n"), block_size=size)
    mixed.path.write_bytes(b"a\nx\n\xc3\xa9\nx\n\xe9\n")
    with pytest.raises(DataError, match=r"people.csv, line 5: the text is UTF-8 up to here"):
        rows_of(mixed)
    western = replace(opened(tmp_path, b"a\nx\n\xe9\nx\n\xc3\xa9\n"), block_size=size)
    assert rows_of(western) == [("x",), ("é",), ("x",), ("Ã©",)]


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
    source = opened(tmp_path_factory.getbasetemp(), text.getvalue(), "quoted.csv")
    expected = [tuple(field or None for field in row) for row in rows]
    assert rows_of(replace(source, block_size=size)) == expected


@given(
    records=st.lists(st.lists(st.sampled_from(['5"', '"a"b', 'a""', '"x\ny"', "z", '"q""r"']),
                              min_size=2, max_size=2), max_size=12),
    size=st.integers(1, 80),
)  # fmt: skip
def test_quotes_inside_plain_fields_are_letters(tmp_path_factory, records, size):
    text = "x,y\n" + "".join(",".join(record) + "\n" for record in records)
    source = opened(tmp_path_factory.getbasetemp(), text, "stray.csv")
    expected = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))][1:]
    assert rows_of(replace(source, block_size=size)) == expected


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("a,b\n1,2\n3\n", 3, "1 fields"),
        ("a,b\n\n1,2\n\n3,4,5\n", 5, "3 fields"),
        ('a,b\n"1\n1",2\n"3\n3",4,5\n', 4, "3 fields"),
        ('a,b\n1,2\n3,"SECRET\n5,6\n', 3, "does not end"),
        ('a,b\n1,"x\ny"\n3,"SECRET""\n5,6\n', 4, "does not end"),
        ("a,b\n1,2\n3,SECRET\0\n", 3, "NUL"),
    ],
)
def test_a_broken_record_is_named_by_its_line(tmp_path, content, line, what, size):
    source = replace(opened(tmp_path, "a,b\n"), block_size=size)
    source.path.write_bytes(content.encode())
    with pytest.raises(DataError, match=rf"people.csv, line {line}: .*{what}") as caught:
        rows_of(source)
    assert "SECRET" not in str(caught.value)


def test_a_record_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MAX_RECORD", 1000)
    quoted = replace(opened(tmp_path, 'a\n"' + "x\n" * 2000), block_size=100)
    with pytest.raises(DataError, match=r"line 2: a quoted field begins here"):
        rows_of(quoted)
    long = replace(opened(tmp_path, "a\n" + "x" * 5000 + "\n"), block_size=100)
    with pytest.raises(DataError, match=r"line 2: the line is too long"):
        rows_of(long)


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path):
    content = "a,b\n" + "".join(f"{i},SECRET{i}\n" for i in range(100_000))
    whole = gzip.compress(content.encode(), mtime=0)
    with pytest.raises(DataError, match="cut off or damaged") as caught:
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
    with pytest.raises(DataError, match="no column 'age'") as caught:
        rows_of(source, ["age"])
    assert "line that names its columns" in str(caught.value)
    assert "Cross" not in str(caught.value)
