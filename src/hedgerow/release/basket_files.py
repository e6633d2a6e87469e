"""The files of a release of baskets: for mining programs, for spreadsheets, and the universe.

`release.dat` has one basket per line, repeated as often as its noisy count, which is the format
of programs for frequent itemsets. `release.csv` lists every basket once, with its count. Items are
separated by a space, or by a tab if the name of an item contains a space.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hedgerow.errors import InternalError, ReleaseError, TaxonomyError
from hedgerow.model.baskets import ItemCodes, NoisyBaskets, item_dtype
from hedgerow.model.groups import CountOrigin
from hedgerow.release.domains import CategoricalDescription, describe
from hedgerow.release.reading import read_release_text
from hedgerow.release.table import integers, labelled, shielded_once, spreadsheet_safe
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("items", "count")
_LINES_AT_ONCE = 1 << 16


def separator_of(taxonomy: Taxonomy) -> str:
    r"""Return the separator of the items of a basket: a space, or a tab.

    >>> separator_of(Taxonomy.flat(["milk", "bread"])), separator_of(Taxonomy.flat(["red apples"]))
    (' ', '\t')
    """
    blank = any(letter.isspace() for label in taxonomy.leaf_labels for letter in label)
    return "\t" if blank else " "


def baskets_table(baskets: NoisyBaskets) -> pa.Table:
    """Return one row per basket: its items as a list of labels, and its count."""
    import pyarrow as pa

    labels = labelled(baskets.items.astype(np.int32), list(baskets.taxonomy.leaf_labels))
    starts = integers(baskets.offsets, np.int64)
    items = pa.LargeListArray.from_arrays(starts, labels)
    return pa.table([items, integers(baskets.counts, np.int64)], names=list(COLUMNS))


def basket_lines(baskets: NoisyBaskets) -> list[str]:
    """Return every basket as text, its items joined by the separator."""
    labels, separator = baskets.taxonomy.leaf_labels, separator_of(baskets.taxonomy)
    words = [labels[code] for code in baskets.items.tolist()]
    return [separator.join(words[a:b]) for a, b in pairwise(baskets.offsets.tolist())]


def write_dat(baskets: NoisyBaskets, path: Path) -> None:
    """Write `release.dat`: each basket on a line of its own, as often as its count."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line, count in zip(basket_lines(baskets), baskets.counts.tolist(), strict=True):
            for start in range(0, count, _LINES_AT_ONCE):
                file.write(f"{line}\n" * min(_LINES_AT_ONCE, count - start))


def csv_text(baskets: NoisyBaskets, columns: Sequence[str] = COLUMNS) -> str:
    """Return the text of `release.csv`: one row per basket with its count, spreadsheet-safe."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    cells = map(spreadsheet_safe, basket_lines(baskets))
    rows.writerows(zip(cells, baskets.counts.tolist(), strict=True))
    return text.getvalue()


def read_csv(path: Path, taxonomy: Taxonomy, *, origin: CountOrigin | None) -> NoisyBaskets:
    """Return the baskets of a `release.csv`, with labels converted back into codes."""
    try:
        rows = list(csv.reader(io.StringIO(read_release_text(path)), strict=True))
        counts = np.array([int(count) for _, count in rows[1:]], dtype=np.int64)
        cells = [cell for cell, _ in rows[1:]]
        try:
            offsets, items = codes_of_cells(cells, taxonomy)
        except KeyError:  # earlier versions put an apostrophe before more labels
            offsets, items = codes_of_cells(cells, taxonomy, safe=shielded_once)
        return NoisyBaskets(
            taxonomy=taxonomy, offsets=offsets, items=items, counts=counts, origin=origin
        )
    except (csv.Error, ValueError, KeyError, InternalError) as error:
        raise ReleaseError(
            "The file does not have the content of such a release file.",
            where=str(path),
            do="Give a release folder that `hedgerow publish` wrote.",
        ) from error


def codes_of_cells(
    cells: list[str], taxonomy: Taxonomy, *, safe: Callable[[str], str] = spreadsheet_safe
) -> tuple[NDArray[np.int64], ItemCodes]:
    """Return cells of items, written with ``safe``, as offsets and codes."""
    separator = separator_of(taxonomy)
    words = [cell.split(separator) for cell in _plain(cells, safe)]
    codes = [taxonomy.leaf_code[word] for basket in words for word in basket]
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return offsets, np.array(codes, dtype=item_dtype(taxonomy.n_leaves))


def _plain(cells: list[str], safe: Callable[[str], str]) -> list[str]:
    """Return the text that ``safe`` was applied to, which is unique."""
    return [cell[1:] if cell.startswith("'") and safe(cell[1:]) == cell else cell for cell in cells]


class _StoredUniverse(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    format_version: Literal[1] = Field(1, alias="format-version")
    separator: Literal[" ", "\t"]
    taxonomy: CategoricalDescription


def universe_text(taxonomy: Taxonomy) -> str:
    """Return the text of `universe.json`: items, their groups and the separator."""
    described = describe(CategoricalDomain(taxonomy=taxonomy))
    if not isinstance(described, CategoricalDescription):
        raise InternalError("A taxonomy was described as a grid.")
    stored = _StoredUniverse(separator=separator_of(taxonomy), taxonomy=described)
    return stored.model_dump_json(by_alias=True, indent=None) + "\n"


def universe_in(text: str, *, where: str) -> Taxonomy:
    """Return the universe in a text of :func:`universe_text`."""
    try:
        return _StoredUniverse.model_validate_json(text).taxonomy.domain().taxonomy
    except (ValidationError, TaxonomyError) as error:
        raise ReleaseError(
            "This is not a universe of items that this version can read.",
            where=where,
            do="Give a release folder that `hedgerow publish` wrote.",
        ) from error
