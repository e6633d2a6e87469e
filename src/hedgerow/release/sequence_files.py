"""The file of the prefixes of a release of sequences."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path

import numpy as np

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.model.sequences import Prefixes
from hedgerow.release.basket_files import codes_of_cells, separator_of
from hedgerow.release.reading import read_release_text
from hedgerow.release.table import spreadsheet_safe
from hedgerow.taxonomy.tree import Taxonomy

PREFIXES = "prefixes.csv"
SEQUENCE_COLUMNS = ("sequence", "count")
PREFIX_COLUMNS = ("prefix", "count", "standard_error", "exactly")


def prefixes_text(prefixes: Prefixes, taxonomy: Taxonomy) -> str:
    """Return the text of `prefixes.csv`: one row per prefix, spreadsheet-safe."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(PREFIX_COLUMNS)
    labels, separator = taxonomy.leaf_labels, separator_of(taxonomy)
    words = [labels[code] for code in prefixes.items.tolist()]
    cells = [
        spreadsheet_safe(separator.join(words[a:b])) for a, b in pairwise(prefixes.offsets.tolist())
    ]
    errors = [f"{error:.1f}" for error in prefixes.errors.tolist()]
    ends = ["" if end < 0 else end for end in prefixes.ends.tolist()]
    rows.writerows(zip(cells, prefixes.counts.tolist(), errors, ends, strict=True))
    return text.getvalue()


def read_prefixes(path: Path, taxonomy: Taxonomy) -> Prefixes:
    """Return the prefixes of a `prefixes.csv`, with labels converted back into codes."""
    try:
        rows = list(csv.reader(io.StringIO(read_release_text(path)), strict=True))[1:]
        offsets, items = codes_of_cells([row[0] for row in rows], taxonomy)
        return Prefixes(
            offsets=offsets,
            items=items,
            counts=np.array([int(row[1]) for row in rows], dtype=np.int64),
            errors=np.array([float(row[2]) for row in rows], dtype=np.float64),
            ends=np.array([int(row[3] or -1) for row in rows], dtype=np.int64),
        )
    except (csv.Error, ValueError, KeyError, IndexError, InternalError) as error:
        raise ReleaseError(
            "The file does not have the content of such a release file.",
            where=str(path),
            do="Give a release folder that `hedgerow publish` wrote.",
        ) from error
