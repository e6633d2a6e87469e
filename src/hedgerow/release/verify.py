"""Check that a release has not been modified, given nothing but its folder.

Files are compared with the digests of the certificate; the certificate with its own digest, its
format, itself and the facts that other files repeat; the signature with a public key. Any other
content of the folder is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

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
    f"The folder {OWNER!r} is for the data owner alone: it is not certified, was not checked, and"
    " must not be given out."
)
_UNSEALED = (
    "The certificate has format 1, without a digest of its own: changes to its text cannot be"
    " detected from the folder alone."
)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of the checks of a release folder.

    ``passed`` is the overall answer: ``intact`` and, if a key is used, signed by it.
    """

    folder: Path
    faults: tuple[Fault, ...]
    certificate: Certificate | None = field(default=None, repr=False)
    certificate_sha256: str | None = None
    n_files: int = 0
    maker: Literal["proved", "not proved"] = "not proved"
    key_used: bool = False
    signed_by: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def intact(self) -> bool:
        """True if everything agrees with the certificate."""
        return not self.faults

    @property
    def passed(self) -> bool:
        """True if the folder is intact and, if a key is used, signed by it."""
        return self.intact and (self.maker == "proved" or not self.key_used)

    @property
    def statement(self) -> str:
        """Short form of the answer."""
        return f"intact, maker {self.maker}" if self.intact else "not intact"

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the plan and its taxonomies, as `hedgerow check` shows it."""
        return None if self.certificate is None else certified_fingerprint(self.certificate)

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as plain values."""
        certificate = self.certificate
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
            "certificate-format": None if certificate is None else certificate.format_version,
            "fingerprint": self.fingerprint,
            "private": None if certificate is None else certificate.guarantee.private,
            "statement": None if certificate is None else certificate.guarantee.statement,
            "signatures": [] if certificate is None else list(certificate.signatures),
            "statement-is": "signed" if self.maker == "proved" else "claimed",
        }


def verify(
    folder: str | os.PathLike[str],
    *,
    key: str | os.PathLike[str] | None = None,
    expect: str | None = None,
) -> Verification:
    """Check that a release has not been modified since it was published.

    Parameters
    ----------
    folder : path
        The release folder. Nothing is written.
    key : path, optional
        The publisher's public key, which must come from the publisher and not be in the folder.
        Without it nothing proves who made the release.
    expect : str, optional
        Fingerprint of the agreed plan, or at least its first 16 characters.

    Returns
    -------
    Verification
        ``passed`` is the overall answer; ``faults`` lists the differences.

    Raises
    ------
    ReleaseError
        If the folder is missing.
    KeyFileError, SettingError
        If the key or the fingerprint cannot be used.

    Notes
    -----
    Privacy: reads published files only.

    Examples
    --------
    >>> import hedgerow
    >>> import pyarrow as pa
    >>> from tempfile import TemporaryDirectory
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}}, "protects": "records",
    ...         "confirmed": True, "publish": {"method": "hedge", "epsilon": 2}}
    >>> with TemporaryDirectory() as folder:
    ...     out = Path(folder, "release")
    ...     _ = hedgerow.publish(plan, data=pa.table({"age": [20, 70] * 500}), seed=1, out=out)
    ...     verify(out).passed
    True

    """
    path = Path(folder)
    if not path.is_dir():
        raise ReleaseError("This is not a folder.", where=str(path), do="Give a release folder.")
    checker = None if key is None else _checker(Path(key), path)
    _check_expected(expect)
    try:
        return _verdict(path, checker, expect)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"The folder cannot be read: {reason}.", where=str(path), do="Give the complete folder."
        ) from error


def check_intact(folder: Path, *, but: str | None = None) -> None:
    """Refuse a folder that differs from its certificate; the file ``but`` is not checked."""
    faults = [fault for fault in verify(folder).faults if fault.file != but]
    if faults:
        first = faults[0]
        raise ReleaseError(
            first.what,
            where=str(folder / first.file),
            do="Give a release folder that `hedgerow publish` wrote.",
        )


