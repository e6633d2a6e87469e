"""What every kind of release folder has: files with digests, and a certificate for them."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError
from hedgerow.model.certificate import Certificate, ReleasedFile
from hedgerow.model.groups import CountsMade
from hedgerow.release.reading import read_release_text
from hedgerow.release.write import CERTIFICATE

TABLE = "release.csv"
PARQUET = "release.parquet"
REPORT = "report.html"


class DigestSink(io.RawIOBase):
    """A file that keeps nothing but the digest of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Take in some bytes."""
        self.digest.update(data)
        return len(data)


@dataclass(frozen=True, kw_only=True)
class Written:
    """Where a release went, which files it has, and what the writer must tell.

    ``certificate_sha256`` is the digest of the certificate as this run wrote it.
    """

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
    certificate_sha256: str = ""


def file_names(folder: Path) -> list[str]:
    """Return the path of every file in a folder and below, as seen from there."""
    found = sorted(folder.rglob("*"))
    return [path.relative_to(folder).as_posix() for path in found if path.is_file()]


def released_files(folder: Path) -> dict[str, ReleasedFile]:
    """Return the digest and the size of every file in a folder and below, by its path there."""
    return {name: _released(folder / name) for name in file_names(folder)}


def load_certificate(folder: Path) -> Certificate:
    """Return the certificate of a release folder."""
    place = folder / CERTIFICATE
    if not place.is_file():
        raise ReleaseError(
            f"there is no {CERTIFICATE}",
            where=str(folder),
            do="Give a release folder as `hedgerow publish` wrote it.",
        )
    return Certificate.from_json(read_release_text(place), where=str(place))


def vouch(path: Path, certificate: Certificate, *, name: str | None = None) -> None:
    """Refuse a file that is not the one that the certificate was written for.

    ``name`` is its path in the release folder, where that is not its own name.
    """
    promised = certificate.files.get(name or path.name)
    try:
        found = _released(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"the file cannot be read: {reason}",
            where=str(path),
            do="Give the whole release folder.",
        ) from error
    if promised != found:
        raise ReleaseError(
            "the file is not the one that the certificate was written for",
            where=str(path),
            do="Get the release again from its publisher.",
        )


def vouch_all(folder: Path, certificate: Certificate) -> None:
    """Refuse a folder that does not hold the certificate's files, as it says, and no others."""
    inside = sorted(folder.rglob("*"))
    for path in inside:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise ReleaseError(
                "is not a plain file", where=str(path), do="Give the whole release folder."
            )
    found = {path.relative_to(folder).as_posix() for path in inside if path.is_file()}
    if found != {CERTIFICATE, *certificate.files}:
        raise ReleaseError(
            "the folder does not hold the files that its certificate lists",
            where=str(folder),
            do="Give a release folder as `hedgerow publish` wrote it.",
        )
    for name in certificate.files:
        vouch(folder / name, certificate, name=name)


def counts_made(certificate: Certificate) -> CountsMade | None:
    """Return how the counts of a release came about, as its certificate says."""
    counts = certificate.counts
    if counts is None:
        return None
    return CountsMade(share=counts.share, threshold=counts.threshold, lowered_by=counts.lowered_by)


def _released(path: Path) -> ReleasedFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return ReleasedFile(sha256=digest, bytes=file.tell())
