"""A program for test_engine_spark: releases over Spark Connect, where there is no context.

Run as ``python over_connect.py DATA BASKETS``; prints the digests of each release in memory
and over a Connect server of its own.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path

import hedgerow
from support.engine_plans import basket_plan, table_plan


def main(data: str, baskets: str) -> None:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    digests = []
    for variant in (("hedge", {}), ("diffgen", {"h": 2})):
        plan = table_plan(variant)
        frame = session.read.option("header", True).csv(data)
        digests.append(
            [
                hedgerow.publish(plan, data=Path(data), seed=4).digest,
                hedgerow.publish(plan, data=frame, seed=4, engine="spark").digest,
            ]
        )
    plan = basket_plan(("diffpart", {}))
    digests.append(
        [
            hedgerow.publish(plan, data=Path(baskets), seed=4).digest,
            hedgerow.publish(
                plan,
                data=Path(baskets),
                seed=4,
                engine=hedgerow.EngineSettings.of("spark", session=session),
            ).digest,
        ]
    )
    session.stop()
    sys.stdout.write(json.dumps(digests) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
