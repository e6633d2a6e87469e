"""Text files in gzip and Zstandard: the same table, damage refused, bombs too."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.read import lines as lines_module
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from support.one_record import sets_in, universe

LINES = b"town\tn\n" + b"".join(b"m\t%d\n" % (i % 9) for i in range(5000))


def packed(data: bytes, name: str) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    return pa.compress(data, "zstd", asbytes=True) if name.lower().endswith(".zst") else data


def rows_of(source):
    return [
        tuple(row.values()) for batch in source.batches(source.columns) for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.tsv.zst", "T.TAB.ZST"])
def test_a_compressed_table_is_the_same(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(packed(LINES, name))
    source = open_table(path)
    whole = rows_of(source)
    assert len(whole) == 5000
    assert whole[:2] == [("m", "0"), ("m", "1")]
    object.__setattr__(source, "block_size", 1000)
    assert rows_of(source) == whole


def test_several_frames_are_one_file(tmp_path):
    path = tmp_path / "t.tsv.zst"
    path.write_bytes(packed(LINES[:1000], ".zst") + packed(LINES[1000:], ".zst"))
    assert len(rows_of(open_table(path))) == 5000


def test_baskets_may_be_compressed(tmp_path):
    path = tmp_path / "a.dat.zst"
    path.write_bytes(packed("Käse milk\n1\n".encode(), ".zst"))
    source = open_items(path, universe().place, reading=Reading(header=0))
    assert sets_in(source, universe()).total() == 2


@pytest.mark.parametrize("name", ["t.tsv.gz", "t.tsv.zst"])
@pytest.mark.parametrize("damage", ["cut off", "garbage behind"])
def test_a_damaged_file_is_refused(tmp_path, name, damage):
    path = tmp_path / name
    data = packed(LINES, name)
    path.write_bytes(data[:-9] if damage == "cut off" else data + b"SECRET123")
    with pytest.raises(DataError, match="truncated or damaged") as raised:
        rows_of(open_table(path))
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst"])
def test_a_bomb_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(lines_module, "MOST_UNPACKED", 1 << 22)
    path = tmp_path / name
    path.write_bytes(packed(b"a,b\n" + b"1,2\n" * 3_000_000, name))
    with pytest.raises(DataError, match="200 times"):
        for _ in open_table(path).batches(["a"]):
            pass


def test_zstandard_under_another_name_is_refused(tmp_path):
    """Its frames may tell a program to skip what follows: all the other records."""
    skip = b"\x50\x2a\x4d\x18" + (len(LINES)).to_bytes(4, "little")
    path = tmp_path / "t.csv"
    path.write_bytes(packed(b"m\t1\n", ".zst") + skip + LINES)
    with pytest.raises(DataError, match="Zstandard"):
        open_table(path)
