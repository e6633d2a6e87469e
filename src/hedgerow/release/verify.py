"""verify(folder): whether a release is as its publisher wrote it, for who has only the folder.

Files are compared with the digests of the certificate, the certificate with its own digest, its
format, itself and what other files repeat of it, and with a public key, the signature. Whatever
else lies there is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from hedgerow.errors import LaterFormatError, ReleaseError, SettingError
from hedgerow.model.certificate import Certificate
from hedgerow.model.sealed import SealError
from hedgerow.release.claims import unfounded
from hedgerow.release.coherence import contradictions
from hedgerow.release.domains import LEAST_EXPECTED, certified_fingerprint
from hedgerow.release.inventory import (
    MOST_CERTIFICATE,
    Fault,
    Inventory,
    inventory,
    same_file,
    small_content,
)
from hedgerow.release.leftovers import CERTIFICATE
from hedgerow.release.signature import SIGNATURE, StoredSignature, signature_in
from hedgerow.release.signing_keys import Checker, KeyFileError, read_checker
from hedgerow.release.write import OWNER

_DISCLOSED = "disclosed.csv"
_OWNERS = (
    f"The folder {OWNER!r} is for the owner of the data alone: it is not certified, was not looked"
    " at, and must not be given out."
)
_UNSEALED = (
    "The certificate is of format 1, without a digest of its own: that its words were not changed"
    " cannot be seen from the folder alone."
)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was found in a release folder.

    ``passed`` is the answer: ``intact``, and, where a key was given, signed by it.
    """

    folder: Path
    faults: tuple[Fault, ...]
    certificate: Certificate | None = field(default=None, repr=False)
    certificate_sha256: str | None = None
    n_files: int = 0
    maker: Literal["proved", "not proved"] = "not proved"
    key_asked: bool = False
    signed_by: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        """Whether everything is as the certificate says."""
        return not self.faults

    @property
    def passed(self) -> bool:
        """Whether it is intact and, if a key was given, signed by it."""
        return self.intact and (self.maker == "proved" or not self.key_asked)

    @property
    def statement(self) -> str:
        """The answer in a few words."""
        return f"intact, maker {self.maker}" if self.intact else "not intact"

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the plan and its taxonomies, as `hedgerow check` showed it."""
        return None if self.certificate is None else certified_fingerprint(self.certificate)

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain facts."""
        told = self.certificate
        return {
            "folder": str(self.folder),
            "passed": self.passed,
            "intact": self.intact,
            "maker": self.maker,
            "signed-by": self.signed_by,
            "faults": [{"file": each.file, "what": each.what} for each in self.faults],
            "notes": list(self.notes),
            "files": self.n_files,
            "certificate-sha256": self.certificate_sha256,
            "certificate-format": None if told is None else told.format_version,
            "fingerprint": self.fingerprint,
            "private": None if told is None else told.guarantee.private,
            "statement": None if told is None else told.guarantee.statement,
            "signatures": [] if told is None else list(told.signatures),
            "statement-is": "signed" if self.maker == "proved" else "claimed",
        }


