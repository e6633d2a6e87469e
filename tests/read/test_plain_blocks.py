"""Plain blocks by compiled loops: the same columns as the other way, or the block given back."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read import plain_blocks
from hedgerow.read.delimited import DelimitedSource, RecordParser, open_delimited
from hedgerow.read.lines import Block
from hedgerow.read.plain_blocks import PlainBlocks

pytest.importorskip("numba", reason="the extra 'fast' is not installed")

Found = tuple[list[pa.RecordBatch], str | None]


def found_in(source: DelimitedSource, requested: list[str], *, compiled: bool) -> Found:
    """The batches of a file, block by block, and what refused it, if anything did."""
    parser = RecordParser.of(source, requested, text=(), compiled=compiled)
    batches: list[pa.RecordBatch] = []
    try:
        for block in source._blocks():
            batches.append(parser.parse(block))
            batches[-1].validate(full=True)
    except DataError as error:
        return batches, str(error)
    return batches, None


def assert_read_alike(source: DelimitedSource, requested: list[str]) -> None:
    """Batch by batch, dictionaries and all: later steps see no difference."""
    before, refused = found_in(source, requested, compiled=False)
    after, refused_too = found_in(source, requested, compiled=True)
    assert refused == refused_too
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert new.schema == old.schema
        assert new.equals(old)
        for one, other in zip(old.columns, new.columns, strict=True):
            assert other.dictionary.equals(one.dictionary)


def opened(tmp_path: Path, content: bytes, **reading: Any) -> DelimitedSource:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    return open_delimited(path, Reading(**reading))


def columns_of(data: bytes, *, n_columns: int = 2, line: int = 2, **reading: Any) -> Any:
    form = Reading(**reading)
    delimiter = form.delimiter_of("x.csv")
    parser = PlainBlocks(
        form, delimiter=delimiter, n_columns=n_columns, requested=list(range(n_columns))
    )
    columns = parser.columns(Block(data=data, line=line, done=1.0))
    return columns and [column.to_pylist() for column in columns]


HOSTILE = st.sampled_from(
    [b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b" ", b"\x0b"]
    + [b"a", b"bc", b"17", b"-2.50", b"=", b"\xc3\xa9", b"\xe2\x82\xac", b"\xff", b"\xe9", b"\xc3"]
    + [b"x" * n for n in (7, 8, 9, 15, 16, 17, 31, 63, 64, 65)]
    + [
        b"\xef\xbb\xbf",
        b'"x"',
        b'"a,b"',
        b'"a""b"',
        b'""""',
        b',"',
        b'",',
        b'"\n',
        b'\n"',
        b"a,b\n",
    ]
)
LINE_ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])
CALM = st.sampled_from(
    [b"", b"a", b"b ", b"17", b"0.5", b'"a"', b'""', b'"b, c"', b'"d""e"', b"\xc3\xbc"]
    + [b"y" * n for n in (8, 16, 17)]
    + [b'"%b"' % (b"y" * 39 + last) for last in (b"y", b"z")]
)


@st.composite
def contents(draw: Any) -> bytes:
    """Lines of two fields with a little of anything somewhere, or anything at all."""
    if draw(st.booleans()):
        return b"".join(draw(st.lists(HOSTILE, max_size=30)))
    end = draw(LINE_ENDS)
    rows = draw(st.lists(st.tuples(CALM, CALM), max_size=40))
    text = b"".join(b",".join(row) + end for row in rows)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(HOSTILE) + text[place:]
    return text.removesuffix(end) if draw(st.booleans()) else text


FORMS = st.builds(
    Reading,
    encoding=st.sampled_from(["utf-8", "utf-8", "latin-1", "windows-1252"]),
    delimiter=st.sampled_from([None, None, "semicolon", "tab", "bar"]),
    quote=st.sampled_from(['"', '"', "none", "multi-line"]),
    malformed=st.sampled_from(["refuse", "drop"]),
    header=st.sampled_from([("n", "m"), ("n", "m"), ("n",), ("n", "m", "k")]),
)
REQUESTED = st.sampled_from([[0], [1], [0, 1], [1, 0], [-1]])


@given(
    content=contents(),
    form=FORMS,
    size=st.sampled_from([1, 7, 64, 100, 1000, 1 << 22]),
    requested=REQUESTED,
)
@example(content=b"\xef\xbb\xbfa,b\n", form=Reading(header=("n", "m")), size=1000, requested=[0, 1])
@example(content=b'a,"b\n', form=Reading(header=("n", "m")), size=1000, requested=[0, 1])
@example(content=b'a,b\n"c\0",d\n', form=Reading(header=("n", "m")), size=1000, requested=[0])
def test_hostile_files_read_alike_or_are_refused_alike(
    tmp_path_factory, content, form, size, requested
):
    assume(form.quote != "multi-line" or form.malformed == "refuse")
    path = tmp_path_factory.getbasetemp() / "hostile.csv"
    path.write_bytes(content)
    try:
        source = replace(open_delimited(path, form), block_size=size)
    except DataError:
        return
    names = [source.columns[place] for place in requested if place < len(source.columns)]
    assume(names)
    assert_read_alike(source, names)


