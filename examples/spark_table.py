"""A table that lives on Spark; the driver sees sums, never a record. Needs Java."""

from __future__ import annotations

import os
import sys

from place import working_folder
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import hedgerow

folder = working_folder()
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what the driver runs
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
visits = session.range(200_000).select(
    (18 + f.floor(f.rand(seed=7) * 70)).alias("age"),
    f.when(f.rand(seed=8) < 0.6, "medicine").otherwise("surgery").alias("ward"),
    f.when(f.rand(seed=9) < 0.2, "yes").otherwise("no").alias("returned"),
)

release = hedgerow.publish(
    {
        "attributes": {
            "age": {"numeric": [18, 99]},
            "ward": {"values": ["medicine", "surgery"]},
            "returned": {"role": "class", "values": ["no", "yes"]},
        },
        "records": 200_000,
        "one-record-per-person": True,
        "confirmed": True,
        "publish": {"method": "hedge", "epsilon": 1},
        "ledger": {"dataset": "visits-2026", "cap": 1},
    },
    data=visits,
    engine="spark",
    out=folder / "release",
)
print(release.certificate.guarantee.statement)
print(f"{release.n_rows} groups, counted by {release.certificate.engine}")
session.stop()
