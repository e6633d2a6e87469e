"""What workers read themselves of local Parquet files equals what Spark's reader gives them."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import shutil
import sys
import warnings
from collections import Counter
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.count.spark import pieces as spark_pieces
from hedgerow.count.spark.pieces import GroupRows, ReadPieces, cores_here, cut, pieces_of
from hedgerow.errors import DataError
from hedgerow.read.text import as_text

NAMES = ["text", "whole", "number", "day", "money", "flag"]


def odd_table(n=40, seed=0):
    """Return a table of many types, with nulls in each column."""
    rng = np.random.default_rng(seed)

    def some(values):
        return [None if rng.random() < 0.2 else value for value in values]

    return pa.table(
        {
            "text": pa.array(some(rng.choice(["a", "", " b", "ü"], n).tolist())),
            "whole": pa.array(some(rng.integers(-9, 9, n).tolist()), pa.int32()),
            "number": pa.array(some([0.5, float("nan"), 3.0, float("inf")] * (n // 4))),
            "day": pa.array(some([dt.date(1500, 1, 1), dt.date(2011, 8, 21)] * (n // 2))),
            "money": pa.array(some([Decimal("1.50"), Decimal("2.00")] * (n // 2))),
            "flag": pa.array(some([True, False] * (n // 2))),
        }
    )


def records(batches):
    """Return how often each record occurs, every value spelt."""
    found = Counter()
    for batch in batches:
        columns = [as_text(column, where="t").to_pylist() for column in batch.columns]
        found.update(zip(*columns, strict=True))
    return found


def read_in(pieces, names):
    read = pickle.loads(pickle.dumps(ReadPieces(pieces, names)))
    numbers = pa.RecordBatch.from_arrays([pa.array(range(len(pieces)))], names=["id"])
    return read.batches(iter([numbers]))


@pytest.fixture(scope="module")
def session():
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java 17 or later, and there is none")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("hedgerow-tests")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spark = builder.config("spark.ui.enabled", "false").getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


def write_one(folder):
    pq.write_table(odd_table(), folder / "one.parquet", row_group_size=7)
    return folder / "one.parquet"


def write_several(folder):
    for i in range(3):
        pq.write_table(odd_table(seed=i), folder / f"part {i}%23.parquet", row_group_size=11)
    (folder / "_SUCCESS").write_text("")
    (folder / ".part.crc").write_text("x")
    return folder


def write_empty_one_beside(folder):
    pq.write_table(odd_table(), folder / "a.parquet")
    pq.write_table(odd_table().slice(0, 0), folder / "b.parquet")
    return folder


def write_categories(folder):
    table = odd_table()
    table = table.set_column(0, "text", table["text"].dictionary_encode())
    pq.write_table(table, folder / "c.parquet")
    return folder / "c.parquet"


@pytest.mark.parametrize("write", [write_one, write_several, write_empty_one_beside])
def test_pieces_hold_what_sparks_reader_gives(write, tmp_path, session, monkeypatch):
    monkeypatch.setattr(spark_pieces, "LEAST_ROWS", 9)
    frame = session.read.parquet(str(write(tmp_path)))
    pieces = pieces_of(session, frame, NAMES)
    assert len(pieces) == 4  # two for each core
    by_spark = frame.select(NAMES).toArrow().to_batches()
    assert records(read_in(pieces, NAMES)) == records(by_spark)


def test_columns_of_categories_are_text(tmp_path, session):
    frame = session.read.parquet(str(write_categories(tmp_path)))
    pieces = pieces_of(session, frame, NAMES)
    assert records(read_in(pieces, NAMES)) == records(frame.select(NAMES).toArrow().to_batches())


def other_types(folder):
    pq.write_table(pa.table({"text": ["a"], "whole": pa.array([1], pa.uint32())}), folder / "x")


def moments(folder):
    when = pa.array([dt.datetime(2011, 8, 21)], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"text": ["a"], "whole": when}), folder / "x.parquet")


def nested(folder):
    pq.write_table(pa.table({"text": ["a"], "whole": [[1, 2]]}), folder / "x.parquet")


def partitioned(folder):
    for key in ("whole=1", "whole=2"):
        (folder / key).mkdir()
        pq.write_table(pa.table({"text": ["a"]}), folder / key / "x.parquet")


def two_schemas(folder):
    pq.write_table(pa.table({"text": ["a"], "whole": [1]}), folder / "x.parquet")
    pq.write_table(pa.table({"text": ["a"], "whole": [1], "more": [1]}), folder / "y.parquet")


@pytest.mark.parametrize("write", [other_types, moments, nested, partitioned, two_schemas])
def test_what_may_come_out_otherwise_is_left_to_sparks_reader(write, tmp_path, session):
    write(tmp_path)
    frame = session.read.parquet(str(tmp_path))
    assert pieces_of(session, frame, ["text", "whole"]) == ()


def test_days_of_an_old_calendar_are_left_to_sparks_reader(tmp_path, session):
    table = odd_table().replace_schema_metadata({"org.apache.spark.version": "2.4.8"})
    pq.write_table(table, tmp_path / "old.parquet")
    frame = session.read.parquet(str(tmp_path))
    assert pieces_of(session, frame, NAMES) == ()
    assert pieces_of(session, frame, ["text", "whole"])  # no day among them


def test_a_session_that_skips_files_reads_them_itself(tmp_path, session):
    frame = session.read.parquet(str(write_one(tmp_path)))
    assert pieces_of(session, frame, NAMES)
    session.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        assert pieces_of(session, frame, NAMES) == ()
    finally:
        session.conf.unset("spark.sql.files.ignoreCorruptFiles")


@pytest.mark.parametrize(
    ("master", "n_cores"),
    [
        ("local", 2),
        ("local[2]", 2),
        ("local[*, 3]", 2),
        ("local-cluster[2,1,1024]", 0),
        ("spark://h", 0),
        ("yarn", 0),
    ],
)
def test_only_a_session_on_this_machine_reads_its_files(master, n_cores):
    context = SimpleNamespace(master=master, defaultParallelism=2)
    assert cores_here(SimpleNamespace(sparkContext=context)) == n_cores
    assert cores_here(object()) == 0  # Spark Connect


@pytest.mark.parametrize("sizes", [[], [0], [1], [3, 0, 5], [100], [7] * 30])
@pytest.mark.parametrize("n_cores", [1, 2, 5])
def test_pieces_hold_every_record_once(sizes, n_cores, monkeypatch):
    monkeypatch.setattr(spark_pieces, "LEAST_ROWS", 4)
    monkeypatch.setattr(spark_pieces, "MOST_ROWS", 50)
    groups = [GroupRows(path="x", group=i, start=0, stop=n, n_rows=n) for i, n in enumerate(sizes)]
    pieces = cut(groups, n_cores=n_cores)
    held = [
        (each.group, row)
        for piece in pieces
        for each in piece
        for row in range(each.start, each.stop)
    ]
    assert held == [(group, row) for group, n in enumerate(sizes) for row in range(n)]
    lengths = [sum(each.stop - each.start for each in piece) for piece in pieces]
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= 50


def test_a_file_that_became_shorter_is_refused(tmp_path):
    pq.write_table(odd_table(8), tmp_path / "x.parquet")
    longer = GroupRows(path=str(tmp_path / "x.parquet"), group=0, start=0, stop=9, n_rows=9)
    with pytest.raises(DataError, match="changed while it was read"):
        list(read_in(((longer,),), ["text"]))
