"""A release of set-valued data: baskets with noisy counts and their certificate."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import InputError, ReleaseError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.card import card
from hedgerow.model.certificate import Certificate
from hedgerow.model.precision import deviation
from hedgerow.privacy.source import RandomSource
from hedgerow.release.basket_files import (
    baskets_table,
    csv_text,
    read_csv,
    separator_of,
    universe_in,
    universe_text,
    write_dat,
)
from hedgerow.release.dictionary import DICTIONARY, DictionaryFile, count_meaning, counted_in
from hedgerow.release.folder import (
    PARQUET,
    REPORT,
    TABLE,
    Written,
    certifying_files,
    count_origin,
    file_names,
    load_certificate,
    vouch,
    write_certificate,
)
from hedgerow.release.frames import Frames
from hedgerow.release.listing import basket_listing, write_dictionary
from hedgerow.release.package import PACKAGE
from hedgerow.release.reading import read_release_text
from hedgerow.release.records import MOST_RECORDS
from hedgerow.release.signing_keys import Signer
from hedgerow.release.write import CERTIFICATE, release_folder, write_text
from hedgerow.report.baskets import render_basket_report
from hedgerow.taxonomy.labels import displayed
from hedgerow.taxonomy.tree import Taxonomy

if TYPE_CHECKING:
    import pyarrow as pa

BASKETS = "release.dat"
UNIVERSE = "universe.json"
_MOST_ITEMS = 1000  # more would make the noise on all baskets exceed the range of floats


class NoisyAnswer(NamedTuple):
    """The answer to a counting query, with the standard error that noise alone causes."""

    estimate: int
    standard_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class BasketRelease(Frames):
    r"""Release of baskets: item sets with noisy counts, their universe and their certificate.

    Returned by `publish` for plans with ``items``; `load` reads a release folder.

    Parameters
    ----------
    baskets : NoisyBaskets
        The baskets, as codes of items, with their noisy counts.
    certificate : Certificate
        Guarantee, method, budget and digests of the release.

    Notes
    -----
    Privacy: everything in it may be published. Queries on it cost no budget.

    Examples
    --------
    >>> import hedgerow
    >>> plan = {"items": {"universe": ["bread", "milk", "tea"]}, "protects": "records",
    ...         "confirmed": True, "publish": {"method": "basic", "epsilon": 4}}
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "shop.dat")
    ...     _ = file.write_text("bread milk\nmilk\n" * 500)
    ...     release = hedgerow.publish(plan, data=file, seed=1)
    >>> 900 < release.count(["milk"]).estimate < 1100
    True

    """

    baskets: NoisyBaskets
    certificate: Certificate

    def __repr__(self) -> str:
        return f"BasketRelease({self.certificate.data.name!r}, {len(self.baskets):,} baskets)"

    def _repr_html_(self) -> str:
        certificate = self.certificate
        facts = [("baskets", f"{len(self.baskets):,}"), *certificate.card_facts()]
        warning = "" if certificate.guarantee.private else "Not differentially private"
        return card(f"Release of {certificate.data.name}", facts, warning=warning)

    @property
    def taxonomy(self) -> Taxonomy:
        """The public universe: an item's code is its leaf."""
        return self.baskets.taxonomy

    @property
    def n_rows(self) -> int:
        """Number of distinct published baskets."""
        return len(self.baskets)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the release's `release.csv`, whether written or not."""
        return hashlib.sha256(csv_text(self.baskets).encode()).hexdigest()

    def count(self, items: Collection[str | int]) -> NoisyAnswer:
        """Return the estimated number of records that contain all of ``items``, with its error.

        The estimate is the sum of the counts of the published baskets that contain them. The
        standard error is that of the noise on these counts, or on one count if there is none; if
        every possible basket was counted, on all that contain the items, published or not. It does
        not cover the error of baskets that are too rare to be measured, which were omitted or
        sampled.
        """
        codes = self._codes(items)
        matching = self._holding(codes)
        return NoisyAnswer(
            estimate=int(self.baskets.counts[matching].sum()),
            standard_error=self._noise(int(np.count_nonzero(matching)), n_items=len(codes)),
        )

    def _noise(self, n_matching: int, *, n_items: int) -> float:
        """Return the standard deviation of the noise on a sum of counts."""
        origin = self.baskets.origin
        if origin is None:
            return math.nan
        if origin.share == self.certificate.budget.total:
            # Nothing was spent on selecting baskets: every possible basket has a noisy count.
            possible = self.taxonomy.n_leaves - n_items
            return deviation(origin.share) * math.pow(2, min(possible, _MOST_ITEMS) / 2)
        return deviation(origin.share) * math.sqrt(max(1, n_matching))

    def _codes(self, items: Collection[str | int]) -> list[int]:
        if isinstance(items, str):
            items = [items]
        wanted = {str(item) for item in items}
        for item in sorted(wanted):
            if item not in self.taxonomy.leaf_code:
                raise InputError(
                    f"{displayed(item)} is not an item of the universe.",
                    where="count",
                    do="Give items that universe.json lists.",
                )
        return [self.taxonomy.leaf_code[item] for item in wanted]

    def _holding(self, codes: list[int]) -> NDArray[np.bool_]:
        """Return which baskets contain all of the codes."""
        wanted = np.zeros(self.taxonomy.n_leaves, dtype=np.bool_)
        wanted[codes] = True
        hits = np.concatenate([[0], np.cumsum(wanted[self.baskets.items])])
        found = hits[self.baskets.offsets[1:]] - hits[self.baskets.offsets[:-1]]
        holding: NDArray[np.bool_] = found == len(codes)
        return holding

    def to_arrow(self) -> pa.Table:
        """Return one row per basket: ``items`` as a list of labels, and ``count``."""
        return baskets_table(self.baskets)

    def report(self, files: Collection[str] | None = None) -> str:
        """Return the text of `report.html`, a self-contained page.

        It lists ``files``, by default those that every such release has.
        """
        always = (BASKETS, TABLE, UNIVERSE, DICTIONARY, PACKAGE, CERTIFICATE)
        listed = always if files is None else files
        return render_basket_report(self.baskets, self.certificate, files=listed)

    def _files(self) -> list[DictionaryFile]:
        meaning = count_meaning(self.certificate).replace("are in the group", "have the basket")
        unit = counted_in(self.certificate)
        return basket_listing(separator_of(self.taxonomy), meaning, unit=unit)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        records: bool = False,
        parquet: bool = False,
        force: bool = False,
        source: RandomSource | None = None,
        signer: Signer | None = None,
    ) -> Written:
        """Write the complete release folder or nothing, and return what was written.

        ``records`` and ``source`` have no effect: `release.dat` holds the records. ``parquet`` adds
        `release.parquet`, with the items as lists, and ``signer`` adds `signature.json`. An earlier
        release is replaced only with ``force``, and only once the new one is complete.
        """
        notes: tuple[str, ...] = ()
        if records:
            notes = (f"{BASKETS} holds the records; they are not written to another file.",)
        too_many = int(self.baskets.counts.sum()) > MOST_RECORDS
        if too_many:
            notes = (f"{BASKETS} was not written: the noisy counts ask for too many lines.",)
        with release_folder(folder, force=force) as partial:
            if not too_many:
                write_dat(self.baskets, partial / BASKETS)
            self._write_tables(partial, parquet=parquet)
            write_text(partial / UNIVERSE, universe_text(self.taxonomy))
            write_dictionary(partial, self._files(), self.certificate)
            there = {*file_names(partial), *certifying_files(signer)}
            write_text(partial / REPORT, self.report(there))
            certified = write_certificate(partial, self.certificate, signer)
        self.__dict__["digest"] = certified.files[TABLE].sha256  # avoids writing the table twice
        return certified.written(folder, notes)

    def _write_tables(self, folder: Path, *, parquet: bool) -> None:
        write_text(folder / TABLE, csv_text(self.baskets))
        if parquet:
            import pyarrow.parquet as pq

            pq.write_table(self.to_arrow(), folder / PARQUET)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> BasketRelease:
        """Read a release folder back, and refuse files that differ from their certificate."""
        path = Path(folder)
        certificate = load_certificate(path)
        items = certificate.data.items
        if items is None or items.ordered:
            raise ReleaseError(
                f"The release holds {'a table' if items is None else 'sequences'}, not baskets.",
                where=str(path),
                do=f"Load it with hedgerow.{'' if items is None else 'Sequence'}Release.load.",
            )
        for name in (UNIVERSE, TABLE):
            vouch(path / name, certificate)
        taxonomy = universe_in(read_release_text(path / UNIVERSE), where=str(path / UNIVERSE))
        baskets = read_csv(path / TABLE, taxonomy, origin=count_origin(certificate))
        return cls(baskets=baskets, certificate=certificate)
