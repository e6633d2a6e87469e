"""Sessions of Spark, tables on it, and how its failures are told."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.count.spark.lines import ParseLines, byte_lines, objects_of, records_of
from hedgerow.count.spark.pieces import ReadPieces, pieces_of
from hedgerow.count.spark.private import PrivateFolder
from hedgerow.count.spark.settled import settle
from hedgerow.count.spark.workers import CELLS_AT_ONCE, NAME
from hedgerow.errors import (
    DataError,
    EngineError,
    HedgerowError,
    MissingExtraError,
    SettingError,
)
from hedgerow.model.engine import SparseCounts
from hedgerow.model.reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.count.settings import EngineSettings

Mapper = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]

_MARK = "hedgerow-refuses:"
_TOLD = re.compile(re.escape(_MARK) + r"(\{.*?\})" + re.escape(":seufer"), re.DOTALL)
_NOT_ON_SPARK = (".zst", ".xlsx", ".xlsm", ".sav", ".zsav", ".dta")
_DATABASE = re.compile(r"sqlite:|postgres(ql)?://", re.IGNORECASE)
_LONGEST_FOLDER = 103 - len("/.e8c9b9a4-5b0c-4f0e-9d6a-000000000000.sock")
"""Bytes of a folder's path, so that a socket's path in it is as long as systems allow at most."""

_OWN = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    # Parquet packs a million records into a few megabytes, and encoding them is the work.
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "8m",
}
_ENCRYPTED = {
    "spark.io.encryption.enabled": "true",
    "spark.io.encryption.keySizeBits": "256",
}
"""Settings of a session that is begun for a run; a session that was given stays as it is."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Session:
    """A Spark session, and whether it was begun for this run."""

    spark: Any
    own: bool
    folder: PrivateFolder | None = None

    def close(self) -> None:
        """End the session if it was begun for this run, and remove what it kept on disk."""
        if self.own:
            self.spark.stop()
        if self.folder is not None:
            self.folder.close()


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
    return _begun(SparkSession, settings.master or "local[*]")


def _begun(spark: Any, master: str) -> Session:
    """Return a session of our own; on this machine it keeps its files in a private folder."""
    if not master.startswith("local"):
        return Session(spark=_begin(spark, master, {}), own=True)
    # This variable would win over the setting, so its first folder becomes the parent.
    given = os.environ.pop("SPARK_LOCAL_DIRS", None)
    parent = Path(given.split(",")[0]) if given else None
    try:
        folder = PrivateFolder(parent)
        try:
            local = {"spark.local.dir": str(folder.path), **_sockets(folder.path)}
            return Session(spark=_begin(spark, master, local), own=True, folder=folder)
        except BaseException:
            folder.close()
            raise
    finally:
        if given is not None:
            os.environ["SPARK_LOCAL_DIRS"] = given


def _sockets(folder: Path) -> dict[str, str]:
    """Return settings by which Java and Python meet in a private folder, not on a port.

    On a port each task waits for packets that are held back to be joined with others: 40 ms, to
    be seen in a pass over an empty table.
    """
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def _begin(spark: Any, master: str, further: dict[str, str]) -> Any:
    builder = spark.builder.appName("hedgerow")
    if master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        _check_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(master)
        for name, value in {**_OWN, **_ENCRYPTED, **further}.items():
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AskedColumns:
    """The columns to read, which of them as text, and how a text file is written.

    With ``in_pieces`` workers may open files of this machine themselves.
    """

    names: Sequence[str]
    text: Collection[str]
    reading: Reading
    in_pieces: bool = False


def open_columns(
    session: Session, data: Any, asked: AskedColumns, *, query: str | None, base: Path
) -> tuple[Any, ParseLines | ReadPieces | None]:
    """Return a DataFrame of the asked columns, or of lines or pieces and what reads them.

    The data is such a frame itself, the table of that name, or what a path holds.
    """
    if not hasattr(data, "mapInArrow"):
        path = _path_of(data, query=query, base=base)
        plain = path.removesuffix(".gz").lower()
        if plain.endswith(_NOT_ON_SPARK):
            raise SettingError(
                "the engine spark does not read this kind of file",
                where="data",
                do="Use the engine memory or stream, or give CSV, JSON lines (plain or gzip) or"
                " Parquet.",
            )
        with refusing():
            if "://" not in path and not Path(path).exists():
                data = _table(session, os.fspath(data))
            elif asked.reading.holds_objects(path):
                return objects_of(session.spark, path, names=asked.names, reading=asked.reading)
            elif plain.endswith((".csv", ".tsv", ".tab")):
                return records_of(
                    session.spark,
                    path,
                    names=asked.names,
                    text=asked.text,
                    reading=asked.reading,
                )
            else:
                return _parquet(session, path, asked)
    return _selected(data, asked), None


def _parquet(session: Session, path: str, asked: AskedColumns) -> tuple[Any, ReadPieces | None]:
    """Return pieces of Parquet files for the workers to read, or a frame that Spark reads."""
    data = session.spark.read.parquet(path)
    frame = _selected(data, asked)
    pieces = pieces_of(session.spark, data, asked.names) if asked.in_pieces else ()
    if not pieces:
        return frame, None
    read = ReadPieces(pieces, asked.names)
    return read.frame(session.spark), read


def _selected(data: Any, asked: AskedColumns) -> Any:
    _check_columns(data, asked.names)
    with refusing():
        return data.select([data[f"`{name}`"] for name in asked.names])


def _check_columns(frame: Any, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise DataError(
                f"there is no column {name!r}",
                where=NAME,
                do="Give the attribute the name of its column; names are case-sensitive.",
            )


def _path_of(data: Any, *, query: str | None, base: Path) -> str:
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
    return text if "://" in text else str(base / text)


def open_lines(session: Session, data: Any, *, base: Path, reading: Reading) -> Any:
    """Return a DataFrame of a file's lines as bytes, or one that was given, with one column."""
    if reading.header_lines:
        raise SettingError(
            "lines have no order on Spark, so that a header cannot be told from records",
            where="reading.header",
            do="Remove the lines of the header from the file, or use the engine stream.",
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
            return byte_lines(session.spark, path)
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


class _Guarded:
    """A worker's function that never lets a record into a message."""

    def __init__(self, work: Mapper) -> None:
        self.work = work

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from self.work(batches)
            settle()
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
        raise _no_count()
    return SparseCounts(keys=keys, counts=counts)


def dense_sums(blocks: pa.Table, *, size: int, n_tasks: int = 1) -> NDArray[np.int64]:
    """Return ``size`` cells from blocks of them, checked; blocks that are missing are zero.

    Blocks of the same number, at most one of each task, are added up.
    """
    total = np.zeros(size, dtype=np.int64)
    seen: Counter[int] = Counter()
    for block, cells in zip(blocks.column(0).to_pylist(), blocks.column(1), strict=True):
        stored = cells.as_buffer() or b""
        start = -1 if block is None else block * CELLS_AT_ONCE
        n_cells = min(CELLS_AT_ONCE, size - start)
        if not 0 <= start < size or memoryview(stored).nbytes != n_cells * total.itemsize:
            raise _no_count()
        part = np.frombuffer(stored, dtype=np.int64)
        seen[block] += 1
        if seen[block] > n_tasks or (part < 0).any():
            raise _no_count()
        total[start : start + n_cells] += part
    if (total < 0).any():
        raise _no_count()
    return total


def _no_count() -> EngineError:
    return EngineError(
        "a worker sent back something that is no count",
        where="the Spark session",
        do="Check that all workers run the same version of hedgerow, and run it again.",
    )
