"""SQL queries: SQLite through the standard library, PostgreSQL through ADBC."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow.errors import DataError, MissingExtraError, SettingError
from hedgerow.model.reading import Reading
from hedgerow.read import postgres
from hedgerow.read.open import open_table

SECRET = "SECRET123"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE people (age INTEGER, "job ""x""" TEXT, mixed, name TEXT)')
        rows = [(17, "shop", 1, SECRET), (None, "farm", "1.5", SECRET), (40, None, 2.0, SECRET)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    return path


@pytest.fixture
def server(postgres_url: str) -> str:
    from adbc_driver_postgresql import dbapi

    with closing(dbapi.connect(postgres_url)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute(
            "CREATE TABLE people (age int, wage numeric(8,2), born date, member boolean, name text)"
        )
        cursor.execute(
            "INSERT INTO people VALUES (17, 2.50, '2001-02-03', true, 'SECRET123'),"
            " (null, null, null, null, 'SECRET123')"
        )
        connection.commit()
    return postgres_url


def rows_of(source, columns=None, text=()):
    return [
        tuple(row.values())
        for batch in source.batches(columns or source.columns, text=text)
        for row in batch.to_pylist()
    ]


def test_sqlite_streams_the_asked_columns_in_the_asked_order(database, tmp_path):
    source = open_table("sqlite:///people.db", query="select * from people;", base=tmp_path)
    assert source.columns == ("age", 'job "x"', "mixed", "name")
    assert source.name == "people.db"
    assert rows_of(source, ['job "x"', "age"]) == [("shop", 17), ("farm", None), (None, 40)]


def test_sqlite_values_of_several_kinds_become_text(database):
    source = open_table(f"sqlite:///{database}", query="select * from people -- all of them")
    assert rows_of(source, ["mixed", "age"], text=["age"]) == [
        ("1", "17"),
        ("1.5", None),
        ("2", "40"),
    ]


def test_sqlite_also_takes_the_short_form_of_a_url(database):
    query = "with t as (select age from people) select * from t"
    source = open_table(f"sqlite:{database}", query=query)
    assert source.columns == ("age",)


@pytest.mark.parametrize(
    "query",
    [
        "delete from people",
        "select 1; delete from people",
        "select 1) as asked; delete from people; --",
        "insert into people (age) values (1) returning age",
        "attach 'other.db' as other",
        "select * from nothing",
        "select load_extension('x')",
        "selec",
        "pragma user_version",
        f"select '{SECRET}' as a, json('{{{SECRET}') as b",
    ],
)
def test_sqlite_refuses_what_is_not_one_reading_statement(database, query):
    before = database.read_bytes()
    with pytest.raises(DataError) as caught:
        rows_of(open_table(f"sqlite:///{database}", query=query))
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__
    assert database.read_bytes() == before


def test_sqlite_refuses_blobs_and_columns_of_one_name(database):
    blob = open_table(f"sqlite:///{database}", query=f"select cast('{SECRET}' as blob) as b")
    with pytest.raises(DataError, match="binary") as caught:
        rows_of(blob, ["b"])
    assert SECRET not in str(caught.value)
    # SQLite itself renames a repeated column in a subquery, so no name is lost.
    twice = open_table(f"sqlite:///{database}", query="select age, age from people")
    assert len(set(twice.columns)) == 2


def test_a_file_that_is_no_database_is_refused(tmp_path):
    fake = tmp_path / "fake.db"
    fake.write_text(f"{SECRET}\n" * 100)
    with pytest.raises(DataError, match=r"fake\.db") as caught:
        open_table(f"sqlite:///{fake}", query="select 1")
    assert SECRET not in str(caught.value)
    with pytest.raises(DataError, match="database file does not exist"):
        open_table("sqlite:///absent.db", query="select 1", base=tmp_path)
    assert not (tmp_path / "absent.db").exists()


def test_a_database_needs_a_query_and_a_file_takes_none(database, tmp_path):
    with pytest.raises(SettingError, match="needs a query"):
        open_table(f"sqlite:///{database}")
    with pytest.raises(SettingError, match="A query needs a database"):
        open_table(database, query="select 1")
    with pytest.raises(DataError, match="not name a database that can be read") as caught:
        open_table(f"mysql://user:{SECRET}@host/db", query="select 1")
    assert SECRET not in str(caught.value)


def test_postgresql_streams_the_asked_columns(server):
    source = open_table(server, query="select * from people order by age;")
    assert source.columns == ("age", "wage", "born", "member", "name")
    asked = ["member", "born", "wage", "age"]
    assert rows_of(source, asked, text=asked) == [
        ("true", "2001-02-03", "2.50", "17"),
        (None, None, None, None),
    ]


def test_postgresql_runs_in_a_read_only_transaction(server):
    source = open_table(server, query="select current_setting('transaction_read_only') as r")
    assert rows_of(source, ["r"]) == [("on",)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("delete from people returning age", "not valid"),
        ("with d as (delete from people returning age) select * from d", "read"),
        ("select 1 as age; delete from people", "not valid"),
        ("select 1 as age) as asked; delete from people; --", "not valid"),
        ("select nothing from people", "column of the query does not exist"),
        ("select * from nothing", "table of the query does not exist"),
        ("select name::int as age from people", "could not answer"),
        ("select nextval('s') as age", "does not exist"),
        ("select age, name as age from people", "same name"),
        ("selec", "not valid"),
    ],
)
def test_postgresql_refuses_what_is_not_one_reading_statement(server, query, message):
    with pytest.raises(DataError, match=message) as caught:
        rows_of(open_table(server, query=query), ["age"])
    assert "SECRET" not in str(caught.value)
    assert "keeper" not in str(caught.value)
    assert len(rows_of(open_table(server, query="select age from people"), ["age"])) == 2


def test_a_wrong_password_is_never_shown(server):
    wrong = server.replace("SECRET-pass", "SECRET-wrong")
    with pytest.raises(DataError) as caught:
        open_table(wrong, query="select 1")
    assert "SECRET" not in str(caught.value)
    assert "SECRET" not in repr(caught.value)
    assert "127.0.0.1/postgres" in str(caught.value)


def test_a_server_that_does_not_answer_is_reported_without_the_url(postgres_url):
    with pytest.raises(DataError) as caught:
        open_table("postgresql://u:SECRET@127.0.0.1:1/db?password=SECRET", query="select 1")
    assert "SECRET" not in str(caught.value)


def test_postgresql_without_its_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(MissingExtraError, match=r"hedgerow\[sql\]"):
        open_table("postgresql://u:SECRET@h/db", query="select 1")


class FakeCursor:
    """Answers every query with one batch, whose last column flags rows with a large value."""

    def execute(self, query):
        pass

    def adbc_execute_schema(self, query):
        numeric = pa.opaque(pa.string(), "numeric", "PostgreSQL")
        return pa.schema([("name", pa.string()), ("wage", numeric), ("age", pa.int32())])

    def fetch_record_batch(self):
        names, flags = pa.array(["a", None, "c"]), pa.array([False, True, False])
        return iter([pa.RecordBatch.from_arrays([names, flags], names=["name", "flag"])])


@pytest.fixture
def fake_server(monkeypatch):
    @contextmanager
    def cursor(*_):
        yield FakeCursor()

    monkeypatch.setattr(postgres, "_cursor", cursor)


def test_only_postgres_columns_of_unlimited_size_are_bounded(fake_server):
    source = postgres.open_postgres("postgresql://host/db", "select 1")
    assert source.unbounded == {"name"}


def test_a_large_postgres_value_is_refused_or_its_row_dropped(fake_server):
    def names(reading):
        source = postgres.open_postgres("postgresql://host/db", "select 1", reading=reading)
        return rows_of(source, ["name"])

    assert names(Reading(malformed="drop")) == [("a",), ("c",)]
    with pytest.raises(DataError, match="larger than a megabyte"):
        names(Reading())
