"""A release: groups with noisy counts, their labels and their certificate."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from hedgerow.errors import ReleaseError
from hedgerow.model.card import card
from hedgerow.model.certificate import Certificate
from hedgerow.model.groups import Groups
from hedgerow.model.schema import Schema
from hedgerow.privacy.source import RandomSource, SystemSource
from hedgerow.release.dictionary import DICTIONARY, DictionaryFile
from hedgerow.release.folder import (
    PARQUET,
    REPORT,
    TABLE,
    DigestSink,
    Written,
    certifying_files,
    count_origin,
    file_names,
    load_certificate,
    vouch,
    write_certificate,
)
from hedgerow.release.frames import Frames
from hedgerow.release.listing import table_files, write_dictionary
from hedgerow.release.marginals import Marginals, marginals_from, marginals_text
from hedgerow.release.measured import leaf_recoding, write_measured
from hedgerow.release.measured_file import FOLDER as TABLES
from hedgerow.release.measured_file import read_leaf_recoding, read_measured
from hedgerow.release.package import PACKAGE
from hedgerow.release.reading import read_groups, read_release_text
from hedgerow.release.recoding import Recoding
from hedgerow.release.records import MOST_RECORDS, record_tables, write_records
from hedgerow.release.signing_keys import Signer
from hedgerow.release.table import groups_table, label_columns, to_csv
from hedgerow.release.write import CERTIFICATE, release_folder, write_text
from hedgerow.report.table import render_report

if TYPE_CHECKING:
    import pyarrow as pa

RECORDS = "records.csv"
RECODING = "recoding.json"
MARGINALS = "marginals.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class Release(Frames):
    """Release of a table: groups with noisy counts, their schema and their certificate.

    Returned by `publish` for plans with ``attributes``; `load` reads a release folder.

    Parameters
    ----------
    schema : Schema
        The public attributes and their domains, which label the groups.
    groups : Groups
        Ranges of codes, one per attribute, with a noisy count.
    certificate : Certificate
        Guarantee, method, budget and digests of the release.

    Notes
    -----
    Privacy: everything in it may be published. Tables and records from it cost no budget.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    ...         "protects": "records", "confirmed": True,
    ...         "publish": {"method": "hedge", "epsilon": 4}}
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> release = hedgerow.publish(plan, data=visits, seed=1)
    >>> release.records().column_names
    ['age', 'ward']

    """

    schema: Schema
    groups: Groups
    certificate: Certificate

    def __repr__(self) -> str:
        return f"Release({self.certificate.data.name!r}, {len(self.groups):,} groups)"

    def _repr_html_(self) -> str:
        facts = [("groups", f"{len(self.groups):,}"), *self.certificate.card_facts()]
        return card(f"Release of {self.certificate.data.name}", facts, warning=self._warning())

    def _warning(self) -> str:
        return "" if self.certificate.guarantee.private else "Not differentially private"

    @property
    def n_rows(self) -> int:
        """Number of published groups."""
        return len(self.groups)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the release's `release.csv`, whether written or not."""
        sink = DigestSink()
        self._write_csv(cast("IO[bytes]", sink))
        return sink.digest.hexdigest()

    @property
    def recoding(self) -> Recoding:
        """Ranges of the release, to recode other rows: those of its leaf table, if it has one."""
        if self.groups.leaves is not None:
            return leaf_recoding(self.schema, self.groups.leaves)
        return Recoding.of(self.schema, self.groups)

    def to_arrow(self) -> pa.Table:
        """Return one row per group: labels as dictionary columns, ``count`` last."""
        return groups_table(self.schema, self.groups)

    def records(self, *, source: RandomSource | None = None) -> pa.Table:
        """Return synthetic records sampled from the groups, sorted by group; costs no budget."""
        import pyarrow as pa

        if int(self.groups.counts.sum()) > MOST_RECORDS:
            raise ReleaseError(
                "The noisy counts ask for too many records.",
                where="records",
                do="Use the groups and their counts instead, or publish with a larger epsilon.",
            )
        drawn = source or SystemSource()
        return pa.concat_tables(record_tables(self.schema, self.groups, source=drawn))

    def report(self, files: Collection[str] | None = None) -> str:
        """Return the text of `report.html`, a self-contained page.

        It lists ``files``, by default those that every such release has.
        """
        listed = self._always() if files is None else files
        return render_report(self.schema, self.groups, self.certificate, files=listed)

    def _always(self) -> set[str]:
        names = {TABLE, RECODING, DICTIONARY, PACKAGE, CERTIFICATE}
        if self.groups.marginals is not None:
            names.add(MARGINALS)
        if self.groups.tables or self.groups.leaves is not None:
            names.add(TABLES)
        return names

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

        ``records`` adds `records.csv`, sampled with ``source`` (by default the operating
        system's), and ``parquet`` adds `release.parquet`. ``signer`` adds `signature.json`. An
        earlier release is replaced only with ``force``, and only once the new one is complete.
        """
        notes: tuple[str, ...] = ()
        if records and int(self.groups.counts.sum()) > MOST_RECORDS:
            records = False
            notes = (f"{RECORDS} was not written: the noisy counts ask for too many records.",)
        with release_folder(folder, force=force) as partial:
            self._write_tables(partial, parquet=parquet)
            if records:
                path = partial / RECORDS
                write_records(self.schema, self.groups, path, source=source or SystemSource())
            write_text(partial / RECODING, Recoding.of(self.schema, self.groups).to_json())
            if self.groups.marginals is not None:
                text = marginals_text(self.schema, self.groups.marginals)
                write_text(partial / MARGINALS, text)
            write_measured(partial, self.schema, self.groups)
            write_dictionary(partial, self._files(), self.certificate)
            there = {*file_names(partial), *certifying_files(signer)}
            write_text(partial / REPORT, self.report(there))
            certified = write_certificate(partial, self.certificate, signer)
        self.__dict__["digest"] = certified.files[TABLE].sha256  # avoids writing the table twice
        return certified.written(folder, notes)

    def _files(self) -> list[DictionaryFile]:
        return table_files(self.schema, self.groups, self.certificate)

    def _write_tables(self, folder: Path, *, parquet: bool) -> None:
        import pyarrow.parquet as pq

        self._write_csv(folder / TABLE)
        if parquet:
            pq.write_table(self.to_arrow(), folder / PARQUET)

    def _write_csv(self, file: Path | IO[bytes]) -> None:
        to_csv(self.to_arrow(), file, texts=label_columns(list(self.schema.used())))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Release:
        """Read a release folder back, and refuse files that differ from their certificate."""
        path = Path(folder)
        certificate, recoding = _load_recoding(path, also=(TABLE,))
        groups = read_groups(
            path / TABLE,
            recoding,
            origin=count_origin(certificate),
            marginals=_load_marginals(path / MARGINALS, certificate, recoding.schema),
        )
        tables, leaves = read_measured(path, certificate, recoding.schema)
        groups = replace(groups, tables=tables, leaves=leaves)
        return cls(schema=recoding.schema, groups=groups, certificate=certificate)


def load_recoding(folder: str | os.PathLike[str]) -> Recoding:
    """Return the recoding of a release folder, checked against its certificate.

    If the release has a leaf table, the recoding is that of the leaf table.
    """
    certificate, recoding = _load_recoding(Path(folder))
    return read_leaf_recoding(Path(folder), certificate) or recoding


def _load_recoding(folder: Path, also: Collection[str] = ()) -> tuple[Certificate, Recoding]:
    certificate = load_certificate(folder)
    if certificate.data.items is not None:
        raise ReleaseError(
            "The release holds baskets, not a table.",
            where=str(folder),
            do="Load it with hedgerow.BasketRelease.load; baskets have no boxes to recode rows to.",
        )
    for name in (RECODING, *also):
        vouch(folder / name, certificate)
    text = read_release_text(folder / RECODING)
    return certificate, Recoding.from_json(text, where=str(folder / RECODING))


def _load_marginals(path: Path, certificate: Certificate, schema: Schema) -> Marginals | None:
    """Return the marginals, if the certificate lists them."""
    if path.name not in certificate.files:
        return None
    vouch(path, certificate)
    return marginals_from(read_release_text(path), schema, where=str(path))
