"""The Spark engine gives the same release as the in-memory one; its failures leave nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from test_engine_stream import released

import hedgerow
from hedgerow.count.settings import EngineSettings
from hedgerow.count.spark import pieces as spark_pieces
from hedgerow.count.spark import workers as spark_workers
from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import (
    DataError,
    EngineError,
    MissingExtraError,
    SameRecordsError,
    SettingError,
)
from hedgerow.ledger.ledger import Ledger
from hedgerow.model import sizes
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.open import open_engine
from hedgerow.pipeline.place import DataPlace
from hedgerow.pipeline.prepare import prepare
from hedgerow.plan.load import plan_of
from hedgerow.progress import no_progress
from support.engine_plans import (
    basket_plan,
    name_of,
    sequence_plan,
    table_plan,
    variants,
    write_baskets,
    write_table,
)

TESTS = Path(__file__).resolve().parents[1]

pytest.importorskip("pyspark", reason="the extra spark is not installed")
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("Spark needs Java 17 or later, and there is none", allow_module_level=True)


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("hedgerow-tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "2",
        "spark.sql.files.maxPartitionBytes": "4096",
        "spark.sql.files.openCostInBytes": "0",
        "spark.python.worker.faulthandler.enabled": "true",
    }.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


def publish_on_both(plan, data, folder, session):
    hedgerow.publish(plan, data=data, out=folder / "memory", seed=3)
    hedgerow.publish(
        plan,
        data=data,
        out=folder / "spark",
        seed=3,
        engine=hedgerow.EngineSettings.of("spark", session=session),
    )


TABLES = [
    pytest.param(
        each,
        marks=() if name_of(each) == "diffgen" else pytest.mark.audit,
        id=name_of(each),
    )
    for each in variants("table")
]
"""Every method; those that ask an engine nothing of their own are tried by `make audit`."""


@pytest.mark.parametrize("variant", TABLES)
def test_tables_on_spark_give_the_same_release(variant, tmp_path, session):
    data = write_table(tmp_path / "small.csv")
    publish_on_both(table_plan(variant), data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.parametrize(
    "people",
    [
        pytest.param({}, id="records"),
        pytest.param(
            {"person": "note", "records-per-person": 2}, marks=pytest.mark.audit, id="people"
        ),
    ],
)
def test_covers_on_spark_give_the_same_release(people, tmp_path, session):
    data = write_table(tmp_path / "small.csv")
    usual = table_plan(("diffgen", {"h": 3}))
    attributes = {**usual["attributes"], "sex": {"values": ["f", "m"], "role": "cover"}}
    covers = {"column": "sex", "values": ["m"]}
    plan = {**usual, **people, "attributes": attributes, "covers": covers}
    publish_on_both(plan, data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


BASKETS = [
    pytest.param(each, marks=pytest.mark.audit, id=name_of(each)) for each in variants("baskets")
]


@pytest.mark.parametrize("variant", BASKETS)
def test_baskets_on_spark_give_the_same_release(variant, tmp_path, session):
    data = write_baskets(tmp_path / "small.dat")
    publish_on_both(basket_plan(variant), data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.audit  # half a minute of Spark
def test_long_tables_and_columns_of_lists_are_read_alike(tmp_path, session):
    plan = basket_plan(("diffpart", {}))
    lines = write_baskets(tmp_path / "small.dat").read_text(encoding="utf-8").splitlines()
    records = [line.replace(",", " ").split() for line in lines]
    lists = session.createDataFrame([(record,) for record in records], "items array<string>")
    rows = [(f"r{i} ", item) for i, record in enumerate(records) for item in record]
    long = session.createDataFrame([*rows, (None, "1"), (" ", "2")], "who string, item string")
    digests = set()
    for items, data in (({"column": "items"}, lists), ({"column": "item", "record": "who"}, long)):
        told = {**plan, "items": {**plan["items"], **items}}
        digests.add(hedgerow.publish(told, data=data, engine="spark", seed=3).digest)
    digests.add(hedgerow.publish(plan, data=tmp_path / "small.dat", seed=3).digest)
    assert len(digests) == 1


@pytest.mark.audit  # half a minute of Spark
def test_a_frame_a_table_name_parquet_and_json_lines_are_read_alike(tmp_path, session):
    import polars as pl

    data = write_table(tmp_path / "small.csv")
    frame = pl.read_csv(data)
    frame.write_parquet(tmp_path / "small.parquet")
    frame.write_ndjson(tmp_path / "small.jsonl")
    on_spark = session.read.parquet(str(tmp_path / "small.parquet"))
    on_spark.createOrReplaceTempView("small_people")
    plan = table_plan(("diffgen", {"h": 3}))
    digests = {
        hedgerow.publish(
            plan, data=each, engine=hedgerow.EngineSettings.of("spark", session=session), seed=1
        ).digest
        for each in (
            on_spark,
            "small_people",
            tmp_path / "small.parquet",
            tmp_path / "small.jsonl",
        )
    }
    digests.add(hedgerow.publish(plan, data=data, seed=1).digest)
    assert len(digests) == 1


@pytest.mark.parametrize("added_at_once", [None, 0], ids=["by the driver", "by the workers"])
def test_parquet_that_workers_open_gives_the_same_release(
    added_at_once, tmp_path, session, monkeypatch
):
    pl.read_csv(write_table(tmp_path / "small.csv")).write_parquet(tmp_path / "small.parquet")
    opened = []

    def pieces_of(*asked):
        opened.append(spark_pieces.pieces_of(*asked))
        return opened[-1]

    monkeypatch.setattr("hedgerow.count.spark.session.pieces_of", pieces_of)
    if added_at_once is not None:
        monkeypatch.setattr("hedgerow.count.spark.table.ADDED_AT_ONCE", added_at_once)
    plan = table_plan(("diffgen", {"h": 3}))
    publish_on_both(plan, tmp_path / "small.parquet", tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
    assert all(opened)


@pytest.mark.audit  # many passes of Spark
def test_a_level_is_one_pass_over_the_data(tmp_path, session):
    ready = prepare(table_plan(("hedge", {})))
    data = write_table(tmp_path / "small.csv")
    engines = {}
    for settings in (EngineSettings(), EngineSettings(kind="spark", session=session)):
        place = DataPlace(data=data)
        engine = open_engine(ready.schema, place, settings=settings, progress=no_progress)
        engines[settings.kind] = engine
    levels = [0]
    placed_in_memory = engines["memory"].place

    def counted():
        placed = placed_in_memory()
        route = placed.route

        def routed(routing):
            levels[0] += 1
            route(routing)

        placed.route = routed
        return placed

    object.__setattr__(engines["memory"], "place", counted)
    from hedgerow.model.run import Run
    from hedgerow.privacy.source import SeededSource

    for engine in engines.values():
        ready.method.publish(Run.start(engine, epsilon=ready.epsilon, source=SeededSource(3)))
    assert levels[0] <= engines["spark"].passes <= levels[0] + 3
    engines["spark"].close()


def test_a_value_outside_its_domain_is_refused_without_being_shown(tmp_path, session, capfd):
    plan = table_plan(("diffgen", {"h": 1}))
    plan["attributes"]["job"].pop("other")
    data = write_table(tmp_path / "small.csv")
    with pytest.raises(DataError, match="Attribute 'job'") as refused:
        hedgerow.publish(
            plan,
            data=data,
            engine=hedgerow.EngineSettings.of("spark", session=session),
            out=tmp_path / "out",
        )
    assert "piper" not in str(refused.value)
    assert "piper" not in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "n", [1, 5, spark_workers.PACKED_AT_ONCE, spark_workers.PACKED_AT_ONCE + 3]
)
def test_packed_records_come_out_as_they_went_in(n):
    rng = np.random.default_rng(n)
    columns = tuple(rng.integers(0, 99, n).astype(kind) for kind in (np.uint8, np.uint16, np.uint8))
    batch = spark_workers.packed_codes(columns)
    assert sum(batch.column(0).to_pylist()) == n
    rows = list(spark_workers.unpacked(batch, [column.dtype for column in columns]))
    for place, column in enumerate(columns):
        np.testing.assert_array_equal(np.concatenate([row[place] for _, row in rows]), column)


@pytest.mark.parametrize(("n", "stored"), [(3, b"12345"), (0, b""), (2, None), (None, b"1234")])
def test_packed_records_that_are_cut_short_are_refused(n, stored):
    batch = pa.RecordBatch.from_arrays(
        [pa.array([n], pa.int64()), pa.array([stored], pa.binary())], ["records", "codes"]
    )
    with pytest.raises(DataError, match="truncated records"):
        list(spark_workers.unpacked(batch, [np.dtype(np.uint8), np.dtype(np.uint8)]))


@pytest.mark.audit  # Spark retries for long
def test_a_corrupt_batch_from_a_worker_fails_the_run(tmp_path, session, monkeypatch):
    def corrupt(total):
        keys, counts = np.array([0, -7]), np.array([1, 1])
        return pa.RecordBatch.from_arrays([pa.array(keys), pa.array(counts)], ["key", "count"])

    class Corrupt(spark_workers.KernelSum):
        def __call__(self, batches):
            list(batches)
            yield corrupt(None)

    monkeypatch.setattr("hedgerow.count.spark.table.KernelSum", Corrupt)
    data = write_table(tmp_path / "small.csv")
    with pytest.raises(EngineError):
        hedgerow.publish(
            table_plan(("diffgen", {"h": 1})),
            data=data,
            engine=hedgerow.EngineSettings.of("spark", session=session),
            out=tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()
    assert Ledger().accounts() == ()  # it fails where it is rehearsed, before anything is booked


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        ("nowhere.csv", DataError, "Neither a file nor a table"),
        ("sqlite:///x.db", SettingError, "does not read databases"),
        ("people.xlsx", SettingError, "kind of file"),
        ("people.csv.zst", SettingError, "kind of file"),
        (object(), SettingError, "kind of dataframe"),
    ],
)
def test_data_that_spark_cannot_read_are_refused(data, error, match, session):
    with pytest.raises(error, match=match):
        hedgerow.publish(
            table_plan(("hedge", {})),
            data=data,
            engine=hedgerow.EngineSettings.of("spark", session=session),
            seed=1,
        )


def test_a_missing_column_is_named(tmp_path, session):
    frame = session.createDataFrame([(1, "clerk")], "age int, job string")
    with pytest.raises(DataError, match="The column 'sex' does not exist"):
        hedgerow.publish(table_plan(("hedge", {})), data=frame, engine="spark", seed=1)
    pl.DataFrame({"age": [1], "job": ["clerk"]}).write_parquet(tmp_path / "small.parquet")
    with pytest.raises(DataError, match="The column 'sex' does not exist"):
        hedgerow.publish(
            table_plan(("hedge", {})),
            data=tmp_path / "small.parquet",
            engine=hedgerow.EngineSettings.of("spark", session=session),
            seed=1,
        )


def test_hostile_lines_are_left_out_or_refused_as_in_memory(tmp_path, session):
    data = write_table(tmp_path / "small.csv")
    header, first, *others = data.read_bytes().split(b"\n")
    hostile = [
        b'"' + first,
        first + b"\xff",
        first + b"\r" + first,
        first + b",x",
        b"\0",
        b"x",
        b'a"b',
    ]
    lines = [header, hostile[0], first, *hostile[1:], *others]
    data.write_bytes(b"\r\n".join(lines))
    plan = {**table_plan(("diffgen", {"h": 3})), "reading": {"malformed": "drop"}}
    publish_on_both(plan, data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")
    with pytest.raises(DataError, match="the record") as caught:
        hedgerow.publish(
            table_plan(("diffgen", {})),
            data=data,
            engine=hedgerow.EngineSettings.of("spark", session=session),
        )
    assert "line" not in str(caught.value).split("\n")[0]


@pytest.mark.audit  # a minute of Spark
def test_files_of_our_own_session_are_private_encrypted_and_swept(tmp_path):
    """Shuffle files held true counts, readable by everybody, also after the process was killed."""
    outcome = subprocess.run(
        [sys.executable, str(TESTS / "support" / "spark_files.py"), str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert outcome.returncode == 0, outcome.stderr[-2000:]
    assert json.loads(outcome.stdout.splitlines()[-1]) == {
        "killed left files": True,
        "others may enter": False,
        "holds the marker": False,
        "swept": True,
    }


def test_a_header_of_sequences_is_refused(tmp_path, session):
    plan = basket_plan(("diffpart", {}))
    plan["reading"] = {"header": 7}
    data = write_baskets(tmp_path / "small.dat")
    with pytest.raises(SettingError, match="header"):
        hedgerow.publish(
            plan, data=data, engine=hedgerow.EngineSettings.of("spark", session=session), seed=1
        )


def test_without_java_or_spark_a_user_is_told_what_to_install(monkeypatch):
    from hedgerow.count.spark import session as spark_session

    monkeypatch.setattr(spark_session.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EngineError, match="needs Java"):
        spark_session._check_java()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtraError):
        spark_session.spark_session(EngineSettings(kind="spark"), "x.csv")


@pytest.mark.audit  # starts a server of its own, which takes half a minute
def test_spark_connect_gives_the_same_release(tmp_path):
    pytest.importorskip("grpc", reason="pyspark[connect] is not installed")
    data, baskets = write_table(tmp_path / "small.csv"), write_baskets(tmp_path / "small.dat")
    told = json.loads(_printed("over_connect.py", data, baskets))
    assert len(told) == 3
    for in_memory, over_connect in told:
        assert in_memory == over_connect


@pytest.mark.audit  # starts a cluster of its own, which takes a minute
@pytest.mark.skipif(sys.platform != "linux", reason="the executor is found in /proc")
def test_an_executor_killed_in_the_middle_changes_nothing(tmp_path):
    data = write_table(tmp_path / "small.csv")
    told = json.loads(_printed("lost_executor.py", data, tmp_path / "killed"))
    assert told["killed"]
    assert told["digests"][0] == told["digests"][1]


def _printed(program: str, *arguments: Path) -> str:
    """Run a program of tests/support and return the last line that it printed."""
    done = subprocess.run(
        [sys.executable, TESTS / "support" / program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(TESTS)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.audit  # a minute of Spark
def test_a_table_on_spark_is_known_again(tmp_path, session):
    data = write_table(tmp_path / "small.csv")
    plan = table_plan(variants("table")[0])
    named = {**plan, "ledger": {"dataset": "first", "cap": 9}}
    hedgerow.publish(named, data=data)
    again = {**plan, "ledger": {"dataset": "second", "cap": 9}}
    with pytest.raises(SameRecordsError):
        hedgerow.publish(
            again, data=data, engine=hedgerow.EngineSettings.of("spark", session=session)
        )
    hedgerow.publish(named, data=data, engine=hedgerow.EngineSettings.of("spark", session=session))
    assert len(Ledger().entries("first")) == 2


@pytest.mark.audit  # a minute of Spark
def test_baskets_on_spark_are_known_again(tmp_path, session):
    data = write_baskets(tmp_path / "small.dat")
    plan = basket_plan(variants("baskets")[0])
    hedgerow.publish({**plan, "ledger": {"dataset": "first", "cap": 9}}, data=data)
    again = {**plan, "ledger": {"dataset": "second", "cap": 9}}
    with pytest.raises(SameRecordsError):
        hedgerow.publish(
            again, data=data, engine=hedgerow.EngineSettings.of("spark", session=session)
        )


@pytest.mark.parametrize("counted", [pytest.param("records", marks=pytest.mark.audit), "people"])
def test_people_on_spark_give_the_same_release(counted, tmp_path, session):
    rng = np.random.default_rng(3)
    rows = {"who": rng.integers(0, 90, 400), "a": rng.integers(0, 9, 400)}
    pl.DataFrame(rows).write_csv(tmp_path / "small.csv")
    plan = {
        "attributes": {"a": {"numeric": [0, 9]}},
        "person": "who",
        "records-per-person": 3,
        "count": counted,
        "confirmed": True,
        "publish": {"method": "basic-table", "epsilon": 1},
    }
    publish_on_both(plan, tmp_path / "small.csv", tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.audit  # a minute of Spark
@pytest.mark.parametrize("method", ["hedge", "weave"])
def test_a_bound_chosen_on_spark_gives_the_same_release(method, tmp_path, session):
    rng = np.random.default_rng(3)
    rows = {"who": rng.integers(0, 90, 400), "a": rng.integers(0, 9, 400)}
    pl.DataFrame(rows).write_csv(tmp_path / "small.csv")
    plan = {
        "attributes": {"a": {"numeric": [0, 9]}},
        "person": "who",
        "records-per-person": "auto",
        "confirmed": True,
        "publish": {"method": method, "epsilon": 1},
    }
    publish_on_both(plan, tmp_path / "small.csv", tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


OWNED = [
    pytest.param({"join": "union"}, False, marks=pytest.mark.audit, id="joined, lists"),
    pytest.param({"records-per-person": 2}, True, id="bounded, long"),
    pytest.param({"records-per-person": 2}, False, marks=pytest.mark.audit, id="bounded, lists"),
    pytest.param({"join": "union"}, True, marks=pytest.mark.audit, id="joined, long"),
    pytest.param({"records-per-person": "auto"}, True, marks=pytest.mark.audit, id="chosen, long"),
]


@pytest.mark.parametrize(("people", "long"), OWNED)
def test_baskets_of_people_on_spark_give_the_same_release(people, long, tmp_path, session):
    rng = np.random.default_rng(3)
    visit = rng.integers(0, 200, 600)
    rows = pl.DataFrame({"who": visit % 70, "visit": visit, "item": rng.integers(1, 9, 600)})
    data = tmp_path / ("rows.csv" if long else "lists.parquet")
    if long:
        rows.write_csv(data)
    else:
        rows.group_by("who", "visit").agg("item").write_parquet(data)
    plan = {
        "items": {"universe": [1, 8], "column": "item", **({"record": "visit"} if long else {})},
        "person": "who",
        **people,
        "confirmed": True,
        "publish": {"method": "diffpart", "epsilon": 1},
    }
    publish_on_both(plan, data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.audit  # some seconds of Spark
def test_a_basket_on_spark_that_names_nobody_is_refused(session):
    plan = {
        "items": {"universe": [1, 8], "column": "item", "record": "visit"},
        "person": "customer_id",
        "join": "union",
        "confirmed": True,
        "publish": {"method": "diffpart", "epsilon": 1},
    }
    rows = [("p", 1, 3), (None, 2, 4)]
    frame = session.createDataFrame(rows, "customer_id string, visit int, item int")
    with pytest.raises(DataError, match="A record does not name its person"):
        hedgerow.publish(plan, data=frame, engine="spark", seed=1)


@pytest.mark.audit
@pytest.mark.parametrize("form", ["lines", "long", "people"])
def test_sequences_on_spark_give_the_same_release(form, tmp_path, session):
    lines = write_baskets(tmp_path / "small.dat", n=900)
    plan = sequence_plan(("chain", {}))
    data = lines
    if form != "lines":
        rows = [
            {"trip": f"t{trip}", "time": place, "station": item, "card": f"c{trip % 400}"}
            for trip, line in enumerate(lines.read_text(encoding="utf-8").splitlines())
            for place, item in enumerate(line.replace(",", " ").split())
        ]
        plan["items"] |= {"record": "trip", "column": "station", "order": "time"}
        if form == "people":
            plan |= {"protects": None, "person": "card", "records-per-person": 2}
        data = tmp_path / "long.csv"
        columns = ["trip", "time", "station"] + (["card"] if form == "people" else [])
        pl.DataFrame(rows).select(columns).write_csv(data)
    publish_on_both(plan, data, tmp_path, session)
    assert released(tmp_path / "spark") == released(tmp_path / "memory")


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("kind", ["table", "baskets"])
def test_spark_refuses_a_table_of_more_rows_than_the_limit(
    kind, people, tmp_path, session, monkeypatch
):
    frame = pl.DataFrame({"who": ["a", "b", "c"], "age": [1, 2, 3], "item": [["1"], ["2"], ["3"]]})
    columns = ["age"] if kind == "table" else ["item"]
    path = tmp_path / "t.parquet"
    frame.select([*(["who"] if people else []), *columns]).write_parquet(path)
    domain = (
        schema_of(plan_of({"attributes": {"age": {"numeric": [0, 9]}}}))
        if kind == "table"
        else universe_of(plan_of({"items": {"universe": [1, 9], "column": "item"}}))
    )
    rule = KeyedRule(rule=PeopleRule(columns=("who",), most=2), key=SampleKey(words=(3, 5)))

    def opened():
        settings = EngineSettings(kind="spark", session=session)
        given = {"settings": settings, "progress": no_progress, "people": rule if people else None}
        open_engine(domain, DataPlace(data=path), **given).close()

    monkeypatch.setattr(sizes, "MOST_ROWS", 3)
    opened()
    monkeypatch.setattr(sizes, "MOST_ROWS", 2)
    with pytest.raises(DataError, match="more than 2 rows"):
        opened()