@given(
    rows=st.lists(st.lists(st.integers(0, 70), min_size=3, max_size=3), min_size=1, max_size=60),
    quoted=st.integers(0, 7),
    end=LINE_ENDS,
)
def test_fields_of_any_length_at_any_place_of_a_window_are_plain(
    tmp_path_factory, rows, quoted, end
):
    def field(length: int, column: int) -> bytes:
        text = (b"0123456789" * 8)[:length]
        return b'"' + text + b'"' if quoted >> column & 1 else text

    lines = [b",".join(field(n, column) for column, n in enumerate(row)) for row in rows]
    path = tmp_path_factory.getbasetemp() / "long.csv"
    path.write_bytes(b"x,y,z\n" + end.join(lines))
    source = open_delimited(path)
    assert_read_alike(source, ["z", "x", "y"])
    (block,) = source._blocks()
    parser = PlainBlocks(source.reading, delimiter=",", n_columns=3, requested=[0, 1, 2])
    assert parser.columns(block) is not None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1,a\n2,b\n", [["1", "2"], ["a", "b"]]),
        (b"1,a\n2,b", [["1", "2"], ["a", "b"]]),
        (b"1,a\r\n2,b\r\n", [["1", "2"], ["a", "b"]]),
        (b'"1","a"\r\n"2","b"', [["1", "2"], ["a", "b"]]),
        (b' 1 ,"a,b"\n', [[" 1 "], ["a,b"]]),
        (b',""\n"",x\n', [[None, None], [None, "x"]]),
        (b'"a""b",""""\n', [['a"b'], ['"']]),
        ("é,\u20ac\n".encode(), [["é"], ["\u20ac"]]),
    ],
)
def test_plain_lines_are_read_by_the_compiled_loop(data, expected):
    assert columns_of(data) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n1,a\n",
        b"1,a\n\n",
        b"1,a\r\n\r\n",
        b"1,a\r",
        b"1\r,a\n",
        b"1\n",
        b"1,a,b\n",
        b"1,a,b\n1\n",  # as many fields as two lines ought to have
        b"1\n1,a,b\n",
        b"1,a\0\n",
        b"1,\xff\n",
        b'1,"a\n',
        b'1,"a\nb"\n',
        b'1,"a"b\n',
        b'1,a"b"\n',
        b'1, "a"\n',
        b'1,"a" \n',
        b'1,"a"\r \n',
    ],
)
def test_other_blocks_are_given_back(data):
    assert columns_of(data) is None
    assert columns_of(b"x,y\n" * 5000 + data) is None or not data


def test_what_the_plan_says_decides_what_is_plain():
    assert columns_of(b'1"2,"a\n', quote="none") == [['1"2'], ['"a']]
    assert columns_of(b"1,a\n", quote="multi-line") is None
    assert columns_of(b"1,a\n", encoding="latin-1") == [["1"], ["a"]]
    assert columns_of(b"1,\xe9\n", encoding="latin-1") is None
    assert columns_of(b"\xef\xbb\xbf1,a\n", line=1) == [["1"], ["a"]]
    assert columns_of(b"\xef\xbb\xbf1,a\n", line=2) == [["\ufeff1"], ["a"]]
    assert columns_of(b"1;a\n", delimiter="semicolon") == [["1"], ["a"]]


def test_columns_without_a_field_in_between_are_not_looked_up():
    parser = PlainBlocks(Reading(), delimiter=",", n_columns=3, requested=[2, 0])
    columns = parser.columns(Block(data=b'1,"x""y",a\n2,,b\n', line=2, done=1.0))
    assert [column.to_pylist() for column in columns] == [["a", "b"], ["1", "2"]]


def test_one_column_has_no_delimiter():
    assert columns_of(b'a\n""\nb\n', n_columns=1) == [["a", None, "b"]]
    assert columns_of(b"a\n\nb\n", n_columns=1) is None


