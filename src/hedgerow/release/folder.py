"""Common parts of all release folders: files with digests, and the certificate listing them."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError
from hedgerow.model.certificate import Certificate, ReleasedFile
from hedgerow.model.groups import CountOrigin
from hedgerow.release.reading import read_release_text
from hedgerow.release.signature import SIGNATURE, signature_text
from hedgerow.release.signing_keys import Signer
from hedgerow.release.write import CERTIFICATE, write_text

TABLE = "release.csv"
PARQUET = "release.parquet"
REPORT = "report.html"


class DigestSink(io.RawIOBase):
    """A file that discards its content and keeps its digest."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Add bytes to the digest."""
        self.digest.update(data)
        return len(data)


@dataclass(frozen=True, kw_only=True)
class Written:
    """The folder and the files of a written release, with notices for the caller.

    ``certificate_sha256`` is the digest of the certificate that this run wrote.
    """

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
    certificate_sha256: str = ""


def file_names(folder: Path) -> list[str]:
    """Return the relative paths of all files in a folder and its subfolders."""
    found = sorted(folder.rglob("*"))
    return [path.relative_to(folder).as_posix() for path in found if path.is_file()]


def released_files(folder: Path) -> dict[str, ReleasedFile]:
    """Return the digest and the size of all files in a folder, by relative path."""
    return {name: _released(folder / name) for name in file_names(folder)}


def load_certificate(folder: Path) -> Certificate:
    """Return the certificate of a release folder."""
    place = folder / CERTIFICATE
    if not place.is_file():
        raise ReleaseError(
            f"{CERTIFICATE} is missing.",
            where=str(folder),
            do="Give a release folder that `hedgerow publish` wrote.",
        )
    return Certificate.from_json(read_release_text(place), where=str(place))


def vouch(path: Path, certificate: Certificate, *, name: str | None = None) -> None:
    """Refuse a file that is not the one listed by the certificate.

    ``name`` is its path in the release folder, if that differs from its own name.
    """
    promised = certificate.files.get(name or path.name)
    try:
        found = _released(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"The file cannot be read: {reason}.",
            where=str(path),
            do="Give the complete release folder.",
        ) from error
    if promised != found:
        raise ReleaseError(
            "The file is not the one that the certificate lists.",
            where=str(path),
            do="Get the release again from its publisher.",
        )


@dataclass(frozen=True, kw_only=True)
class Certified:
    """The files that a certificate lists, those that certify them, and its digest."""

    files: dict[str, ReleasedFile]
    certifying: tuple[str, ...]
    sha256: str

    def written(self, folder: str | os.PathLike[str], notes: tuple[str, ...]) -> Written:
        """Return what was written, after the folder has got its name."""
        listed = tuple(sorted((*self.files, *self.certifying)))
        place = Path(folder)
        return Written(folder=place, files=listed, notes=notes, certificate_sha256=self.sha256)


def certifying_files(signer: Signer | None) -> tuple[str, ...]:
    """Return the names of the files that certify the others."""
    return (CERTIFICATE,) if signer is None else (CERTIFICATE, SIGNATURE)


def write_certificate(
    folder: Path, certificate: Certificate, signer: Signer | None = None
) -> Certified:
    """Write the certificate of all files in a folder and, with a key, its signature."""
    files = released_files(folder)
    text = certificate.with_files(files).to_json()
    write_text(folder / CERTIFICATE, text)
    if signer is not None:
        write_text(folder / SIGNATURE, signature_text(text.encode(), signer))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Certified(files=files, certifying=certifying_files(signer), sha256=digest)


def count_origin(certificate: Certificate) -> CountOrigin | None:
    """Return how the counts of a release were made, according to its certificate."""
    counts = certificate.counts
    if counts is None:
        return None
    return CountOrigin(share=counts.share, threshold=counts.threshold, lowered_by=counts.lowered_by)


def _released(path: Path) -> ReleasedFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return ReleasedFile(sha256=digest, bytes=file.tell())
