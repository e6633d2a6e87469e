"""Sessions of Spark, tables on it, and messages for its failures."""

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
_REFUSAL = re.compile(re.escape(_MARK) + r"(\{.*?\})" + re.escape(":seufer"), re.DOTALL)
_NOT_ON_SPARK = (".zst", ".xlsx", ".xlsm", ".sav", ".zsav", ".dta")
_DATABASE = re.compile(r"sqlite:|postgres(ql)?://", re.IGNORECASE)
_LONGEST_FOLDER = 103 - len("/.e8c9b9a4-5b0c-4f0e-9d6a-000000000000.sock")
"""Maximum length of a folder's path in bytes, for a socket's path within the system's limit."""

_OWN = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "8",
    # Parquet packs a million records into a few megabytes, and encoding them is most of the work.
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "8m",
}
_ENCRYPTED = {
    "spark.io.encryption.enabled": "true",
    "spark.io.encryption.keySizeBits": "256",
}
"""Settings of a session that is started for a run; the caller's session is not changed."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Session:
    """A Spark session, and whether it was started for this run."""

    spark: Any
    own: bool
    folder: PrivateFolder | None = None

    def close(self) -> None:
        """End the session if it was started for this run, and remove its files."""
        if self.own:
            self.spark.stop()
        if self.folder is not None:
            self.folder.close()


def spark_session(settings: EngineSettings, data: Any) -> Session:
    """Return the session to use: that of the data, that of the settings, or a new one."""
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


@contextlib.contextmanager
def session_for(settings: EngineSettings, data: Any) -> Iterator[Session]:
    """Yield the session to use, and close it if the block fails."""
    session = spark_session(settings, data)
    try:
        yield session
    except BaseException:
        session.close()
        raise


def _begun(spark: Any, master: str) -> Session:
    """Return a new session; on this machine it keeps its files in a private folder."""
    if not master.startswith("local"):
        return Session(spark=_begin(spark, master, {}), own=True)
    # This variable would override the setting, so its first folder becomes the parent.
    inherited = os.environ.pop("SPARK_LOCAL_DIRS", None)
    parent = Path(inherited.split(",")[0]) if inherited else None
    try:
        folder = PrivateFolder(parent)
        try:
            local = {"spark.local.dir": str(folder.path), **_sockets(folder.path)}
            return Session(spark=_begin(spark, master, local), own=True, folder=folder)
        except BaseException:
            folder.close()
            raise
    finally:
        if inherited is not None:
            os.environ["SPARK_LOCAL_DIRS"] = inherited


def _sockets(folder: Path) -> dict[str, str]:
    """Return settings by which Java and Python communicate in a private folder, not on a port.

    On a port each task waits 40 ms for packets that are held back to be joined with others, as
    measured in a pass over an empty table.
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
            f"No Spark session can be started: {type(error).__name__}.",
            where="master",
            do="Give the URL of a master that answers, such as local[2] or spark://HOST:7077.",
        ) from error
    with contextlib.suppress(Exception):  # Spark Connect has no context
        session.sparkContext.setLogLevel("OFF")
    return session


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        raise EngineError(
            "Spark needs Java, which is not installed.",
            where="engine",
            do="Install Java 17 or later and set JAVA_HOME, or use the engine stream.",
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RequestedColumns:
    """The columns to read, those to read as text, and the format of a text file.

    With ``in_pieces`` workers may open files of this machine themselves.
    """

    names: Sequence[str]
    text: Collection[str]
    reading: Reading
    in_pieces: bool = False


def open_columns(
    session: Session, data: Any, requested: RequestedColumns, *, query: str | None, base: Path
) -> tuple[Any, ParseLines | ReadPieces | None]:
    """Return a DataFrame of the requested columns, or of lines or pieces with their reader.

    The data is such a frame itself, the name of a table, or a path.
    """
    if not hasattr(data, "mapInArrow"):
        path = _path_of(data, query=query, base=base)
        plain = path.removesuffix(".gz").lower()
        if plain.endswith(_NOT_ON_SPARK):
            raise SettingError(
                "The engine spark does not read this kind of file.",
                where="data",
                do="Use the engine memory or stream, or give CSV, JSON lines (plain or gzip) or"
                " Parquet.",
            )
        with refusing():
            if "://" not in path and not Path(path).exists():
                data = _table(session, os.fspath(data))
            elif requested.reading.holds_objects(path):
                return objects_of(
                    session.spark, path, names=requested.names, reading=requested.reading
                )
            elif plain.endswith((".csv", ".tsv", ".tab")):
                return records_of(
                    session.spark,
                    path,
                    names=requested.names,
                    text=requested.text,
                    reading=requested.reading,
                )
            else:
                return _parquet(session, path, requested)
    return _selected(data, requested), None


def _parquet(
    session: Session, path: str, requested: RequestedColumns
) -> tuple[Any, ReadPieces | None]:
    """Return pieces of Parquet files for the workers to read, or a frame that Spark reads."""
    data = session.spark.read.parquet(path)
    frame = _selected(data, requested)
    pieces = pieces_of(session.spark, data, requested.names) if requested.in_pieces else ()
    if not pieces:
        return frame, None
    read = ReadPieces(pieces, requested.names)
    return read.frame(session.spark), read


def _selected(data: Any, requested: RequestedColumns) -> Any:
    _check_columns(data, requested.names)
    with refusing():
        return data.select([data[f"`{name}`"] for name in requested.names])


def _check_columns(frame: Any, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise DataError(
                f"The column {name!r} does not exist.",
                where=NAME,
                do="Give the attribute the name of its column; names are case-sensitive.",
            )


def _path_of(data: Any, *, query: str | None, base: Path) -> str:
    if not isinstance(data, str | os.PathLike):
        raise SettingError(
            "The engine spark cannot read this kind of dataframe.",
            where="data",
            do="Give a Spark DataFrame, the name of a table or a path.",
        )
    text = os.fspath(data)
    if query is not None or _DATABASE.match(text):
        raise SettingError(
            "The engine spark does not read databases by a URL and a query.",
            where="data",
            do="Give a Spark DataFrame (spark.read.jdbc), or use the engine memory or stream.",
        )
    return text if "://" in text else str(base / text)


def open_lines(session: Session, data: Any, *, base: Path, reading: Reading) -> Any:
    """Return a DataFrame of a file's lines as bytes, or the caller's frame with one column."""
    if reading.header_lines:
        raise SettingError(
            "Lines have no order on Spark, so a header cannot be distinguished from records.",
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
                "The file does not exist.", where=Path(path).name, do="Check the path of the data."
            )
        with refusing():
            return byte_lines(session.spark, path)
    raise SettingError(
        "The plan does not name the column of the items.",
        where="items.column",
        do="Name the column of lists; for a long table, name 'record' as well.",
    )


def _table(session: Session, name: str) -> Any:
    if re.fullmatch(r"[\w.`-]+", name) and session.spark.catalog.tableExists(name):
        return session.spark.table(name)
    raise DataError(
        "Neither a file nor a table of that name exists.",
        where=Path(name).name,
        do="Check the path of the data, or the name of the table.",
    )


class _Guarded:
    """A worker's function whose error messages contain no data."""

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
    """Return ``work`` for the workers, with errors that show no value."""
    return _Guarded(work)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Convert errors of Spark into our own; refusals by workers keep their message."""
    try:
        with warnings.catch_warnings():
            # Spark warns of every pandas newer than itself, which is not used here.
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    except HedgerowError:
        raise
    except Exception as error:
        refusal = _REFUSAL.search(str(error))
        if refusal is not None:
            facts = json.loads(refusal[1])
            raise DataError(facts["what"], where=facts["where"], do=facts["do"]) from None
        raise EngineError(
            f"The Spark job failed: {type(error).__name__}.",
            where="the Spark session",
            do="See Spark's own log. Nothing was published; bookings stay.",
        ) from None


def collected(frame: Any, *, size: int | None = None) -> SparseCounts:
    """Return the checked sums of a frame of keys and counts; ``size`` bounds the keys."""
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
    """Return ``size`` cells from blocks of them, checked, with 0 for missing blocks.

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
        "A worker returned values that are not counts.",
        where="the Spark session",
        do="Check that all workers run the same version of hedgerow, and run it again.",
    )
