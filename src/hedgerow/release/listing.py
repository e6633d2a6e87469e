"""Descriptions of the files of a release, for its dictionary, data package and report."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.measured import MeasuredTable
from hedgerow.model.schema import Schema
from hedgerow.release.dictionary import (
    COLUMNS,
    DICTIONARY,
    INTERVALS,
    DictionaryColumn,
    DictionaryFile,
    count_entry,
    counted_in,
    dictionary_text,
    disclosed_columns,
    record_columns,
    release_columns,
    text_column,
)
from hedgerow.release.measured import INDEX, file_name
from hedgerow.release.measured_file import FOLDER, LEAF_RECODING, LEAVES, STORED
from hedgerow.release.package import PACKAGE, package_text
from hedgerow.release.write import write_text

_RANGE = f"a value, or a range of them: {INTERVALS}"
_NOISY = "how many {} are in the cell, with noise; may be below 0"


def write_dictionary(folder: Path, files: list[DictionaryFile], certificate: Certificate) -> None:
    """Write `dictionary.csv` and `datapackage.json` for the files that are in the folder."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    listed = [file for file in files if file.path in there]
    write_text(folder / DICTIONARY, dictionary_text(listed))
    own = DictionaryFile(
        path=DICTIONARY,
        what="Description of every column of every file.",
        columns=tuple(text_column(name, "see its name") for name in COLUMNS),
    )
    write_text(folder / PACKAGE, package_text([*listed, _optional(own)], certificate))


def _optional(file: DictionaryFile) -> DictionaryFile:
    columns = tuple(
        DictionaryColumn(name=column.name, type=column.type, meaning=column.meaning, required=False)
        for column in file.columns
    )
    return DictionaryFile(path=file.path, what=file.what, columns=columns)


def table_files(schema: Schema, groups: Groups, certificate: Certificate) -> list[DictionaryFile]:
    """Return the files that a release of a table may have, with their columns."""
    files = [
        DictionaryFile(
            path="release.csv",
            what="The release: one row per group, with its count in the last column.",
            columns=release_columns(schema, groups, certificate),
        ),
        DictionaryFile(path="release.parquet", what="The same table for programs."),
        DictionaryFile(
            path="records.csv",
            what="Synthetic rows sampled from the groups; no row is a person.",
            columns=record_columns(schema, certificate),
        ),
        DictionaryFile(path="recoding.json", what="The ranges, to recode other rows."),
        DictionaryFile(path="marginals.json", what="Noisy weights of single values."),
    ]
    return files + _measured_files(schema, groups, counted_in(certificate))


def _measured_files(schema: Schema, groups: Groups, unit: str) -> list[DictionaryFile]:
    if not groups.tables and groups.leaves is None:
        return []
    tables = [
        DictionaryFile(
            path=f"{FOLDER}/{file_name(schema, table, number)}",
            what=f"A noisy table ({table.kind}) that rows were sampled from.",
            columns=_cell_columns(_names(schema, table), unit),
        )
        for number, table in enumerate(groups.tables, start=1)
    ]
    everywhere = [attribute.name for attribute in schema.used()]
    leaves = DictionaryFile(
        path=f"{FOLDER}/{LEAVES}",
        what="The leaves of a class tree with their noisy counts.",
        columns=_cell_columns(everywhere, unit),
    )
    return [
        *tables,
        *([] if groups.leaves is None else [leaves]),
        DictionaryFile(
            path=f"{FOLDER}/{INDEX}",
            what="The tables and their noise.",
            columns=_index_columns(unit),
        ),
        DictionaryFile(path=f"{FOLDER}/{STORED}", what="The values in each group of a table."),
        DictionaryFile(path=f"{FOLDER}/{LEAF_RECODING}", what="The ranges of the leaves."),
    ]


def _names(schema: Schema, table: MeasuredTable) -> list[str]:
    used = list(schema.used())
    return [used[at].name for at in table.attributes]


def _cell_columns(names: Collection[str], unit: str) -> tuple[DictionaryColumn, ...]:
    count = "count"
    while count in names:
        count = f"noisy_{count}"
    texts = [text_column(name, _RANGE) for name in names]
    cells = DictionaryColumn(name=count, type="integer", unit=unit, meaning=_NOISY.format(unit))
    return (*texts, cells)


def _index_columns(unit: str) -> tuple[DictionaryColumn, ...]:
    return (
        text_column("file", "the file of the table"),
        text_column("kind", "what the table was counted for"),
        DictionaryColumn(name="cells", type="integer", meaning="how many cells it has"),
        text_column("epsilon", "the share of epsilon of a cell, exact"),
        DictionaryColumn(name="noise_scale", type="number", meaning="the scale of the noise"),
        DictionaryColumn(
            name="within_95",
            type="integer",
            unit=unit,
            meaning="the noise of a cell is within this in 95 of 100 cases",
        ),
    )


def basket_listing(separator: str, count: str, *, unit: str = "records") -> list[DictionaryFile]:
    """Return the files that a release of baskets may have; its counts are in ``unit``."""
    separators = "tabs" if separator == "\t" else "blanks"
    return [
        DictionaryFile(
            path="release.dat",
            what=f"One basket per line, as often as its count; items separated by {separators}.",
        ),
        DictionaryFile(
            path="release.csv",
            what="Every basket once, with its count in the last column.",
            columns=(
                text_column("items", f"the items of a basket, apart by {separators}"),
                count_entry("count", count, unit=unit),
            ),
        ),
        DictionaryFile(path="release.parquet", what="The same table, items as lists."),
        DictionaryFile(path="universe.json", what="All items and their groups."),
    ]


def sequence_listing(separator: str, count: str) -> list[DictionaryFile]:
    """Return the files that a release of sequences may have, with their columns."""
    separators = "tabs" if separator == "\t" else "blanks"
    return [
        DictionaryFile(
            path="release.dat",
            what=f"One sequence per line, as often as its count; items separated by {separators}.",
        ),
        DictionaryFile(
            path="release.csv",
            what="Every sequence once, with its count in the last column.",
            columns=(
                text_column("sequence", f"the items of a sequence in order, apart by {separators}"),
                count_entry("count", count),
            ),
        ),
        DictionaryFile(path="release.parquet", what="The same table, sequences as lists."),
        DictionaryFile(
            path="prefixes.csv",
            what="The counted prefixes, and the number of sequences that begin with each.",
            columns=(
                text_column("prefix", f"the first items of sequences, apart by {separators}"),
                count_entry("count", "how many sequences begin with the prefix, with noise"),
                DictionaryColumn(
                    name="standard_error",
                    type="number",
                    unit="records",
                    meaning="how far noise puts the count off, typically",
                ),
                DictionaryColumn(
                    name="exactly",
                    type="integer",
                    unit="records",
                    meaning="how many sequences are the prefix and nothing more, with noise; empty"
                    " where that was not counted",
                    required=False,
                ),
            ),
        ),
        DictionaryFile(path="universe.json", what="All items and their groups."),
    ]


def disclosed_files(schema: Schema, certificate: Certificate) -> list[DictionaryFile]:
    """Return the files of a disclosure that may be given out, with their columns."""
    return [
        DictionaryFile(
            path="disclosed.csv",
            what="Generalised single records, in the order of the data.",
            columns=disclosed_columns(schema, certificate),
        )
    ]