def _checker(key: Path, folder: Path) -> Checker:
    if key.resolve().is_relative_to(folder.resolve()):
        raise KeyFileError(
            "The key is in the release folder, where whoever changed the folder could have put it.",
            where=str(key),
            do="Give the key that the publisher sent you.",
        )
    return read_checker(key)


def _check_expected(expect: str | None) -> None:
    if expect is not None and not re.fullmatch(f"[0-9a-fA-F]{{{LEAST_EXPECTED},64}}", expect):
        raise SettingError(
            f"This is not a fingerprint of {LEAST_EXPECTED} to 64 hexadecimal digits.",
            where="expect",
            do="Give the fingerprint that 'hedgerow check' shows.",
        )


def _verdict(path: Path, checker: Checker | None, expect: str | None) -> Verification:
    with_key = checker is not None
    there = inventory(path)
    if CERTIFICATE not in there.plain:
        missing = Fault(file=CERTIFICATE, what="is missing: nothing certifies these files")
        return Verification(folder=path, faults=there.faults or (missing,), key_used=with_key)
    content = small_content(path / CERTIFICATE)
    try:
        certificate = _certificate(content, where=str(path / CERTIFICATE))
    except LaterFormatError:
        raise
    except ReleaseError as error:
        broken = Fault(file=CERTIFICATE, what=error.what)
        return Verification(folder=path, faults=(*there.faults, broken), key_used=with_key)
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
        key_used=with_key,
        notes=tuple(notes),
    )
    return _of_plan(_by(verdict, signed, content, checker), expect)


def _certificate(content: bytes, *, where: str) -> Certificate:
    if len(content) > MOST_CERTIFICATE:
        raise ReleaseError("It is larger than any certificate.", where=where)
    try:
        return Certificate.from_json(content.decode("utf-8"), where=where)
    except UnicodeDecodeError as error:
        raise ReleaseError("It is not a text in UTF-8.", where=where) from error


def _faults(path: Path, certificate: Certificate, there: Inventory) -> Iterator[Fault]:
    """Yield the files that differ from the certificate."""
    promised = certificate.files
    above = {str(each) for name in promised for each in PurePosixPath(name).parents}
    for name in sorted({*there.files} - {*promised, CERTIFICATE, SIGNATURE}):
        yield Fault(file=name, what="is not a file of this release")
    for name in there.folders:
        if name not in above:
            yield Fault(file=name, what="is not a folder of this release")
    for name, listed in sorted(promised.items()):
        if name not in there.files:
            yield Fault(file=name, what="is missing")
        elif name in there.plain and not same_file(path / name, listed, there.files[name]):
            yield Fault(file=name, what="is not the file that the certificate lists")


def _signature(
    path: Path, certificate: bytes, there: Inventory
) -> tuple[StoredSignature | None, list[Fault]]:
    """Return the signature in the folder, and its faults that do not depend on the key."""
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
    """Add the result of the check of the signature to a verdict."""
    if stored is None:
        note = "The release is not signed, so the publisher's identity is not proved."
        return replace(verdict, notes=(*verdict.notes, note))
    verdict = replace(verdict, signed_by=stored.key_sha256)
    if checker is None:
        note = f"The signature claims the key {stored.key_sha256}: check it with --public-key."
        return replace(verdict, notes=(*verdict.notes, note))
    if checker.key_sha256 != stored.key_sha256:
        note = f"The release is signed by another key than the one checked ({checker.key_sha256})."
        return replace(verdict, notes=(*verdict.notes, note))
    if not checker.signed(content, stored.content):
        forged = Fault(file=SIGNATURE, what="the key did not make this signature")
        return replace(verdict, faults=(*verdict.faults, forged))
    return replace(verdict, maker="proved")


def _of_plan(verdict: Verification, expect: str | None) -> Verification:
    if expect is None or (verdict.fingerprint or "").startswith(expect.lower()):
        return verdict
    other = Fault(file=CERTIFICATE, what="it was made from another plan than the one expected")
    return replace(verdict, faults=(*verdict.faults, other))
