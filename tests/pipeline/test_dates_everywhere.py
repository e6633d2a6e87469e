"""Dates and what follows from them, from the file to the release: every method, every engine."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import hedgerow
from hedgerow.count.spark.workers import Encode, unpacked
from hedgerow.count.stream import table as stream
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.evaluation.ranges import random_range_queries
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from hedgerow.release.recoding import Recoding
from hedgerow.taxonomy.domain import code_dtype
from support.engine_plans import date_plan, name_of, variants, write_stays

VARIANTS = [each for each in variants("table") if not each[1].get("faithful")]
HEDGE = ("hedge", {})
LABEL = re.compile(r"missing|(missing or )?(\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d[)\]]|\*)")


def as_parquet(path, folder):
    """The same stays with dates stored as dates and moments."""
    rows = arrow_csv.read_csv(
        path,
        convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, "string")),
    ).to_pylist()
    came = [dt.datetime.fromisoformat(row["came"]) for row in rows]
    left = [None if row["left"] == "?" else dt.date.fromisoformat(row["left"]) for row in rows]
    birth = [
        None if row["birth"] == "unknown" else dt.datetime.strptime(row["birth"], "%d.%m.%Y").date()
        for row in rows
    ]
    table = pa.table(
        {
            "ill": [row["ill"] for row in rows],
            "left": pa.array(left, pa.date32()),
            "came": pa.array(came, pa.timestamp("us")),
            "birth": pa.array(birth, pa.date32()),
        }
    )
    pq.write_table(table, folder / "stays.parquet")
    return folder / "stays.parquet"


COLUMNS = ("birth", "came", "left", "ill")


@pytest.mark.parametrize("variant", VARIANTS, ids=name_of)
def test_every_method_releases_dates_as_dates(variant, tmp_path):
    data = write_stays(tmp_path / "stays.csv")
    plan = date_plan(variant)
    out = tmp_path / "release"
    release = hedgerow.publish(
        plan, data=data, out=hedgerow.Output(folder=out, records=True), seed=5
    )
    columns = release.to_arrow().column_names
    assert {"birth", "left"}.isdisjoint(columns)
    labels = set(release.to_arrow()["came"].to_pylist())
    assert all(LABEL.fullmatch(label) for label in labels), labels
    records = (out / "records.csv").read_text(encoding="utf-8").splitlines()
    drawn = {line.split(",")[0] for line in records[1:]}
    assert all(re.fullmatch(r"(\d{4}-\d\d-01|2019-11-15)?", day) for day in drawn), drawn
    told = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    assert told["data"]["attributes"][0]["kind"] == "date"


def test_the_streaming_engine_and_parquet_give_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "rows_per_piece", lambda schema, memory: 61)
    data = write_stays(tmp_path / "stays.csv")
    plan = date_plan(HEDGE)
    first = hedgerow.publish(plan, data=data, seed=3)
    again = hedgerow.publish(plan, data=data, seed=3, engine="stream")
    stored = hedgerow.publish(plan, data=as_parquet(data, tmp_path), seed=3)
    assert first.to_arrow().equals(again.to_arrow())
    assert first.to_arrow().equals(stored.to_arrow())


def test_a_worker_of_spark_gives_the_same_codes(tmp_path):
    schema = schema_of(plan_of(date_plan(HEDGE)))
    path = as_parquet(write_stays(tmp_path / "stays.csv"), tmp_path)
    table = encode_table(open_table(path), schema)
    batches = pq.read_table(path).select(schema.columns()).to_batches(max_chunksize=37)
    dtypes = [np.dtype(code_dtype(each.domain.size)) for each in schema.used()]
    packed = [each for b in Encode(schema)(iter(batches)) for _, each in unpacked(b, dtypes)]
    joined = [np.concatenate(column) for column in zip(*packed, strict=True)]
    for mine, theirs in zip([*table.codes, table.classes], joined, strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.audit
def test_spark_gives_the_same_release(tmp_path):
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    data = write_stays(tmp_path / "stays.csv")
    plan = date_plan(HEDGE)
    memory = hedgerow.publish(plan, data=data, seed=3).to_arrow()
    for each in (data, as_parquet(data, tmp_path)):
        assert hedgerow.publish(plan, data=each, seed=3, engine="spark").to_arrow().equals(memory)


def test_other_rows_are_generalised_as_the_release_read_them(tmp_path):
    data = write_stays(tmp_path / "stays.csv")
    out = tmp_path / "release"
    release = hedgerow.publish(date_plan(HEDGE), data=data, out=out, seed=3)
    rows = hedgerow.generalise(out, data)
    assert rows.equals(hedgerow.generalise(release, as_parquet(data, tmp_path)))
    assert set(rows["came"].to_pylist()) <= set(release.recoding.labels[0])
    text = (out / "recoding.json").read_text(encoding="utf-8")
    assert Recoding.from_json(text).to_json() == text
    assert Recoding.from_json(text).schema == release.recoding.schema


def test_ranges_of_dates_are_asked_between_any_two_borders(tmp_path):
    data = write_stays(tmp_path / "stays.csv")
    release = hedgerow.publish(date_plan(HEDGE), data=data, seed=3)
    dates = replace(release.schema, attributes=release.schema.attributes[:1], class_attribute=None)
    levels = dates.attributes[0].domain.levels
    periods = {pair for level in levels for pair in pairwise(level.tolist())}
    asked = {
        (int(low), int(high))
        for block in random_range_queries(dates, n=200)
        for low, high in zip(block.low[:, 0], block.high[:, 0], strict=True)
    }
    assert len(asked - periods) > len(periods)  # nodes of a taxonomy would all be periods
    told = hedgerow.evaluate(release, data=data, tasks=["counting"]).facts["counting"]
    assert all(0 <= each["mean"] <= 1 for each in told["marginals"])
