"""Recode other rows to the ranges of a release, such as a test set for models trained on it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.encode.table import encode_table
from hedgerow.errors import ReleaseError, SettingError
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Schema
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.plan.model import Plan
from hedgerow.read.open import open_table
from hedgerow.read.source import Source
from hedgerow.release.recoding import Recoding
from hedgerow.release.release import Release, load_recoding
from hedgerow.release.table import label_columns, to_csv

if TYPE_CHECKING:
    import pyarrow as pa

OptionalPlan = Plan | Mapping[str, Any] | str | os.PathLike[str] | None

FORMATS = (".csv", ".parquet")


def generalise(
    release: Release | Recoding | str | os.PathLike[str], data: Any, *, plan: OptionalPlan = None
) -> pa.Table:
    """Generalise the rows of a table as a release does.

    Parameters
    ----------
    release : Release, Recoding or path
        The release, its folder or its recoding.
    data : path or dataframe
        Rows with the release's attributes; the class may be missing.
    plan : path, mapping or Plan, optional
        Sets the format of a text file. Nothing else of it is used.

    Returns
    -------
    pyarrow.Table
        The rows in their order, with the labels of the release. Rows with a missing value are
        dropped if the release dropped them.

    Raises
    ------
    DataError
        If the data cannot be read, lack an attribute or have a value outside its domain.
    ReleaseError
        If the release cannot be read.

    Notes
    -----
    Privacy: none is added. The result is as confidential as ``data``.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> release = hedgerow.publish(plan, data=visits, seed=1)
    >>> generalise(release, visits).num_rows
    1000

    """
    recoding = recoding_of(release)
    source = open_table(data, reading=_reading_of(plan))
    schema = schema_for(source, recoding.schema)
    return recoding.apply(encode_table(source, schema))


def recoding_of(release: Release | Recoding | str | os.PathLike[str]) -> Recoding:
    """Return the recoding of a release or of its folder, or the recoding passed in."""
    if isinstance(release, Release):
        return release.recoding
    return release if isinstance(release, Recoding) else load_recoding(release)


def _reading_of(plan: OptionalPlan) -> Reading:
    if plan is None:
        return PLAIN
    if isinstance(plan, Plan):
        return plan.how_to_read()
    return (plan_of(plan) if isinstance(plan, Mapping) else load_plan(Path(plan))).how_to_read()


def schema_for(source: Source, schema: Schema) -> Schema:
    """Return the schema that matches the rows: without the class, or without derivations.

    Records sampled from a release have the attributes themselves, not their source columns.
    """
    there = set(source.columns)
    attributes = tuple(
        replace(each, derivation=None)
        if each.name in there and not set(each.columns) <= there
        else each
        for each in schema.attributes
    )
    schema = replace(schema, attributes=attributes)
    target = schema.class_attribute
    if target is not None and not set(target.columns) <= set(source.columns):
        return replace(schema, class_attribute=None)
    return schema


def check_output(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Return the path to write recoded rows to, or refuse it."""
    output = Path(path)
    if output.suffix.lower() not in FORMATS:
        raise SettingError(
            "The name does not end in .csv or .parquet.",
            where=str(output),
            do="Give a name that ends in .csv or .parquet.",
        )
    if output.is_dir() or output.is_symlink():
        raise ReleaseError(
            "The path is a folder or a symbolic link.", where=str(output), do="Give a file's name."
        )
    if output.exists() and not force:
        raise ReleaseError(
            "The file exists.",
            where=str(output),
            do="Give another name, or use --force to replace it.",
        )
    return output


def write_rows(
    table: pa.Table, path: str | os.PathLike[str], *, schema: Schema, force: bool = False
) -> Path:
    """Write recoded rows as CSV or Parquet, by the file's name, completely or not at all."""
    import pyarrow.parquet as pq

    output = check_output(path, force=force)
    partial = output.with_name(f".{output.name}.partial-{secrets.token_hex(4)}")
    try:
        if output.suffix.lower() == ".parquet":
            pq.write_table(table, partial)
        else:
            to_csv(table, partial, texts=label_columns(list(schema.used())))
        partial.replace(output)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"The file cannot be written: {reason}.",
            where=str(output),
            do="Give a file in a folder that you can write to.",
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    return output
