"""A program for test_engine_spark: what a session of our own leaves on disk when it is killed.

Run as ``python spark_files.py FOLDER``; prints what others could find there, and whether the
next run removes it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from hedgerow.count.settings import EngineSettings
from hedgerow.count.spark.private import PrivateFolder
from hedgerow.count.spark.session import spark_session

MARKER = "0f3a9c71d2e84b65"


def child() -> None:
    """Shuffle and cache rows that hold the marker, say so, and wait to be killed."""
    session = spark_session(EngineSettings(kind="spark", master="local[1]"), None)
    rows = [(i, f"{i:05d}{MARKER}{i * i:08d}") for i in range(2000)]
    frame = session.spark.createDataFrame(rows, "key int, word string")
    level = session.spark.sparkContext._jvm.org.apache.spark.storage.StorageLevel.DISK_ONLY()
    kept = frame.repartition(4, "word").groupBy("word").count()
    kept._jdf.persist(level)
    kept.count()
    print("written", flush=True)  # noqa: T201 - the parent waits for it
    signal.pause()


def main(folder: Path) -> None:
    """Kill a run and look at what it left."""
    command = [sys.executable, __file__, "--child"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as run:
        for line in run.stdout or ():
            if line.strip() == "written":
                break
        os.killpg(run.pid, signal.SIGKILL)
    left = [path for path in folder.glob("hedgerow-spark-*/**/*") if path.is_file()]
    roots = list(folder.glob("hedgerow-spark-*"))
    found = {
        "killed left files": any(path.name.startswith(("shuffle", "rdd")) for path in left),
        "others may enter": any(root.stat().st_mode & 0o077 for root in roots),
        "holds the marker": any(MARKER.encode() in path.read_bytes() for path in left),
    }
    PrivateFolder(folder).close()
    found["swept"] = not list(folder.glob("hedgerow-spark-*"))
    print(json.dumps(found))  # noqa: T201 - the answer


if __name__ == "__main__":
    child() if sys.argv[1] == "--child" else main(Path(sys.argv[1]))
