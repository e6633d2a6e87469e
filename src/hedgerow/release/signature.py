"""`signature.json`: proof of a release's publisher, by a signature of the certificate's bytes.

The certificate holds the digest of every other file, so one signature covers the folder. The file
is sealed like the certificate: recipients without the key can detect damage, too.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from hedgerow.errors import LaterFormatError, ReleaseError
from hedgerow.model.guarantee import CertificatePart, Digest
from hedgerow.model.sealed import SealError, sealed, unsealed
from hedgerow.release.signing_keys import Signer
from hedgerow.release.write import FILE_MODE

SIGNATURE = "signature.json"
SIGNATURE_FORMAT: Final = 1


class StoredSignature(CertificatePart):
    """Content of `signature.json`."""

    format_version: Literal[1] = SIGNATURE_FORMAT
    algorithm: Literal["Ed25519"] = "Ed25519"
    signs: Literal["certificate.json"] = "certificate.json"
    certificate_sha256: Digest
    key_sha256: Digest = Field(description="identifies the key, which is not in the folder")
    signature: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]

    @property
    def content(self) -> bytes:
        """The signature itself."""
        return bytes.fromhex(self.signature)


def signature_text(certificate: bytes, signer: Signer) -> str:
    """Return the text of `signature.json` for the bytes of a certificate."""
    stored = StoredSignature(
        certificate_sha256=hashlib.sha256(certificate).hexdigest(),
        key_sha256=signer.key_sha256,
        signature=signer.sign(certificate).hex(),
    )
    return sealed(stored.model_dump(mode="json", by_alias=True))


def signature_in(text: str) -> StoredSignature:
    """Return the content of a `signature.json`; raise `SealError` if it was modified."""
    facts = unsealed(text)
    version = facts.get("format-version")
    if isinstance(version, int) and version > SIGNATURE_FORMAT:
        raise LaterFormatError("signature", version, SIGNATURE_FORMAT, where=SIGNATURE)
    try:
        return StoredSignature.model_validate(facts)
    except ValidationError as error:
        raise SealError("it is not a signature that this version can read") from error


def write_signature(folder: Path, text: str) -> None:
    """Write a signature to a release folder, completely or not at all."""
    hidden = folder.with_name(f".{folder.name}.signature-{secrets.token_hex(4)}")
    try:
        with hidden.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        hidden.chmod(FILE_MODE)
        hidden.replace(folder / SIGNATURE)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"The signature cannot be written: {reason}.",
            where=str(folder),
            do="The folder is unchanged. Sign a copy in a folder that you can write to.",
        ) from error
    finally:
        with suppress(OSError):
            hidden.unlink()
