"""Taxonomies from and to files, in all formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Literal, TypeAlias, get_args

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.formats.arx import arx_taxonomy, looks_like_arx, read_arx, write_arx
from hedgerow.taxonomy.formats.nested import read_json, read_yaml, write_json, write_yaml
from hedgerow.taxonomy.formats.pairs import (
    looks_like_pairs,
    pairs_taxonomy,
    read_pairs,
    write_pairs,
)
from hedgerow.taxonomy.formats.rows import Row, split_rows
from hedgerow.taxonomy.formats.text import read_text, write_taxonomy_text
from hedgerow.taxonomy.tree import Taxonomy

Format: TypeAlias = Literal["arx", "yaml", "json", "pairs"]
FORMATS: tuple[Format, ...] = get_args(Format)

_SUFFIXES: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def read_taxonomy(path: str | PurePath, *, format: Format | None = None) -> Taxonomy:  # noqa: A002
    r"""Read a taxonomy from a file.

    Parameters
    ----------
    path : path
        The file, compressed if its name ends in ``.gz``.
    format : {"arx", "yaml", "json", "pairs"}, optional
        Format of the file. By default names ending in ``.yaml``, ``.yml`` and ``.json`` are
        nested, and other files are ARX CSV or child-parent pairs, by their content.

    Returns
    -------
    Taxonomy
        The taxonomy.

    Raises
    ------
    TaxonomyError
        If the file cannot be read or is not a taxonomy. The error names the line and the label.

    Notes
    -----
    Privacy: a taxonomy is public. Its labels must not be taken from the data.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "jobs.csv")
    ...     _ = file.write_text("office;Indoor;Any\nshop;Indoor;Any\nfarm;Outdoor;Any\n")
    ...     read_taxonomy(file)
    Taxonomy('Any', 3 leaves, 6 nodes, height 2)

    """
    path = Path(path)
    name = str(path)
    text = read_text(path)
    format = format or _format_of_name(path)  # noqa: A001
    return _read_rows(text, name) if format is None else _readers()[format](text, name)


def write_taxonomy(
    taxonomy: Taxonomy,
    path: str | PurePath,
    format: Format | None = None,  # noqa: A002
) -> None:
    """Write a taxonomy atomically; without ``format`` the name decides, ARX CSV by default."""
    path = Path(path)
    write_taxonomy_text(path, taxonomy_text(taxonomy, format or _format_of_name(path) or "arx"))


def taxonomy_text(taxonomy: Taxonomy, format: Format) -> str:  # noqa: A002
    """Return the text of a taxonomy in a file of that format."""
    return _writers()[format](taxonomy)


def file_format(path: str | PurePath) -> Format:
    """Return the format of a file: by its name, or by its content."""
    path = Path(path)
    named = _format_of_name(path)
    return named if named is not None else _format_of_rows(_rows(read_text(path), str(path)))


def _format_of_name(path: PurePath) -> Format | None:
    if path.suffix.lower() == ".gz":
        path = path.with_suffix("")
    return _SUFFIXES.get(path.suffix.lower())


def _rows(text: str, name: str) -> list[Row]:
    return split_rows(text, name, fits=[looks_like_arx, looks_like_pairs])


def _format_of_rows(rows: list[Row]) -> Format:
    """Return ARX or pairs: rows of two cells with different ends cannot be ARX."""
    return "pairs" if looks_like_pairs(rows) and not looks_like_arx(rows) else "arx"


def _read_rows(text: str, name: str) -> Taxonomy:
    rows = _rows(text, name)
    read = pairs_taxonomy if _format_of_rows(rows) == "pairs" else arx_taxonomy
    return read(rows, name)


def _readers() -> dict[Format, Callable[[str, str], Taxonomy]]:
    return {"arx": read_arx, "yaml": read_yaml, "json": read_json, "pairs": read_pairs}


def _writers() -> dict[Format, Callable[[Taxonomy], str]]:
    return {"arx": write_arx, "yaml": write_yaml, "json": write_json, "pairs": write_pairs}


def format_called(name: str) -> Format:
    """Return the format of this name, or raise with the choices."""
    for format_name in FORMATS:
        if name == format_name:
            return format_name
    raise TaxonomyError(f"There is no format {name!r}.", do=f"Choose one of: {', '.join(FORMATS)}.")
