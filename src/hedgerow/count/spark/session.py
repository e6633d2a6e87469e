"""Sessions of Spark, tables on it, and how its failures are told."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import (
    DataError,
    EngineError,
    HedgerowError,
    MissingExtraError,
    SettingError,
)
from hedgerow.model.engine import SparseCounts

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.count.settings import EngineSettings

Mapper = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]

_MARK = "hedgerow-refuses:"
_TOLD = re.compile(re.escape(_MARK) + r"(\{.*?\})" + re.escape(":seufer"), re.DOTALL)
_DATABASE = re.compile(r"sqlite:|postgres(ql)?://", re.IGNORECASE)
_OWN = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    # Parquet packs a million records into a few megabytes, and encoding them is the work.
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "8m",
}
"""Settings of a session that is begun for a run; a session that was given stays as it is."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Session:
    """A Spark session, and whether it was begun for this run."""

    spark: Any
    own: bool

    def close(self) -> None:
        """End the session if it was begun for this run."""
        if self.own:
            self.spark.stop()


def spark_session(settings: EngineSettings, data: Any) -> Session:
    """Return the session to work in: that of the data, one that was given, or a new one."""
    if settings.session is not None:
        return Session(spark=settings.session, own=False)
    if hasattr(data, "mapInArrow"):
        return Session(spark=data.sparkSession, own=False)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("the engine spark", extra="spark") from None
    active = SparkSession.getActiveSession()
    if active is not None and settings.master is None:
        return Session(spark=active, own=False)
    return Session(spark=_begin(SparkSession, settings.master or "local[*]"), own=True)


def _begin(spark: Any, master: str) -> Any:
    builder = spark.builder.appName("hedgerow")
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        _check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(master)
        for name, value in _OWN.items():
            builder = builder.config(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            session = builder.getOrCreate()
    except Exception as error:
        raise EngineError(
            f"no Spark session can be begun: {type(error).__name__}",
            where="master",
            do="Give the URL of a master that answers, such as local[2] or spark://HOST:7077.",
        ) from error
    with contextlib.suppress(Exception):  # Spark Connect has no context to ask
        session.sparkContext.setLogLevel("OFF")
    return session


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise EngineError(
            "Spark needs Java, and there is none",
            where="engine",
            do="Install Java 17 or later and set JAVA_HOME, or use the engine stream.",
        )


def open_spark_frame(session: Session, data: Any, *, query: str | None, base: Path) -> Any:
    """Return a DataFrame of the data: itself, the table of that name, or what a path holds."""
    if hasattr(data, "mapInArrow"):
        return data
    if not isinstance(data, str | os.PathLike):
        raise SettingError(
            "the engine spark cannot read this kind of dataframe",
            where="data",
            do="Give a Spark DataFrame, the name of a table or a path.",
        )
    text = os.fspath(data)
    if query is not None or _DATABASE.match(text):
        raise SettingError(
            "the engine spark reads no database by a URL and a query",
            where="data",
            do="Give a Spark DataFrame (spark.read.jdbc), or use the engine memory or stream.",
        )
    path = text if "://" in text else str(base / text)
    with refusing():
        if "://" not in text and not Path(path).exists():
            return _table(session, text)
        return _read(session, path)


def open_lines(session: Session, data: Any, *, base: Path, has_header: bool) -> Any:
    """Return a DataFrame of a file's lines, or one that was given with a column of text."""
    if has_header:
        raise SettingError(
            "lines have no order on Spark, so that a header cannot be told from records",
            where="items.as",
            do="Remove the lines of the header and 'as: sets', or use the engine stream.",
        )
    if hasattr(data, "mapInArrow"):
        if len(data.columns) == 1:
            return data
    elif isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        path = text if "://" in text else str(base / text)
        if "://" not in text and not Path(path).exists():
            raise DataError(
                "there is no such file", where=Path(path).name, do="Check the path of the data."
            )
        with refusing():
            return session.spark.read.text(path)
    raise SettingError(
        "the plan does not say which column holds the items",
        where="items.column",
        do="Name the column of lists; for a long table name record, too.",
    )


def _table(session: Session, name: str) -> Any:
    if re.fullmatch(r"[\w.`-]+", name) and session.spark.catalog.tableExists(name):
        return session.spark.table(name)
    raise DataError(
        "there is no such file, and no table of that name",
        where=Path(name).name,
        do="Check the path of the data, or the name of the table.",
    )


def _read(session: Session, path: str) -> Any:
    plain = path.removesuffix(".gz").lower()
    if plain.endswith((".csv", ".tsv")):
        separator = "\t" if plain.endswith(".tsv") else ","
        options = {"header": True, "sep": separator, "escape": '"', "inferSchema": False}
        return session.spark.read.options(**options).csv(path)
    return session.spark.read.parquet(path)


class _Guarded:
    """A worker's function that never lets a record into a message."""

    def __init__(self, work: Mapper) -> None:
        self.work = work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.work(batches)
        except HedgerowError as error:
            facts = {"what": error.what, "where": error.where, "do": error.do}
            raise RuntimeError(f"{_MARK}{json.dumps(facts)}:seufer") from None
        except Exception as error:
            # Spark writes messages to its logs, and this one may quote a value.
            raise RuntimeError(f"a worker met an unexpected {type(error).__name__}") from None


def guarded(work: Mapper) -> Mapper:
    """Return ``work`` for the workers, with failures that show no value."""
    return _Guarded(work)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn what Spark raises into an error of our own; what a worker refused keeps its words."""
    try:
        with warnings.catch_warnings():
            # Spark warns of every pandas newer than itself, which is not used here at all.
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    except HedgerowError:
        raise
    except Exception as error:
        told = _TOLD.search(str(error))
        if told is not None:
            facts = json.loads(told[1])
            raise DataError(facts["what"], where=facts["where"], do=facts["do"]) from None
        raise EngineError(
            f"the Spark job failed: {type(error).__name__}",
            where="the Spark session",
            do="Spark's own log says why. Nothing was published; what was booked stays booked.",
        ) from None


def collected(frame: Any, *, size: int | None = None) -> SparseCounts:
    """Return the sums of a frame of keys and counts, checked; ``size`` bounds the keys."""
    table = frame.groupBy("key").sum("count").toArrow()
    keys = np.asarray(table.column(0), dtype=np.int64)
    counts = np.asarray(table.column(1), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    sound = not table.column(0).null_count and not table.column(1).null_count
    if len(keys):
        sound = sound and keys[0] >= 0 and (size is None or int(keys[-1]) < size)
        sound = sound and bool((counts > 0).all())
    if not sound:
        raise EngineError(
            "a worker sent back something that is no count",
            where="the Spark session",
            do="Check that all workers run the same version of hedgerow, and run it again.",
        )
    return SparseCounts(keys=keys, counts=counts)
