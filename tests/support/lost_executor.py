"""A program for test_engine_spark: a release whose first pass kills an executor in the middle.

Run as ``python lost_executor.py DATA FLAG``; prints the digests of the release in memory and
on the cluster, and how many executors died.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from pathlib import Path

import hedgerow
from hedgerow.count.spark import placed as placed_spark
from hedgerow.count.spark.workers import LevelSum
from support.engine_plans import table_plan


class KillsOnce(LevelSum):
    """Counts as usual, but the first task to come here takes its executor with it."""

    flag = ""

    def __call__(self, batches):
        first = next(batches)
        try:
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="ascii")
            executor = int(daemon.rsplit(") ", 1)[1].split()[1])
            os.kill(executor, signal.SIGKILL)
        yield from super().__call__(iter([first, *batches]))


def main(data: str, flag: str) -> None:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "512m")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    KillsOnce.flag = flag
    placed_spark.LevelSum = KillsOnce
    plan = table_plan(("diffmulti", {"h": 2}))
    frame = session.read.option("header", True).csv(data).repartition(4)
    digests = [
        hedgerow.publish(plan, data=Path(data), seed=4).digest,
        hedgerow.publish(plan, data=frame, seed=4, engine="spark").digest,
    ]
    sys.stdout.write(json.dumps({"digests": digests, "killed": Path(flag).exists()}) + "\n")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