def many_words(n_records: int) -> bytes:
    """Texts of every length up to 40, most of them once; two columns share theirs."""
    texts = [f"{i:0{i % 40 + 1}d}" for i in range(n_records)]
    rows = zip(texts, texts[::-1], [str(i % 7) for i in range(n_records)], strict=True)
    return b"x,y,z\n" + "".join(",".join(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("size", [1 << 16, 1 << 22])
def test_tables_of_words_grow(tmp_path, monkeypatch, size):
    monkeypatch.setattr(plain_blocks, "_FIRST_WORDS", 4)
    source = replace(opened(tmp_path, many_words(30_000)), block_size=size)
    assert_read_alike(source, ["x", "y", "z"])
    block = next(iter(source._blocks()))
    parser = PlainBlocks(source.reading, delimiter=",", n_columns=3, requested=[0, 1, 2])
    assert parser.columns(block) is not None
    assert parser.n_words > 4


def test_one_column_may_have_a_word_in_every_line(tmp_path):
    assert_read_alike(opened(tmp_path, b"x\n" + b"%d\n" * 20_000 % tuple(range(20_000))), ["x"])


def test_a_block_with_too_many_words_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_blocks, "_MOST_WORDS", 1 << 14)
    source = opened(tmp_path, many_words(10_000))
    (block,) = source._blocks()
    parser = PlainBlocks(source.reading, delimiter=",", n_columns=3, requested=[0, 1, 2])
    assert parser.columns(block) is None
    assert_read_alike(source, ["x", "y", "z"])


@pytest.mark.parametrize("spread", [0, 1, 1 << 63])
def test_words_whose_hashes_are_the_same_are_told_apart(tmp_path, monkeypatch, spread):
    monkeypatch.setattr(plain_blocks, "_spread", lambda: spread)
    monkeypatch.setattr(plain_blocks, "_FIRST_WORDS", 256)
    assert_read_alike(opened(tmp_path, many_words(1500)), ["x", "y", "z"])


def test_texts_that_differ_in_one_letter_are_different_words(tmp_path):
    texts = [b"m" * n + b"k" + b"m" * (40 - n) for n in range(41)] + [b"m" * n for n in range(45)]
    source = opened(tmp_path, b"x,y\n" + b"".join(b'%b,"%b"\n' % (t, t) for t in texts * 3))
    assert_read_alike(source, ["x", "y"])


def test_many_blocks_in_threads_come_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_blocks, "COMPILED_FROM", 0)
    rows = [f'{i},"{i % 3}",{"" if i % 50 else "a" * (i % 30)}\n' for i in range(20_000)]
    rows[12_345] = '12345,"0""1",\n'
    rows[17_000] = "17000,0,x\r\n\n"  # not plain, here
    source = replace(opened(tmp_path, b"n,m,k\n" + "".join(rows).encode()), block_size=5000)
    batches = list(source.batches(["n", "k"]))
    assert len(batches) > 20
    numbers = [row["n"] for batch in batches for row in batch.to_pylist()]
    assert numbers == [str(i) for i in range(20_000)]
    assert sum(batch.column(1).null_count for batch in batches) == sum(
        bool(i % 50) or i % 30 == 0 for i in range(20_000) if i != 17_000
    )


def test_numbers_with_marks_become_plain_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_blocks, "COMPILED_FROM", 0)
    form = {"delimiter": "semicolon", "decimal": "comma", "thousands": "point"}
    source = opened(tmp_path, b"n;t\n1.234,5;1,5\n;x\n", **form)
    (batch,) = source.batches(["n", "t"], text=["t"])
    assert batch.to_pylist() == [{"n": "1234.5", "t": "1,5"}, {"n": None, "t": "x"}]


RECORDS = st.lists(st.tuples(st.sampled_from(["a", "ü", "b c"]), st.integers(0, 99)), max_size=30)


@given(
    records=RECORDS,
    hostile=st.lists(HOSTILE, max_size=8).map(b"".join).map(lambda b: b.replace(b"\n", b"")),
    place=st.integers(0, 30),
    size=st.sampled_from([16, 1 << 20]),
)
def test_a_record_that_gives_its_block_back_changes_at_most_itself(
    tmp_path_factory, records, hostile, place, size
):
    """Which way a block goes is settled by its records, and makes no difference to any of them."""
    lines = [f'{n},"{town}"\n'.encode() for town, n in records]
    form = Reading(malformed="drop")

    def read(rows: list[bytes]) -> Counter[Any]:
        path = tmp_path_factory.getbasetemp() / "one.csv"
        path.write_bytes(b"n,town\n" + b"".join(rows))
        source = replace(open_delimited(path, form), block_size=size)
        batches, refused = found_in(source, ["n", "town"], compiled=True)
        assert refused is None
        return Counter(tuple(row.values()) for batch in batches for row in batch.to_pylist())

    before, after = read(lines), read([*lines[:place], hostile + b"\n", *lines[place:]])
    assert before == Counter((str(n), town) for town, n in records)
    assert not before - after
    assert (after - before).total() <= 1


def test_small_files_are_read_without_the_compiler(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1,2\n")
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from hedgerow.read.delimited import open_delimited\n"
        f"list(open_delimited(Path({str(path)!r})).batches(['a']))\n"
        "assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_large_files_are_read_by_the_compiled_loop(tmp_path, monkeypatch):
    requested: list[int] = []
    ask = PlainBlocks.columns

    def columns(self: PlainBlocks, block: Block) -> Any:
        requested.append(block.line)
        return ask(self, block)

    monkeypatch.setattr(PlainBlocks, "columns", columns)
    monkeypatch.setattr(plain_blocks, "COMPILED_FROM", 8)
    list(opened(tmp_path, b"a,b\n1,2\n").batches(["a"]))
    assert requested == [2]
    monkeypatch.setattr(plain_blocks, "pays", lambda size, least, loops: size >= least)
    list(opened(tmp_path, b"a\n1\n").batches(["a"]))
    assert requested == [2]
