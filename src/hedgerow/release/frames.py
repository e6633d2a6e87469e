"""Conversion of Arrow tables to the caller's kind of dataframe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Frames(ABC):
    """Converts the result of ``to_arrow`` to other dataframes."""

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
        """Return the table as a dataframe of the same library as ``like``."""
        import narwhals as nw

        backend = nw.get_native_namespace(nw.from_native(like))
        return nw.from_arrow(self.to_arrow(), backend=backend).to_native()


def _library(name: str) -> Any:
    """Import a dataframe library, which the caller must have installed."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"{name} is not installed, but is needed for its dataframes.",
            where=f"to_{name}",
            do=f"Install it (pip install {name}), or use to_arrow().",
        ) from None
