"""Parquet and Arrow files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from hedgerow.errors import DataError
from hedgerow.read.columnar import ArrowSource, ParquetSource, _stretches
from hedgerow.read.open import open_table

TABLE = pa.table(
    {
        "age": pa.array([17, None, 40, 41, 42], pa.int16()),
        "job": pa.array(["shop", "farm", None, "shop", "farm"]),
        "name": ["SECRET123"] * 5,
    }
)
EXPECTED = list(zip(TABLE["job"].to_pylist(), TABLE["age"].to_pylist(), strict=True))


def rows_of(source, columns=("job", "age"), text=("job",)):
    batches = source.batches(columns, text=text)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def write_stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITERS = {
    "parquet": lambda path: pq.write_table(TABLE, path, row_group_size=2),
    "parquet, no dictionary": lambda path: pq.write_table(TABLE, path, use_dictionary=False),
    "feather": lambda path: feather.write_feather(TABLE, str(path), compression="zstd"),
    "arrow": lambda path: feather.write_feather(
        TABLE, str(path), compression="uncompressed", chunksize=2
    ),
    "arrow stream": write_stream,
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_columns_stream_in_batches_whatever_the_file_is_called(tmp_path, kind, rows):
    path = tmp_path / "people.data"
    WRITERS[kind](path)
    source = open_table(path)
    assert isinstance(source, ParquetSource | ArrowSource)
    assert source.columns == ("age", "job", "name")
    small = replace(source, batch_rows=rows)
    assert rows_of(small) == EXPECTED
    assert rows_of(small, text=("job", "age"))[0] == ("shop", "17")
    assert all(batch.num_rows <= rows for batch in small.batches(["age"]))


@pytest.mark.parametrize("kind", WRITERS)
def test_progress_rises_to_one(tmp_path, kind):
    WRITERS[kind](tmp_path / "people")
    shares: list[float] = []
    list(open_table(tmp_path / "people").batches(["age"], progress=shares.append))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_text_in_parquet_keeps_its_dictionary(tmp_path):
    pq.write_table(TABLE, tmp_path / "people.parquet")
    (batch,) = open_table(tmp_path / "people.parquet").batches(["job"], text=["job"])
    assert pa.types.is_dictionary(batch.column("job").type)


def test_a_folder_of_parquet_files_is_one_table_in_the_order_of_their_names(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    pq.write_table(TABLE.slice(2), folder / "part-2.parquet")
    pq.write_table(TABLE.slice(0, 2).select(["name", "job", "age"]), folder / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.parquet").write_text("SECRET123")
    source = open_table(folder)
    assert source.name == "people"
    assert rows_of(source) == EXPECTED


def test_folders_that_are_not_one_table_are_refused(tmp_path):
    with pytest.raises(DataError, match="contains no Parquet file"):
        open_table(tmp_path)
    pq.write_table(TABLE, tmp_path / "1.parquet")
    pq.write_table(TABLE.select(["age"]), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet: The columns differ from those"):
        open_table(tmp_path)
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "year=2011").mkdir()
    pq.write_table(TABLE, tmp_path / "year=2011" / "1.parquet")
    with pytest.raises(DataError, match="names of its subfolders"):
        open_table(tmp_path)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_file_is_refused_by_name(tmp_path, kind, damage):
    path = tmp_path / "people.data"
    WRITERS[kind](path)
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(content[:half] if damage == "cut" else content[:8] + b"\xa5" * (half * 2 - 8))
    with pytest.raises(DataError, match=r"people\.data: The file is damaged") as caught:
        rows_of(open_table(path))
    assert "SECRET" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_an_absent_column_is_named(tmp_path):
    pq.write_table(TABLE, tmp_path / "people.parquet")
    with pytest.raises(DataError, match="The column 'wage' does not exist") as caught:
        rows_of(open_table(tmp_path / "people.parquet"), ["wage"])
    assert "job" not in str(caught.value)


def test_nested_columns_are_refused_as_text_only_when_asked_for(tmp_path):
    nested = TABLE.append_column("list", pa.array([["SECRET123"]] * 5))
    pq.write_table(nested, tmp_path / "people.parquet")
    source = open_table(tmp_path / "people.parquet")
    assert rows_of(source) == EXPECTED
    with pytest.raises(DataError, match="no text form"):
        rows_of(source, ["list"], text=["list"])


@pytest.mark.parametrize(("rows", "stretches"), [(1, 5), (4, 3), (100, 1)])
def test_a_reader_holds_few_row_groups_at_a_time(tmp_path, rows, stretches):
    """Arrow lets go of them when its iterator ends, so that a large file needs several."""
    path = tmp_path / "people.parquet"
    table = pa.concat_tables([TABLE] * 2)
    pq.write_table(table, path, row_group_size=2)
    groups = list(_stretches(pq.ParquetFile(path).metadata, rows))
    assert len(groups) == stretches
    assert [each for stretch in groups for each in stretch] == list(range(5))
    assert rows_of(replace(open_table(path), batch_rows=rows)) == EXPECTED * 2
