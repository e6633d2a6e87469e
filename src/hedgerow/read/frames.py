"""Dataframes of any library: pandas, polars (eager and lazy), pyarrow, DuckDB and more.

pyarrow's own tables are used directly; dataframes that narwhals supports are reduced to the
requested columns in their own library first; everything else must offer the Arrow C stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import DataError, HedgerowError
from hedgerow.read.source import ROWS_PER_BATCH, ReadProgress, check_columns, in_pieces, places_of
from hedgerow.read.text import spell, text_columns

_NAME = "the dataframe"

# Batches with the columns at these places, in this order, and the share read so far.
_Select = Callable[[list[int]], Iterator[tuple[pa.RecordBatch, float]]]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FrameSource:
    """A dataframe or a stream of batches; see :class:`hedgerow.read.source.Source`."""

    columns: tuple[str, ...]
    select: _Select
    once: bool = False
    batch_rows: int = ROWS_PER_BATCH
    name: str = _NAME
    _begun: list[bool] = field(default_factory=list)

    def batches(
        self,
        columns: Sequence[str],
        *,
        text: Collection[str] = (),
        progress: ReadProgress | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Stream the requested columns."""
        places = places_of(columns, self)
        if self.once and self._begun:
            raise DataError(
                "A stream of batches can be read only once.",
                where=self.name,
                do="Give a table, or a fresh stream each time.",
            )
        self._begun.append(True)
        for whole, done in self._guarded(places):
            for batch in in_pieces(whole, self.batch_rows):
                yield text_columns(batch, columns, text, name=self.name)
            if progress:
                progress(min(1.0, done))
        if progress:
            progress(1.0)

    def _guarded(self, places: list[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
        """Read on, replacing any error of another library, whose text may quote values."""
        batches = self.select(places)
        while True:
            try:
                item = next(batches, None)
            except HedgerowError:
                raise
            except Exception:
                raise _unreadable() from None
            if item is None:
                return
            yield item


def open_frame(data: Any) -> FrameSource:
    """Return any dataframe or Arrow stream as a table."""
    try:
        source = _of_arrow(data) or _of_narwhals(data) or _of_stream(data)
    except HedgerowError:
        raise
    except Exception:
        raise _unreadable() from None
    if source is None:
        raise DataError(
            f"A {type(data).__name__} is not a table.",
            where="data",
            do="Give a path, a database URL, or a dataframe (pandas, polars, pyarrow, ...).",
        )
    return source


def _unreadable() -> DataError:
    return DataError(
        "Its library could not convert it.",
        where=_NAME,
        do="Give every column one type: text, numbers, dates or booleans.",
    )


def _of_arrow(data: Any) -> FrameSource | None:
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        columns = check_columns(data.column_names, name=_NAME)
        return FrameSource(columns=columns, select=lambda places: _of_table(data, places))
    return _of_stream(data) if isinstance(data, pa.RecordBatchReader) else None


def _of_table(table: pa.Table, places: list[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
    done = 0
    for batch in table.select(places).to_batches(max_chunksize=ROWS_PER_BATCH):
        done += batch.num_rows
        yield batch, done / table.num_rows


def _of_stream(data: Any) -> FrameSource | None:
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    reader = pa.RecordBatchReader.from_stream(data)

    def select(places: list[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
        for batch in reader:
            yield batch.select(places), 0.0

    columns = check_columns(reader.schema.names, name=_NAME)
    return FrameSource(columns=columns, select=select, once=True)


def _of_narwhals(data: Any) -> FrameSource | None:
    import narwhals as nw

    if hasattr(data, "iloc"):  # pandas and its like, where names may repeat or be numbers
        names = check_columns([str(name) for name in data.columns], name=_NAME)
        data = data.set_axis(list(names), axis=1)
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        select: _Select = _Eager(frame)
        names = tuple(frame.columns)
    elif isinstance(frame, nw.LazyFrame):
        select = _Lazy(frame)
        names = tuple(frame.collect_schema().names())
    else:
        return None
    columns = check_columns(names, name=_NAME)
    return FrameSource(columns=columns, select=select)


@dataclass(frozen=True)
class _Eager:
    """Slices of an eager frame, so that only a slice is converted at a time."""

    frame: Any  # nw.DataFrame

    def __call__(self, places: list[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
        names = self.frame.columns
        chosen = self.frame.select([names[place] for place in places])
        total = len(chosen)
        for start in range(0, total, ROWS_PER_BATCH):
            piece = chosen[start : start + ROWS_PER_BATCH]
            yield _as_batch(piece), (start + len(piece)) / total


@dataclass(frozen=True)
class _Lazy:
    """Batches of a lazy frame: streamed where its library can, else collected."""

    frame: Any  # nw.LazyFrame

    def __call__(self, places: list[int]) -> Iterator[tuple[pa.RecordBatch, float]]:
        names = self.frame.collect_schema().names()
        chosen = self.frame.select([names[place] for place in places])
        native = chosen.to_native()
        if hasattr(native, "collect_batches"):  # polars
            for piece in native.collect_batches(maintain_order=True):
                yield from _of_table(piece.to_arrow(), list(range(len(places))))
        elif hasattr(native, "__arrow_c_stream__"):
            for batch in pa.RecordBatchReader.from_stream(native):
                yield batch, 0.0
        else:
            yield from _of_table(chosen.collect("pyarrow").to_native(), list(range(len(places))))


def _as_batch(piece: Any) -> pa.RecordBatch:
    arrays = [_as_array(piece[:, place]) for place in range(len(piece.columns))]
    return pa.RecordBatch.from_arrays(arrays, names=list(piece.columns))


def _as_array(series: Any) -> pa.Array:
    native = series.to_native()
    dtype: Any = getattr(native, "dtype", None)
    if _is_of_objects(dtype):
        array = _of_objects(series.to_list())
    elif _is_of_objects(getattr(getattr(dtype, "categories", None), "dtype", None)):
        codes = native.cat.codes.to_numpy().astype(np.int32)
        places = pa.array(codes, mask=codes < 0)
        array = pa.DictionaryArray.from_arrays(places, _of_objects(list(dtype.categories)))
    else:
        array = series.to_arrow()
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _is_of_objects(dtype: Any) -> bool:
    """Return whether a column of pandas holds Python objects, whose types it does not know."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _of_objects(values: list[Any]) -> pa.Array:
    """Return objects as text or as lists of texts, each formatted separately.

    No common type is chosen: one record would decide how the others are formatted (a long decimal
    adds zeros to short ones).
    """
    try:
        return pa.array(values, pa.string(), from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        pass
    if any(isinstance(value, _LISTS) for value in values):
        return pa.array([_spelt_list(value) for value in values], pa.list_(pa.string()))
    return pa.array([spell(value) for value in values], pa.string())


_LISTS = (list, tuple, set, frozenset, np.ndarray)


def _spelt_list(value: Any) -> list[str | None] | None:
    if isinstance(value, _LISTS):
        return [spell(item) for item in value]
    if spell(value) is not None:
        raise pa.ArrowInvalid("a value among lists is not a list")
    return None
