"""Time and memory of reading are bounded by the plan, with a clear end."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.plan.load import plan_of
from hedgerow.read import columnar
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT {} AS a FROM c"


def database(folder: Path, view: str) -> Path:
    path = folder / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a, waste)")
        connection.execute("INSERT INTO t VALUES ('SECRET', zeroblob(3000000))")
        connection.execute(f"CREATE VIEW v AS {view}")
    return path


def rows_of(path: Path, query: str, reading: Reading) -> int:
    source = open_table(f"sqlite:///{path}", query=query, reading=reading)
    return sum(batch.num_rows for batch in source.batches(source.columns))


@pytest.mark.parametrize(
    "view", [ENDLESS.format("x"), f"SELECT sum(a) AS a FROM ({ENDLESS.format('1')})"]
)
def test_a_query_without_end_ends(tmp_path, view):
    path = database(tmp_path, view)
    with pytest.raises(DataError, match=r"longer than 1 seconds \(SQLITE_INTERRUPT\)") as caught:
        rows_of(path, "SELECT a FROM v", Reading(seconds=1))
    assert "reading: {seconds" in str(caught.value)


@pytest.mark.audit  # ten seconds
def test_an_endless_table_stops_at_the_memory_that_its_codes_may_take(tmp_path):
    path = database(tmp_path, ENDLESS.format("x"))
    schema = schema_of(plan_of({"attributes": {"a": {"numeric": [0, 9]}}}))
    source = open_table(f"sqlite:///{path}", query="SELECT a FROM v")
    with pytest.raises(DataError, match="more than the 1 megabytes allowed") as caught:
        encode_table(source, schema, most_bytes=1 << 20)
    assert "engine stream" in str(caught.value)


def test_a_huge_value_is_refused_before_it_is_made(tmp_path):
    path = database(tmp_path, "SELECT hex(zeroblob(1000000000)) AS a")
    for query in ("SELECT a FROM v", "SELECT waste FROM t"):
        with pytest.raises(DataError, match=r"larger than a megabyte \(SQLITE_TOOBIG\)"):
            rows_of(path, query, PLAIN)
    assert rows_of(path, "SELECT a FROM t", PLAIN) == 1


def test_rows_of_large_values_come_in_small_batches(tmp_path):
    path = database(tmp_path, "SELECT 1")
    query = f"SELECT * FROM ({ENDLESS.format('hex(zeroblob(400000))')}) LIMIT 200"
    source = open_table(f"sqlite:///{path}", query=query)
    sizes = [batch.nbytes for batch in source.batches(["a"])]
    assert len(sizes) > 1
    assert max(sizes) < 200 << 20


def test_a_server_stops_when_the_time_is_over(postgres_url):
    query = "SELECT pg_sleep(60)::text AS a"
    source = open_table(postgres_url, query=query, reading=Reading(seconds=1))
    with pytest.raises(DataError, match=r"longer than the plan allows .*57014"):
        list(source.batches(["a"]))


def test_rows_that_take_too_much_memory_are_refused(postgres_url):
    query = "SELECT repeat('SECRET', 100000) AS a FROM generate_series(1, 9)"
    source = open_table(postgres_url, query=query, reading=Reading(megabytes=1))
    with pytest.raises(DataError, match="more than 1 megabytes") as caught:
        list(source.batches(["a"]))
    assert "SECRET" not in str(caught.value)


LARGE = {
    "text": "repeat('SECRET', 400000)",
    "json": "to_json(repeat('SECRET', 400000))",
    "binary": "decode(repeat('AB', 1100000), 'hex')",
    "list": "array_fill('SECRET'::text, array[200000])",
    "search words": "string_to_array(repeat('SECRET ', 300000), ' ')",
}


@pytest.mark.parametrize("value", LARGE.values(), ids=LARGE)
def test_a_large_value_of_a_server_is_not_sent(postgres_url, value):
    query = f"SELECT n, CASE n WHEN 2 THEN {value} END AS a FROM generate_series(1, 3) AS n"
    with pytest.raises(DataError, match="A value is larger than a megabyte") as caught:
        list(open_table(postgres_url, query=query).batches(["n", "a"]))
    assert "SECRET" not in str(caught.value)
    dropping = open_table(postgres_url, query=query, reading=Reading(malformed="drop"))
    batches = list(dropping.batches(["n", "a"]))
    assert [n for batch in batches for n in batch.column(0).to_pylist()] == [1, 3]
    assert sum(batch.nbytes for batch in batches) < 10_000
    # A column that is not asked for may hold anything.
    kept = list(open_table(postgres_url, query=query).batches(["n"]))
    assert [n for batch in kept for n in batch.column(0).to_pylist()] == [1, 2, 3]


def test_values_of_up_to_a_megabyte_come_as_they_are(postgres_url):
    query = "SELECT n, repeat('é', n) AS a FROM (VALUES (0), (1), (524288)) AS v(n)"
    rows = [
        row
        for batch in open_table(postgres_url, query=query).batches(["a", "n"])
        for row in batch.to_pylist()
    ]
    assert [row["a"] for row in rows] == ["é" * row["n"] for row in rows]
    one_more = "SELECT repeat('é', 524289) AS a"
    with pytest.raises(DataError, match="larger than a megabyte"):
        list(open_table(postgres_url, query=one_more).batches(["a"]))


def test_a_small_file_that_claims_very_many_records_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "MOST_ROWS", 1000)
    table = pa.table({"a": pa.array([1], pa.int8()).take(pa.array([0] * 200_000))})
    pq.write_table(table, tmp_path / "t.parquet")
    assert columnar.MOST_ROWS_PER_BYTE * (tmp_path / "t.parquet").stat().st_size < 200_000
    with pytest.raises(DataError, match="records per byte"):
        open_table(tmp_path / "t.parquet")


def test_baskets_stop_at_the_memory_that_their_codes_may_take(tmp_path):
    (tmp_path / "a.dat").write_text("1 2 3\n" * 60_000)
    lists = pa.table({"who": range(120_000), "x": ["1"] * 120_000})
    for data, items in ((tmp_path / "a.dat", {}), (lists, {"column": "x", "record": "who"})):
        universe = universe_of(plan_of({"items": {"universe": [1, 5], **items}}))
        source = open_items(data, universe.place)
        with pytest.raises(DataError, match="more than the 0 megabytes allowed"):
            encode_baskets(source, universe, most_bytes=100_000)
        assert len(encode_baskets(open_items(data, universe.place), universe)) >= 60_000
