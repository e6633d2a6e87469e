"""A release of sequences: sequences with noisy counts, counted prefixes, and their certificate.

The prefixes are stored in `prefixes.csv`, which this module writes and reads.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError, InternalError, ReleaseError
from hedgerow.model.sequences import NoisySequences, Prefixes
from hedgerow.release.basket_files import (
    baskets_table,
    codes_of_cells,
    csv_text,
    read_csv,
    separator_of,
    universe_in,
)
from hedgerow.release.baskets import BASKETS, UNIVERSE, BasketRelease, NoisyAnswer
from hedgerow.release.dictionary import DICTIONARY, DictionaryFile, count_meaning
from hedgerow.release.folder import PARQUET, TABLE, count_origin, load_certificate, vouch
from hedgerow.release.listing import sequence_listing
from hedgerow.release.package import PACKAGE
from hedgerow.release.reading import read_release_text
from hedgerow.release.table import spreadsheet_safe
from hedgerow.release.write import CERTIFICATE, write_text
from hedgerow.report.baskets import render_sequence_report
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    import pyarrow as pa


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


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceRelease(BasketRelease):
    r"""Release of sequences: sequences with noisy counts, counted prefixes and their certificate.

    Returned by `publish` for plans with ordered ``items``; `load` reads a release folder.

    Parameters
    ----------
    baskets : NoisySequences
        The sequences, as codes of items, with their noisy counts and the counted prefixes.
    certificate : Certificate
        Guarantee, method, budget and digests of the release.

    Notes
    -----
    Privacy: everything in it may be published. Queries on it cost no budget.

    Examples
    --------
    >>> import hedgerow
    >>> plan = {"items": {"universe": ["home", "shop"], "ordered": True}, "protects": "records",
    ...         "confirmed": True, "publish": {"method": "chain", "epsilon": 4}}
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.seq")
    ...     _ = file.write_text("home shop\nshop\n" * 500)
    ...     release = hedgerow.publish(plan, data=file, seed=1)
    >>> 400 < release.count(["home"]).estimate < 600
    True

    """

    baskets: NoisySequences

    def __repr__(self) -> str:
        return f"SequenceRelease({self.certificate.data.name!r}, {len(self.baskets):,} sequences)"

    @property
    def sequences(self) -> NoisySequences:
        """The sequences with their counts."""
        return self.baskets

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the release's `release.csv`, whether written or not."""
        return hashlib.sha256(csv_text(self.baskets, SEQUENCE_COLUMNS).encode()).hexdigest()

    def count(self, items: Collection[str | int], *, anywhere: bool = False) -> NoisyAnswer:
        """Return the estimated number of sequences that begin with ``items``, with its error.

        With ``anywhere``, count those that contain them consecutively. The standard error is known
        for prefixes that were counted, and NaN for anything else.
        """
        codes = self._in_order(items)
        found = self._found(codes, anywhere=anywhere)
        error = math.nan if anywhere else self._error(codes)
        return NoisyAnswer(estimate=int(self.baskets.counts[found].sum()), standard_error=error)

    def _in_order(self, items: Collection[str | int]) -> list[int]:
        if not isinstance(items, Sequence):
            raise InputError(
                "A set has no order.", where="count", do="Give a list of items, in their order."
            )
        wanted = [items] if isinstance(items, str) else [str(item) for item in items]
        known = self.taxonomy.leaf_code
        for item in wanted:
            if item not in known:
                raise InputError(
                    f"{displayed(item)} is not an item of the universe.",
                    where="count",
                    do="Give items that universe.json lists.",
                )
        return [known[item] for item in wanted]

    def _found(self, codes: list[int], *, anywhere: bool) -> NDArray[np.bool_]:
        """Return which sequences begin with the codes, or contain them."""
        offsets, items = self.baskets.offsets, self.baskets.items
        n = len(codes)
        begins = np.arange(len(items)) if anywhere else offsets[:-1]
        owner = np.repeat(np.arange(len(self.baskets)), self.baskets.lengths)
        stops = offsets[1:][owner] if anywhere else offsets[1:]
        hit = begins + n <= stops
        for place, code in enumerate(codes):
            hit[hit] = items[begins[hit] + place] == code
        if not anywhere:
            return hit
        found = np.zeros(len(self.baskets), dtype=np.bool_)
        found[owner[hit]] = True
        return found

    def _error(self, codes: list[int]) -> float:
        prefixes = self.baskets.prefixes
        if prefixes is None or not codes:
            return math.nan
        hit = np.diff(prefixes.offsets) == len(codes)
        for place, code in enumerate(codes):
            hit[hit] = prefixes.items[prefixes.offsets[:-1][hit] + place] == code
        found = np.flatnonzero(hit)
        return float(prefixes.errors[found[0]]) if len(found) else math.nan

    def to_arrow(self) -> pa.Table:
        """Return one row per sequence: ``sequence`` as a list of labels, and ``count``."""
        return baskets_table(self.baskets).rename_columns(list(SEQUENCE_COLUMNS))

    def report(self, files: Collection[str] | None = None) -> str:
        """Return the text of `report.html`, a self-contained page.

        It lists ``files``, by default those that every such release has.
        """
        always = (BASKETS, TABLE, PREFIXES, UNIVERSE, DICTIONARY, PACKAGE, CERTIFICATE)
        listed = always if files is None else files
        return render_sequence_report(self.baskets, self.certificate, files=listed)

    def _files(self) -> list[DictionaryFile]:
        meaning = count_meaning(self.certificate).replace("are in the group", "are the sequence")
        return sequence_listing(separator_of(self.taxonomy), meaning)

    def _write_tables(self, folder: Path, *, parquet: bool) -> None:
        write_text(folder / TABLE, csv_text(self.baskets, SEQUENCE_COLUMNS))
        if self.baskets.prefixes is not None:
            write_text(folder / PREFIXES, prefixes_text(self.baskets.prefixes, self.taxonomy))
        if parquet:
            import pyarrow.parquet as pq

            pq.write_table(self.to_arrow(), folder / PARQUET)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> SequenceRelease:
        """Read a release folder back, and refuse files that differ from their certificate."""
        path = Path(folder)
        certificate = load_certificate(path)
        items = certificate.data.items
        if items is None or not items.ordered:
            raise ReleaseError(
                f"The release holds {'a table' if items is None else 'baskets'}, not sequences.",
                where=str(path),
                do=f"Load it with hedgerow.{'' if items is None else 'Basket'}Release.load.",
            )
        for name in (UNIVERSE, TABLE, PREFIXES):
            vouch(path / name, certificate)
        taxonomy = universe_in(read_release_text(path / UNIVERSE), where=str(path / UNIVERSE))
        found = read_csv(path / TABLE, taxonomy, origin=count_origin(certificate))
        sequences = NoisySequences(
            taxonomy=taxonomy,
            offsets=found.offsets,
            items=found.items,
            counts=found.counts,
            origin=found.origin,
            prefixes=read_prefixes(path / PREFIXES, taxonomy),
        )
        return cls(baskets=sequences, certificate=certificate)