def verify(
    folder: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str] | None = None,
    expect: str | None = None,
) -> Verification:
    """Return whether a release folder is as it was written, and by whom.

    ``key`` is the publisher's public key, which must come from the publisher and not lie in the
    folder; without it nothing tells who made the release. ``expect`` is the fingerprint of the
    plan that was agreed on, or at least its first sixteen letters. Nothing is written.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError("is not a folder", where=str(path), do="Give a release folder.")
    checker = None if key is None else _checker(Path(key), path)
    _check_expected(expect)
    try:
        return _verdict(path, checker, expect)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"the folder cannot be read: {reason}", where=str(path), do="Give it in whole."
        ) from error


def check_intact(folder: Path, *, but: str | None = None) -> None:
    """Refuse a folder that is not, file by file, as its certificate says; ``but`` is not asked."""
    faults = [fault for fault in verify(folder).faults if fault.file != but]
    if faults:
        first = faults[0]
        raise ReleaseError(
            first.what,
            where=str(folder / first.file),
            do="Give a release folder as `hedgerow publish` wrote it.",
        )


def _checker(key: Path, folder: Path) -> Checker:
    if key.resolve().is_relative_to(folder.resolve()):
        raise KeyFileError(
            "the key lies in the release folder, where whoever changed that could put it",
            where=str(key),
            do="Give the key that you have from the publisher.",
        )
    return read_checker(key)


def _check_expected(expect: str | None) -> None:
    if expect is not None and not re.fullmatch(f"[0-9a-fA-F]{{{LEAST_EXPECTED},64}}", expect):
        raise SettingError(
            f"is not a fingerprint of {LEAST_EXPECTED} to 64 hexadecimal digits",
            where="expect",
            do="Give the fingerprint that 'hedgerow check' showed.",
        )


def _verdict(path: Path, checker: Checker | None, expect: str | None) -> Verification:
    asked = checker is not None
    there = inventory(path)
    if CERTIFICATE not in there.plain:
        missing = Fault(file=CERTIFICATE, what="is missing: nothing vouches for these files")
        return Verification(folder=path, faults=there.faults or (missing,), key_asked=asked)
    content = small_content(path / CERTIFICATE)
    try:
        certificate = _certificate(content, where=str(path / CERTIFICATE))
    except LaterFormatError:
        raise
    except ReleaseError as error:
        broken = Fault(file=CERTIFICATE, what=error.what)
        return Verification(folder=path, faults=(*there.faults, broken), key_asked=asked)
    notes = [_UNSEALED] if certificate.format_version == 1 else []
    if _DISCLOSED in certificate.files and OWNER in there.folders:
        there = there.outside(OWNER)
        notes.append(_OWNERS)
    faults = [*there.faults, *_faults(path, certificate, there)]
    if not faults:
        faults = [*contradictions(path, certificate), *unfounded(path, certificate)]
    signed, wrong = _signature(path, content, there)
    verdict = Verification(
        folder=path,
        faults=(*faults, *wrong),
        certificate=certificate,
        certificate_sha256=hashlib.sha256(content).hexdigest(),
        n_files=len(there.files),
        key_asked=asked,
        notes=tuple(notes),
    )
    return _of_plan(_by(verdict, signed, content, checker), expect)


def _certificate(content: bytes, *, where: str) -> Certificate:
    if len(content) > MOST_CERTIFICATE:
        raise ReleaseError("it is larger than any certificate", where=where)
    try:
        return Certificate.from_json(content.decode("utf-8"), where=where)
    except UnicodeDecodeError as error:
        raise ReleaseError("it is not a text in UTF-8", where=where) from error


def _faults(path: Path, certificate: Certificate, there: Inventory) -> Iterator[Fault]:
    """Say which files are not those of the certificate."""
    promised = certificate.files
    above = {str(each) for name in promised for each in PurePosixPath(name).parents}
    for name in sorted({*there.files} - {*promised, CERTIFICATE, SIGNATURE}):
        yield Fault(file=name, what="is not a file of this release")
    for name in there.folders:
        if name not in above:
            yield Fault(file=name, what="is not a folder of this release")
    for name, told in sorted(promised.items()):
        if name not in there.files:
            yield Fault(file=name, what="is missing")
        elif name in there.plain and not same_file(path / name, told, there.files[name]):
            yield Fault(file=name, what="is not the file that the certificate was written for")


def _signature(
    path: Path, certificate: bytes, there: Inventory
) -> tuple[StoredSignature | None, list[Fault]]:
    """Return the signature that lies there, and what is wrong with it whatever the key is."""
    if SIGNATURE not in there.plain:
        return None, []
    try:
        stored = signature_in(small_content(path / SIGNATURE).decode("utf-8"))
    except (SealError, UnicodeDecodeError) as error:
        what = str(error) if isinstance(error, SealError) else "it is not a text in UTF-8"
        return None, [Fault(file=SIGNATURE, what=what)]
    if stored.certificate_sha256 != hashlib.sha256(certificate).hexdigest():
        return None, [Fault(file=SIGNATURE, what="it is the signature of another certificate")]
    return stored, []


def _by(
    verdict: Verification, stored: StoredSignature | None, content: bytes, checker: Checker | None
) -> Verification:
    """Say who made a release, as far as that is proved."""
    if stored is None:
        told = "There is no signature, so that nothing tells who made it."
        return replace(verdict, notes=(*verdict.notes, told))
    verdict = replace(verdict, signed_by=stored.key_sha256)
    if checker is None:
        told = f"It says that it is signed, by the key {stored.key_sha256}: check that with --key."
        return replace(verdict, notes=(*verdict.notes, told))
    if checker.key_sha256 != stored.key_sha256:
        told = f"It is signed by another key than the one given, which is {checker.key_sha256}."
        return replace(verdict, notes=(*verdict.notes, told))
    if not checker.signed(content, stored.content):
        forged = Fault(file=SIGNATURE, what="the key did not make this signature")
        return replace(verdict, faults=(*verdict.faults, forged))
    return replace(verdict, maker="proved")


def _of_plan(verdict: Verification, expect: str | None) -> Verification:
    if expect is None or (verdict.fingerprint or "").startswith(expect.lower()):
        return verdict
    other = Fault(file=CERTIFICATE, what="it was made by another plan than the one expected")
    return replace(verdict, faults=(*verdict.faults, other))
