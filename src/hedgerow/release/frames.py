"""Anything that is an Arrow table, as the dataframe that somebody works with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Frames(ABC):
    """Gives what ``to_arrow`` gives as other dataframes."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the table as an Arrow table."""

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars dataframe (polars must be installed)."""
        frame: pl.DataFrame = _library("polars").DataFrame(self.to_arrow())
        return frame

    def to_pandas(self) -> Any:
        """Return the table as a pandas dataframe (pandas must be installed)."""
        _library("pandas")
        return self.to_arrow().to_pandas()

    def to_native(self, like: Any) -> Any:
        """Return the table as the kind of dataframe that ``like`` is."""
        import narwhals as nw

        backend = nw.get_native_namespace(nw.from_native(like))
        return nw.from_arrow(self.to_arrow(), backend=backend).to_native()


def _library(name: str) -> Any:
    """Return a library of dataframes, which is the caller's own and none of ours."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{name} is not installed, and a dataframe of it was asked for",
            where=f"to_{name}",
            do=f"Install it (pip install {name}), or take to_arrow().",
        ) from None
